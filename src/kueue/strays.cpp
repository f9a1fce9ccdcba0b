#include "kueue/strays.h"

#include <span>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "dialects/workloads/workload.h"

namespace gantree::kueue {

namespace {

// Labels by which pods name their Job, and the JobSet of that.
constexpr std::string_view kOfJob = "batch.kubernetes.io/controller-uid";
constexpr std::string_view kOfJobSet = "jobset.sigs.k8s.io/jobset-uid";
// Labels of pods of other kinds, which name what makes them as their owner.
constexpr std::string_view kOfTraining = "training.kubeflow.org/job-name";
constexpr std::string_view kOfRay = "ray.io/cluster";

// "" where nothing controls it.
std::string_view controller_uid(json::Value metadata) {
  const json::Value owners = metadata["ownerReferences"];
  const bool listed = owners && owners.kind() == json::Kind::kArray;
  for (const json::NodeData& item : listed ? owners.items() : std::span<const json::NodeData>()) {
    const json::Value owner(&item);
    const json::Value controls = owner["controller"];
    const json::Value uid = text_at(owner, "uid");
    if (uid && controls && controls.kind() == json::Kind::kBool && controls.text() == "true") {
      return uid.text();
    }
  }
  return {};
}

bool is_over(const Object& pod) {
  const json::Value phase = text_at(map_at(pod.value, "status"), "phase");
  return phase && (phase.text() == "Succeeded" || phase.text() == "Failed");
}

}  // namespace

bool Strays::may_be_one(std::string_view text) {
  return text.find(kOfJob) != std::string_view::npos || text.find(kOfTraining) != std::string_view::npos ||
         text.find(kOfRay) != std::string_view::npos;
}

std::vector<std::string> Strays::see(const std::string& key, const Object& pod) {
  const json::Value metadata = pod.metadata();
  const json::Value labels = map_at(metadata, "labels");
  const json::Value annotations = map_at(metadata, "annotations");
  const bool started = annotations && text_at(annotations, kWorkloadAnnotation);
  if (started || !labels || is_over(pod) || text_at(metadata, "deletionTimestamp")) {
    return lose(key);
  }
  if (jobs_of_.contains(key)) {
    return {};
  }
  std::vector<std::string> jobs;
  const auto add = [&](std::string_view uid) {
    jobs.emplace_back(uid);
    by_job_[jobs.back()].insert(key);
  };
  const bool owned = text_at(labels, kOfTraining) || text_at(labels, kOfRay);
  if (const std::string_view uid = owned ? controller_uid(metadata) : std::string_view(); !uid.empty()) {
    add(uid);
  }
  for (const std::string_view label : {kOfJob, kOfJobSet}) {
    if (const json::Value uid = text_at(labels, label)) {
      add(uid.text());
    }
  }
  if (!jobs.empty()) {
    jobs_of_.emplace(key, jobs);
  }
  return jobs;
}

std::vector<std::string> Strays::lose(const std::string& key) {
  const auto it = jobs_of_.find(key);
  if (it == jobs_of_.end()) {
    return {};
  }
  std::vector<std::string> jobs = std::move(it->second);
  jobs_of_.erase(it);
  for (const std::string& uid : jobs) {
    const auto pods = by_job_.find(uid);
    pods->second.erase(key);
    if (pods->second.empty()) {
      by_job_.erase(pods);
    }
  }
  return jobs;
}

}  // namespace gantree::kueue

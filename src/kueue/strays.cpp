#include "kueue/strays.h"

#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "dialects/workloads/workload.h"

namespace gantree::kueue {

namespace {

// Labels by which pods name their Job, and the JobSet of that.
constexpr std::string_view kOfJob = "batch.kubernetes.io/controller-uid";
constexpr std::string_view kOfJobSet = "jobset.sigs.k8s.io/jobset-uid";

bool is_over(const Object& pod) {
  const json::Value phase = text_at(map_at(pod.value, "status"), "phase");
  return phase && (phase.text() == "Succeeded" || phase.text() == "Failed");
}

}  // namespace

bool Strays::may_be_one(std::string_view text) {
  return text.find(kOfJob) != std::string_view::npos;
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
  for (const std::string_view label : {kOfJob, kOfJobSet}) {
    if (const json::Value uid = text_at(labels, label)) {
      jobs.emplace_back(uid.text());
      by_job_[jobs.back()].insert(key);
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

#include "kai/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/metadata.h"
#include "dialects/kai/marks.h"
#include "dialects/kai/names.h"
#include "dialects/koordinator/names.h"
#include "dialects/kueue/names.h"
#include "dialects/lws/names.h"
#include "dialects/workloads/workload.h"

namespace gantree::kai {

namespace {

constexpr std::size_t kLongestObjectName = 253;
constexpr std::string_view kTrainingRole = "training.kubeflow.org/job-role";
constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";

// The uid keeps apart what is cut.
std::string group_name(std::string_view owner, std::string_view uid, std::string_view more = "") {
  const std::size_t room = kLongestObjectName - std::min(kLongestObjectName, uid.size() + more.size() + 4);
  std::string_view cut = owner.substr(0, room);
  while (cut.ends_with('.') || cut.ends_with('-')) {
    cut.remove_suffix(1);
  }
  return fmt::format("pg-{}-{}{}", cut, uid, more);
}

bool is_kind(const Maker* maker, std::string_view group, std::string_view kind) {
  return maker->object.group == group && maker->object.kind == kind;
}

const Maker* find_kind(const std::vector<const Maker*>& makers, std::string_view group, std::string_view kind) {
  const auto it =
      std::find_if(makers.begin(), makers.end(), [&](const Maker* maker) { return is_kind(maker, group, kind); });
  return it == makers.end() ? nullptr : *it;
}

// The owner that stands for the group, of those from the nearest to the topmost. Some only have another make the pods.
const Maker* standing_for(const std::vector<const Maker*>& makers) {
  const Maker* top = makers.back();
  const Maker* job = find_kind(makers, "batch", "Job");
  if (is_kind(top, "batch", "CronJob") && job != nullptr) {
    return job;
  }
  if (is_kind(top, "trainer.kubeflow.org", "TrainJob") && makers.size() > 1) {
    return makers[makers.size() - 2];
  }
  // The pod that submits a RayJob is not one of the cluster's.
  if (is_kind(top, "ray.io", "RayJob") && job != nullptr) {
    return job;
  }
  return top;
}

}  // namespace

PodMarks read_marks(json::Value pod) {
  const json::Value metadata = map_at(pod, "metadata");
  const json::Value labels = map_at(metadata, "labels");
  const json::Value annotations = map_at(metadata, "annotations");
  const json::Value spec = map_at(pod, "spec");
  const std::string_view phase = text_in(map_at(pod, "status"), "phase");
  PodMarks marks;
  marks.uid = text_in(metadata, "uid");
  marks.scheduler = text_in(spec, "schedulerName");
  marks.owner = owner_of(metadata);
  marks.group = text_in(annotations, kPodGroupName);
  marks.subgroup = text_in(labels, kSubgroup);
  marks.set = text_in(labels, lws::kName);
  marks.replica = text_in(labels, lws::kGroupIndex);
  marks.leader = text_in(labels, lws::kWorkerIndex) == "0";
  marks.launcher = text_in(labels, kTrainingRole) == "launcher" || text_in(labels, kReplicaType) == "launcher";
  marks.has_node = !text_in(spec, "nodeName").empty();
  marks.skips = skips_grouper(annotations);
  marks.marked = has_marks(labels) || has_marks(annotations);
  marks.elsewhere = text_at(labels, kueue::kQueueName) || text_at(annotations, kueue::kQueueName) ||
                    text_at(labels, koordinator::kPodGroupLabel) || text_at(annotations, koordinator::kGangName);
  marks.leaving = text_at(metadata, "deletionTimestamp").present();
  marks.ended = phase == "Succeeded" || phase == "Failed";
  return marks;
}

Target target_of(std::string_view pod, const PodMarks& marks, const Ancestry& ancestry) {
  Target target;
  const OwnerRef self{.version = "v1", .kind = "Pod", .name = std::string(pod), .uid = marks.uid};
  if (ancestry.beyond.present()) {
    target.owner = ancestry.beyond;
    target.owners.assign(ancestry.makers.rbegin(), ancestry.makers.rend());
    target.name = group_name(target.owner.name, target.owner.uid);
    target.default_class = target.owner.kind == "Notebook" ? "build" : "train";
    return target;
  }
  if (ancestry.makers.empty()) {
    target.owner = self;
    target.name = group_name(pod, marks.uid);
    target.alone = true;
    return target;
  }
  const Maker* standing = standing_for(ancestry.makers);
  target.owners.push_back(standing);
  for (auto it = ancestry.makers.rbegin(); it != ancestry.makers.rend(); ++it) {
    if (*it != standing) {
      target.owners.push_back(*it);
    }
  }
  target.owner = standing->ref();
  target.name = group_name(target.owner.name, target.owner.uid);
  target.sized = standing;
  if (is_kind(standing, "apps", "Deployment")) {
    target.owner = self;
    target.name = group_name(pod, marks.uid);
    target.alone = true;
    target.default_class = "inference";
  } else if (is_kind(standing, lws::kGroup, lws::kKind)) {
    const bool number =
        !marks.replica.empty() && marks.replica.size() < 10 &&
        std::all_of(marks.replica.begin(), marks.replica.end(), [](char c) { return c >= '0' && c <= '9'; });
    target.name = group_name(target.owner.name, target.owner.uid,
                             number ? fmt::format("-group-{}", marks.replica) : std::string());
  } else if (standing->object.group == "ray.io") {
    if (const Maker* cluster = find_kind(ancestry.makers, "ray.io", "RayCluster")) {
      target.sized = cluster;
    }
  }
  return target;
}

}  // namespace gantree::kai

#include "dialects/kai/kai.h"

#include <algorithm>
#include <utility>

#include "dialects/kai/assemble.h"
#include "dialects/kai/grouper.h"
#include "dialects/kai/levels.h"

namespace gantree::kai {

namespace {

bool has_marks(json::Value map) {
  if (!map) {
    return false;
  }
  const auto members = map.members();
  return std::any_of(members.begin(), members.end(), [](const json::MemberData& member) {
    return member.key.starts_with(kPrefix) || member.key == kPodGroupName || member.key == kOldQueue ||
           member.key == kGpuFraction || member.key == kGpuMemory;
  });
}

bool has_marks(const PodTemplate& pods) {
  return has_marks(pods.labels()) || has_marks(pods.annotations()) ||
         (pods.job_metadata && (has_marks(pods.job_metadata["annotations"]) || has_marks(pods.job_metadata["labels"])));
}

bool scheduled_by(const Workload& workload, std::string_view scheduler) {
  return std::any_of(workload.templates.begin(), workload.templates.end(), [&](const PodTemplate& pods) {
    const json::Value name = text_at(pods.spec, "schedulerName");
    return name && name.text() == scheduler;
  });
}

// Kinds that nobody else takes where they carry no marks.
bool ours_by_default(const Workload& workload) {
  const std::string_view group = workload.object.group;
  return group == "kubeflow.org" || group == "ray.io" || group == "trainer.kubeflow.org";
}

}  // namespace

std::span<const ApiKind> KaiDialect::kinds() const {
  static const ApiKind kKinds[] = {
      {.group = kTopologyGroup, .kind = "Topology", .versions = {"v1alpha1"}, .namespaced = false},
  };
  return kKinds;
}

Result<> KaiDialect::read(const NamedObject& named, Intake& intake) {
  return read_topology(named, intake);
}

Claim KaiDialect::claim(const Workload& workload, const Intake&) const {
  const bool marked = has_marks(workload.labels) || has_marks(workload.annotations) ||
                      std::any_of(workload.templates.begin(), workload.templates.end(),
                                  [](const PodTemplate& pods) { return has_marks(pods); }) ||
                      scheduled_by(workload, kScheduler);
  if (marked) {
    return Claim::kMarked;
  }
  return ours_by_default(workload) || scheduled_by(workload, kOurScheduler) ? Claim::kDefault : Claim::kNone;
}

void KaiDialect::describe(const Workload* workload, std::span<const PodRecord* const>, Intake& intake,
                          RunningGang& gang) {
  if (workload == nullptr) {
    return;
  }
  // It runs, whatever is wrong with it by now.
  if (const auto standing = standing_of(standing_request(*workload), intake.core, remarks_)) {
    gang.priority = standing->priority;
    gang.evictable = standing->preemptible;
  }
}

Result<> KaiDialect::submit(Intake& intake) {
  for (const Workload& workload : intake.workloads) {
    if (workload.dialect != kFamily || workload.running || workload.bound_pods > 0) {
      continue;
    }
    for (const Draft& draft : group_workload(workload)) {
      auto submission = assemble(draft, intake, remarks_);
      if (!submission) {
        return tl::unexpected(submission.error());
      }
      intake.reading.queue.push_back(std::move(*submission));
    }
  }
  for (std::string& note : remarks_.notes()) {
    intake.reading.notes.push_back(std::move(note));
  }
  return {};
}

}  // namespace gantree::kai

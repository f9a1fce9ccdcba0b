#include "dialects/kai/marks.h"

#include <algorithm>

#include "dialects/kai/names.h"

namespace gantree::kai {

bool has_marks(json::Value map) {
  if (!map || map.kind() != json::Kind::kObject) {
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

bool is_marked(const Workload& workload) {
  return has_marks(workload.labels) || has_marks(workload.annotations) ||
         std::any_of(workload.templates.begin(), workload.templates.end(),
                     [](const PodTemplate& pods) { return has_marks(pods); }) ||
         scheduled_by(workload, kScheduler);
}

bool skips_grouper(json::Value annotations) {
  const json::Value skip = text_at(annotations, kSkipPodGrouper);
  return skip && skip.text() == "true";
}

}  // namespace gantree::kai

#include "kueue/entry.h"

#include <algorithm>

#include "kueue/job_entry.h"

namespace gantree::kueue {

std::map<std::string, int> pods_over(const WorkloadObject& workload, const JobEntry& job) {
  std::map<std::string, int> over;
  for (const auto& [set, count] : job.progress.reclaimable) {
    if (const int pods = std::min(count, workload.asked_of(set, 0)); pods > 0) {
      over.emplace(set, pods);
    }
  }
  return over;
}

bool Entry::waits() const {
  return object.active && !object.deleting && !object.holds(kFinished) && !admission() && !suspended();
}

bool Entry::is_turned_down() const {
  const Condition* reserved = object.condition(kQuotaReserved);
  return !object.active && reserved != nullptr && reserved->reason == kInadmissible;
}

bool Entry::may_run() const {
  return object.admission && object.holds(kAdmitted) && !object.holds(kEvicted) && object.active && !object.deleting;
}

bool Entry::leaves() const {
  return !object.holds(kFinished) && (evicting || (object.admission && object.holds(kEvicted)));
}

void Entry::drop_assumed() {
  assumed.reset();
  may_be_done = false;
  under_way = false;
  blockers.clear();
  held_until.reset();
}

bool Entry::suspended() const {
  return object.holds(kEvicted) && object.condition(kEvicted)->reason == kSuspendedByUser;
}

const PodSetRequest* Entry::pod_set(std::string_view name) const {
  const std::vector<PodSetRequest>& sets = object.request.pod_sets;
  const auto it = std::find_if(sets.begin(), sets.end(), [&](const PodSetRequest& one) { return one.name == name; });
  return it == sets.end() ? nullptr : &*it;
}

}  // namespace gantree::kueue

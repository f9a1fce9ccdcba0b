#include "kueue/workload_maker.h"

#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/core/priority.h"

namespace gantree::kueue {

void WorkloadMaker::make(JobEntry& job, const std::string& key, WorkloadSeed seed, const std::vector<SetSpec>& sets,
                         Step& step) {
  if (const auto known = ledger_.setup.priority_classes.find(seed.priority_class);
      known != ledger_.setup.priority_classes.end()) {
    seed.priority = known->second;
  } else {
    seed.priority_class.clear();  // it is waited for: see submission_for()
  }
  std::vector<json::Value> specs;
  for (const SetSpec& set : sets) {
    specs.push_back(map_at(set.pod_template, "spec"));
    if (const json::Value name = specs.back() ? text_at(specs.back(), "priorityClassName") : json::Value();
        name && seed.pod_priority_class.empty()) {
      seed.pod_priority_class = name.text();
    }
  }
  if (!seed.priority) {
    int unresolved = 0;
    const auto priority = gang_priority(kNoFile, specs, ledger_.intake->core, unresolved);
    seed.priority = priority.value_or(0);
  }
  const std::uint64_t id =
      outbox_.order(step, Urgency::kBinding, create_workload(seed, sets), {.job = key, .creation = true});
  job.creation.sent(id, std::string(kMade));
}

}  // namespace gantree::kueue

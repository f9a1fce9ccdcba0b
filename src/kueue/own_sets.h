// The pod sets of a job as its user wrote them: without what a start has added; and what they come to as pods.
#pragma once

#include <optional>
#include <vector>

#include "dialects/workloads/workload.h"
#include "json/value.h"
#include "kueue/entry.h"
#include "kueue/job_entry.h"
#include "kueue/pod_defaults.h"
#include "live/parsed.h"

namespace gantree::kueue {

struct OwnSets {
  Parsed parsed;
  gantree::Workload job;
  std::vector<SetSpec> sets = {};
  std::vector<SetSpec> asked = {};             // the same with what the API server will add to their pods
  std::vector<json::Document> documents = {};  // what the templates point into
};

// Nothing where the job cannot be read. `entry`: its Workload, or nullptr.
[[nodiscard]] std::optional<OwnSets> own_sets(const JobEntry& job, const Entry* entry, const PodDefaults& defaults);

// Whether its templates have what a start adds to them.
[[nodiscard]] bool carries_start(const JobEntry& job);

// Whether the Workload asks for so many pods of that size. Another answer means that somebody changed the job since.
[[nodiscard]] bool asks_for(const WorkloadObject& workload, const OwnSets& own);

}  // namespace gantree::kueue

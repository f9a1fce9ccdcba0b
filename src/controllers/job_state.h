// A Job and its pods, as one look at them finds them.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "controllers/index_set.h"
#include "controllers/job_policy.h"
#include "controllers/turn.h"

namespace gantree::controllers {

struct JobState {
  JobState(const Item& job, Object root, std::vector<const Item*> pods);

  [[nodiscard]] bool counts_as_failed(const Item& pod) const;
  // Is this pod one that the status has not counted yet?
  [[nodiscard]] bool uncounted(const Item& pod) const;
  [[nodiscard]] bool suspended() const { return flag_at(root, {"spec", "suspend"}); }
  // The last pod of an index that failed tells how often: it is kept until there is another one.
  [[nodiscard]] bool kept_for_its_count(const Item& pod) const;
  // The index is one that the job has.
  [[nodiscard]] bool in_range(const Item& pod) const;

  const Item& job;
  Object root;
  bool indexed = false;
  bool only_failed_replaced = false;  // podReplacementPolicy: Failed
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;
  std::vector<const Item*> pods;
  std::vector<const Item*> active;
  std::int64_t ready = 0;
  std::int64_t terminating = 0;

  // As the status has it, and with what has ended since.
  std::unordered_set<std::string> waiting_succeeded;  // uids in uncountedTerminatedPods
  std::unordered_set<std::string> waiting_failed;
  IndexSet counted_indexes;
  IndexSet succeeded_indexes;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;

  // By the job's own rules.
  std::unordered_set<const Item*> ignored;              // failed pods that are no failure
  std::optional<std::string> fails_by_rule;             // why the whole job has failed
  std::optional<std::int64_t> most_failures_per_index;  // backoffLimitPerIndex
  FailuresByIndex failures;
  IndexSet failed_indexes;

 private:
  void read_ends();
  void read_failures();
};

// Pods that go, and pods that come. What is still active afterwards is left in state.active, which is what the status
// tells.
void manage_pods(JobState& state, Turn& turn);
// Takes the finalizer off by which the job counts the pod.
void release_pod(const Item& pod, Turn& turn);
// All active pods go: the job is over, or suspended.
void delete_active_pods(JobState& state, Turn& turn);

}  // namespace gantree::controllers

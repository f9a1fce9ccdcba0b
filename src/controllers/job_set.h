// A JobSet and its Jobs, as one look at them finds them; and the Jobs that it makes.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/turn.h"

namespace gantree::controllers {

struct JobGroup {
  std::string name;
  const Object* spec = nullptr;  // of spec.replicatedJobs
  std::int64_t replicas = 1;
  std::vector<std::pair<const Item*, Object>> jobs = {};  // that have not ended
  std::int64_t ready = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t active = 0;
  std::int64_t suspended = 0;
};

struct JobSetState {
  JobSetState(const Item& set, Turn& turn);
  JobSetState(const JobSetState&) = delete;
  JobSetState& operator=(const JobSetState&) = delete;

  const Item& set;
  Object root;
  std::int64_t restarts = 0;
  bool suspended = false;
  bool in_order = false;
  std::vector<JobGroup> groups;
  std::vector<const Item*> previous;  // of an earlier attempt
  std::vector<std::pair<const Item*, Object>> failed;
  std::set<std::string, std::less<>> existing;  // names
};

namespace jobset {

inline constexpr std::string_view kController = "jobset.sigs.k8s.io/jobset-controller";
inline constexpr std::string_view kName = "jobset.sigs.k8s.io/jobset-name";
inline constexpr std::string_view kReplicatedJob = "jobset.sigs.k8s.io/replicatedjob-name";
inline constexpr std::string_view kRestartAttempt = "jobset.sigs.k8s.io/restart-attempt";

[[nodiscard]] Object make_job(const JobSetState& state, const JobGroup& group, std::int64_t index);
// Unsuspends it, with what was changed in the JobSet's template while it was suspended.
void resume_job(const Item& job, const Object& root, const JobGroup& group, Turn& turn);

// Puts the condition into the list, and tells of it where it is news. What never was is not said to have ended.
void note(const JobSetState& state, Array& conditions, const Condition& condition, Turn& turn);
// What its failure policy makes of jobs that failed: the set starts anew, or has failed.
void handle_failure(const JobSetState& state, Object& status, Array& conditions, Turn& turn);

}  // namespace jobset

}  // namespace gantree::controllers

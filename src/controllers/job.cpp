// Jobs. Pods are counted once each: a finished pod's uid goes into the status first, then its finalizer goes, then the
// count goes up. Killed in between, nothing is lost or counted twice.
#include <fmt/format.h>

#include <algorithm>

#include "controllers/family.h"
#include "controllers/job_state.h"
#include "controllers/names.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr std::size_t kMostUncounted = 500;

struct Ending {
  bool success = false;
  std::string reason;
  std::string message;
};

Ending ending_from(const Value& condition, bool success) {
  return {success, std::string(text_at(condition, {"reason"})), std::string(text_at(condition, {"message"}))};
}

std::optional<Ending> ending_by_index(const JobState& state) {
  if (!state.indexed) {
    return std::nullopt;
  }
  const std::int64_t failed = state.failed_indexes.size();
  const auto most = number_at(state.root, {"spec", "maxFailedIndexes"});
  if (most && failed > *most) {
    return Ending{false, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"};
  }
  const std::int64_t completions = state.completions.value_or(0);
  if (failed > 0 && failed + state.succeeded_indexes.size() >= completions) {
    return Ending{false, "FailedIndexes", "Job has failed indexes"};
  }
  if (auto rule = met_success_rule(state.root, state.succeeded_indexes, completions)) {
    return Ending{true, "SuccessPolicy", std::move(*rule)};
  }
  return std::nullopt;
}

// Why the job is over although pods may still run; nothing where it is not.
std::optional<Ending> decided_ending(const JobState& state, Turn& turn) {
  if (const Value* met = find_condition(state.root, "SuccessCriteriaMet")) {
    return ending_from(*met, true);
  }
  if (const Value* target = find_condition(state.root, "FailureTarget")) {
    return ending_from(*target, false);
  }
  if (state.fails_by_rule) {
    return Ending{false, "PodFailurePolicy", *state.fails_by_rule};
  }
  if (state.failed > whole_at(state.root, {"spec", "backoffLimit"}, 6)) {
    return Ending{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  }
  const auto deadline = number_at(state.root, {"spec", "activeDeadlineSeconds"});
  const std::int64_t started = time_at(state.root, {"status", "startTime"});
  if (deadline && started != 0 && !state.suspended()) {
    const Time end = turn.after(started, std::chrono::seconds(*deadline));
    if (end <= turn.now()) {
      return Ending{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
    }
    turn.again(end);
  }
  return ending_by_index(state);
}

bool has_all_it_needs(const JobState& state) {
  if (!state.active.empty()) {
    return false;
  }
  return state.completions ? state.succeeded >= *state.completions : state.succeeded > 0;
}

void note_suspension(const JobState& state, Turn& turn, Object& status, Array& conditions) {
  if (state.suspended()) {
    if (set_condition(conditions, {"Suspended", "True", "JobSuspended", "Job suspended", {}, "lastProbeTime"},
                      turn.now())) {
      turn.tell(state.job, "Normal", "Suspended", "Job suspended");
      status["startTime"] = nullptr;
    }
    return;
  }
  const bool was = condition_is(state.root, "Suspended", "True");
  if (was) {
    set_condition(conditions, {"Suspended", "False", "JobResumed", "Job resumed", {}, "lastProbeTime"}, turn.now());
    turn.tell(state.job, "Normal", "Resumed", "Job resumed");
  }
  if (was || text_at(state.root, {"status", "startTime"}).empty()) {
    status["startTime"] = rfc3339(turn.now());
  }
}

Array texts(const std::vector<std::string>& all) {
  Array array;
  for (const std::string& one : all) {
    array.push_back(Value(one));
  }
  return array;
}

struct Counting {
  std::vector<std::string> succeeded;  // uids that are told and not counted
  std::vector<std::string> failed;
  std::vector<const Item*> released;  // pods whose finalizer may go: the status has them already
  std::int64_t counted_succeeded = 0;
  std::int64_t counted_failed = 0;
  std::vector<std::int64_t> indexes;
};

// One of the uids that the status tells: counted once its finalizer is gone.
void count_told(const JobState& state, Counting& counting) {
  std::unordered_set<std::string> still_tracked;
  for (const Item* pod : state.pods) {
    if (pod->pod->tracked) {
      still_tracked.insert(pod->uid);
    }
  }
  for (const std::string& uid : state.waiting_succeeded) {
    still_tracked.contains(uid) ? counting.succeeded.push_back(uid) : void(++counting.counted_succeeded);
  }
  for (const std::string& uid : state.waiting_failed) {
    still_tracked.contains(uid) ? counting.failed.push_back(uid) : void(++counting.counted_failed);
  }
}

// What one pod with a finalizer means for the counts.
void count_pod(const JobState& state, const Item& pod, bool over, bool success, Counting& counting) {
  const bool failed = state.counts_as_failed(pod);
  const bool succeeded = pod.pod->phase == Phase::kSucceeded;
  if (!failed && !succeeded && !over && !state.job.deleting()) {
    return;
  }
  const bool told = state.waiting_succeeded.contains(pod.uid) || state.waiting_failed.contains(pod.uid);
  if (told) {
    counting.released.push_back(&pod);
  } else if (succeeded && state.indexed) {
    if (!state.in_range(pod) || state.counted_indexes.has(pod.pod->completion_index)) {
      counting.released.push_back(&pod);
    } else {
      counting.indexes.push_back(pod.pod->completion_index);
    }
  } else if (succeeded) {
    counting.succeeded.push_back(pod.uid);
  } else if (!over && state.kept_for_its_count(pod)) {
    return;
  } else if ((failed || (over && !success)) && state.in_range(pod) && !state.ignored.contains(&pod)) {
    counting.failed.push_back(pod.uid);
  } else {
    counting.released.push_back(&pod);
  }
}

Counting count_pods(const JobState& state, bool over, bool success) {
  Counting counting;
  count_told(state, counting);
  for (const Item* pod : state.pods) {
    if (counting.succeeded.size() + counting.failed.size() + counting.indexes.size() >= kMostUncounted) {
      break;
    }
    if (pod->pod->tracked) {
      count_pod(state, *pod, over, success, counting);
    }
  }
  std::sort(counting.succeeded.begin(), counting.succeeded.end());
  std::sort(counting.failed.begin(), counting.failed.end());
  return counting;
}

void note_counts(const JobState& state, const Counting& counting, Object& status) {
  if (state.indexed) {
    IndexSet all = state.counted_indexes;
    all.add(counting.indexes);
    status["succeeded"] = all.size();
    if (all.size() > 0) {
      status["completedIndexes"] = all.text();
    }
    if (state.most_failures_per_index) {
      status["failedIndexes"] = state.failed_indexes.text();
    }
  } else {
    status["succeeded"] = whole_at(state.root, {"status", "succeeded"}) + counting.counted_succeeded;
  }
  status["failed"] = whole_at(state.root, {"status", "failed"}) + counting.counted_failed;
  for (const std::string_view key : {"succeeded", "failed"}) {
    if (status.at(key) == 0) {
      status[key] = nullptr;
    }
  }
  Object uncounted;
  uncounted["succeeded"] = counting.succeeded.empty() ? Value() : Value(texts(counting.succeeded));
  uncounted["failed"] = counting.failed.empty() ? Value() : Value(texts(counting.failed));
  status["uncountedTerminatedPods"] = std::move(uncounted);
}

// The conditions of a job that is over: first that it will be, then, when its pods are gone and counted, that it is.
void note_ending(const JobState& state, const Ending& ending, const Counting& counting, Object& status,
                 Array& conditions, Turn& turn) {
  const std::string_view first = ending.success ? "SuccessCriteriaMet" : "FailureTarget";
  set_condition(conditions, {first, "True", ending.reason, ending.message, {}, "lastProbeTime"}, turn.now());
  const bool open = !counting.succeeded.empty() || !counting.failed.empty() || !counting.indexes.empty() ||
                    state.terminating > 0 || !state.active.empty();
  if (open) {
    return;
  }
  set_condition(conditions,
                {ending.success ? "Complete" : "Failed", "True", ending.reason, ending.message, {}, "lastProbeTime"},
                turn.now());
  // A Job that is over has begun, but for one that has nothing to do and may not do it.
  const bool of_nothing = state.suspended() && state.completions == 0;
  if (text_at(state.root, {"status", "startTime"}).empty() && !of_nothing) {
    status["startTime"] = rfc3339(turn.now());
  }
  if (ending.success) {
    status["completionTime"] = rfc3339(turn.now());
    turn.tell(state.job, "Normal", "Completed", "Job completed");
  } else {
    turn.tell(state.job, "Warning", ending.reason, ending.message);
  }
}

// A finished job: goes when its time to live is over.
void after_the_end(const Item& job, const Object& root, Turn& turn) {
  const auto live = number_at(root, {"spec", "ttlSecondsAfterFinished"});
  if (!live || job.deleting()) {
    return;
  }
  std::int64_t ended = 0;
  for (const std::string_view type : {"Complete", "Failed"}) {
    if (const Value* condition = find_condition(root, type)) {
      ended = std::max(ended, time_at(*condition, {"lastTransitionTime"}));
    }
  }
  const Time end = turn.after(ended, std::chrono::seconds(*live));
  if (end <= turn.now()) {
    turn.remove(job, std::nullopt, "Foreground");
  } else {
    turn.again(end);
  }
}

void release_all(const std::vector<const Item*>& pods, Turn& turn) {
  turn.looked_at(pods.size());
  for (const Item* pod : pods) {
    if (pod->pod->tracked) {
      release_pod(*pod, turn);
    }
  }
}

}  // namespace

void sync_job(const Item& job, Turn& turn) {
  Object root = job.value();
  const std::string_view managed_by = text_at(root, {"spec", "managedBy"});
  if (!managed_by.empty() && managed_by != kJobController) {
    return;
  }
  if (condition_is(root, "Complete", "True") || condition_is(root, "Failed", "True")) {
    release_all(turn.view().controlled_by(job, Kind::kPod), turn);
    after_the_end(job, root, turn);
    return;
  }
  const Family family = claim(job, root, {Kind::kPod, kJobTracking}, turn);
  if (job.deleting()) {
    release_all(family.members, turn);
    return;
  }
  if (!family.settled) {
    return;
  }
  JobState state(job, std::move(root), family.members);
  Object status;
  Array conditions = conditions_of(state.root);
  std::optional<Ending> ending = decided_ending(state, turn);
  if (ending) {
    delete_active_pods(state, turn);
  } else if (has_all_it_needs(state)) {
    ending = Ending{true, "CompletionsReached", "Reached expected number of succeeded pods"};
  } else {
    const bool had_to_wait = text_at(state.root, {"status", "startTime"}).empty() && !state.suspended();
    manage_pods(state, turn);
    note_suspension(state, turn, status, conditions);
    if (had_to_wait && number_at(state.root, {"spec", "activeDeadlineSeconds"})) {
      turn.again(turn.now() + std::chrono::milliseconds(10));
    }
  }
  const Counting counting = count_pods(state, ending.has_value(), ending && ending->success);
  note_counts(state, counting, status);
  for (const Item* pod : counting.released) {
    release_pod(*pod, turn);
  }
  status["active"] = state.active.empty() ? Value() : Value(static_cast<std::int64_t>(state.active.size()));
  status["ready"] = state.ready;
  status["terminating"] = state.terminating;
  if (ending) {
    note_ending(state, *ending, counting, status, conditions, turn);
  }
  status["conditions"] = std::move(conditions);
  turn.patch_status(job, std::move(status));
}

}  // namespace gantree::controllers

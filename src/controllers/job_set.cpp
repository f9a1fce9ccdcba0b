// JobSets: the Jobs of each replicated job, started and stopped together.
#include "controllers/job_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "controllers/leader_worker_names.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

// No more are made at a time, so that one large set does not delay all others.
constexpr std::size_t kMostJobsAtATime = 200;
// A Job is read as a whole, which takes as long as a look at so many pods.
constexpr std::size_t kLooksOfOneJob = 5;

enum class JobEnd : std::uint8_t { kNone, kComplete, kFailed };

JobEnd end_of(const Object& job) {
  if (condition_is(job, "Failed", "True")) {
    return JobEnd::kFailed;
  }
  return condition_is(job, "Complete", "True") ? JobEnd::kComplete : JobEnd::kNone;
}

bool started(const Object& job) {
  const std::int64_t pods = std::min(whole_at(job, {"spec", "parallelism"}, 1),
                                     whole_at(job, {"spec", "completions"}, whole_at(job, {"spec", "parallelism"}, 1)));
  return whole_at(job, {"status", "succeeded"}) + whole_at(job, {"status", "ready"}) >= pods;
}

}  // namespace

JobSetState::JobSetState(const Item& the_set, Turn& turn) : set(the_set), root(the_set.value()) {
  restarts = whole_at(root, {"status", "restarts"});
  suspended = flag_at(root, {"spec", "suspend"});
  in_order = text_at(root, {"spec", "startupPolicy", "startupPolicyOrder"}) == "InOrder";
  if (const Array* all = array_at(root, {"spec", "replicatedJobs"})) {
    for (const Value& one : *all) {
      if (one.is_object()) {
        groups.push_back({.name = std::string(text_at(one, {"name"})),
                          .spec = &one.get_object(),
                          .replicas = whole_at(one, {"replicas"}, 1)});
      }
    }
  }
  for (const Item* item : turn.view().controlled_by(set, Kind::kJob)) {
    turn.looked_at(kLooksOfOneJob);
    Object job = item->value();
    const bool old = item->label(jobset::kRestartAttempt) != std::to_string(restarts);
    const auto at = std::find_if(groups.begin(), groups.end(), [&](const JobGroup& group) {
      return group.name == item->label(jobset::kReplicatedJob);
    });
    existing.insert(item->name);
    if (old || at == groups.end()) {
      previous.push_back(item);
      continue;
    }
    const JobEnd end = end_of(job);
    at->succeeded += end == JobEnd::kComplete ? 1 : 0;
    at->failed += end == JobEnd::kFailed ? 1 : 0;
    if (end == JobEnd::kFailed) {
      failed.push_back({item, std::move(job)});
    } else if (end == JobEnd::kNone) {
      at->ready += started(job) ? 1 : 0;
      at->active += whole_at(job, {"status", "active"}) > 0 ? 1 : 0;
      at->suspended += flag_at(job, {"spec", "suspend"}) ? 1 : 0;
      at->jobs.push_back({item, std::move(job)});
    }
  }
}

namespace {

bool met(const JobSetState& state) {
  const Array* targets = array_at(state.root, {"spec", "successPolicy", "targetReplicatedJobs"});
  const bool any = text_at(state.root, {"spec", "successPolicy", "operator"}) == "Any";
  bool all = true;
  bool some = false;
  for (const JobGroup& group : state.groups) {
    const bool counts =
        targets == nullptr || targets->empty() ||
        std::any_of(targets->begin(), targets->end(), [&](const Value& one) { return text_of(one) == group.name; });
    if (counts) {
      all = all && group.succeeded >= group.replicas;
      some = some || group.succeeded > 0;
    }
  }
  return any ? some : all;
}

bool dependencies_reached(const JobSetState& state, const JobGroup& group) {
  const Array* all = array_at(*group.spec, {"dependsOn"});
  for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
    const auto at = std::find_if(state.groups.begin(), state.groups.end(),
                                 [&](const JobGroup& other) { return other.name == text_at((*all)[i], {"name"}); });
    const bool complete = text_at((*all)[i], {"status"}) == "Complete";
    if (at == state.groups.end() ||
        (complete ? at->succeeded : at->ready + at->succeeded + at->failed) < at->replicas) {
      return false;
    }
  }
  return true;
}

bool all_started(const JobGroup& group) {
  return group.ready + group.succeeded + group.failed >= group.replicas;
}

// The Jobs of the group that are not there, or the first of them. False where others follow once these are answered, or
// there is no room for more.
bool create_missing(const JobSetState& state, const JobGroup& group, Turn& turn) {
  std::size_t made = 0;
  for (std::int64_t index = 0; index < group.replicas; ++index) {
    if (state.existing.contains(fmt::format("{}-{}-{}", state.set.name, group.name, index))) {
      continue;
    }
    if (++made > kMostJobsAtATime || !turn.create(state.set, Kind::kJob, jobset::make_job(state, group, index))) {
      return false;
    }
  }
  return true;
}

// Jobs that are missing.
void create_jobs(const JobSetState& state, Array& conditions, Turn& turn) {
  for (const JobGroup& group : state.groups) {
    if (!dependencies_reached(state, group)) {
      continue;
    }
    const bool ordered = state.in_order && !state.suspended;
    if (ordered && all_started(group)) {
      continue;
    }
    if (!create_missing(state, group, turn)) {
      return;
    }
    if (ordered) {
      jobset::note(state, conditions,
                   {"StartupPolicyInProgress", "True", "InOrderStartupPolicyInProgress",
                    "in order startup policy is in progress"},
                   turn);
      return;
    }
  }
  if (state.in_order && !state.suspended) {
    const bool was = condition_is(state.root, "StartupPolicyInProgress", "True");
    if (was) {
      jobset::note(state, conditions,
                   {"StartupPolicyInProgress", "False", "InOrderStartupPolicyInProgress",
                    "in order startup policy is in progress"},
                   turn);
    }
    jobset::note(
        state, conditions,
        {"StartupPolicyCompleted", "True", "InOrderStartupPolicyCompleted", "in order startup policy has completed"},
        turn);
  }
}

void suspend_jobs(const JobSetState& state, Array& conditions, Turn& turn) {
  for (const JobGroup& group : state.groups) {
    for (const auto& [item, root] : group.jobs) {
      if (!flag_at(root, {"spec", "suspend"})) {
        turn.patch(*item, Object{{"spec", Object{{"suspend", true}}}});
      }
    }
  }
  jobset::note(state, conditions, {"Suspended", "True", "SuspendedJobs", "jobset is suspended"}, turn);
  jobset::note(state, conditions, {"Restarting", "False", "JobSetSuspended", "jobset is suspended"}, turn);
}

void resume_jobs(const JobSetState& state, Array& conditions, Turn& turn) {
  for (const JobGroup& group : state.groups) {
    if (!dependencies_reached(state, group) || (state.in_order && all_started(group))) {
      continue;
    }
    for (const auto& [item, root] : group.jobs) {
      if (flag_at(root, {"spec", "suspend"})) {
        jobset::resume_job(*item, root, group, turn);
      }
    }
    if (state.in_order) {
      break;
    }
  }
  if (condition_is(state.root, "Suspended", "True")) {
    jobset::note(state, conditions, {"Suspended", "False", "ResumeJobs", "jobset is resumed"}, turn);
  }
}

Array group_statuses(const JobSetState& state) {
  Array all;
  for (const JobGroup& group : state.groups) {
    all.push_back(Object{{"name", group.name},
                         {"ready", group.ready},
                         {"succeeded", group.succeeded},
                         {"failed", group.failed},
                         {"active", group.active},
                         {"suspended", group.suspended}});
  }
  return all;
}

void after_the_end(const JobSetState& state, Turn& turn) {
  for (const JobGroup& group : state.groups) {
    for (const auto& [item, root] : group.jobs) {
      if (!item->deleting()) {
        turn.remove(*item, std::nullopt, "Foreground");
      }
    }
  }
  const auto live = number_at(state.root, {"spec", "ttlSecondsAfterFinished"});
  if (!live) {
    return;
  }
  std::int64_t ended = 0;
  for (const std::string_view type : {"Completed", "Failed"}) {
    if (const Value* condition = find_condition(state.root, type)) {
      ended = std::max(ended, time_at(*condition, {"lastTransitionTime"}));
    }
  }
  const Time end = turn.after(ended, std::chrono::seconds(*live));
  if (end <= turn.now()) {
    turn.remove(state.set, std::nullopt, "Foreground");
  } else {
    turn.again(end);
  }
}

void advance(const JobSetState& state, Object& status, Array& conditions, Turn& turn) {
  for (const Item* job : state.previous) {
    if (!job->deleting()) {
      turn.remove(*job, std::nullopt, "Foreground");
    }
  }
  if (!state.suspended && std::all_of(state.groups.begin(), state.groups.end(), all_started)) {
    jobset::note(state, conditions, {"Restarting", "False", "JobsReady", "all jobs are ready"}, turn);
  }
  if (!state.failed.empty()) {
    jobset::handle_failure(state, status, conditions, turn);
    return;
  }
  const bool some =
      std::any_of(state.groups.begin(), state.groups.end(), [](const JobGroup& g) { return g.succeeded > 0; });
  if (some && met(state)) {
    jobset::note(state, conditions, {"Completed", "True", "AllJobsCompleted", "jobset completed successfully"}, turn);
    jobset::note(state, conditions, {"Restarting", "False", "JobSetCompleted", "jobset completed successfully"}, turn);
    status["terminalState"] = "Completed";
    return;
  }
  if (state.existing.empty() && flag_at(state.root, {"spec", "network", "enableDNSHostnames"}, true)) {
    const std::string_view own = text_at(state.root, {"spec", "network", "subdomain"});
    turn.create(state.set, Kind::kService,
                headless_service(state.set, own.empty() ? std::string_view(state.set.name) : own,
                                 Object{{jobset::kName, state.set.name}}));
  }
  create_jobs(state, conditions, turn);
  if (state.suspended) {
    suspend_jobs(state, conditions, turn);
  } else {
    resume_jobs(state, conditions, turn);
  }
}

}  // namespace

void sync_job_set(const Item& set, Turn& turn) {
  const JobSetState state(set, turn);
  const std::string_view managed_by = text_at(state.root, {"spec", "managedBy"});
  if (set.deleting() || (!managed_by.empty() && managed_by != jobset::kController)) {
    return;
  }
  Object status;
  Array conditions = conditions_of(state.root);
  status["restarts"] = state.restarts;
  status["replicatedJobsStatus"] = group_statuses(state);
  if (condition_is(state.root, "Completed", "True") || condition_is(state.root, "Failed", "True")) {
    after_the_end(state, turn);
  } else {
    advance(state, status, conditions, turn);
  }
  status["conditions"] = std::move(conditions);
  turn.patch_status(set, std::move(status));
}

}  // namespace gantree::controllers

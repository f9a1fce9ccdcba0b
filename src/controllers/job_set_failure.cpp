// The failure policy of JobSets. Restarts of single jobs are behind a gate that is closed by default in the real one:
// such rules start the whole set anew.
#include <fmt/format.h>

#include <algorithm>

#include "apiserver/pattern.h"
#include "controllers/job_set.h"

namespace gantree::controllers::jobset {

namespace {

struct Match {
  const Item* job = nullptr;
  const Value* rule = nullptr;  // nullptr: none matches
};

std::int64_t failed_at(const Object& job) {
  const Value* condition = find_condition(job, "Failed");
  return condition == nullptr ? 0 : time_at(*condition, {"lastTransitionTime"});
}

// An empty list names all.
bool among(const Array* list, std::string_view text) {
  return list == nullptr || list->empty() ||
         std::any_of(list->begin(), list->end(), [&](const Value& one) { return text_of(one) == text; });
}

// An empty list matches all; a pattern that cannot be read matches nothing.
bool matches_any(const Array* patterns, std::string_view text) {
  return patterns == nullptr || patterns->empty() ||
         std::any_of(patterns->begin(), patterns->end(), [&](const Value& one) {
           const auto pattern = apiserver::Pattern::compile(text_of(one));
           return pattern && (*pattern)->matches(text);
         });
}

bool applies(const Value& rule, const Item& job, const Object& root) {
  const Value* condition = find_condition(root, "Failed");
  const auto said = [&](std::string_view key) {
    return condition == nullptr ? std::string_view() : text_at(*condition, {key});
  };
  const std::string_view reason = said("reason");
  return matches_any(array_at(rule, {"onJobFailureMessagePatterns"}), said("message")) &&
         among(array_at(rule, {"targetReplicatedJobs"}), job.label(kReplicatedJob)) &&
         among(array_at(rule, {"onJobFailureReasons"}), reason);
}

// The first rule that any job meets, and the job that met it first; else the job that failed first.
Match find_match(const JobSetState& state) {
  const auto first = [&](const Value* rule) {
    const Item* found = nullptr;
    std::int64_t time = 0;
    for (const auto& [job, root] : state.failed) {
      if ((rule == nullptr || applies(*rule, *job, root)) && (found == nullptr || failed_at(root) < time)) {
        found = job;
        time = failed_at(root);
      }
    }
    return found;
  };
  const Array* rules = array_at(state.root, {"spec", "failurePolicy", "rules"});
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    if (const Item* job = first(&(*rules)[i])) {
      return {job, &(*rules)[i]};
    }
  }
  return {first(nullptr), nullptr};
}

void fail(const JobSetState& state, std::string_view reason, const std::string& message, Object& status,
          Array& conditions, Turn& turn) {
  note(state, conditions, {"Failed", "True", reason, message}, turn);
  note(state, conditions, {"Restarting", "False", "JobSetFailed", "jobset failed"}, turn);
  status["terminalState"] = "Failed";
}

void restart(const JobSetState& state, const Match& match, bool counts, Object& status, Array& conditions, Turn& turn) {
  const std::string_view action = counts ? "RestartJobSet" : "RestartJobSetAndIgnoreMaxRestarts";
  const std::string message =
      fmt::format("applying {} failure policy action (first failed job: {})", action, match.job->name);
  const std::string reason = match.rule == nullptr ? std::string("DefaultFailurePolicy")
                                                   : fmt::format("FailurePolicy_{}", text_at(*match.rule, {"name"}));
  status["restarts"] = state.restarts + 1;
  status["restartsCountTowardsMax"] = whole_at(state.root, {"status", "restartsCountTowardsMax"}) + (counts ? 1 : 0);
  note(state, conditions, {"Restarting", "True", reason, message}, turn);
  turn.tell(state.set, "Warning", fmt::format("{}FailurePolicyAction", action), message);
}

}  // namespace

void note(const JobSetState& state, Array& conditions, const Condition& condition, Turn& turn) {
  const bool known = std::any_of(conditions.begin(), conditions.end(), [&](const Value& one) {
    return text_at(one, {"type"}) == condition.type && text_at(one, {"status"}) != condition.status;
  });
  // Only what changes is news, and what never was does not end.
  const bool begins = condition.status == "True";
  if ((begins || known) && set_condition(conditions, condition, turn.now())) {
    turn.tell(state.set,
              condition.type == "Failed" || (condition.type == "Restarting" && begins) ? "Warning" : "Normal",
              condition.reason, condition.message);
  }
}

void handle_failure(const JobSetState& state, Object& status, Array& conditions, Turn& turn) {
  const Match match = find_match(state);
  const auto with_job = [&](std::string_view message) {
    return fmt::format("{} (first failed job: {})", message, match.job->name);
  };
  if (object_at(state.root, {"spec", "failurePolicy"}) == nullptr) {
    fail(state, "FailedJobs", with_job("jobset failed due to one or more job failures"), status, conditions, turn);
    return;
  }
  const std::string_view action =
      match.rule == nullptr ? std::string_view("RestartJobSet") : text_at(*match.rule, {"action"});
  const bool counts = !action.ends_with("AndIgnoreMaxRestarts");
  const bool exhausted = whole_at(state.root, {"status", "restartsCountTowardsMax"}) >=
                         whole_at(state.root, {"spec", "failurePolicy", "maxRestarts"});
  if (action == "FailJobSet") {
    fail(state, "FailJobSetFailurePolicyAction", with_job("applying FailJobSet failure policy action"), status,
         conditions, turn);
  } else if (counts && exhausted) {
    fail(state, "ReachedMaxRestarts", with_job("jobset failed due to reaching max number of restarts"), status,
         conditions, turn);
  } else {
    restart(state, match, counts, status, conditions, turn);
  }
}

}  // namespace gantree::controllers::jobset

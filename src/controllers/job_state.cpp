#include "controllers/job_state.h"

#include <algorithm>
#include <utility>

namespace gantree::controllers {

namespace {

std::unordered_set<std::string> uids(const Object& root, std::string_view list) {
  std::unordered_set<std::string> all;
  const Array* found = array_at(root, {"status", "uncountedTerminatedPods", list});
  for (std::size_t i = 0; found != nullptr && i < found->size(); ++i) {
    all.emplace(text_of((*found)[i]));
  }
  return all;
}

}  // namespace

JobState::JobState(const Item& the_job, Object the_root, std::vector<const Item*> the_pods)
    : job(the_job), root(std::move(the_root)), pods(std::move(the_pods)) {
  indexed = text_at(root, {"spec", "completionMode"}) == "Indexed";
  only_failed_replaced = text_at(root, {"spec", "podReplacementPolicy"}) == "Failed" ||
                         object_at(root, {"spec", "podFailurePolicy"}) != nullptr;
  parallelism = whole_at(root, {"spec", "parallelism"}, 1);
  completions = number_at(root, {"spec", "completions"});
  if (indexed) {
    most_failures_per_index = number_at(root, {"spec", "backoffLimitPerIndex"});
  }
  waiting_succeeded = uids(root, "succeeded");
  waiting_failed = uids(root, "failed");
  counted_indexes = IndexSet(text_at(root, {"status", "completedIndexes"}), completions.value_or(0));
  failed_indexes = IndexSet(text_at(root, {"status", "failedIndexes"}), completions.value_or(0));
  read_failures();
  read_ends();
}

// What the rules make of pods that failed.
void JobState::read_failures() {
  if (object_at(root, {"spec", "podFailurePolicy"}) == nullptr && !most_failures_per_index) {
    return;
  }
  for (const Item* pod : pods) {
    if (pod->pod->phase != Phase::kFailed || !in_range(*pod)) {
      continue;
    }
    const Object value = pod->value();
    Judgement judgement = judge(root, *pod, value);
    if (judgement.verdict == Verdict::kIgnore) {
      ignored.insert(pod);
    } else if (judgement.verdict == Verdict::kFailJob && !fails_by_rule) {
      fails_by_rule = std::move(judgement.message);
    }
    if (most_failures_per_index) {
      add_failure(failures, *pod, value, judgement.verdict);
    }
  }
  std::vector<std::int64_t> over;
  for (const auto& [index, known] : failures) {
    if (known.fails_index || known.counted > *most_failures_per_index) {
      over.push_back(index);
    }
  }
  failed_indexes.add(over);
}

void JobState::read_ends() {
  succeeded_indexes = counted_indexes;
  std::vector<std::int64_t> new_indexes;
  succeeded = whole_at(root, {"status", "succeeded"}) + static_cast<std::int64_t>(waiting_succeeded.size());
  failed = whole_at(root, {"status", "failed"}) + static_cast<std::int64_t>(waiting_failed.size());
  for (const Item* pod : pods) {
    if (pod->active()) {
      active.push_back(pod);
      ready += pod->pod->ready ? 1 : 0;
    } else if (!pod->finished()) {
      ++terminating;
    }
    if (pod->pod->phase == Phase::kSucceeded && indexed) {
      if (in_range(*pod)) {
        new_indexes.push_back(pod->pod->completion_index);
      }
    } else if (uncounted(*pod)) {
      succeeded += pod->pod->phase == Phase::kSucceeded ? 1 : 0;
      failed += counts_as_failed(*pod) && !ignored.contains(pod) ? 1 : 0;
    }
  }
  if (indexed) {
    succeeded_indexes.add(new_indexes);
    succeeded = succeeded_indexes.size();
  }
}

bool JobState::counts_as_failed(const Item& pod) const {
  if (pod.pod->phase == Phase::kFailed) {
    return true;
  }
  // One that is deleted from under the job will be replaced, and counts as a failure.
  return !only_failed_replaced && pod.deleting() && pod.pod->phase != Phase::kSucceeded;
}

bool JobState::uncounted(const Item& pod) const {
  return pod.pod->tracked && in_range(pod) && !waiting_succeeded.contains(pod.uid) && !waiting_failed.contains(pod.uid);
}

bool JobState::kept_for_its_count(const Item& pod) const {
  if (!most_failures_per_index || pod.pod->phase != Phase::kFailed) {
    return false;
  }
  const std::int64_t index = pod.pod->completion_index;
  const auto at = failures.find(index);
  if (at == failures.end() || at->second.last != &pod || failed_indexes.has(index) || succeeded_indexes.has(index)) {
    return false;
  }
  return std::none_of(active.begin(), active.end(),
                      [&](const Item* other) { return other->pod->completion_index == index; });
}

bool JobState::in_range(const Item& pod) const {
  const std::int64_t index = pod.pod->completion_index;
  return !indexed || (index >= 0 && index < completions.value_or(0));
}

}  // namespace gantree::controllers

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "controllers/job_state.h"
#include "controllers/names.h"

namespace gantree::controllers {

namespace {

// No more pods are made or deleted at a time, so that one large job does not hold up all others.
constexpr std::size_t kMostAtATime = 500;
constexpr std::chrono::seconds kFirstBackoff{10};
constexpr std::chrono::seconds kLongestBackoff{600};

// In the order in which they are given up: those that have come least far.
bool goes_before(const Item* a, const Item* b) {
  const auto rank = [](const Item& pod) {
    return std::tuple(!pod.pod->node.empty(), pod.pod->phase == Phase::kRunning, pod.pod->ready, -pod.created);
  };
  return std::tuple(rank(*a), a->name) < std::tuple(rank(*b), b->name);
}

void give_up(JobState& state, std::vector<const Item*> pods, Turn& turn) {
  if (pods.size() > kMostAtATime) {
    pods.resize(kMostAtATime);
  }
  const std::unordered_set<const Item*> going(pods.begin(), pods.end());
  for (const Item* pod : pods) {
    if (pod->pod->tracked) {
      release_pod(*pod, turn);
    }
    turn.remove(*pod);
    state.ready -= pod->pod->ready ? 1 : 0;
    ++state.terminating;
  }
  turn.tell_deleted(state.job, pods, "Deleted pod: ");
  std::erase_if(state.active, [&](const Item* pod) { return going.contains(pod); });
}

// Pods of an index twice, or of an index that the job has no more; then as many others as must go.
std::vector<const Item*> superfluous(const JobState& state, std::size_t at_least) {
  std::vector<const Item*> going;
  std::vector<const Item*> staying = state.active;
  std::sort(staying.begin(), staying.end(), goes_before);
  if (state.indexed) {
    // The one that has come furthest stays.
    std::unordered_set<std::int64_t> seen;
    std::vector<const Item*> once;
    for (auto pod = staying.rbegin(); pod != staying.rend(); ++pod) {
      const bool stays = state.in_range(**pod) && seen.insert((*pod)->pod->completion_index).second;
      (stays ? once : going).push_back(*pod);
    }
    staying = std::move(once);
    // Of different indexes the highest go first.
    std::sort(staying.begin(), staying.end(),
              [](const Item* a, const Item* b) { return a->pod->completion_index > b->pod->completion_index; });
  }
  for (std::size_t i = 0; going.size() < at_least && i < staying.size(); ++i) {
    going.push_back(staying[i]);
  }
  return going;
}

// Since the last pod that succeeded: how many failed, and when the last of them.
std::optional<Time> may_create_at(const JobState& state, Turn& turn) {
  const auto ended = [](const Item& pod) {
    return pod.pod->finished != 0 ? pod.pod->finished : pod.deleted.value_or(0);
  };
  std::int64_t last_success = 0;
  for (const Item* pod : state.pods) {
    if (pod->pod->phase == Phase::kSucceeded) {
      last_success = std::max(last_success, ended(*pod));
    }
  }
  std::int64_t last_failure = 0;
  int failures = 0;
  for (const Item* pod : state.pods) {
    if (pod->pod->phase == Phase::kFailed && ended(*pod) > last_success) {
      ++failures;
      last_failure = std::max(last_failure, ended(*pod));
    }
  }
  if (failures == 0) {
    return std::nullopt;
  }
  const auto pause = std::min(kFirstBackoff * (1 << std::min(failures - 1, 10)), kLongestBackoff);
  return turn.after(last_failure, pause);
}

// May an index have its next pod? Where each has its own failures, each waits for itself.
bool may_come_back(const JobState& state, std::int64_t index, Turn& turn) {
  const auto at = state.failures.find(index);
  if (!state.most_failures_per_index || at == state.failures.end()) {
    return true;
  }
  const Item& last = *at->second.last;
  const auto doublings = std::clamp<std::int64_t>(at->second.all() - 1, 0, 10);
  const auto pause = std::min(kFirstBackoff * (1 << doublings), kLongestBackoff);
  const Time end = turn.after(last.pod->finished != 0 ? last.pod->finished : last.created, pause);
  if (end > turn.now()) {
    turn.again(end);
    return false;
  }
  return true;
}

std::vector<std::int64_t> missing_indexes(const JobState& state, std::size_t most, Turn& turn) {
  std::unordered_set<std::int64_t> taken;
  for (const Item* pod : state.active) {
    taken.insert(pod->pod->completion_index);
  }
  if (state.only_failed_replaced) {
    for (const Item* pod : state.pods) {
      if (pod->deleting() && !pod->finished()) {
        taken.insert(pod->pod->completion_index);
      }
    }
  }
  std::vector<std::int64_t> indexes;
  for (std::int64_t i = 0; i < state.completions.value_or(0) && indexes.size() < most; ++i) {
    // Millions may be behind it already.
    if (const std::int64_t next = state.failed_indexes.first_missing(state.succeeded_indexes.first_missing(i));
        next > i) {
      i = next - 1;
      continue;
    }
    if (!taken.contains(i) && may_come_back(state, i, turn)) {
      indexes.push_back(i);
    }
  }
  return indexes;
}

Object base_pod(const JobState& state) {
  const Object* pod_template = object_at(state.root, {"spec", "template"});
  Object pod = pod_from_template(pod_template == nullptr ? Object() : *pod_template, state.job);
  Object& metadata = object_in(pod, "metadata");
  metadata["generateName"] = state.job.name + "-";
  Value& finalizers = metadata["finalizers"];
  if (!finalizers.is_array()) {
    finalizers = Array();
  }
  finalizers.get_array().push_back(Value(kJobTracking));
  for (const auto& [key, value] : {std::pair(kJobControllerUid, std::string_view(state.job.uid)),
                                   std::pair(kJobName, std::string_view(state.job.name)),
                                   std::pair(std::string_view("controller-uid"), std::string_view(state.job.uid)),
                                   std::pair(std::string_view("job-name"), std::string_view(state.job.name))}) {
    set_label(pod, key, value);
  }
  return pod;
}

Object with_index(Object pod, const JobState& state, std::int64_t index) {
  const std::string number = std::to_string(index);
  object_in(pod, "metadata")["generateName"] = fmt::format("{}-{}-", state.job.name, index);
  set_label(pod, kCompletionIndex, number);
  set_annotation(pod, kCompletionIndex, number);
  if (state.most_failures_per_index) {
    note_failures(pod, state.failures, index);
  }
  object_in(pod, "spec")["hostname"] = fmt::format("{}-{}", state.job.name, index);
  return pod;
}

void create_pods(JobState& state, std::size_t wanted, Turn& turn) {
  wanted = std::min(wanted, kMostAtATime);
  Object pod = base_pod(state);
  const auto notice = turn.will_tell(state.job, "Created pod: ");
  if (!state.indexed) {
    for (std::size_t i = 0; i < wanted && turn.create(state.job, Kind::kPod, pod, notice); ++i) {
    }
    return;
  }
  add_environment(
      object_in(pod, "spec"), "JOB_COMPLETION_INDEX",
      Object{{"valueFrom",
              Object{{"fieldRef", Object{{"fieldPath", fmt::format("metadata.labels['{}']", kCompletionIndex)}}}}}});
  const auto indexes = missing_indexes(state, wanted, turn);
  for (const std::int64_t index : indexes) {
    if (!turn.create(state.job, Kind::kPod, with_index(pod, state, index), notice)) {
      return;
    }
  }
}

std::int64_t wanted_active(const JobState& state) {
  const auto active = static_cast<std::int64_t>(state.active.size());
  if (!state.completions) {
    // Whoever works on a queue ends by itself once one has found it empty.
    return state.succeeded > 0 ? active : state.parallelism;
  }
  return std::clamp<std::int64_t>(*state.completions - state.succeeded - state.failed_indexes.size(), 0,
                                  state.parallelism);
}

}  // namespace

void release_pod(const Item& pod, Turn& turn) {
  const Object root = pod.value();
  Array left;
  if (const Array* all = array_at(root, {"metadata", "finalizers"})) {
    for (const Value& one : *all) {
      if (text_of(one) != kJobTracking) {
        left.push_back(one);
      }
    }
  }
  Object metadata;
  metadata["finalizers"] = left.empty() ? Value() : Value(std::move(left));
  // Somebody else's finalizer that comes meanwhile is not to be lost.
  metadata["resourceVersion"] = std::to_string(pod.version);
  turn.patch(pod, Object{{"metadata", std::move(metadata)}});
}

void delete_active_pods(JobState& state, Turn& turn) {
  give_up(state, state.active, turn);
}

void manage_pods(JobState& state, Turn& turn) {
  if (state.suspended()) {
    delete_active_pods(state, turn);
    return;
  }
  const auto active = static_cast<std::int64_t>(state.active.size());
  const std::int64_t wanted = wanted_active(state);
  const auto going = superfluous(state, static_cast<std::size_t>(std::max<std::int64_t>(active - wanted, 0)));
  if (!going.empty()) {
    give_up(state, going, turn);
    return;
  }
  const std::int64_t missing = wanted - active - (state.only_failed_replaced ? state.terminating : 0);
  if (missing <= 0) {
    return;
  }
  const auto at = state.most_failures_per_index ? std::nullopt : may_create_at(state, turn);
  if (at && *at > turn.now()) {
    turn.again(*at);
    return;
  }
  create_pods(state, static_cast<std::size_t>(missing), turn);
}

}  // namespace gantree::controllers

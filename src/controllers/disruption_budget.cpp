// PodDisruptionBudgets: how many of the pods they select may be missing now.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

// How many pods those that own the selected pods want there to be.
std::int64_t expected_pods(const std::vector<const Item*>& pods, const Turn& turn) {
  std::map<std::string, std::int64_t> by_owner;
  std::int64_t alone = 0;
  for (const Item* pod : pods) {
    if (pod->owner.empty()) {
      ++alone;
      continue;
    }
    const Item* owner = turn.view().find_uid(pod->owner);
    if (owner == nullptr) {
      ++by_owner[pod->owner];
      continue;
    }
    const bool replicated = owner->kind == Kind::kReplicaSet || owner->kind == Kind::kStatefulSet;
    if (replicated && !by_owner.contains(pod->owner)) {
      by_owner[pod->owner] = whole_at(owner->value(), {"spec", "replicas"}, 1);
    } else if (!replicated) {
      ++by_owner[pod->owner];
    }
  }
  std::int64_t all = alone;
  for (const auto& [owner, count] : by_owner) {
    all += count;
  }
  return all;
}

// Those that an eviction was granted for, and whose end has not been seen yet. A deletion can still be refused: after
// this time the pod counts again.
constexpr std::chrono::minutes kDeletionTimeout{2};

struct Disrupted {
  std::set<std::string, std::less<>> expected;  // by name: as good as gone
  Object settled;                               // as null: no longer to be named
};

Disrupted disrupted_pods(const Item& budget, const Object& root, Turn& turn) {
  Disrupted result;
  const Object* named = object_at(root, {"status", "disruptedPods"});
  if (named == nullptr) {
    return result;
  }
  for (const auto& member : *named) {
    const std::string name(member.key());
    const Item* pod = turn.view().find(Kind::kPod, budget.ns, name);
    const Time end = turn.after(time_at(*named, {name}), kDeletionTimeout);
    if (pod != nullptr && !pod->deleting() && end > turn.now()) {
      result.expected.emplace(name);
      turn.again(end);
      continue;
    }
    result.settled[name] = nullptr;
    if (pod != nullptr && !pod->deleting()) {
      turn.tell(*pod, "Warning", "NotDeleted",
                fmt::format("Pod was expected by PDB {}/{} to be deleted but it wasn't", budget.ns, budget.name));
    }
  }
  return result;
}

}  // namespace

void sync_disruption_budget(const Item& budget, Turn& turn) {
  const Object root = budget.value();
  const Object* selector = object_at(root, {"spec", "selector"});
  std::vector<const Item*> pods;
  if (selector != nullptr) {
    for (const Item* pod : turn.view().in_namespace(Kind::kPod, budget.ns)) {
      turn.looked_at(1);
      if (!pod->finished() && selects(selector, pod->labels)) {
        pods.push_back(pod);
      }
    }
  }
  const std::int64_t expected = expected_pods(pods, turn);
  Disrupted disrupted = disrupted_pods(budget, root, turn);
  const std::int64_t healthy = std::count_if(pods.begin(), pods.end(), [&](const Item* pod) {
    return pod->active() && pod->pod->ready && !disrupted.expected.contains(pod->name);
  });
  std::int64_t desired = 0;
  if (find(root, {"spec", "maxUnavailable"}) != nullptr) {
    desired = expected - share_at(root, {"spec", "maxUnavailable"}, expected, true, 0);
  } else {
    desired = share_at(root, {"spec", "minAvailable"}, expected, true, 1);
  }
  desired = std::max<std::int64_t>(desired, 0);
  const std::int64_t allowed = expected == 0 ? 0 : std::max<std::int64_t>(healthy - desired, 0);
  Object status;
  status["observedGeneration"] = budget.generation;
  status["currentHealthy"] = healthy;
  status["desiredHealthy"] = desired;
  status["expectedPods"] = expected;
  status["disruptionsAllowed"] = allowed;
  if (!disrupted.settled.empty()) {
    status["disruptedPods"] = std::move(disrupted.settled);
  }
  Array conditions = conditions_of(root);
  set_condition(conditions,
                {"DisruptionAllowed", allowed > 0 ? "True" : "False",
                 allowed > 0 ? "SufficientPods" : "InsufficientPods", "", budget.generation},
                turn.now());
  status["conditions"] = std::move(conditions);
  turn.patch_status(budget, std::move(status));
}

}  // namespace gantree::controllers

#include "controllers/replica_set.h"

#include <algorithm>

#include "controllers/family.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

void scale(const Item& owner, const Object& root, std::vector<const Item*> active, Turn& turn) {
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(whole_at(root, {"spec", "replicas"}, 1), 0));
  if (active.size() < wanted) {
    const Object* pod_template = object_at(root, {"spec", "template"});
    Object pod = pod_from_template(pod_template == nullptr ? Object() : *pod_template, owner);
    object_in(pod, "metadata")["generateName"] = owner.name + "-";
    const std::size_t missing = std::min(wanted - active.size(), kMostPodsAtATime);
    const auto notice = turn.will_tell(owner, "Created pod: ");
    for (std::size_t i = 0; i < missing && turn.create(owner, Kind::kPod, pod, notice); ++i) {
    }
  } else if (active.size() > wanted) {
    sort_for_removal(active);
    active.resize(std::min(active.size() - wanted, kMostPodsAtATime));
    for (const Item* pod : active) {
      turn.remove(*pod);
    }
    turn.tell_deleted(owner, active, "Deleted pod: ");
  }
}

}  // namespace

bool available(const Item& pod, std::int64_t min_ready_seconds, Turn& turn) {
  if (!pod.pod->ready || min_ready_seconds <= 0) {
    return pod.pod->ready;
  }
  const Time at = turn.after(pod.pod->ready_since, std::chrono::seconds(min_ready_seconds));
  if (at > turn.now()) {
    turn.again(at);
    return false;
  }
  return true;
}

void sort_for_removal(std::vector<const Item*>& pods) {
  const auto rank = [](const Item& pod) {
    return std::tuple(!pod.pod->node.empty(), pod.pod->phase == Phase::kRunning, pod.pod->ready, -pod.created);
  };
  std::sort(pods.begin(), pods.end(), [&](const Item* a, const Item* b) {
    return std::tuple(rank(*a), a->name) < std::tuple(rank(*b), b->name);
  });
}

void sync_replica_set(const Item& replica_set, Turn& turn) {
  const Object root = replica_set.value();
  const auto is_active = [](const Item& pod) { return pod.active(); };
  const Family family = claim(replica_set, root, {Kind::kPod, {}, is_active}, turn);
  if (!family.settled) {
    return;
  }
  std::vector<const Item*> active;
  std::copy_if(family.members.begin(), family.members.end(), std::back_inserter(active),
               [](const Item* pod) { return pod->active(); });
  if (!replica_set.deleting()) {
    scale(replica_set, root, active, turn);
  }
  const std::int64_t min_ready = whole_at(root, {"spec", "minReadySeconds"});
  std::int64_t ready = 0;
  std::int64_t now_available = 0;
  for (const Item* pod : active) {
    ready += pod->pod->ready ? 1 : 0;
    now_available += available(*pod, min_ready, turn) ? 1 : 0;
  }
  const auto or_nothing = [](std::int64_t count) { return count == 0 ? Value() : Value(count); };
  Object status;
  status["replicas"] = static_cast<std::int64_t>(active.size());
  status["fullyLabeledReplicas"] = or_nothing(static_cast<std::int64_t>(active.size()));
  status["readyReplicas"] = or_nothing(ready);
  status["availableReplicas"] = or_nothing(now_available);
  status["observedGeneration"] = replica_set.generation;
  turn.patch_status(replica_set, std::move(status));
}

}  // namespace gantree::controllers

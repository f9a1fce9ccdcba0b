// Nodes and what depends on them: readiness, taints, pods that have to leave or have been left behind.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controllers/job_state.h"
#include "controllers/names.h"
#include "controllers/pod_status.h"
#include "controllers/tasks.h"
#include "controllers/tolerations.h"

namespace gantree::controllers {

namespace {

constexpr std::string_view kSilent = "Kubelet stopped posting node status.";

Condition node_condition(std::string_view type, std::string_view status, std::string_view reason,
                         std::string_view message) {
  return {type, status, reason, message, {}, "lastHeartbeatTime"};
}

// What a kubelet says of itself when it comes, or comes back.
Object ready_status(const Object& node, Time now) {
  Object status;
  Array conditions = conditions_of(node);
  for (const auto& [type, reason] :
       {std::pair("MemoryPressure", "KubeletHasSufficientMemory"),
        std::pair("DiskPressure", "KubeletHasNoDiskPressure"), std::pair("PIDPressure", "KubeletHasSufficientPID")}) {
    set_condition(conditions, node_condition(type, "False", reason, "simulated"), now);
  }
  set_condition(conditions, node_condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"), now);
  status["conditions"] = std::move(conditions);
  const Object* capacity = object_at(node, {"status", "capacity"});
  if (capacity != nullptr && object_at(node, {"status", "allocatable"}) == nullptr) {
    status["allocatable"] = *capacity;
  }
  return status;
}

Object not_ready_status(const Object& node, Time now) {
  Array conditions = conditions_of(node);
  set_condition(conditions, node_condition("Ready", "False", "KubeletNotReady", "told so by an annotation"), now);
  return Object{{"conditions", std::move(conditions)}};
}

Object silent_status(const Object& node, Time now) {
  Object status;
  Array conditions = conditions_of(node);
  for (const std::string_view type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}) {
    set_condition(conditions, node_condition(type, "Unknown", "NodeStatusUnknown", kSilent), now);
  }
  status["conditions"] = std::move(conditions);
  return status;
}

// True where the status has to change first.
bool keep_readiness(const Item& node, Turn& turn) {
  const NodeFacts& facts_of_node = *node.node;
  if (facts_of_node.failed_since == 0) {
    if (facts_of_node.ready == (facts_of_node.not_ready ? "False" : "True")) {
      return false;
    }
    turn.patch_status(node, facts_of_node.not_ready ? not_ready_status(node.value(), turn.now())
                                                    : ready_status(node.value(), turn.now()));
    return true;
  }
  if (facts_of_node.ready != "True" && !facts_of_node.ready.empty()) {
    return false;
  }
  if (const Time end = turn.after(facts_of_node.failed_since, turn.options().node_grace); end > turn.now()) {
    turn.again(end);
    return false;
  }
  turn.patch_status(node, silent_status(node.value(), turn.now()));
  turn.tell(node, "Normal", "NodeNotReady", fmt::format("Node {} status is now: NodeNotReady", node.name));
  return true;
}

std::vector<Taint> wanted_taints(const NodeFacts& node) {
  std::vector<Taint> wanted;
  if (node.ready == "False" || node.ready == "Unknown") {
    const std::string key(node.ready == "False" ? kTaintNotReady : kTaintUnreachable);
    wanted.push_back({.key = key, .value = "", .effect = "NoSchedule"});
    wanted.push_back({.key = key, .value = "", .effect = "NoExecute"});
  }
  if (node.unschedulable) {
    wanted.push_back({.key = std::string(kTaintUnschedulable), .value = "", .effect = "NoSchedule"});
  }
  return wanted;
}

bool is_ours(std::string_view key) {
  return key == kTaintNotReady || key == kTaintUnreachable || key == kTaintUnschedulable;
}

void keep_taints(const Item& node, Turn& turn) {
  const std::vector<Taint> wanted = wanted_taints(*node.node);
  const auto has = [](const std::vector<Taint>& all, const Taint& one) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Taint& other) { return other.key == one.key && other.effect == one.effect; });
  };
  const bool right =
      std::all_of(wanted.begin(), wanted.end(), [&](const Taint& t) { return has(node.node->taints, t); }) &&
      std::all_of(node.node->taints.begin(), node.node->taints.end(),
                  [&](const Taint& t) { return !is_ours(t.key) || has(wanted, t); });
  if (right) {
    return;
  }
  const Object root = node.value();
  Array taints;
  if (const Array* all = array_at(root, {"spec", "taints"})) {
    for (const Value& one : *all) {
      const Taint taint{std::string(text_at(one, {"key"})), "", std::string(text_at(one, {"effect"}))};
      if (!is_ours(taint.key) || has(wanted, taint)) {
        taints.push_back(one);
      }
    }
  }
  for (const Taint& taint : wanted) {
    if (!has(node.node->taints, taint)) {
      Object made{{"key", taint.key}, {"effect", taint.effect}};
      if (taint.key != kTaintUnschedulable) {
        made["timeAdded"] = rfc3339(turn.now());
      }
      taints.push_back(std::move(made));
    }
  }
  Object spec;
  spec["taints"] = taints.empty() ? Value() : Value(std::move(taints));
  turn.patch(
      node, Object{{"metadata", Object{{"resourceVersion", std::to_string(node.version)}}}, {"spec", std::move(spec)}});
}

void evict(const Item& pod, std::string_view reason, std::string_view message, std::optional<std::int64_t> grace,
           bool fails, Turn& turn) {
  const Object root = pod.value();
  Object status = fails ? ended_status(root, 137, turn.now()) : Object();
  Array conditions = fails ? std::move(status["conditions"].as_array()) : conditions_of(root);
  set_condition(conditions, {"DisruptionTarget", "True", reason, message, {}, "lastProbeTime"}, turn.now());
  status["conditions"] = std::move(conditions);
  turn.patch_status(pod, std::move(status));
  turn.remove(pod, grace);
}

// A pod on a node whose taints it does not tolerate (any longer).
void leave_tainted_node(const Item& pod, const Item& node, Turn& turn) {
  std::vector<Taint> driving;
  for (const Taint& taint : node.node->taints) {
    if (taint.effect == "NoExecute") {
      driving.push_back(taint);
    }
  }
  if (driving.empty()) {
    return;
  }
  const Object root = pod.value();
  const auto stays = how_long_tolerated(array_at(root, {"spec", "tolerations"}), driving);
  if (!stays) {
    return;
  }
  std::int64_t since = 0;
  for (const Taint& taint : driving) {
    since = std::max(since, taint.added);
  }
  if (const Time end = turn.after(since, *stays); end > turn.now()) {
    turn.again(end);
    return;
  }
  evict(pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", std::nullopt, false, turn);
  turn.tell(pod, "Normal", "TaintManagerEviction", fmt::format("Marking for deletion Pod {}", pod.key()));
}

// Finished pods are kept for who wants to look at them, and not without end.
bool is_beyond(std::size_t most, const Item& pod, const Turn& turn) {
  const std::vector<const Item*> oldest = turn.view().finished_beyond(most);
  return std::find(oldest.begin(), oldest.end(), &pod) != oldest.end();
}

}  // namespace

void care_for_node(const Item& node, Turn& turn) {
  if (!node.deleting() && !keep_readiness(node, turn)) {
    keep_taints(node, turn);
  }
}

void care_for_pod(const Item& pod, Turn& turn) {
  if (pod.pod->tracked && (pod.owner.empty() || turn.view().find_uid(pod.owner) == nullptr)) {
    release_pod(pod, turn);
    return;
  }
  if (pod.finished() && !pod.deleting() && is_beyond(turn.options().finished_pods, pod, turn)) {
    turn.remove(pod, 0);
    return;
  }
  if (pod.pod->node.empty()) {
    if (pod.deleting() && !pod.finalizers) {
      turn.remove(pod, 0);
    }
    return;
  }
  const Item* node = turn.view().find(Kind::kNode, "", pod.pod->node);
  if (node == nullptr) {
    // It may be late, or come back: as after a silence, it is waited for.
    const Time end = turn.view().missing_since(pod.pod->node, turn.now()) + turn.scaled(turn.options().node_grace);
    if (end > turn.now()) {
      turn.again(end);
      return;
    }
    // Nobody will ever tell how it ended.
    if (!pod.finished()) {
      evict(pod, "DeletionByPodGC", "PodGC: node no longer exists", 0, true, turn);
    } else if (!pod.deleting()) {
      turn.remove(pod, 0);
    } else if (!pod.finalizers) {
      turn.remove(pod, 0);
    }
    return;
  }
  if (!pod.active()) {
    return;
  }
  const bool lost = node->node->ready == "False" || node->node->ready == "Unknown";
  if (lost && pod.pod->ready) {
    turn.patch_status(pod, readiness_status(pod.value(), false, "", "", turn.now()));
    return;
  }
  leave_tainted_node(pod, *node, turn);
}

}  // namespace gantree::controllers

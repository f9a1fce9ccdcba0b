// The plain scheduler: pods that name none are bound to the first node that will do, one by one.
//
// The real one of this cluster places gangs. This one is for what any cluster's own scheduler does: pods of no gang,
// and pods that were told their host before (Kueue's), whose room the real one has booked already and would not give
// twice.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "controllers/names.h"
#include "controllers/tasks.h"
#include "controllers/tolerations.h"

namespace gantree::controllers {

namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::chrono::seconds kFirstRetry{1};
constexpr std::chrono::seconds kLongestRetry{20};

// Why a node will not do; "" where it does.
std::string obstacle(const Item& pod, const Object& spec, const Item& node, const Turn& turn) {
  if (!wants_node(spec, node)) {
    return "node(s) didn't match Pod's node affinity/selector";
  }
  if (!tolerates_all(array_at(spec, {"tolerations"}), node.node->taints, {"NoSchedule", "NoExecute"})) {
    return "node(s) had untolerated taint(s)";
  }
  if (node.node->unschedulable || node.deleting()) {
    return "node(s) were unschedulable";
  }
  const auto used = turn.view().requested_on(node.name);
  for (const auto& [resource, amount] : pod.pod->requests) {
    const auto has = std::find_if(node.node->allocatable.begin(), node.node->allocatable.end(),
                                  [&name = resource](const auto& one) { return one.first == name; });
    const auto taken = used.find(resource);
    const std::int64_t left =
        (has == node.node->allocatable.end() ? 0 : has->second) - (taken == used.end() ? 0 : taken->second);
    if (amount > left) {
      return resource == "pods" ? "Too many pods" : fmt::format("Insufficient {}", resource);
    }
  }
  return {};
}

// The one node that the pod names, by its host name or as pods of DaemonSets do; nothing where it names none.
std::optional<std::string> named_node(const Object& spec) {
  const std::string_view host = text_at(spec, {"nodeSelector", kHostname});
  if (!host.empty()) {
    return std::string(host);
  }
  const Array* terms = array_at(
      spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  const Array* fields = terms == nullptr || terms->size() != 1 ? nullptr : array_at((*terms)[0], {"matchFields"});
  const Array* values = fields == nullptr || fields->size() != 1 ? nullptr : array_at((*fields)[0], {"values"});
  if (values == nullptr || values->size() != 1 || text_at((*fields)[0], {"operator"}) != "In") {
    return std::nullopt;
  }
  return std::string(text_of((*values)[0]));
}

void tell_why(const Item& pod, const Object& root, std::size_t nodes, const std::map<std::string, std::size_t>& why,
              Turn& turn) {
  std::string message = fmt::format("0/{} nodes are available", nodes);
  std::string separator = ": ";
  for (const auto& [reason, count] : why) {
    message += fmt::format("{}{} {}", std::exchange(separator, ", "), count, reason);
  }
  message += '.';
  Array conditions = conditions_of(root);
  if (set_condition(conditions, {"PodScheduled", "False", "Unschedulable", message, {}, "lastProbeTime"}, turn.now())) {
    turn.patch_status(pod, Object{{"conditions", std::move(conditions)}});
    turn.tell(pod, "Warning", "FailedScheduling", message);
  }
}

}  // namespace

void bind_pod(const Item& pod, Turn& turn) {
  if (!pod.pod->ours || !pod.pod->node.empty() || pod.pod->gated || !pod.active()) {
    return;
  }
  const Object root = pod.value();
  const Object* spec = object_at(root, {"spec"});
  if (spec == nullptr) {
    return;
  }
  std::vector<const Item*> nodes;
  if (const auto name = named_node(*spec)) {
    if (const Item* node = turn.view().find(Kind::kNode, "", *name)) {
      nodes.push_back(node);
    }
  } else {
    nodes = turn.view().all(Kind::kNode);
  }
  std::map<std::string, std::size_t> why;
  for (const Item* node : nodes) {
    const std::string reason = obstacle(pod, *spec, *node, turn);
    if (reason.empty()) {
      turn.bind(pod, node->name);
      turn.tell(pod, "Normal", "Scheduled", fmt::format("Successfully assigned {} to {}", pod.key(), node->name));
      return;
    }
    ++why[reason];
  }
  tell_why(pod, root, turn.view().count(Kind::kNode), why, turn);
  const std::chrono::seconds waited(turn.seconds() - pod.created);
  turn.again(turn.now() + std::clamp(waited / 4, kFirstRetry, kLongestRetry));
}

}  // namespace gantree::controllers

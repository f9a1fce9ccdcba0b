#include "dialects/core/core.h"

#include <fmt/format.h>

#include <limits>

#include "dialects/core/label_selector.h"
#include "dialects/core/metadata.h"
#include "dialects/core/node.h"
#include "dialects/core/pod.h"

namespace gantree {

namespace {

Result<> take_pod(const NamedObject& named, Intake& intake) {
  auto pod = read_pod(named, intake.cluster.inventory().resources());
  if (!pod) {
    return tl::unexpected(pod.error());
  }
  if (!pod->has_value()) {
    return {};
  }
  if ((*pod)->bound()) {
    intake.cluster.upsert_pod({.key = fmt::format("{}/{}", named.ns, named.name),
                               .node = std::string((*pod)->node),
                               .requests = (*pod)->requests});
  }
  intake.pods.push_back(std::move(**pod));
  return {};
}

// A number or a percentage; absent where not given.
json::Value read_share(json::Reader& read, json::Value spec, std::string_view key) {
  const json::Value value = read.any(spec, key);
  if (!value) {
    return {};
  }
  std::string_view digits =
      value.kind() == json::Kind::kString || value.kind() == json::Kind::kNumber ? value.text() : std::string_view{};
  if (value.kind() == json::Kind::kString && digits.ends_with('%')) {
    digits.remove_suffix(1);
  }
  if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    read.complain(value, fmt::format("{} must be a whole number or a percentage such as \"50%\"", key));
    return {};
  }
  return value;
}

Result<> take_budget(const NamedObject& named, CoreObjects& core) {
  json::Reader read(named.object.file, named.object.value,
                    fmt::format("PodDisruptionBudget \"{}/{}\"", named.ns, named.name));
  const json::Value spec = read.require_object(named.object.value, "spec");
  BudgetRecord budget;
  budget.ns = named.ns;
  budget.name = named.name;
  budget.selector = read_label_selector(read, spec, "selector");
  budget.min_available = read_share(read, spec, "minAvailable");
  budget.max_unavailable = read_share(read, spec, "maxUnavailable");
  const json::Value status = read.object(named.object.value, "status");
  if (const auto allowed = read.integer(status, "disruptionsAllowed", 0, std::numeric_limits<std::int32_t>::max())) {
    budget.allowed = static_cast<int>(*allowed);
  }
  if (!read.ok()) {
    return read.error();
  }
  // One that selects nothing at all protects nothing.
  if (spec["selector"]) {
    core.budgets.push_back(std::move(budget));
  }
  return {};
}

Result<> take_node(const NamedObject& named, Intake& intake) {
  auto node = read_node(named, intake.cluster.inventory());
  if (!node) {
    return tl::unexpected(node.error());
  }
  intake.cluster.upsert_node(std::move(*node));
  ++intake.core.nodes;
  return {};
}

Result<> take_namespace(const NamedObject& named, CoreObjects& core) {
  json::Reader read(named.object.file, named.object.value, fmt::format("Namespace \"{}\"", named.name));
  core.namespaces.emplace(named.name, read_labels(read, named.object.metadata(), "labels"));
  if (!read.ok()) {
    return read.error();
  }
  return {};
}

Result<> take_priority_class(const NamedObject& named, CoreObjects& core) {
  json::Reader read(named.object.file, named.object.value, fmt::format("PriorityClass \"{}\"", named.name));
  const std::int64_t value = read.integer(named.object.value, "value", std::numeric_limits<std::int32_t>::min(),
                                          std::numeric_limits<std::int32_t>::max())
                                 .value_or(0);
  core.has_priority_classes = true;
  if (read.text(named.object.value, "preemptionPolicy") == "Never") {
    core.never_preempting.insert(std::string(named.name));
  }
  core.priority_classes.insert_or_assign(std::string(named.name), value);
  if (read.boolean(named.object.value, "globalDefault").value_or(false)) {
    // Kubernetes takes the lowest where several are marked.
    core.default_priority = std::min(core.default_priority.value_or(value), value);
  }
  if (!read.ok()) {
    return read.error();
  }
  return {};
}

}  // namespace

std::span<const ApiKind> CoreDialect::kinds() const {
  static const ApiKind kKinds[] = {
      {.group = "", .kind = "Node", .versions = {"v1"}, .namespaced = false},
      {.group = "", .kind = "Pod", .versions = {"v1"}, .namespaced = true},
      {.group = "", .kind = "Namespace", .versions = {"v1"}, .namespaced = false},
      {.group = "policy", .kind = "PodDisruptionBudget", .versions = {"v1"}, .namespaced = true},
      {.group = "scheduling.k8s.io", .kind = "PriorityClass", .versions = {"v1"}, .namespaced = false},
  };
  return kKinds;
}

Result<> CoreDialect::read(const NamedObject& named, Intake& intake) {
  const std::string_view kind = named.object.kind;
  if (kind == "Pod") {
    return take_pod(named, intake);
  }
  if (kind == "Node") {
    return take_node(named, intake);
  }
  if (kind == "Namespace") {
    return take_namespace(named, intake.core);
  }
  if (kind == "PodDisruptionBudget") {
    return take_budget(named, intake.core);
  }
  return take_priority_class(named, intake.core);
}

Result<> CoreDialect::submit(Intake&) {
  return {};
}

}  // namespace gantree

#include "dialects/core/core.h"

#include <fmt/format.h>

#include <limits>

#include "dialects/core/metadata.h"
#include "dialects/core/node.h"
#include "dialects/core/pod.h"

namespace gantree {

namespace {

Result<> take_pod(const NamedObject& named, Intake& intake) {
  auto pod = read_bound_pod(named, intake.cluster.inventory().resources());
  if (!pod) {
    return tl::unexpected(pod.error());
  }
  if (pod->has_value()) {
    intake.cluster.upsert_pod(std::move(**pod));
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
  return take_priority_class(named, intake.core);
}

Result<> CoreDialect::submit(Intake&) {
  return {};
}

}  // namespace gantree

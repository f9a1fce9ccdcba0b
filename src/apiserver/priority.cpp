#include "apiserver/priority.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kTable = "priorityclasses.scheduling.k8s.io";
}  // namespace

void make_priority_classes(Core& core) {
  struct Row {
    std::string_view name;
    std::int64_t value;
    std::string_view description;
  };
  static constexpr Row kRows[] = {
      {"system-cluster-critical", 2'000'000'000,
       "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."},
      {"system-node-critical", 2'000'001'000,
       "Used for system critical pods that must not be moved from their current node."}};
  for (const Row& row : kRows) {
    if (core.store.find(kTable, {"", std::string(row.name)}) != nullptr) {
      continue;
    }
    const KindPtr kind = core.registry.stored_kind(kTable);
    Object object;
    object["apiVersion"] = kind->api_version();
    object["kind"] = kind->kind;
    Object& metadata = object_in(object, "metadata");
    metadata["name"] = row.name;
    metadata["uid"] = core.random.uid();
    metadata["generation"] = 1;
    metadata["creationTimestamp"] = core.now();
    object["value"] = row.value;
    object["description"] = row.description;
    object["preemptionPolicy"] = "PreemptLowerPriority";
    core.put(*kind, std::move(object));
  }
}

}  // namespace gantree::apiserver

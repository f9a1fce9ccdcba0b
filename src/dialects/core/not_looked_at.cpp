#include "dialects/core/not_looked_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/workloads/workload.h"

namespace gantree {

namespace {

bool has_host_port(json::Value spec, std::string_view list) {
  for (const json::NodeData& container : items_of(spec[list])) {
    for (const json::NodeData& port : items_of(json::Value(&container)["ports"])) {
      const json::Value number = json::Value(&port)["hostPort"];
      if (number && number.kind() == json::Kind::kNumber && number.text() != "0") {
        return true;
      }
    }
  }
  return false;
}

bool spreads(json::Value spec) {
  const auto constraints = items_of(spec["topologySpreadConstraints"]);
  return std::any_of(constraints.begin(), constraints.end(), [](const json::NodeData& item) {
    const json::Value otherwise = text_at(json::Value(&item), "whenUnsatisfiable");
    return !otherwise || otherwise.text() != "ScheduleAnyway";
  });
}

}  // namespace

std::string not_looked_at(json::Value spec) {
  if (!spec) {
    return "";
  }
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const json::Value affinity = map_at(spec, "affinity");
  for (const auto& [key, name] :
       {std::pair("podAffinity", "affinity to pods"), std::pair("podAntiAffinity", "anti-affinity to pods")}) {
    const json::Value terms = map_at(affinity, key);
    if (terms && !items_of(terms[kRequired]).empty()) {
      return fmt::format("required {} (spec.affinity.{})", name, key);
    }
  }
  if (spreads(spec)) {
    return "spec.topologySpreadConstraints with whenUnsatisfiable: DoNotSchedule";
  }
  if (has_host_port(spec, "containers") || has_host_port(spec, "initContainers")) {
    return "a host port";
  }
  return items_of(spec["resourceClaims"]).empty() ? "" : "spec.resourceClaims";
}

}  // namespace gantree

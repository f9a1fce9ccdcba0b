#include "dialects/koordinator/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/duration.h"
#include "dialects/core/metadata.h"
#include "dialects/koordinator/gang_rules.h"
#include "dialects/koordinator/names.h"
#include "dialects/koordinator/network_topology.h"
#include "dialects/objection.h"
#include "dialects/workloads/workload.h"
#include "engine/inventory.h"

namespace gantree::koordinator {

namespace {

// As Go writes durations; the scheduler would go on with its default where it is none.
std::optional<std::string> wrong_waiting_time(const Object& object) {
  const json::Value time = text_at(map_at(object.metadata(), "annotations"), kWaitingTime);
  if (!time) {
    return std::nullopt;
  }
  const auto duration = parse_duration(time.text());
  if (duration && *duration > std::chrono::nanoseconds(0)) {
    return std::nullopt;
  }
  return fmt::format("{} must be a duration above 0, as in 90s or 1h30m, not \"{}\"", kWaitingTime, time.text());
}

// Requires a topology that was read.
bool lists_nodes(json::Value spec) {
  const auto layers = spec["networkTopologySpec"].items();
  return std::any_of(layers.begin(), layers.end(), [](const json::NodeData& layer) {
    return same_layer(json::Value(&layer)["topologyLayer"].text(), kNodeLayer);
  });
}

}  // namespace

Admission validate_pod_group(const NamedObject& named) {
  Unused unused;
  const auto rules = read_pod_group(named, unused);
  if (!rules) {
    return {.refusal = without_place(named.object.file, rules.error().message), .warnings = {}};
  }
  if (rules->objection) {
    return {.refusal = without_place(named.object.file, *rules->objection), .warnings = {}};
  }
  if (auto wrong = wrong_waiting_time(named.object)) {
    return {.refusal = std::move(wrong), .warnings = {}};
  }
  Admission admission;
  if (rules->min == 0) {
    admission.warnings.push_back(
        fmt::format("spec.minMember of {} is 0, so its pods start one by one, each for itself", rules->title()));
  }
  if (unused.other > 0) {
    admission.warnings.push_back(fmt::format("annotation {} is not known and has no effect", unused.other_name));
  }
  return admission;
}

Admission validate_topology(const NamedObject& named) {
  auto network = read_network_topology(named);
  if (!network) {
    return {.refusal = without_place(named.object.file, network.error().message), .warnings = {}};
  }
  // Nodes may add the level of the hosts, which counts towards the limit.
  const Inventory no_nodes;
  if (const auto model = model_of(*network, no_nodes); !model) {
    return {.refusal = without_place(named.object.file, model.error().message), .warnings = {}};
  }
  Admission admission;
  if (!lists_nodes(network->spec)) {
    admission.warnings.push_back(fmt::format(
        "{} does not list {}, without which Koordinator's own scheduler does not take it", kTopologyKind, kNodeLayer));
  }
  if (named.name != kTopologyName) {
    admission.warnings.push_back(
        fmt::format("{} \"{}\" is not used: only the one named \"{}\" is", kTopologyKind, named.name, kTopologyName));
  }
  return admission;
}

}  // namespace gantree::koordinator

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "install/checks.h"

namespace gantree {

Finding check_neighbour(const kueue::Neighbour& neighbour) {
  if (const auto runs = neighbour.kueue_runs()) {
    return {.health = Health::kWarning,
            .check = "kueue",
            .sentence = *runs,
            .advice = "take Kueue out to have Gantree admit its workloads; or switch off webhook.jobs in the chart"};
  }
  return {.check = "kueue", .sentence = "Kueue itself is not installed, so Gantree admits the workloads of its queues"};
}

Finding check_neighbour(const kai::Neighbour& neighbour) {
  if (const auto runs = neighbour.kai_runs()) {
    return {.health = Health::kWarning,
            .check = "kai",
            .sentence = *runs,
            .advice =
                "take KAI-Scheduler out to have Gantree start its gangs; or switch off webhook.kai in the chart, and "
                "leave kai-scheduler out of schedulerNames"};
  }
  return {.check = "kai", .sentence = "KAI-Scheduler itself is not installed"};
}

std::optional<Finding> check_unsupported(std::string_view kind, const std::vector<std::string>& names) {
  if (names.empty()) {
    return std::nullopt;
  }
  return Finding{.health = Health::kWarning,
                 .check = "queues",
                 .sentence = fmt::format("{} of kind {} {} a queue, which has no effect: {}", names.size(), kind,
                                         names.size() == 1 ? "names" : "name", some_of(names)),
                 .advice =
                     "Gantree does not know how to start them; give the queue to what they make, if that is a kind "
                     "that waits"};
}

std::optional<Finding> check_ignored(std::string_view kind, const std::vector<std::string>& names) {
  if (names.empty()) {
    return std::nullopt;
  }
  return Finding{.health = Health::kWarning,
                 .check = "koordinator",
                 .sentence = fmt::format("{} of kind {} {} ignored: {}", names.size(), kind,
                                         names.size() == 1 ? "is" : "are", some_of(names)),
                 .advice =
                     "Gantree neither keeps room for them nor counts them as quota; queues of Kueue's kind have "
                     "quota"};
}

std::optional<Finding> check_conversion(const Installation& installation, std::string_view definition,
                                        const ConversionFact& conversion, webhook::WallTime now) {
  if (!conversion.webhook) {
    return Finding{.health = Health::kWarning,
                   .check = "webhook",
                   .sentence = fmt::format("objects of {} are not converted: what they say in v1beta1 alone gets lost",
                                           definition),
                   .advice = "install the definitions that come with the chart or with gantree install"};
  }
  const std::string ours = fmt::format("{}/{}", installation.ns, installation.webhook());
  if (!conversion.service.empty() && conversion.service != ours) {
    return Finding{.health = Health::kWarning,
                   .check = "webhook",
                   .sentence = fmt::format("objects of {} are converted by Service \"{}\", not by Gantree", definition,
                                           conversion.service),
                   .advice =
                       "where that is no longer there, replace the definition: kubectl apply --server-side "
                       "--force-conflicts -f deploy/gantree.yaml"};
  }
  return check_bundle({.name = fmt::format("conversion of {}", definition), .bundle = conversion.bundle}, now);
}

namespace {

// The nodes of all flavors that have that topology.
std::vector<const NodeFact*> nodes_of(const LevelsFact& topology, std::span<const FlavorFact> flavors,
                                      std::span<const NodeFact> nodes) {
  std::vector<const NodeFact*> found;
  for (const NodeFact& node : nodes) {
    const bool ours = std::any_of(flavors.begin(), flavors.end(), [&](const FlavorFact& flavor) {
      return flavor.topology == topology.name &&
             std::all_of(flavor.labels.begin(), flavor.labels.end(), [&](const auto& label) {
               const auto own = node.node.labels.find(label.first);
               return own != node.node.labels.end() && own->second == label.second;
             });
    });
    if (ours) {
      found.push_back(&node);
    }
  }
  return found;
}

Finding check_level(const LevelsFact& topology, const std::string& label, const std::vector<const NodeFact*>& nodes) {
  std::vector<std::string> without;
  for (const NodeFact* node : nodes) {
    if (!node->node.labels.contains(label)) {
      without.push_back(node->node.name);
    }
  }
  if (without.empty()) {
    return {.check = "topology",
            .sentence = fmt::format("Topology \"{}\": all {} nodes of its flavors have label {}", topology.name,
                                    nodes.size(), label)};
  }
  const bool none = without.size() == nodes.size();
  return {.health = none ? Health::kError : Health::kWarning,
          .check = "topology",
          .sentence = none ? fmt::format("Topology \"{}\": no node of its flavors has label {}", topology.name, label)
                           : fmt::format("Topology \"{}\": {} of {} nodes of its flavors lack label {}: {}",
                                         topology.name, without.size(), nodes.size(), label, some_of(without)),
          .advice = fmt::format("kubectl label node NAME {}=VALUE; until then no job of these flavors is placed on {}",
                                label, none ? "any" : "them")};
}

}  // namespace

Findings check_levels(std::span<const LevelsFact> topologies, std::span<const FlavorFact> flavors,
                      std::span<const NodeFact> nodes) {
  Findings findings;
  for (const LevelsFact& topology : topologies) {
    const bool used = std::any_of(flavors.begin(), flavors.end(),
                                  [&](const FlavorFact& flavor) { return flavor.topology == topology.name; });
    const std::vector<const NodeFact*> own = nodes_of(topology, flavors, nodes);
    if (flavors.empty()) {
      findings.push_back({.check = "topology",
                          .sentence = fmt::format("Topology \"{}\" is there for queues; there is no ResourceFlavor yet",
                                                  topology.name)});
      continue;
    }
    if (!used || own.empty()) {
      findings.push_back(
          {.health = Health::kWarning,
           .check = "topology",
           .sentence = fmt::format("Topology \"{}\": {}", topology.name,
                                   used ? "no node has the nodeLabels of its flavors" : "no ResourceFlavor names it"),
           .advice = used ? "label the nodes, or correct spec.nodeLabels of the ResourceFlavor"
                          : "set spec.topologyName of a ResourceFlavor"});
      continue;
    }
    for (const std::string& label : topology.labels) {
      findings.push_back(check_level(topology, label, own));
    }
  }
  return findings;
}

Findings check_queues(std::span<const QueueFact> queues) {
  Findings findings;
  for (const QueueFact& queue : queues) {
    if (!queue.active) {
      findings.push_back({.health = Health::kWarning,
                          .check = "queues",
                          .sentence = fmt::format("ClusterQueue \"{}\" admits nothing: {}: {}", queue.name,
                                                  queue.reason, queue.message),
                          .advice = "gantree get queues -o wide"});
    }
  }
  if (findings.empty() && !queues.empty()) {
    findings.push_back(
        {.check = "queues",
         .sentence = fmt::format("{} ClusterQueue{} active", queues.size(), queues.size() == 1 ? " is" : "s are")});
  }
  return findings;
}

}  // namespace gantree

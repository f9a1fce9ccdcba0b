// The checks of what an administrator describes: the network, and the webhook that guards it.
#include <fmt/format.h>

#include <algorithm>

#include "install/checks.h"

namespace gantree {

namespace {

// How long before its end an authority should have been replaced.
constexpr std::chrono::hours kSoon{24 * 14};

Finding check_layer(const koordinator::LayerCoverage& layer, std::size_t nodes, bool lowest) {
  const std::string label = fmt::format("{}", fmt::join(layer.keys, " or "));
  if (layer.without.empty()) {
    return {.check = "topology",
            .sentence = fmt::format("{}: all {} nodes have label {}, in {} domain{}", layer.layer, nodes, label,
                                    layer.domains, layer.domains == 1 ? "" : "s")};
  }
  if (layer.domains == 0) {
    return {.health = Health::kError,
            .check = "topology",
            .sentence = fmt::format("{}: no node has label {}", layer.layer, label),
            .advice = "correct the label in the topology, or label the nodes"};
  }
  return {.health = Health::kWarning,
          .check = "topology",
          .sentence = fmt::format("{}: {} of {} nodes lack label {}: {}", layer.layer, layer.without.size(), nodes,
                                  label, some_of(layer.without)),
          .advice = fmt::format("kubectl label node NAME {}=VALUE{}", layer.keys.front(),
                                lowest ? "; until then each of them is a domain of its own" : "")};
}

}  // namespace

std::optional<Finding> check_bundle(const WebhookFact& webhook, webhook::WallTime now) {
  const auto facts = webhook::read_certificate(webhook.bundle);
  if (!facts) {
    return Finding{
        .health = Health::kError,
        .check = "webhook",
        .sentence = fmt::format("webhook {} has no authority, so the API server cannot trust it", webhook.name),
        .advice = "Gantree writes it within a minute when it runs; else set webhook.certificate.caBundle"};
  }
  if (facts->validity.until <= now + kSoon) {
    return Finding{.health = facts->validity.until <= now ? Health::kError : Health::kWarning,
                   .check = "webhook",
                   .sentence = fmt::format("the authority of webhook {} {}", webhook.name,
                                           facts->validity.until <= now ? "has expired" : "expires within two weeks"),
                   .advice = "renew the certificate; the one that Gantree makes is renewed by itself while it runs"};
  }
  return std::nullopt;
}

Findings check_topology(const std::optional<koordinator::NetworkTopology>& network,
                        const std::optional<std::string>& invalid, std::span<const NodeFact> nodes, bool for_queues) {
  if (invalid) {
    return {{.health = Health::kError,
             .check = "topology",
             .sentence = *invalid,
             .advice = "correct it; until then gangs that ask for a topology are rejected"}};
  }
  if (!network && for_queues) {
    return {{.check = "topology",
             .sentence = "there is no ClusterNetworkTopology named \"default\"; queues have a Topology of their own"}};
  }
  if (!network) {
    return {
        {.health = Health::kWarning,
         .check = "topology",
         .sentence =
             "there is no ClusterNetworkTopology named \"default\": gangs that must be close together are rejected",
         .advice = "gantree tree -f NODES.yaml --levels LABEL,LABEL --as clusternetworktopology -o yaml makes one"}};
  }
  std::vector<koordinator::NodeLabels> labels;
  for (const NodeFact& fact : nodes) {
    labels.push_back(fact.node);
  }
  const koordinator::Coverage coverage = cover(*network, labels);
  Findings findings;
  for (const koordinator::LayerCoverage& layer : coverage.layers) {
    findings.push_back(check_layer(layer, coverage.nodes, &layer == &coverage.layers.back()));
  }
  if (!coverage.outside.empty()) {
    findings.push_back({.health = Health::kWarning,
                        .check = "topology",
                        .sentence = fmt::format("{} of {} nodes are outside the topology: {}", coverage.outside.size(),
                                                coverage.nodes, some_of(coverage.outside)),
                        .advice = "no gang with a topology is placed on them; label them if that is not meant"});
  }
  return findings;
}

Findings check_webhook(const webhook::ConfigurationName& name, const std::optional<std::vector<WebhookFact>>& webhooks,
                       webhook::WallTime now) {
  const bool mutating = name.kind == webhook::ConfigurationKind::kMutating;
  if (!webhooks) {
    return {{.health = Health::kWarning,
             .check = "webhook",
             .sentence = fmt::format("there is no {}: {}", name.title(),
                                     mutating ? "jobs that name a queue start past it"
                                              : "what makes no sense is noticed only when it is scheduled"),
             .advice = "gantree install, unless that is meant"}};
  }
  Findings findings;
  for (const WebhookFact& webhook : *webhooks) {
    if (auto wrong = check_bundle(webhook, now)) {
      findings.push_back(std::move(*wrong));
    }
  }
  if (findings.empty()) {
    findings.push_back({.check = "webhook",
                        .sentence = fmt::format("all {} {} webhooks have a good authority", webhooks->size(),
                                                mutating ? "mutating" : "validating")});
  }
  return findings;
}

Findings check_answering(const Installation& installation, std::size_t endpoints) {
  if (endpoints > 0) {
    return {};
  }
  return {{.health = Health::kError,
           .check = "webhook",
           .sentence = fmt::format("Service \"{}/{}\" leads to no ready pod", installation.ns, installation.webhook()),
           .advice = fmt::format("kubectl get pods -n {}", installation.ns)}};
}

}  // namespace gantree

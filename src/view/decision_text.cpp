#include "view/decision_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "view/decision_json.h"

namespace gantree {

namespace {

void append_placed(const PodSetDecision& pod_set, Cluster& cluster, std::string& text) {
  constexpr std::size_t kShown = 8;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "    {}: {} {}", pod_set.name, pod_set.count, pod_set.count == 1 ? "pod" : "pods");
  if (!pod_set.flavor.empty()) {
    fmt::format_to(out, " of flavor {}", pod_set.flavor);
  }
  text += '\n';
  const std::vector<DomainShare> shares = domain_shares(pod_set, cluster);
  for (std::size_t i = 0; i < std::min(shares.size(), kShown); ++i) {
    fmt::format_to(out, "      {} x {}\n", fmt::join(shares[i].values, "/"), shares[i].count);
  }
  if (shares.size() > kShown) {
    fmt::format_to(out, "      and {} more\n", shares.size() - kShown);
  }
}

}  // namespace

std::string decisions_to_text(const std::vector<Decision>& decisions, Cluster& cluster) {
  std::string text;
  auto out = std::back_inserter(text);
  int counts[3] = {};
  for (const Decision& decision : decisions) {
    ++counts[static_cast<std::size_t>(decision.state)];
    fmt::format_to(out, "{} {}/{}: {}", decision.key.kind, decision.key.ns, decision.key.name,
                   to_string(decision.state));
    if (decision.state != GangState::kPlaced) {
      fmt::format_to(out, " ({})\n    {}\n", to_string(decision.reason), decision.message);
      continue;
    }
    text += '\n';
    for (const PodSetDecision& pod_set : decision.pod_sets) {
      append_placed(pod_set, cluster, text);
    }
  }
  fmt::format_to(out, "{} placed, {} waiting, {} rejected\n", counts[0], counts[1], counts[2]);
  return text;
}

}  // namespace gantree

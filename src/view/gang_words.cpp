#include "view/gang_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "view/scene.h"
#include "view/where.h"
#include "view/words.h"

namespace gantree::view {

std::string gang_name(const Decision& decision, bool unicode) {
  const std::string& ns = decision.key.ns;
  return printable(ns.empty() ? decision.key.name : ns + "/" + decision.key.name, unicode);
}

std::string pods_text(std::span<const PodSetDecision> sets) {
  std::int64_t pods = 0;
  std::int64_t asked = 0;
  for (const PodSetDecision& set : sets) {
    pods += set.count;
    asked += set.asked;
  }
  return asked > pods ? fmt::format("{}/{}", pods, asked) : fmt::format("{}", pods);
}

std::int64_t amount_of(std::span<const PodSetDecision> sets, ResourceId resource) {
  std::int64_t sum = 0;
  for (const PodSetDecision& set : sets) {
    std::int64_t pods = 0;
    for (const HostShare& share : set.hosts) {
      pods += share.count;
    }
    std::int64_t amount = 0;
    const bool overflow = __builtin_mul_overflow(set.requests.get(resource), pods, &amount);
    sum = plus(sum, overflow ? std::numeric_limits<std::int64_t>::max() : amount);
  }
  return sum;
}

std::string gang_where(Cluster& cluster, std::span<const PodSetDecision> sets, int width, bool unicode) {
  const auto placed =
      std::find_if(sets.begin(), sets.end(), [](const PodSetDecision& set) { return !set.hosts.empty(); });
  if (placed == sets.end()) {
    return {};
  }
  std::vector<HostShare> hosts;
  for (const PodSetDecision& set : sets) {
    hosts.insert(hosts.end(), set.hosts.begin(), set.hosts.end());
  }
  Engine& engine = cluster.engine();
  return where_text(engine.topology(placed->topology), engine.tree(placed->topology), hosts, width, unicode);
}

std::string summary(std::span<const Decision> decisions) {
  const auto count = [&](GangState state) {
    return std::count_if(decisions.begin(), decisions.end(), [&](const Decision& d) { return d.state == state; });
  };
  return fmt::format("{} placed, {} waiting, {} rejected", count(GangState::kPlaced), count(GangState::kWaiting),
                     count(GangState::kRejected));
}

}  // namespace gantree::view

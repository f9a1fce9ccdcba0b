#include "view/gang_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "view/scene.h"
#include "view/where.h"
#include "view/words.h"

namespace gantree::view {

std::string gang_name(const GangKey& key, bool unicode) {
  return printable(key.ns.empty() ? key.name : key.ns + "/" + key.name, unicode);
}

std::string gang_name(const Decision& decision, bool unicode) {
  return gang_name(decision.key, unicode);
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

std::string summary(const Plan& plan) {
  const auto count = [&](GangState state) {
    return std::count_if(plan.decisions.begin(), plan.decisions.end(),
                         [&](const Decision& decision) { return decision.state == state; });
  };
  std::string text = fmt::format("{} placed, {} waiting, {} rejected", count(GangState::kPlaced),
                                 count(GangState::kWaiting), count(GangState::kRejected));
  return plan.evictions.empty() ? text : text + fmt::format(", {} evicted", plan.evictions.size());
}

}  // namespace gantree::view

#include "support/running_gangs.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree::test {
namespace {

void add_budgets(Choices& choices, RunningWork& work) {
  for (int budgets = choices.up_to(2); budgets > 0; --budgets) {
    work.budgets.push_back({.name = fmt::format("default/b{}", budgets), .allowed = choices.up_to(4)});
  }
  for (RunningGang& gang : work.gangs) {
    for (std::size_t budget = 0; budget < work.budgets.size(); ++budget) {
      if (choices.one_in(2)) {
        gang.budgets.emplace_back(make_id<DisruptionBudgetTag>(budget), choices.between(1, gang.pods()));
      }
    }
  }
}

void add_quota(Choices& choices, RunningWork& work) {
  work.wanted = {0, 0};
  const bool any = choices.one_in(3);
  for (std::size_t i = 0; i < work.gangs.size(); ++i) {
    work.frees.push_back(any ? std::vector{choices.up_to(3), choices.up_to(2)} : std::vector{0, 0});
  }
  if (any) {
    work.wanted = {choices.up_to(6), choices.up_to(3)};
  }
}

}  // namespace

std::vector<const RunningGang*> RunningWork::candidates() const {
  std::vector<const RunningGang*> found;
  for (const RunningGang& gang : gangs) {
    found.push_back(&gang);
  }
  return found;
}

bool RunningWork::admits(std::span<const std::size_t> gone) const {
  std::vector<int> left = wanted;
  for (const std::size_t i : gone) {
    left[0] -= frees[i][0];
    left[1] -= frees[i][1];
  }
  return left[0] <= 0 && left[1] <= 0;
}

RunningGang start(World& world, const Gang& gang, const Placement& placement) {
  RunningGang running;
  running.key = gang.key;
  const auto before = world.engine().holds();
  world.engine().take(gang, placement);
  for (const auto& [hold, count] : world.engine().holds()) {
    const auto old = before.find(hold);
    for (int more = count - (old == before.end() ? 0 : old->second); more > 0; --more) {
      running.exclusives.push_back(hold);
    }
  }
  const auto sets = pod_sets(gang.root);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const HostShare& share : placement.pod_sets[s]) {
      running.holdings.push_back({.node = share.node, .requests = sets[s]->shape.requests, .count = share.count});
    }
  }
  return running;
}

RunningWork run_random_gangs(World& world, Choices& choices, const Instance& cluster, const Scale& scale, int most) {
  RunningWork work;
  for (int tries = 0; tries < 2 * most && static_cast<int>(work.gangs.size()) < most; ++tries) {
    const Family family = choices.of(std::vector<Family>(kFamilies.begin(), kFamilies.end()));
    const Gang gang = world.gang(random_gang(choices, cluster, family, scale, fmt::format("run{}", tries)));
    const Outcome outcome = world.engine().place(gang);
    if (!outcome.placement) {
      continue;
    }
    RunningGang running = start(world, gang, *outcome.placement);
    running.priority = choices.up_to(2);
    running.started_seconds = 100 * choices.up_to(3);
    running.evictable = !choices.one_in(12);
    work.gangs.push_back(std::move(running));
  }
  add_budgets(choices, work);
  add_quota(choices, work);
  return work;
}

Books books(World& world) {
  Books found;
  const Inventory& inventory = world.inventory();
  for (std::size_t node = 0; node < inventory.size(); ++node) {
    for (std::size_t resource = 0; resource < inventory.resources().size(); ++resource) {
      found.free.push_back(inventory.free(make_id<NodeTag>(node), make_id<ResourceTag>(resource)));
    }
  }
  found.holds = world.engine().holds();
  return found;
}

std::string to_text(const RunningWork& work) {
  std::string text;
  for (std::size_t i = 0; i < work.gangs.size(); ++i) {
    const RunningGang& gang = work.gangs[i];
    text += fmt::format("{} {} priority {} started {}{} frees {}/{}:", i, gang.key.name, gang.priority,
                        gang.started_seconds, gang.evictable ? "" : " stays", work.frees[i][0], work.frees[i][1]);
    for (const Holding& holding : gang.holdings) {
      text += fmt::format(" node{}x{}", holding.node.index(), holding.count);
    }
    for (const auto& [budget, pods] : gang.budgets) {
      text += fmt::format(" budget{}={}", budget.index(), pods);
    }
    text += "\n";
  }
  for (const DisruptionBudget& budget : work.budgets) {
    text += fmt::format("{} allows {}\n", budget.name, budget.allowed);
  }
  return text + fmt::format("wanted {}/{}\n", work.wanted[0], work.wanted[1]);
}

}  // namespace gantree::test

// Preemption against every set of victims there is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/rounds.h"
#include "support/instance_text.h"
#include "support/running_gangs.h"

namespace gantree::oracle {
namespace {

using test::Choices;
using test::Family;
using test::Instance;
using test::RunningWork;
using test::Scale;
using test::World;

using Set = std::vector<std::size_t>;
// The five parts of a cost, as the decision on it lists them.
using Cost = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

Cost cost_of(const RunningWork& work, const Set& victims) {
  std::int64_t over = 0;
  for (std::size_t budget = 0; budget < work.budgets.size(); ++budget) {
    std::int64_t evicted = 0;
    for (const std::size_t victim : victims) {
      for (const auto& [id, pods] : work.gangs[victim].budgets) {
        evicted += id.index() == budget ? pods : 0;
      }
    }
    over += std::max<std::int64_t>(0, evicted - work.budgets[budget].allowed);
  }
  std::int64_t priority = kNoVictim;
  std::int64_t pods = 0;
  std::int64_t age = 0;
  for (const std::size_t victim : victims) {
    priority = std::max(priority, work.gangs[victim].priority);
    pods += work.gangs[victim].pods();
    age -= work.gangs[victim].started_seconds;
  }
  return {over, priority, static_cast<std::int64_t>(victims.size()), pods, age};
}

Cost cost_of(const EvictionCost& cost) {
  return {cost.over_budget, cost.priority, cost.gangs, cost.pods, cost.age};
}

bool starts_without(World& world, const Gang& gang, const RunningWork& work, const Set& victims) {
  for (const std::size_t victim : victims) {
    world.engine().evict(work.gangs[victim]);
  }
  const bool placed = world.engine().place(gang).placement.has_value();
  for (const std::size_t victim : victims) {
    world.engine().restore(work.gangs[victim]);
  }
  return placed && work.admits(victims);
}

// The cheapest set, by trying all from the cheapest on.
std::optional<Set> cheapest(World& world, const Gang& gang, const RunningWork& work) {
  std::vector<std::pair<Cost, Set>> sets;
  for (std::size_t mask = 0; mask < std::size_t{1} << work.gangs.size(); ++mask) {
    Set set;
    bool allowed = true;
    for (std::size_t i = 0; i < work.gangs.size(); ++i) {
      if ((mask >> i & 1U) != 0) {
        set.push_back(i);
        allowed = allowed && work.gangs[i].evictable;
      }
    }
    if (allowed) {
      sets.emplace_back(cost_of(work, set), std::move(set));
    }
  }
  std::ranges::sort(sets);
  for (const auto& [cost, set] : sets) {
    if (starts_without(world, gang, work, set)) {
      return set;
    }
  }
  return std::nullopt;
}

struct Tally {
  int evicting = 0;
  int hopeless = 0;
  int undecided = 0;
};

std::string show(const Set& set) {
  return fmt::format("{{{}}}", fmt::join(set, " "));
}

// Minima of groups, which leave open which pods start.
void leave_open(Choices& choices, test::GroupSpec& group) {
  int pods = 0;
  for (test::PodSetSpec& set : group.pod_sets) {
    set.min_count = choices.up_to(set.count);
    pods += set.count;
  }
  if (pods > 0) {
    group.min_pods = choices.between(1, pods);
  }
  if (!group.groups.empty()) {
    group.min_groups = choices.up_to(static_cast<int>(group.groups.size()));
  }
  for (test::GroupSpec& nested : group.groups) {
    leave_open(choices, nested);
  }
}

// What is wrong with the answer for one random cluster; "" where nothing is.
std::string fault(std::uint64_t seed, Family family, const Scale& scale, bool open, Tally& tally) {
  Choices choices(seed);
  const Instance cluster = test::random_cluster(choices, scale);
  World world(cluster);
  const Scale small{.max_hosts = scale.max_hosts, .max_pods = 5, .max_upper_levels = 3, .max_gpus = scale.max_gpus};
  const RunningWork work = test::run_random_gangs(world, choices, cluster, small, 8);
  test::GangSpec spec = test::random_gang(choices, cluster, family, scale, "asks");
  if (open) {
    leave_open(choices, spec.root);
  }
  const Gang gang = world.gang(spec);
  const auto before = test::books(world);
  const auto candidates = work.candidates();
  const PreemptionAnswer answer = find_victims(
      world.engine(), {.gang = gang, .candidates = candidates, .budgets = work.budgets, .admits = [&](auto gone) {
                         return work.admits(gone);
                       }});
  const auto fail = [&](const std::string& what) {
    Instance shown = cluster;
    shown.gangs.push_back(spec);
    return fmt::format("seed {}: {}\n{}{}", seed, what, to_text(shown), to_text(work));
  };
  if (test::books(world) != before) {
    return fail("something is not as it was");
  }
  const auto best = cheapest(world, gang, work);
  if (answer.verdict == PreemptionVerdict::kGaveUp || !answer.exact) {
    ++tally.undecided;
    return "";
  }
  if (!best) {
    ++tally.hopeless;
    return answer.verdict == PreemptionVerdict::kNone ? "" : fail("found " + show(answer.victims) + ", not possible");
  }
  tally.evicting += best->empty() ? 0 : 1;
  if (answer.verdict != PreemptionVerdict::kFound) {
    return fail("missed " + show(*best));
  }
  if (cost_of(answer.cost) != cost_of(work, answer.victims) || !answer.outcome.placement ||
      !starts_without(world, gang, work, answer.victims)) {
    return fail("wrong about " + show(answer.victims));
  }
  if (cost_of(answer.cost) != cost_of(work, *best)) {
    return fail(fmt::format("found {}, cheaper is {}", show(answer.victims), show(*best)));
  }
  return "";
}

void expect_cheapest(Family family, const Scale& scale, int rounds, bool open) {
  Tally tally;
  const auto all = seeds(family, rounds);
  for (const std::uint64_t seed : all) {
    const std::string wrong = fault(seed, family, scale, open, tally);
    ASSERT_EQ(wrong, "");
  }
  const auto tried = static_cast<int>(all.size());
  if (tried > 100) {
    EXPECT_GE(tally.evicting, tried / 20) << "too few need evictions for a proof";
    EXPECT_GE(tally.hopeless, tried / 100) << "too few are hopeless for a proof";
  }
  EXPECT_LE(tally.undecided, tried / 100) << "too few are exact for a proof";
}

class Cheapest : public ::testing::TestWithParam<Family> {};

TEST_P(Cheapest, OnSmallClustersNoSetOfVictimsIsCheaper) {
  expect_cheapest(GetParam(), {.max_hosts = 6, .max_pods = 8, .max_upper_levels = 3, .max_gpus = 4}, 800, false);
}

TEST_P(Cheapest, NorWhereTheMinimaOfGroupsLeaveOpenWhichPodsStart) {
  expect_cheapest(GetParam(), {.max_hosts = 4, .max_pods = 6, .max_upper_levels = 2, .max_gpus = 4}, 120, true);
}

INSTANTIATE_TEST_SUITE_P(All, Cheapest, ::testing::ValuesIn(test::kFamilies),
                         [](const auto& family) { return to_string(family.param); });

}  // namespace
}  // namespace gantree::oracle

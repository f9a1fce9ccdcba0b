// What holds for every preemption, also where it is too large to try every set of victims.
#include <algorithm>
#include <numeric>

#include "property/draw.h"
#include "support/running_gangs.h"

namespace gantree::test {
namespace {

using Set = std::vector<std::size_t>;

inline constexpr Scale kRunningScale{.max_hosts = 24, .max_pods = 8, .max_upper_levels = 4, .max_gpus = 8};

// A cluster with running gangs, and one that asks.
struct Case {
  explicit Case(Choices& choices)
      : cluster(random_cluster(choices, kPropertyScale)),
        world(cluster),
        work(run_random_gangs(world, choices, cluster, kRunningScale, 20)),
        gang(world.gang(random_gang(choices, cluster, draw_family(choices), kPropertyScale, "asks"))) {
    RC_LOG() << to_text(cluster) << to_text(work);
  }

  PreemptionAnswer ask(const Set& order) {
    std::vector<const RunningGang*> candidates;
    for (const std::size_t i : order) {
      candidates.push_back(&work.gangs[i]);
    }
    const auto admits = [&](std::span<const std::size_t> gone) {
      Set named;
      for (const std::size_t position : gone) {
        named.push_back(order[position]);
      }
      return work.admits(named);
    };
    return find_victims(world.engine(),
                        {.gang = gang, .candidates = candidates, .budgets = work.budgets, .admits = admits});
  }
  PreemptionAnswer ask() {
    Set order(work.gangs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return ask(order);
  }

  bool starts_without(const Set& victims) {
    for (const std::size_t victim : victims) {
      world.engine().evict(work.gangs[victim]);
    }
    const bool placed = world.engine().place(gang).placement.has_value();
    for (const std::size_t victim : victims) {
      world.engine().restore(work.gangs[victim]);
    }
    return placed && work.admits(victims);
  }

  Instance cluster;
  World world;
  RunningWork work;
  Gang gang;
};

RC_GTEST_PROP(Preemption, StartsTheWholeGangAndSparesEveryoneWhoCanBeSpared, ()) {
  Choices choices = draw_choices();
  Case it(choices);
  const PreemptionAnswer answer = it.ask();
  if (answer.verdict != PreemptionVerdict::kFound) {
    RC_ASSERT(answer.victims.empty());
    return;
  }
  RC_ASSERT(answer.outcome.placement.has_value());
  const auto sets = pod_sets(it.gang.root);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    RC_ASSERT(answer.outcome.counts.at(s) >= sets[s]->min_count);
  }
  RC_ASSERT(it.starts_without(answer.victims));
  for (const std::size_t victim : answer.victims) {
    RC_ASSERT(it.work.gangs[victim].evictable);
    Set others = answer.victims;
    std::erase(others, victim);
    RC_ASSERT(!it.starts_without(others));
  }
}

RC_GTEST_PROP(Preemption, WhereNoneIsFoundEvictingEveryoneDoesNotHelp, ()) {
  Choices choices = draw_choices();
  Case it(choices);
  if (it.ask().verdict == PreemptionVerdict::kNone) {
    Set all;
    for (std::size_t i = 0; i < it.work.gangs.size(); ++i) {
      if (it.work.gangs[i].evictable) {
        all.push_back(i);
      }
    }
    RC_ASSERT(!it.starts_without(all));
  }
}

RC_GTEST_PROP(Preemption, LeavesTheBooksAsTheyWere, ()) {
  Choices choices = draw_choices();
  Case it(choices);
  const Books before = books(it.world);
  const auto answer = it.ask();
  RC_ASSERT(books(it.world) == before);
  RC_ASSERT(it.ask().victims == answer.victims);
}

RC_GTEST_PROP(Preemption, DoesNotDependOnTheOrderOfTheCandidates, ()) {
  Choices choices = draw_choices();
  Case it(choices);
  const PreemptionAnswer answer = it.ask();
  Set order(it.work.gangs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[static_cast<std::size_t>(choices.up_to(static_cast<int>(i)))]);
  }
  const PreemptionAnswer other = it.ask(order);
  Set named;
  for (const std::size_t position : other.victims) {
    named.push_back(order[position]);
  }
  std::ranges::sort(named);
  RC_ASSERT(other.verdict == answer.verdict);
  RC_ASSERT(named == answer.victims);
  RC_ASSERT(other.cost == answer.cost);
}

// Costs that are said to be the least are compared with those of many sets drawn at random, each
// reduced in an order of its own.
RC_GTEST_PROP(Preemption, NoRandomSetIsCheaperThanOneProvenToBeTheCheapest, ()) {
  Choices choices = draw_choices();
  Case it(choices);
  const PreemptionAnswer answer = it.ask();
  if (answer.verdict != PreemptionVerdict::kFound || !answer.exact) {
    return;
  }
  for (int round = 0; round < 5; ++round) {
    Set set;
    for (std::size_t i = 0; i < it.work.gangs.size(); ++i) {
      if (it.work.gangs[i].evictable) {
        set.insert(set.begin() + choices.up_to(static_cast<int>(set.size())), i);
      }
    }
    for (const std::size_t member : Set(set)) {
      Set fewer = set;
      std::erase(fewer, member);
      if (it.starts_without(fewer)) {
        set = std::move(fewer);
      }
    }
    std::vector<RunningGang> gone;
    for (const std::size_t member : set) {
      gone.push_back(it.work.gangs[member]);
    }
    std::int64_t priority = kNoVictim;
    for (const RunningGang& gang : gone) {
      priority = std::max(priority, gang.priority);
    }
    if (answer.cost.over_budget == 0 && it.work.budgets.empty()) {
      RC_ASSERT(std::tuple(answer.cost.priority, answer.cost.gangs) <=
                std::tuple(priority, static_cast<std::int64_t>(gone.size())));
    }
  }
}

}  // namespace
}  // namespace gantree::test

// Whatever happens in whatever order: quota and hosts are not overcommitted, pods go where they were assigned, and when
// all is calm nobody waits for what is free.
//
// GANTREE_SEEDS and GANTREE_FIRST_SEED choose other worlds than the usual ones, GANTREE_STEPS longer ones;
// GANTREE_ALL_SEEDS goes on after the first that fails, GANTREE_TRACE tells all that happens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "property/kueue_world.h"

namespace gantree::test {
namespace {

std::uint32_t number_from(const char* variable, std::uint32_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

// False where something was wrong, which has been told.
bool holds_up(World& world, const char* when) {
  if (!world.failed()) {
    return true;
  }
  ADD_FAILURE() << when << ":\n" << world.faults() << "\nafter\n" << world.last_actions();
  return false;
}

void live_through(std::uint32_t seed, const Ways& ways, int steps) {
  SCOPED_TRACE(seed);
  World world(seed, ways);
  const int parts = std::max(3, steps / 400);
  for (int part = 0; part < parts; ++part) {
    for (int i = 0; i < steps / parts; ++i) {
      world.happen();
      world.check_always();
      if (!holds_up(world, "in the storm")) {
        return;
      }
    }
    const bool rests = world.calm();
    EXPECT_TRUE(rests) << "it does not come to rest after\n" << world.last_actions();
    if (!rests || !holds_up(world, "while it calms down")) {
      return;
    }
    world.check_calm();
    if (!holds_up(world, "when all is calm")) {
      return;
    }
  }
  world.clear();
  EXPECT_TRUE(world.calm()) << "it does not come to rest at the end after\n" << world.last_actions();
  world.check_empty();
  holds_up(world, "when nothing is left");
}

// Worlds of so many steps, the first of them of that number.
void live_through_all(Ways (*ways)(std::uint32_t), std::uint32_t first, std::uint32_t seeds, std::uint32_t steps) {
  first = number_from("GANTREE_FIRST_SEED", first);
  seeds = number_from("GANTREE_SEEDS", seeds);
  steps = number_from("GANTREE_STEPS", steps);
  for (std::uint32_t seed = first; seed < first + seeds; ++seed) {
    live_through(seed, ways(seed), static_cast<int>(steps));
    if (::testing::Test::HasFailure() && std::getenv("GANTREE_ALL_SEEDS") == nullptr) {
      return;
    }
  }
}

// Seeds that once showed a fault: of plain worlds, of all kinds of jobs, of several families, and of many queues.
constexpr std::uint32_t kInstructive[] = {183, 188, 317, 331, 337, 342, 406, 847, 1140, 2020, 3230, 5119, 7139};
constexpr std::uint32_t kInstructiveOfAllKinds[] = {261,  558,  635,  760,  1146, 1279, 1377, 1486,
                                                    1498, 1594, 1894, 1965, 2660, 2674, 4170};
constexpr std::uint32_t kInstructiveOfFamilies[] = {10001, 10064, 10152, 10153, 10220, 10328, 10340,
                                                    10357, 10390, 20864, 21211, 22175, 30517, 31019};
constexpr std::uint32_t kInstructiveOfManyQueues[] = {25,  33,  54,  145, 192, 411,  509,
                                                      577, 634, 660, 670, 673, 5046, 30082};

TEST(KueueProperty, WhatOnceWentWrongGoesWell) {
  for (const std::uint32_t seed : kInstructive) {
    live_through(seed, Ways::none(), 600);
  }
  for (const std::uint32_t seed : kInstructiveOfAllKinds) {
    live_through(seed, Ways::some(seed), 600);
  }
  for (const std::uint32_t seed : kInstructiveOfManyQueues) {
    live_through(seed, Ways::many(seed), 900);
  }
  for (const std::uint32_t seed : kInstructiveOfFamilies) {
    live_through(seed, Ways::mixed(seed), 600);
  }
}

TEST(KueueProperty, QuotaAndHostsAreNeverOvercommittedAndNobodyWaitsForWhatIsFree) {
  live_through_all([](std::uint32_t) { return Ways::none(); }, 0, 100, 600);
}

TEST(KueueProperty, TheSameHoldsForAllKindsOfJobsAndWhateverElseHappens) {
  live_through_all(Ways::some, 0, 200, 600);
}

TEST(KueueProperty, TheSameHoldsForManyQueuesInCohortsOfCohorts) {
  live_through_all(Ways::many, 0, 12, 900);
}

TEST(KueueProperty, TheSameHoldsBesideGangsOfAnotherFamily) {
  live_through_all(Ways::mixed, 10'000, 60, 600);
}

TEST(KueueProperty, TheSameHoldsForALongTime) {
  live_through_all(Ways::some, 5'000, 3, 4'000);
}

}  // namespace
}  // namespace gantree::test

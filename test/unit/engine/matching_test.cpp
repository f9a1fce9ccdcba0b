#include "engine/matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace gantree {
namespace {

using Allowed = std::vector<std::vector<bool>>;  // by kind and place

std::vector<std::uint32_t> first_ones(std::size_t /*kind*/, const std::vector<std::uint32_t>& places,
                                      std::size_t number) {
  return {places.begin(), places.begin() + static_cast<std::ptrdiff_t>(std::min(number, places.size()))};
}

// Whether the kinds from one on find places, tried in every way.
bool some_way(const Allowed& allowed, std::vector<int> wanted, std::vector<bool> taken, std::size_t kind) {
  while (kind < wanted.size() && wanted[kind] == 0) {
    ++kind;
  }
  if (kind == wanted.size()) {
    return true;
  }
  --wanted[kind];
  for (std::size_t place = 0; place < taken.size(); ++place) {
    if (!taken[place] && allowed[kind][place]) {
      taken[place] = true;
      if (some_way(allowed, wanted, taken, kind)) {
        return true;
      }
      taken[place] = false;
    }
  }
  return false;
}

TEST(Matching, IsFoundWhereverThereIsOne) {
  std::mt19937 random(1);
  const auto up_to = [&](std::size_t most) { return static_cast<std::size_t>(random() % (most + 1)); };
  int found = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t places = 1 + up_to(6);
    std::vector<int> wanted(1 + up_to(4));
    for (int& number : wanted) {
      number = static_cast<int>(1 + up_to(1));
    }
    Allowed allowed(wanted.size(), std::vector<bool>(places));
    Allowed really = allowed;
    Budget budget(1'000'000);
    Matching matching(places, wanted,
                      {first_ones, [&](std::size_t kind, std::uint32_t place) { return really[kind][place]; }}, budget);
    for (std::size_t kind = 0; kind < wanted.size(); ++kind) {
      for (std::uint32_t place = 0; place < places; ++place) {
        allowed[kind][place] = up_to(2) > 0;
        really[kind][place] = allowed[kind][place] && up_to(3) > 0;
        if (allowed[kind][place]) {
          matching.allow(kind, place);
        }
      }
    }
    matching.open(0, static_cast<std::uint32_t>(places));
    const bool complete = matching.complete();
    ASSERT_EQ(complete, some_way(really, wanted, std::vector<bool>(places), 0)) << "round " << round;
    found += complete ? 1 : 0;
    for (std::uint32_t place = 0; complete && place < places; ++place) {
      if (matching.owner(place) != Matching::kNobody) {
        ASSERT_TRUE(really[matching.owner(place)][place]);
        --wanted[matching.owner(place)];
      }
    }
    if (complete) {
      ASSERT_EQ(std::count(wanted.begin(), wanted.end(), 0), std::ssize(wanted)) << "round " << round;
    }
  }
  EXPECT_GT(found, 200);
  EXPECT_LT(found, 1800);
}

TEST(Matching, GoesOnWhereMorePlacesAreOpened) {
  Budget budget(1'000);
  Matching matching(4, {1, 2}, {first_ones, {}}, budget);
  matching.allow(0, 0);
  for (std::uint32_t place = 0; place < 4; ++place) {
    matching.allow(1, place);
  }
  matching.open(0, 2);
  EXPECT_FALSE(matching.complete());
  matching.open(2, 3);
  EXPECT_TRUE(matching.complete());
  EXPECT_EQ(matching.owner(0), 0U);
  EXPECT_EQ(matching.owner(3), Matching::kNobody);
  matching.close_all();
  EXPECT_EQ(matching.owner(0), Matching::kNobody);
  EXPECT_EQ(matching.usable(1, 4), 3U);
}

TEST(Matching, GivesUpOnceTheBudgetIsExhausted) {
  Budget budget(2);
  Matching matching(3, {1, 1, 1}, {first_ones, {}}, budget);
  for (std::size_t kind = 0; kind < 3; ++kind) {
    for (std::uint32_t place = 0; place < 3; ++place) {
      matching.allow(kind, place);
    }
  }
  matching.open(0, 3);
  EXPECT_FALSE(matching.complete());
  EXPECT_TRUE(budget.exhausted());
}

}  // namespace
}  // namespace gantree

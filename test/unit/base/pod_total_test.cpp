#include "base/pod_total.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/named_amounts.h"

namespace gantree {
namespace {

using Named = NamedAmounts<std::int64_t>;

Named asks(Named::Map map) {
  return Named(std::move(map));
}

// "cpu=3 memory=9"
std::string told(const Named& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts.map()) {
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(amount);
  }
  return text;
}

TEST(PodTotal, IsTheSumOfTheContainers) {
  PodTotal<Named> total;
  total.add_container(asks({{"cpu", 1}, {"gpu", 8}}));
  total.add_container(asks({{"cpu", 2}}));
  EXPECT_EQ(told(total.of_containers()), "cpu=3 gpu=8");
}

TEST(PodTotal, CoversTheLargestInitContainer) {
  PodTotal<Named> total;
  total.add_init_container(asks({{"cpu", 3}}), false);
  total.add_init_container(asks({{"cpu", 2}, {"memory", 9}}), false);
  total.add_container(asks({{"cpu", 1}, {"memory", 5}}));
  EXPECT_EQ(told(total.of_containers()), "cpu=3 memory=9") << "init containers run one after the other";
}

TEST(PodTotal, AddsSidecarsToTheContainers) {
  PodTotal<Named> total;
  total.add_init_container(asks({{"cpu", 1}}), true);
  total.add_container(asks({{"cpu", 2}}));
  EXPECT_EQ(told(total.of_containers()), "cpu=3");
}

TEST(PodTotal, AddsTheSidecarsStartedBeforeToAnInitContainer) {
  PodTotal<Named> total;
  total.add_init_container(asks({{"cpu", 1}}), true);
  total.add_init_container(asks({{"cpu", 2}}), true);
  total.add_init_container(asks({{"cpu", 5}}), false);
  total.add_init_container(asks({{"cpu", 1}}), true);
  total.add_container(asks({{"cpu", 3}}));
  EXPECT_EQ(told(total.of_containers()), "cpu=8") << "1 + 2 + 5, of which the later sidecar is no part";
}

TEST(PodTotal, TakesWhatThePodSaysOfItselfInPlaceOfItsContainers) {
  PodTotal<Named> total;
  total.add_container(asks({{"cpu", 3}, {"gpu", 8}}));
  EXPECT_EQ(told(total.of_pod(Named::Map{{"cpu", 5}, {"memory", 7}}, {})), "cpu=5 gpu=8 memory=7");
  EXPECT_EQ(told(total.of_pod(Named::Map{{"cpu", 0}}, {})), "cpu=0 gpu=8");
}

TEST(PodTotal, AddsOverheadToWhateverCounts) {
  PodTotal<Named> total;
  total.add_container(asks({{"cpu", 3}}));
  EXPECT_EQ(told(total.of_pod(Named::Map{}, asks({{"cpu", 1}, {"memory", 2}}))), "cpu=4 memory=2");
  EXPECT_EQ(told(total.of_pod(Named::Map{{"cpu", 5}}, asks({{"cpu", 1}}))), "cpu=6");
}

TEST(PodTotal, DoesNotOverflow) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  PodTotal<Named> total;
  total.add_container(asks({{"cpu", kMost}}));
  total.add_container(asks({{"cpu", kMost}}));
  EXPECT_EQ(total.of_containers().map().at("cpu"), kMost);
}

}  // namespace
}  // namespace gantree

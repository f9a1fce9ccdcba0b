// Packing::kNearest: the domain that holds most, and the rest around it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

Constraint nearest(int level) {
  Constraint constraint;
  constraint.preferred = level;
  constraint.packing = Packing::kNearest;
  return constraint;
}

// Three zones with 16, 10 and 6 GPUs.
class TreeOf32Gpus : public ::testing::Test {
 protected:
  TreeOf32Gpus() : c_({"dc", "zone", "rack", "kubernetes.io/hostname"}) {
    for (const auto& [path, gpus] : std::vector<std::pair<const char*, int>>{{"dc/za/ra1/na1", 2},
                                                                             {"dc/za/ra1/na2", 2},
                                                                             {"dc/za/ra1/na3", 2},
                                                                             {"dc/za/ra2/na4", 4},
                                                                             {"dc/za/ra3/na5", 2},
                                                                             {"dc/za/ra3/na6", 2},
                                                                             {"dc/za/ra3/na7", 2},
                                                                             {"dc/zb/rb1/nb1", 4},
                                                                             {"dc/zb/rb1/nb2", 4},
                                                                             {"dc/zb/rb2/nb3", 2},
                                                                             {"dc/zc/rc1/nc1", 2},
                                                                             {"dc/zc/rc1/nc2", 4}}) {
      c_.host(path, gpus);
    }
  }
  SmallCluster c_;
};

TEST_F(TreeOf32Gpus, WhereOneRackHoldsAllTheTightestDoes) {
  EXPECT_EQ(c_.where(c_.gang({c_.set("main", 4, 1, nearest(2))})), "na4:4");
}

TEST_F(TreeOf32Gpus, TheRackThatHoldsMostIsFilledAndTheRestGoesToItsNeighbour) {
  // Zones a and b hold ten: rack b1 with its eight starts, and its neighbour takes two.
  EXPECT_EQ(c_.where(c_.gang({c_.set("main", 10, 1, nearest(2))})), "nb1:4 nb2:4 nb3:2");
}

TEST_F(TreeOf32Gpus, StaysInTheOnlyZoneThatHoldsAll) {
  // Twelve fit zone a only: rack a1 starts, a3 is the one neighbour that takes all of the rest.
  EXPECT_EQ(c_.where(c_.gang({c_.set("main", 12, 1, nearest(2))})), "na1:2 na2:2 na3:2 na5:2 na6:2 na7:2");
  // Ten without zone b: the rest of four goes into the tightest neighbour.
  c_.inventory().take(*c_.inventory().find("nb3"), c_.shape(1).requests, 2);
  EXPECT_EQ(c_.where(c_.gang({c_.set("main", 10, 1, nearest(2))})), "na1:2 na2:2 na3:2 na4:4");
}

TEST_F(TreeOf32Gpus, GoesBeyondTheZoneOnlyWithWhatItDoesNotHold) {
  // No zone holds twenty. Rack b1 (8) starts, b2 takes 2, and ten of the pods go to other zones: to one rack of 6
  // and one of 4, both in zone a.
  EXPECT_EQ(c_.where(c_.gang({c_.set("main", 20, 1, nearest(2))})), "na1:2 na2:2 na3:2 na4:4 nb1:4 nb2:4 nb3:2");
}

TEST_F(TreeOf32Gpus, AGroupOfOneSetIsPlacedAlike) {
  EXPECT_EQ(c_.where(c_.gang({c_.set("main", 10, 1)}, nearest(2))), "nb1:4 nb2:4 nb3:2");
}

TEST_F(TreeOf32Gpus, StaysInsideTheRequiredDomain) {
  Constraint both = nearest(2);
  both.required = 1;
  EXPECT_EQ(c_.where(c_.gang({c_.set("main", 16, 1, both)})), "na1:2 na2:2 na3:2 na4:4 na5:2 na6:2 na7:2");
  EXPECT_FALSE(c_.place(c_.gang({c_.set("main", 17, 1, both)})).placement);
}

TEST_F(TreeOf32Gpus, KeepsSlicesWhole) {
  Constraint sliced = nearest(2);
  sliced.slices = {{2, 4}};
  // In pieces of four a rack: b1 holds two, any other rack one (b2 none).
  EXPECT_EQ(c_.where(c_.gang({c_.set("main", 12, 1, sliced)})), "na1:2 na2:2 na4:4 na5:2 na6:2");
}

TEST_F(TreeOf32Gpus, RefusesWhatTheTreeDoesNotHold) {
  const Outcome outcome = c_.place(c_.gang({c_.set("main", 33, 1, nearest(2))}));
  ASSERT_FALSE(outcome.placement);
  EXPECT_EQ(outcome.refusal, Refusal::kTooLarge);
}

// A host's distance in edges from a rack, in trees of block, rack and host.
int distance(const std::string& host, const std::string& rack) {
  const std::string block = rack.substr(0, rack.find('/') + 1);
  return host.starts_with(rack + "/") ? 1 : host.starts_with(block) ? 3 : 5;
}

TEST(Nearest, OnRandomTreesNoPodCouldBeNearerToTheRackThatHoldsMost) {
  std::mt19937 random(1);
  const auto up_to = [&](int most) { return static_cast<int>(random() % (static_cast<unsigned>(most) + 1)); };
  int spread = 0;
  for (int round = 0; round < 2000; ++round) {
    SmallCluster c({"block", "rack", "kubernetes.io/hostname"});
    std::map<std::string, int> gpus;  // by path
    std::map<std::string, int> racks;
    std::map<std::string, int> blocks;
    for (int host = 0; host < 3 + up_to(7); ++host) {
      const std::string block = "b" + std::to_string(up_to(2));
      const std::string rack = block + "/r" + std::to_string(up_to(2));
      const std::string path = rack + "/n" + std::to_string(host);
      gpus[path] = up_to(4);
      racks[rack] += gpus[path];
      blocks[block] += gpus[path];
      c.host(path, gpus[path]);
    }
    const int pods = 1 + up_to(15);
    const Outcome outcome = c.place(c.gang({c.set("main", pods, 1, nearest(1))}));
    int all = 0;
    int most_in_block = 0;
    int most_in_rack = 0;
    for (const auto& [block, room] : blocks) {
      all += room;
      most_in_block = std::max(most_in_block, room);
    }
    for (const auto& [rack, room] : racks) {
      most_in_rack = std::max(most_in_rack, room);
    }
    ASSERT_EQ(outcome.placement.has_value(), all >= pods) << "round " << round;
    if (!outcome.placement) {
      continue;
    }
    std::map<std::string, int> used;
    for (const HostShare& share : outcome.placement->pod_sets[0]) {
      const std::string name = c.inventory().node(share.node).name;
      const auto host =
          std::find_if(gpus.begin(), gpus.end(), [&](const auto& entry) { return entry.first.ends_with("/" + name); });
      ASSERT_LE(share.count, host->second) << "round " << round;
      used[host->first] += share.count;
    }
    if (most_in_rack >= pods) {
      continue;  // all in one rack: packed as ever
    }
    ++spread;
    // The best over all racks that may start: most pods in it, then the least distance by filling nearest first.
    std::pair best{0, 0};
    std::pair got{0, 0};
    for (const auto& [rack, room] : racks) {
      const std::string block = rack.substr(0, rack.find('/'));
      if (most_in_block >= pods && blocks[block] < pods) {
        continue;
      }
      int left = pods;
      int edges = 0;
      for (const int at : {1, 3, 5}) {
        for (const auto& [host, slots] : gpus) {
          const int share = distance(host, rack) == at ? std::min(left, slots) : 0;
          left -= share;
          edges += share * at;
        }
      }
      best = std::min(best, {-room, edges});
      int inside = 0;
      int real = 0;
      for (const auto& [host, count] : used) {
        inside += host.starts_with(rack + "/") ? count : 0;
        real += count * distance(host, rack);
      }
      got = std::min(got, {-inside, real});
    }
    ASSERT_EQ(got, best) << "round " << round;
  }
  EXPECT_GT(spread, 300);
}

}  // namespace
}  // namespace gantree

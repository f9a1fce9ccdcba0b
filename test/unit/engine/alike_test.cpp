// Gangs of many groups, most of them alike.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <set>

#include "engine/engine.h"
#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

using ::testing::HasSubstr;

Constraint alone(int level) {
  Constraint constraint = required(level);
  constraint.exclusive = level;
  return constraint;
}

class Alike : public ::testing::Test {
 protected:
  // Blocks of racks of hosts with so many GPUs.
  void build(int blocks, int racks, int hosts, std::int64_t gpus) {
    int rack = 0;
    int host = 0;
    for (int b = 0; b < blocks; ++b) {
      for (int r = 0; r < racks; ++r, ++rack) {
        for (int h = 0; h < hosts; ++h, ++host) {
          c_.host(fmt::format("b{:02}/r{:04}/n{:05}", b, rack, host), gpus);
        }
      }
    }
  }
  Gang gang(std::vector<Group> groups, Constraint constraint = {}) {
    Gang gang = c_.gang({}, std::move(constraint));
    gang.exclusive_kind = "kind";
    gang.root.groups = std::move(groups);
    return gang;
  }
  std::vector<Group> groups(int number, Constraint constraint, const std::vector<PodSet>& sets) {
    std::vector<Group> all;
    for (int i = 0; i < number; ++i) {
      Group& group = all.emplace_back();
      group.name = fmt::format("g-{}", i);
      group.constraint = constraint;
      group.pod_sets = sets;
      for (PodSet& set : group.pod_sets) {
        set.name += fmt::format("-{}", i);
      }
    }
    return all;
  }
  // The domains of a level, by pod set.
  std::vector<std::set<std::string>> domains(const Gang& gang, int level) {
    const Outcome outcome = c_.place(gang);
    std::vector<std::set<std::string>> found;
    EXPECT_TRUE(outcome.placement) << outcome.message;
    if (!outcome.placement) {
      return found;
    }
    const DomainTree& tree = c_.engine().tree(c_.topology());
    for (const auto& shares : outcome.placement->pod_sets) {
      auto& names = found.emplace_back();
      for (const HostShare& share : shares) {
        const std::uint32_t host = tree.host_of(share.node);
        names.insert(tree.name({level, tree.ancestor(tree.host_level(), host, level)}));
      }
    }
    return found;
  }
  static std::set<std::string> united(const std::vector<std::set<std::string>>& all) {
    std::set<std::string> found;
    for (const auto& one : all) {
      found.insert(one.begin(), one.end());
    }
    return found;
  }
  Refusal refusal(const Gang& gang) {
    const Outcome outcome = c_.place(gang);
    EXPECT_FALSE(outcome.placement);
    return outcome.refusal;
  }

  SmallCluster c_{{"block", "rack", "kubernetes.io/hostname"}};
};

TEST_F(Alike, NineGroupsThatWantARackEachHaveNineRacks) {
  build(1, 9, 1, 8);
  const auto racks = domains(gang(groups(9, alone(1), {c_.set("w", 3, 1)})), 1);
  EXPECT_EQ(united(racks).size(), 9U);
  EXPECT_EQ(*racks[2].begin(), "r0002") << "groups follow each other as their names do";
  EXPECT_EQ(*racks[8].begin(), "r0008");
}

TEST_F(Alike, TwelveGroupsThatWantARackEachNeverFitIntoEight) {
  build(1, 8, 1, 8);
  EXPECT_EQ(refusal(gang(groups(12, alone(1), {c_.set("w", 1, 1)}))), Refusal::kTooLarge);
}

TEST_F(Alike, ARackThatAnotherGangHoldsMakesNineGroupsWait) {
  build(1, 9, 1, 8);
  const Gang first = gang(groups(1, alone(1), {c_.set("w", 1, 1)}));
  c_.engine().take(first, *c_.place(first).placement);
  EXPECT_EQ(refusal(gang(groups(9, alone(1), {c_.set("w", 1, 1)}))), Refusal::kBusy);
}

TEST_F(Alike, TwelveGroupsOfFourShareTheOneRackThatHoldsThemAll) {
  build(1, 2, 1, 64);
  EXPECT_EQ(united(domains(gang(groups(12, required(1), {c_.set("w", 4, 1)})), 1)).size(), 1U);
}

TEST_F(Alike, GroupsDoNotShareTheRoomThatIsLeftOfTwoRacks) {
  build(1, 4, 1, 7);  // one group of four each, and three GPUs that no group can use
  EXPECT_EQ(united(domains(gang(groups(4, required(1), {c_.set("w", 4, 1)})), 1)).size(), 4U);
  EXPECT_EQ(refusal(gang(groups(5, required(1), {c_.set("w", 4, 1)}))), Refusal::kTooLarge);
}

TEST_F(Alike, EveryGroupIsOnOneHostWhereThatIsPossible) {
  for (const auto& [name, gpus] : std::vector<std::pair<std::string, int>>{{"a", 6}, {"b", 6}, {"c", 4}, {"d", 4}}) {
    c_.host("b/r/" + name, gpus);
  }
  // Two hosts of six hold twelve pods, but then one group is on both.
  for (const auto& hosts : domains(gang(groups(3, required(1), {c_.set("w", 4, 1)})), 2)) {
    EXPECT_EQ(hosts.size(), 1U);
  }
}

TEST_F(Alike, LeadersAndTheirWorkersStayInOneRack) {
  build(2, 8, 2, 8);
  const auto racks = domains(gang(groups(12, required(1), {c_.set("leader", 1, 2), c_.set("worker", 7, 1)})), 1);
  ASSERT_EQ(racks.size(), 24U);
  for (std::size_t i = 0; i < racks.size(); i += 2) {
    EXPECT_EQ(racks[i].size(), 1U);
    EXPECT_EQ(racks[i], racks[i + 1]);
  }
  EXPECT_EQ(united(racks).size(), 12U) << "nine GPUs of sixteen: one group a rack";
}

TEST_F(Alike, ReplicasInBlocksHaveSubgroupsInRacksOfTheirOwn) {
  build(4, 3, 1, 8);
  std::vector<Group> replicas;
  for (int i = 0; i < 4; ++i) {
    Group& replica = replicas.emplace_back();
    replica.name = fmt::format("replica-{}", i);
    replica.constraint = required(0);
    replica.groups = groups(3, alone(1), {c_.set(fmt::format("w-{}", i), 2, 1)});
  }
  const Gang all = gang(replicas);
  EXPECT_EQ(united(domains(all, 1)).size(), 12U);
  const auto blocks = domains(all, 0);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i], blocks[i / 3 * 3]);
  }
}

TEST_F(Alike, WhoWantsABlockAndWhoWantsARackKeepOutOfEachOthersWay) {
  build(2, 2, 1, 8);
  std::vector<Group> both = groups(2, alone(1), {c_.set("rack", 1, 1)});
  both.push_back(groups(1, alone(0), {c_.set("block", 1, 1)}).front());
  const auto blocks = domains(gang(both), 0);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0], blocks[1]);
  EXPECT_NE(blocks[0], blocks[2]);
  both.push_back(groups(1, alone(1), {c_.set("third", 1, 1)}).front());
  EXPECT_EQ(refusal(gang(both)), Refusal::kTooLarge);
}

TEST_F(Alike, UnlikeGroupsThatWantARackEachShareNone) {
  build(2, 6, 1, 16);
  std::vector<Group> all;
  for (int i = 0; i < 12; ++i) {
    all.push_back(groups(1, alone(1), {c_.set(fmt::format("w{}", i), i + 1, 1)}).front());
  }
  EXPECT_EQ(united(domains(gang(all), 1)).size(), 12U);
}

TEST_F(Alike, TablesOfUnlikeGroupsAreGivenUpBeforeTheyFillTheMemory) {
  build(1, 2, 1, 110);
  std::vector<Group> all;
  for (int i = 0; i < 12; ++i) {
    all.push_back(groups(1, required(1), {c_.set(fmt::format("w{:02}", i), 4 + i, 1)}).front());
  }
  const auto most_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = most_kilobytes();
  EXPECT_EQ(united(domains(gang(all), 1)).size(), 2U) << "114 pods on hosts of 110";
  EXPECT_LT(most_kilobytes() - before, 64 * 1024);
}

// ---- more hosts than parts can be placed together on ----

TEST_F(Alike, SixteenReplicasInRacksOfALargeCluster) {
  build(8, 40, 16, 8);
  const auto racks = domains(gang(groups(16, required(1), {c_.set("w", 8, 8)})), 1);
  for (const auto& rack : racks) {
    EXPECT_EQ(rack.size(), 1U);
  }
  EXPECT_EQ(united(racks).size(), 8U) << "two replicas a rack";
}

TEST_F(Alike, ReplicasFillEveryRackOfALargeClusterToTheLast) {
  build(4, 50, 16, 4);  // 16 hosts of which eleven make a replica: one a rack
  EXPECT_EQ(united(domains(gang(groups(200, required(1), {c_.set("w", 11, 4)})), 1)).size(), 200U);
  EXPECT_EQ(refusal(gang(groups(201, required(1), {c_.set("w", 11, 4)}))), Refusal::kTooLarge);
}

TEST_F(Alike, ReplicasWithARackEachInOneBlockOfALargeCluster) {
  build(4, 64, 16, 8);
  Gang wanted = gang(groups(64, alone(1), {c_.set("w", 8, 8)}), required(0));
  const auto racks = domains(wanted, 1);
  EXPECT_EQ(united(racks).size(), 64U);
  EXPECT_EQ(united(domains(wanted, 0)).size(), 1U);
  const Gang one = gang(groups(1, alone(1), {c_.set("w", 1, 1)}));
  c_.engine().take(one, *c_.place(one).placement);
  EXPECT_EQ(united(domains(wanted, 0)), std::set<std::string>{"b01"}) << "a rack of the first block is held now";
  wanted.root.groups.push_back(groups(1, alone(1), {c_.set("more", 8, 8)}).front());
  EXPECT_EQ(refusal(wanted), Refusal::kTooLarge);
}

TEST_F(Alike, LeadersWithWorkersAndARackEachInALargeCluster) {
  build(4, 64, 16, 8);
  const auto racks = domains(gang(groups(40, alone(1), {c_.set("leader", 1, 1), c_.set("worker", 15, 8)})), 1);
  EXPECT_EQ(united(racks).size(), 40U);
}

// ---- groups that differ, each with a domain to itself ----

TEST_F(Alike, UnlikeGroupsWithARackEachTakeEveryRackThatIsJustLargeEnough) {
  // Rack r has r + 1 hosts of one GPU: the group of so many pods fits there, and no smaller group may be in its place.
  constexpr int kRacks = 60;
  for (int rack = 0; rack < kRacks; ++rack) {
    for (int host = 0; host <= rack; ++host) {
      c_.host(fmt::format("b{}/r{:02}/n{:02}-{:02}", rack % 3, rack, rack, host), 1);
    }
  }
  std::vector<Group> all;
  for (int i = 0; i < kRacks; ++i) {
    all.push_back(groups(1, alone(1), {c_.set(fmt::format("w{:02}", i), i + 1, 1)}).front());
  }
  const auto racks = domains(gang(all), 1);
  for (std::size_t i = 0; i < racks.size(); ++i) {
    EXPECT_EQ(racks[i], std::set<std::string>{fmt::format("r{:02}", i)});
  }
  all.front().pod_sets.front().count = all.front().pod_sets.front().min_count = 2;
  // Sixty groups of two pods or more, and 59 racks that hold as many.
  EXPECT_EQ(refusal(gang(all)), Refusal::kTooLarge);
}

TEST_F(Alike, UnlikeGroupsMakeWayForThoseThatFitIntoFewerRacks) {
  // Hosts of two kinds: pods of three GPUs need the large ones, many pods of one GPU the many small ones.
  for (int rack = 0; rack < 40; ++rack) {
    for (int host = 0; host < 16; ++host) {
      c_.host(fmt::format("b0/r{:02}/n{:02}-{:02}", rack, rack, host), rack % 2 == 0 ? (host < 4 ? 3 : 0) : 2);
    }
  }
  std::vector<Group> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(groups(1, alone(1), {c_.set(fmt::format("large{:02}", i), 1 + i % 4, 3)}).front());
    all.push_back(groups(1, alone(1), {c_.set(fmt::format("many{:02}", i), 1 + i, 1)}).front());
  }
  EXPECT_EQ(united(domains(gang(all), 1)).size(), 40U);
  all.push_back(groups(1, alone(1), {c_.set("one-more", 1, 1)}).front());
  EXPECT_EQ(refusal(gang(all)), Refusal::kTooLarge);
}

TEST_F(Alike, UnlikeGroupsWithARackEachStayInOneBlockWhereThatIsAskedFor) {
  build(4, 24, 16, 8);
  std::vector<Group> all;
  for (int i = 0; i < 24; ++i) {
    all.push_back(
        groups(1, alone(1), {c_.set(fmt::format("l{:02}", i), 1, 4), c_.set(fmt::format("w{:02}", i), 1 + i, 2)})
            .front());
  }
  EXPECT_EQ(united(domains(gang(all, required(0)), 0)).size(), 1U);
  EXPECT_EQ(united(domains(gang(all, preferred(0)), 0)).size(), 1U);
  all.push_back(groups(1, alone(1), {c_.set("one-more", 1, 1)}).front());
  EXPECT_EQ(refusal(gang(all, required(0))), Refusal::kTooLarge);
  EXPECT_EQ(united(domains(gang(all, preferred(0)), 0)).size(), 2U);
}

}  // namespace
}  // namespace gantree

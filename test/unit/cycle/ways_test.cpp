// Jobs of several pod sets that may start in very many ways.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cycle/cycle.h"

namespace gantree {
namespace {

constexpr int kFlavors = 8;

// Flavors with hosts and quota of their own, and a job of several pod sets, each of which may use any of them.
class WaysTest : public testing::Test {
 protected:
  WaysTest() : topology_(cluster_.engine().add_topology({.name = "hosts", .levels = {kHostnameLabel}})) {
    queue_ = quota_.add_queue({.name = "Queue \"q\"", .within = WithinRule::kLowerPriority});
  }

  // A flavor of one host with so many gpus, and so much quota.
  void flavor(std::int64_t gpus, std::int64_t quota) {
    Interner& strings = cluster_.inventory().strings();
    Node node;
    node.name = fmt::format("f{}", cells_.size() + 1);
    node.labels = {{strings.intern(kHostnameLabel), strings.intern(node.name)}};
    node.allocatable.set(gpu(), gpus);
    node.allocatable.set(ResourceNames::kPods, 110);
    cells_.push_back(quota_.add({.queue = "Queue \"q\"",
                                 .flavor = node.name,
                                 .resource = "nvidia.com/gpu",
                                 .nominal = quota,
                                 .owner = queue_}));
    cluster_.upsert_node(std::move(node));
  }
  void flavors(int count, std::int64_t gpus, std::int64_t quota) {
    for (int i = 0; i < count; ++i) {
      flavor(gpus, quota);
    }
  }

  ResourceId gpu() { return cluster_.inventory().resources().intern("nvidia.com/gpu"); }

  Amounts request(std::int64_t gpus) {
    Amounts request;
    request.set(gpu(), gpus);
    request.set(ResourceNames::kPods, 1);
    return request;
  }

  // A gang that fills the host of a flavor.
  void runs(const std::string& name, std::size_t flavor, std::int64_t gpus, std::int64_t priority) {
    const NodeId node = *cluster_.inventory().find(fmt::format("f{}", flavor));
    RunningGang gang;
    gang.key = {"default", name, "Job"};
    gang.dialect = "test";
    gang.priority = priority;
    gang.queue = queue_;
    gang.used = {{cells_[flavor - 1], gpus}};
    gang.holdings = {{.node = node, .requests = request(gpus), .count = 1}};
    cluster_.inventory().take(node, request(gpus), 1);
    quota_.take(gang.used);
    cluster_.add_running(std::move(gang));
  }

  // Pod sets of one pod each, with so many gpus.
  Submission job(const std::vector<std::int64_t>& sets) {
    Interner& strings = cluster_.inventory().strings();
    Submission made;
    made.key = {"default", "train", "JobSet"};
    made.dialect = "test";
    made.queue = queue_;
    made.priority = 5;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      std::vector<Alternative>& ways = made.parts.emplace_back();
      made.pod_sets.emplace_back(fmt::format("s{}", i), 1);
      for (std::size_t f = 0; f < cells_.size(); ++f) {
        Alternative& way = ways.emplace_back();
        way.gang.key = made.key;
        way.gang.topology = topology_;
        PodSet& set = way.gang.root.pod_sets.emplace_back();
        set.name = fmt::format("s{}", i);
        set.shape.requests = request(sets[i]);
        set.shape.node_selector = {{strings.intern(kHostnameLabel), strings.intern(fmt::format("f{}", f + 1))}};
        way.demand = {{{cells_[f], sets[i]}}};
        way.flavors = {fmt::format("f{}", f + 1)};
      }
    }
    return made;
  }

  // "f1 f2 f2" where it starts so, else the reason why not; and who is evicted.
  std::string decide(Submission submission) {
    std::vector<Submission> queue;
    queue.push_back(std::move(submission));
    const Plan plan = run_cycle(cluster_, quota_, std::move(queue));
    const Decision& decision = plan.decisions.front();
    message_ = decision.message;
    std::string text;
    for (const PodSetDecision& set : decision.pod_sets) {
      text += (text.empty() ? "" : " ") + set.flavor;
    }
    for (const Eviction& eviction : plan.evictions) {
      text += "; " + eviction.key.name + " goes";
    }
    return decision.state == GangState::kPlaced ? text : to_string(decision.reason);
  }

  Cluster cluster_;
  Quota quota_;
  QueueId queue_;
  TopologyId topology_;
  std::vector<QuotaId> cells_;
  std::string message_;
};

TEST_F(WaysTest, AllInTheFirstFlavorAreTriedFirst) {
  flavors(kFlavors, 8, 8);
  EXPECT_EQ(decide(job({1, 1, 1})), "f1 f1 f1");
}

TEST_F(WaysTest, AFlavorThatAloneHasQuotaLeftIsFoundHoweverLateItComes) {
  flavors(kFlavors - 1, 8, 0);
  flavor(8, 8);
  EXPECT_EQ(decide(job({1, 1, 1})), "f8 f8 f8");
}

TEST_F(WaysTest, AFlavorThatAloneHasRoomLeftIsFoundHoweverLateItComes) {
  flavors(kFlavors - 1, 0, 8);
  flavor(8, 8);
  EXPECT_EQ(decide(job({1, 1, 1})), "f8 f8 f8");
}

TEST_F(WaysTest, EveryPodSetGetsAFlavorOfItsOwnWhereNoneHoldsTwo) {
  flavors(kFlavors, 1, 8);
  EXPECT_EQ(decide(job({1, 1, 1, 1, 1, 1, 1, 1})), "f1 f2 f3 f4 f5 f6 f7 f8");
}

TEST_F(WaysTest, TheSameGoesForQuota) {
  flavors(kFlavors, 8, 1);
  EXPECT_EQ(decide(job({1, 1, 1, 1, 1, 1, 1, 1})), "f1 f2 f3 f4 f5 f6 f7 f8");
}

TEST_F(WaysTest, TheFirstPodSetMakesWayWhereTheLastFitsNowhereElse) {
  flavor(8, 8);
  flavors(kFlavors - 1, 2, 2);
  EXPECT_EQ(decide(job({2, 2, 8})), "f2 f3 f1");
}

TEST_F(WaysTest, TheSameGoesWhereOnlyRoomIsShort) {
  flavor(8, 99);
  flavors(kFlavors - 1, 2, 99);
  EXPECT_EQ(decide(job({2, 2, 8})), "f2 f3 f1");
}

TEST_F(WaysTest, AJobThatIsOnePodSetTooLargeWaitsAndSaysWhatItWaitsFor) {
  flavors(kFlavors, 8, 1);
  EXPECT_EQ(decide(job({1, 1, 1, 1, 1, 1, 1, 1, 1})), "QuotaExceeded") << message_;
  EXPECT_EQ(message_.find("more combinations"), std::string::npos) << message_;
}

TEST_F(WaysTest, WhereTheSearchWasCutShortTheVerdictSaysSo) {
  flavors(11, 1, 99);
  EXPECT_EQ(decide(job(std::vector<std::int64_t>(12, 1))), "SearchLimit") << message_;
  EXPECT_NE(message_.find("; there are more combinations of flavors than were looked at"), std::string::npos)
      << message_;
}

TEST_F(WaysTest, WhoeverHasToGoIsFoundHoweverLateTheirFlavorComes) {
  flavors(kFlavors, 8, 8);
  for (std::size_t i = 1; i < kFlavors; ++i) {
    runs(fmt::format("high-{}", i), i, 8, 9);
  }
  runs("low", kFlavors, 8, 1);
  EXPECT_EQ(decide(job({1, 1, 1})), "f8 f8 f8; low goes") << message_;
}

TEST_F(WaysTest, TheSameGoesWhereOthersHoldTheRoomAndNotTheQuota) {
  flavors(kFlavors, 8, 99);
  for (std::size_t i = 1; i < kFlavors; ++i) {
    runs(fmt::format("high-{}", i), i, 8, 9);
  }
  runs("low", kFlavors, 8, 1);
  EXPECT_EQ(decide(job({1, 1, 1})), "f8 f8 f8; low goes") << message_;
}

TEST_F(WaysTest, NobodyGoesWhereItIsNotEnough) {
  flavors(kFlavors, 8, 8);
  for (std::size_t i = 1; i < kFlavors; ++i) {
    runs(fmt::format("high-{}", i), i, 8, 9);
  }
  runs("low", kFlavors, 8, 1);
  EXPECT_EQ(decide(job({4, 4, 4})), "QuotaExceeded") << message_;
}

}  // namespace
}  // namespace gantree

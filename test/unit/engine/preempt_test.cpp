#include "engine/preempt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <utility>

#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

// A cluster of hosts with running gangs, and what is asked about it.
class Preempt : public ::testing::Test {
 protected:
  // "n1" takes one pod of `gpus` GPUs, "n1:3" three of them.
  RunningGang& run(const std::string& name, std::int64_t priority, const std::vector<std::string>& hosts,
                   std::int64_t gpus = 1) {
    RunningGang& gang = running_.emplace_back();
    gang.key = {"default", name, "Job"};
    gang.priority = priority;
    gang.started_seconds = 1000;
    for (const std::string& host : hosts) {
      const std::size_t colon = host.find(':');
      const int count = colon == std::string::npos ? 1 : std::stoi(host.substr(colon + 1));
      const NodeId node = *cluster_.inventory().find(host.substr(0, colon));
      gang.holdings.push_back({node, cluster_.shape(gpus).requests, count});
      cluster_.inventory().take(node, cluster_.shape(gpus).requests, count);
    }
    return gang;
  }
  // Two racks of two hosts of four GPUs.
  void two_racks() {
    for (const char* host : {"b1/r1/a1", "b1/r1/a2", "b1/r2/b1", "b1/r2/b2"}) {
      cluster_.host(host, 4);
    }
  }
  RunningGang& alone(RunningGang& gang, int level) {
    ExclusiveHold hold{"group", cluster_.topology(), level, {}};
    for (const Holding& holding : gang.holdings) {
      hold.hosts.push_back(holding.node);
    }
    gang.exclusives.push_back(std::move(hold));
    cluster_.engine().hold(gang);
    return gang;
  }

  PreemptionAnswer ask(const Gang& gang) {
    std::vector<const RunningGang*> candidates;
    for (const RunningGang& running : running_) {
      candidates.push_back(&running);
    }
    return find_victims(cluster_.engine(), {gang, candidates, budgets_, admits_});
  }
  // The names of the victims, or what was answered instead.
  std::string victims(const Gang& gang) {
    const PreemptionAnswer answer = ask(gang);
    if (answer.verdict != PreemptionVerdict::kFound) {
      return answer.verdict == PreemptionVerdict::kNone ? "none" : "gave up";
    }
    EXPECT_TRUE(answer.outcome.placement.has_value());
    EXPECT_TRUE(answer.exact);
    std::string names;
    for (const std::size_t victim : answer.victims) {
      names += (names.empty() ? "" : " ") + std::next(running_.begin(), static_cast<std::ptrdiff_t>(victim))->key.name;
    }
    return names;
  }
  Gang in_a_rack(int pods, std::int64_t gpus = 1) {
    return cluster_.gang({cluster_.set("main", pods, gpus, required(1))});
  }

  SmallCluster cluster_{{"block", "rack", "kubernetes.io/hostname"}};
  std::list<RunningGang> running_;
  std::vector<DisruptionBudget> budgets_;
  std::function<bool(std::span<const std::size_t>)> admits_;
};

TEST_F(Preempt, EvictsNothingWhereTheGangFitsAlready) {
  two_racks();
  run("low", 0, {"a1"});
  EXPECT_EQ(victims(in_a_rack(7)), "");
}

TEST_F(Preempt, EvictsTheGangOfTheRackThatCostsLeast) {
  two_racks();
  run("left", 5, {"a1:4", "a2:4"});
  run("right", 3, {"b1:4", "b2:4"});
  EXPECT_EQ(victims(in_a_rack(8)), "right");
}

TEST_F(Preempt, CountsAGangAcrossRacksAsAWhole) {
  two_racks();
  run("wide", 1, {"a1:4", "b1:4"});
  run("left", 1, {"a2:4"});
  run("right", 1, {"b2:4"});
  const PreemptionAnswer answer = ask(in_a_rack(4));
  ASSERT_EQ(answer.verdict, PreemptionVerdict::kFound);
  EXPECT_EQ(answer.cost.gangs, 1);
  EXPECT_EQ(answer.cost.pods, 4);
  EXPECT_EQ(answer.victims, std::vector<std::size_t>{1});
}

TEST_F(Preempt, EvictsNothingWhereTheWholeGangWouldNotFitThen) {
  two_racks();
  run("low", 0, {"a1:4", "a2:2"});
  cluster_.inventory().take(*cluster_.inventory().find("a2"), cluster_.shape(1).requests, 1);
  cluster_.inventory().take(*cluster_.inventory().find("b1"), cluster_.shape(1).requests, 1);
  EXPECT_EQ(victims(in_a_rack(8)), "none");
  EXPECT_EQ(victims(in_a_rack(9)), "none");
}

TEST_F(Preempt, RespectsBudgetsBeforePriorities) {
  two_racks();
  budgets_ = {{"default/keep", 3}};
  run("left", 1, {"a1:4"}).budgets = {{BudgetId{0}, 4}};
  run("right", 9, {"b1:4", "b2:4"});
  cluster_.inventory().take(*cluster_.inventory().find("a2"), cluster_.shape(1).requests, 4);
  EXPECT_EQ(victims(in_a_rack(4)), "right");
  budgets_[0].allowed = 4;
  EXPECT_EQ(victims(in_a_rack(4)), "left");
}

TEST_F(Preempt, AddsUpWhatSeveralVictimsTakeFromOneBudget) {
  two_racks();
  budgets_ = {{"default/keep", 4}};
  run("a", 1, {"a1:4"}).budgets = {{BudgetId{0}, 4}};
  run("b", 1, {"a2:4"}).budgets = {{BudgetId{0}, 4}};
  run("c", 7, {"b1:4"});
  run("d", 8, {"b2:4"});
  EXPECT_EQ(victims(in_a_rack(8)), "c d");
  EXPECT_EQ(victims(in_a_rack(4)), "a");
}

TEST_F(Preempt, BreaksABudgetRatherThanNotStartingAtAll) {
  two_racks();
  budgets_ = {{"default/keep", 0}};
  run("left", 1, {"a1:4", "a2:4"}).budgets = {{BudgetId{0}, 8}};
  run("right", 1, {"b1:4", "b2:4"}).budgets = {{BudgetId{0}, 2}};
  const PreemptionAnswer answer = ask(in_a_rack(8));
  EXPECT_EQ(answer.victims, std::vector<std::size_t>{1});
  EXPECT_EQ(answer.cost.over_budget, 2);
}

TEST_F(Preempt, TakesSeveralGangsOfLowPriorityRatherThanOneOfHigh) {
  two_racks();
  run("high", 5, {"a1:4", "a2:4"});
  run("l1", 1, {"b1:2"});
  run("l2", 2, {"b1:2"});
  run("l3", 3, {"b2:4"});
  EXPECT_EQ(victims(in_a_rack(8)), "l1 l2 l3");
}

TEST_F(Preempt, TakesFewerGangsThenFewerPods) {
  two_racks();
  run("two-1", 1, {"a1:2"});
  run("two-2", 1, {"a1:2"});
  run("one", 1, {"a2:4", "b2:4"});
  run("lean", 1, {"b1"}, 4);
  EXPECT_EQ(victims(in_a_rack(4)), "lean");
}

TEST_F(Preempt, TakesTheYoungestOfEquals) {
  two_racks();
  run("old", 1, {"a1:4"}).started_seconds = 100;
  run("young", 1, {"a2:4"}).started_seconds = 900;
  run("middle", 1, {"b1:4"}).started_seconds = 500;
  run("unknown", 1, {"b2:4"}).started_seconds = 0;
  EXPECT_EQ(victims(in_a_rack(4)), "young");
  EXPECT_EQ(victims(in_a_rack(8)), "old young");
}

TEST_F(Preempt, LeavesAloneWhoMayNotBeEvicted) {
  two_racks();
  run("left", 0, {"a1:4", "a2:4"}).evictable = false;
  run("right", 8, {"b1:4", "b2:4"});
  EXPECT_EQ(victims(in_a_rack(8)), "right");
}

TEST_F(Preempt, FreesDomainsThatVictimsHaveToThemselves) {
  two_racks();
  alone(run("left", 4, {"a1"}), 1);
  alone(run("right", 3, {"b1"}), 1);
  Constraint own_rack = required(1);
  own_rack.exclusive = 1;
  Gang gang = cluster_.gang({cluster_.set("main", 2, 1)}, own_rack);
  gang.exclusive_kind = "group";
  EXPECT_EQ(victims(gang), "right");
  EXPECT_FALSE(cluster_.place(gang).placement) << "the holds are back";
  run("filler", 1, {"b1:3", "b2:4"});
  EXPECT_EQ(victims(gang), "right filler");
}

TEST_F(Preempt, FreesQuotaWhereThereIsRoomAlready) {
  two_racks();
  run("a", 2, {"a1"});
  run("b", 1, {"a2"});
  run("c", 1, {"b1"}).started_seconds = 2000;
  admits_ = [](std::span<const std::size_t> gone) { return gone.size() >= 2; };
  EXPECT_EQ(victims(in_a_rack(2)), "b c");
  admits_ = [](std::span<const std::size_t> gone) { return std::ranges::find(gone, 0U) != gone.end(); };
  EXPECT_EQ(victims(in_a_rack(2)), "a");
  admits_ = [](std::span<const std::size_t>) { return false; };
  EXPECT_EQ(victims(in_a_rack(2)), "none");
}

TEST_F(Preempt, FreesRoomAndQuotaTogether) {
  two_racks();
  run("left", 1, {"a1:4", "a2:4"});
  run("right", 1, {"b1:4", "b2:4"});
  run("elsewhere", 1, {});
  admits_ = [](std::span<const std::size_t> gone) {
    return std::ranges::find(gone, 1U) != gone.end() || std::ranges::find(gone, 2U) != gone.end();
  };
  EXPECT_EQ(victims(in_a_rack(8)), "right");
  admits_ = [](std::span<const std::size_t> gone) { return std::ranges::find(gone, 2U) != gone.end(); };
  EXPECT_EQ(victims(in_a_rack(8)), "left elsewhere");
}

TEST_F(Preempt, MakesRoomForALeaderAndItsWorkersInOneRack) {
  two_racks();
  run("left", 1, {"a1:2"});
  run("left-2", 1, {"a2:2"});
  run("right", 1, {"b1:3", "b2:1"});
  const Gang gang = cluster_.gang({cluster_.set("leader", 1, 4), cluster_.set("workers", 3, 1)}, required(1));
  EXPECT_EQ(victims(gang), "right") << "in the left rack only two GPUs would be left to three workers";
}

TEST_F(Preempt, MakesRoomForGroupsThatEachNeedARack) {
  two_racks();
  run("left", 1, {"a1:2"});
  run("right", 4, {"b1:2"});
  run("right-2", 2, {"b2:2"});
  Gang gang = cluster_.gang({});
  for (const char* name : {"one", "two"}) {
    gang.root.groups.push_back({name, required(1), {cluster_.set("main", 6, 1)}, {}});
  }
  EXPECT_EQ(victims(gang), "right-2");
}

TEST_F(Preempt, KeepsSlicesWhole) {
  two_racks();
  run("a", 1, {"a1:2", "a2:2"});
  run("b", 2, {"b1:3"});
  const Gang gang = cluster_.gang({cluster_.set("main", 4, 1, slices({{2, 4}}))});
  cluster_.inventory().take(*cluster_.inventory().find("b2"), cluster_.shape(1).requests, 1);
  EXPECT_EQ(victims(gang), "a");
}

TEST_F(Preempt, EvictsForTheMinimumOnlyAndPlacesWhatThenFits) {
  two_racks();
  run("small", 1, {"a1:3", "a2:3"});
  run("big", 1, {"b1:4", "b2:4"});
  Gang gang = in_a_rack(8);
  gang.root.pod_sets[0].min_count = 2;
  EXPECT_EQ(victims(gang), "");
  gang.root.pod_sets[0].min_count = 3;
  const PreemptionAnswer answer = ask(gang);
  EXPECT_EQ(answer.victims, std::vector<std::size_t>{0});
  EXPECT_EQ(answer.outcome.counts, std::vector<int>{8});
}

TEST_F(Preempt, LeavesEverythingAsItWas) {
  two_racks();
  alone(run("left", 1, {"a1:2", "a2:3"}), 1);
  run("right", 1, {"b1:3", "b2:1"});
  std::vector<std::int64_t> before;
  const auto free = [&] {
    std::vector<std::int64_t> amounts;
    for (std::uint32_t node = 0; node < 4; ++node) {
      amounts.push_back(cluster_.inventory().free(NodeId{node}, cluster_.gpu()));
      amounts.push_back(cluster_.inventory().free(NodeId{node}, ResourceNames::kPods));
    }
    return amounts;
  };
  before = free();
  const auto holds = cluster_.engine().holds();
  EXPECT_EQ(victims(in_a_rack(8)), "right");
  EXPECT_EQ(victims(cluster_.gang({cluster_.set("a", 2, 2), cluster_.set("b", 4, 1)}, required(1))), "right");
  EXPECT_EQ(free(), before);
  EXPECT_EQ(cluster_.engine().holds(), holds);
}

}  // namespace
}  // namespace gantree

// What is a queue's own in its cohort: taken back from others, and kept for those that wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/kueue/queue_world.h"
#include "unit/kueue/small_cluster.h"

namespace gantree::kueue {
namespace {

using testing::HasSubstr;

class CohortQuota : public ::testing::Test {
 protected:
  explicit CohortQuota(const ControllerOptions& options = {}) : world(options) { world.flavor("default"); }

  // A queue of a cohort, with so many cores.
  void team(const std::string& name, int cores, const std::string& cohort, const std::string& more = "") {
    world.cluster_queue(name, cores, fmt::format(R"("cohortName":"{}"{}{})", cohort, more.empty() ? "" : ",", more));
    world.local_queue("ns", name, name);
  }
  // A Workload of a priority that asks for so many cores, and so much memory where that is not 0.
  void submit(const std::string& name, const std::string& queue, int cores, int priority = 0, int memory = 0) {
    const std::string also = memory == 0 ? "" : fmt::format(R"(,"memory":"{}")", memory);
    world.put(
        "Workload", "ns", name,
        fmt::format(R"({{"queueName":"{}","priority":{},"podSets":[{{"name":"main","count":1,"template":{{"spec":{{)"
                    R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"{}}}}}}}]}}}}}}]}})",
                    queue, priority, cores, also));
    world.settle();
  }
  void finish(const std::string& name) {
    world.remove("Workload", "ns", name);
    world.settle();
  }
  [[nodiscard]] bool runs(const std::string& name) const {
    return !world.status("Workload ns/" + name, "admission").empty();
  }
  [[nodiscard]] std::string conditions(const std::string& name) const {
    return world.status("Workload ns/" + name, "conditions");
  }

  QueueWorld world;
};

constexpr const char* kReclaim = R"("preemption":{"reclaimWithinCohort":"Any"})";
constexpr const char* kBoth = R"("preemption":{"reclaimWithinCohort":"Any","withinClusterQueue":"LowerPriority"})";

TEST_F(CohortQuota, OfOneResourceIsTakenBackThoughAnotherIsBorrowed) {
  const auto two = [&](const std::string& name, int cores, int memory) {
    world.put("ClusterQueue", "", name,
              fmt::format(R"({{"namespaceSelector":{{}},"cohortName":"all","resourceGroups":[{{"coveredResources":)"
                          R"(["cpu","memory"],"flavors":[{{"name":"default","resources":[)"
                          R"({{"name":"cpu","nominalQuota":"{}"}},{{"name":"memory","nominalQuota":"{}"}}]}}]}}],{}}})",
                          cores, memory, kReclaim));
    world.local_queue("ns", name, name);
  };
  two("cpus", 10, 0);
  two("mems", 0, 10);
  submit("borrower", "mems", 2);
  ASSERT_TRUE(runs("borrower"));
  submit("owner", "cpus", 10, 0, 5);
  EXPECT_TRUE(runs("owner"));
  EXPECT_FALSE(runs("borrower"));
  EXPECT_THAT(conditions("borrower"), HasSubstr(R"("reason":"InCohortReclamation")"));
}

TEST_F(CohortQuota, IsTakenBackTogetherWithWhatAnOwnJobOfLowerPriorityHas) {
  team("alpha", 2, "all", kBoth);
  team("beta", 4, "all");
  submit("alpha-low", "alpha", 1, -1);
  submit("beta-mid", "beta", 1, 0);
  submit("beta-high", "beta", 4, 1);
  ASSERT_TRUE(runs("alpha-low") && runs("beta-mid") && runs("beta-high"));
  submit("alpha-mid", "alpha", 2, 0);
  EXPECT_TRUE(runs("alpha-mid"));
  EXPECT_TRUE(runs("beta-high"));
  EXPECT_THAT(conditions("alpha-low"), HasSubstr(R"("reason":"InClusterQueue")"));
  EXPECT_THAT(conditions("beta-mid"), HasSubstr(R"("reason":"InCohortReclamation")"));
}

TEST_F(CohortQuota, OfTheCohortItselfIsTakenBackByItsQueues) {
  world.put("Cohort", "", "root", "{}");
  world.put("Cohort", "", "guaranteed",
            R"({"parentName":"root","resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"default",)"
            R"("resources":[{"name":"cpu","nominalQuota":"3"}]}]}]})");
  team("best-effort", 0, "root");
  team("guaranteed", 0, "guaranteed", kBoth);
  submit("be", "best-effort", 3, 5);
  ASSERT_TRUE(runs("be"));
  submit("g", "guaranteed", 3, 0);
  EXPECT_TRUE(runs("g"));
  EXPECT_THAT(conditions("be"), HasSubstr(R"("reason":"InCohortReclamation")"));
}

// Workloads without a time of creation stand in the order of their names.
TEST_F(CohortQuota, IsKeptForTheFirstOfAStrictQueueWhileItWaits) {
  team("owner", 2, "all", R"("queueingStrategy":"StrictFIFO")");
  team("guest", 0, "all");
  submit("owner-1", "owner", 1);
  submit("owner-2", "owner", 2);
  submit("z-guest-1", "guest", 1);
  EXPECT_FALSE(runs("owner-2"));
  EXPECT_FALSE(runs("z-guest-1"));
  EXPECT_THAT(conditions("z-guest-1"), HasSubstr("is kept for ns/owner-2"));
  finish("owner-1");
  EXPECT_TRUE(runs("owner-2"));
  EXPECT_FALSE(runs("z-guest-1"));
  finish("owner-2");
  EXPECT_TRUE(runs("z-guest-1")) << "nobody waits for it any more";
}

TEST_F(CohortQuota, ThatWasKeptIsFreeWhenTheOneThatWaitedIsGone) {
  team("owner", 2, "all", R"("queueingStrategy":"StrictFIFO")");
  team("guest", 0, "all");
  submit("owner-1", "owner", 1);
  submit("owner-2", "owner", 2);
  submit("z-guest-1", "guest", 1);
  ASSERT_FALSE(runs("z-guest-1"));
  finish("owner-2");
  EXPECT_TRUE(runs("z-guest-1"));
}

TEST_F(CohortQuota, OfAThirdQueueIsNotKept) {
  team("owner", 2, "all", R"("queueingStrategy":"StrictFIFO")");
  team("lender", 2, "all");
  team("guest", 0, "all");
  submit("owner-1", "owner", 1);
  submit("lent", "lender", 2);
  submit("owner-2", "owner", 2);
  finish("lent");
  ASSERT_TRUE(runs("owner-2")) << "with what the lender does not use";
  finish("owner-2");
  submit("lent", "lender", 2);
  submit("owner-2", "owner", 2);
  ASSERT_FALSE(runs("owner-2"));
  team("lender", 4, "all");
  world.settle();
  EXPECT_TRUE(runs("owner-2"));
}

TEST_F(CohortQuota, IsNotKeptWhereItCanBeTakenBackFromAnybody) {
  team("owner", 2, "all", fmt::format(R"("queueingStrategy":"StrictFIFO",{})", kReclaim));
  team("guest", 0, "all");
  submit("owner-1", "owner", 1);
  submit("owner-2", "owner", 2);
  submit("z-guest-1", "guest", 1);
  submit("z-guest-2", "guest", 1);
  EXPECT_TRUE(runs("z-guest-1")) << "it may have it meanwhile";
  EXPECT_FALSE(runs("z-guest-2"));
  world.remove("Workload", "ns", "owner-1");
  world.step();
  EXPECT_FALSE(runs("z-guest-2")) << "what came free is what the owner needs beside that which it takes back";
  world.settle();
  EXPECT_TRUE(runs("owner-2"));
  EXPECT_FALSE(runs("z-guest-1"));
  EXPECT_FALSE(runs("z-guest-2"));
}

class SharedQuota : public CohortQuota {
 protected:
  SharedQuota() : CohortQuota({.shares = {ShareStrategy::kFinalShare, ShareStrategy::kInitialShare}}) {
    world.put("Cohort", "", "all",
              R"({"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"default",)"
              R"("resources":[{"name":"cpu","nominalQuota":"9"}]}]}]})");
    team("p1", 0, "all", kBoth);
    team("p2", 0, "all", kBoth);
    for (const char* name : {"a1", "a2", "a3", "a4"}) {
      submit(name, "p1", 2);
    }
  }
  [[nodiscard]] int running() const {
    int count = 0;
    for (const char* name : {"a1", "a2", "a3", "a4"}) {
      count += runs(name) ? 1 : 0;
    }
    return count;
  }
};

TEST_F(SharedQuota, IsTakenByOneBehindAnotherOfItsQueueThatMayNotTakeAsMuch) {
  ASSERT_EQ(running(), 4);
  submit("six", "p2", 6, 999);
  ASSERT_FALSE(runs("six"));
  ASSERT_EQ(running(), 4);
  submit("five", "p2", 5);
  EXPECT_TRUE(runs("five"));
  EXPECT_EQ(running(), 2);
  world.settle();
  EXPECT_TRUE(runs("five"));
  EXPECT_FALSE(runs("six"));
}

TEST_F(SharedQuota, IsTakenBehindSeveral) {
  submit("seven", "p2", 7, 999);
  submit("six", "p2", 6, 999);
  submit("four", "p2", 4);
  EXPECT_TRUE(runs("four"));
  EXPECT_EQ(running(), 2);
}

}  // namespace
}  // namespace gantree::kueue

namespace gantree::test {
namespace {

// Two flavors, each of a host with three gpus; hero and tiny own them, and rest borrows all.
class Overlap : public SmallCluster {
 public:
  Overlap() : SmallCluster({}, true, 0) {
    for (const std::string flavor : {"f1", "f2"}) {
      put(kGroup, "v1beta2", "ResourceFlavor",
          fmt::format("{{'metadata':{{'name':'{0}'}},'spec':{{'nodeLabels':{{'pool':'{0}'}},'topologyName':'net'}}}}",
                      flavor));
      put("", "v1", "Node",
          fmt::format("{{'metadata':{{'name':'n-{0}','labels':{{'kubernetes.io/hostname':'n-{0}','rack':'r','pool':"
                      "'{0}'}}}},'status':{{'allocatable':{{'nvidia.com/gpu':'3','pods':'110'}},"
                      "'conditions':[{{'type':'Ready','status':'True'}}]}}}}",
                      flavor));
    }
    team("hero", 2);
    team("tiny", 1);
    team("rest", 0);
  }
  void team(const std::string& name, int gpus) {
    const auto flavor = [&](const std::string& one) {
      return fmt::format("{{'name':'{}','resources':[{{'name':'nvidia.com/gpu','nominalQuota':{}}}]}}", one, gpus);
    };
    put(kGroup, "v1beta2", "ClusterQueue",
        fmt::format("{{'metadata':{{'name':'{}'}},'spec':{{'namespaceSelector':{{}},'cohortName':'co','preemption':"
                    "{{'reclaimWithinCohort':'Any','withinClusterQueue':'LowerPriority'}},'resourceGroups':"
                    "[{{'coveredResources':['nvidia.com/gpu'],'flavors':[{},{}]}}]}}}}",
                    name, flavor("f1"), flavor("f2")));
    put(kGroup, "v1beta2", "LocalQueue",
        fmt::format("{{'metadata':{{'name':'{0}','namespace':'ns'}},'spec':{{'clusterQueue':'{0}'}}}}", name));
  }
  void submit(const std::string& name, const std::string& queue, int gpus, bool settles = true) {
    job(name, 1, gpus);
    server.change(FakeServer::key("Job", "ns", name), [&](Tree& one) {
      one.at({"metadata", "labels", "kueue.x-k8s.io/queue-name"}) = Tree::string(queue);
    });
    if (settles) {
      settle();
    }
  }
  void run(const std::string& name, const std::string& node) {
    pod(name, 0, name + "-0");
    settle();
    bind(name + "-0", node);
    phase(name + "-0", "Running");
    settle();
  }
};

TEST(KueueLeaving, WhatAVictimLeavesBesideWhatItWentForIsWaitedFor) {
  Overlap cluster;
  cluster.submit("a", "rest", 3);
  cluster.run("a", "n-f1");
  cluster.submit("b", "rest", 3);
  cluster.run("b", "n-f2");
  ASSERT_TRUE(cluster.admitted("a") && cluster.admitted("b"));
  cluster.submit("hero", "hero", 2);
  ASSERT_NE(cluster.suspended("a"), cluster.suspended("b")) << "one of them goes, and its pod is slow";
  const std::string goes = cluster.suspended("a") ? "a" : "b";
  const std::string stays = goes == "a" ? "b" : "a";
  cluster.submit("tiny", "tiny", 1);
  EXPECT_FALSE(cluster.suspended(stays)) << "the third gpu is enough for it";
  EXPECT_FALSE(cluster.admitted("hero") || cluster.admitted("tiny"));
  cluster.server.remove(SmallCluster::pod_key(goes + "-0"));
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("hero"));
  EXPECT_TRUE(cluster.admitted("tiny"));
  EXPECT_TRUE(cluster.admitted(stays));
}

TEST(KueueLeaving, WhatAVictimLeavesCountsForTheNextInTheSameMoment) {
  Overlap cluster;
  cluster.submit("a", "rest", 3);
  cluster.run("a", "n-f1");
  cluster.submit("b", "rest", 3);
  cluster.run("b", "n-f2");
  cluster.submit("hero", "hero", 2, false);
  cluster.submit("tiny", "tiny", 1);
  EXPECT_NE(cluster.suspended("a"), cluster.suspended("b")) << "one is enough for both";
}

}  // namespace
}  // namespace gantree::test

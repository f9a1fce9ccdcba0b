// Which flavor is taken where one has to borrow or to evict for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/kueue/queue_world.h"
#include "unit/kueue/small_cluster.h"

namespace gantree::kueue {
namespace {

using testing::HasSubstr;

// Queues "a" and "b" of one cohort, with so many cores of each flavor.
struct Teams {
  explicit Teams(const std::string& fungibility) {
    for (const char* flavor : {"one", "two"}) {
      world.flavor(flavor);
    }
    team("a", 4, 0, fungibility);
    team("b", 4, 4, "{}");
  }
  void team(const std::string& name, int one, int two, const std::string& fungibility) {
    world.put("ClusterQueue", "", name,
              fmt::format(R"({{"namespaceSelector":{{}},"cohortName":"all","preemption":{{"withinClusterQueue":)"
                          R"("LowerPriority"}},"flavorFungibility":{},"resourceGroups":[{{"coveredResources":["cpu"],)"
                          R"("flavors":[{{"name":"one","resources":[{{"name":"cpu","nominalQuota":"{}"}}]}},)"
                          R"({{"name":"two","resources":[{{"name":"cpu","nominalQuota":"{}"}}]}}]}}]}})",
                          fungibility, one, two));
    world.local_queue("ns", name, name);
  }
  void workload(const std::string& name, int cores, int priority) {
    world.put("Workload", "ns", name,
              fmt::format(R"({{"queueName":"a","priority":{},"podSets":[{{"name":"main","count":{},"template":{{)"
                          R"("spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}]}})",
                          priority, cores));
  }
  [[nodiscard]] std::string admission(const std::string& name) const {
    return world.status("Workload ns/" + name, "admission");
  }
  QueueWorld world;
};

const std::string kBoth = R"("whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor")";

TEST(KueueFungibility, BorrowingGoesBeforeEvictionUnlessTheQueueSaysOtherwise) {
  for (const std::string preference : {"", R"(,"preference":"BorrowingOverPreemption")"}) {
    Teams teams("{" + kBoth + preference + "}");
    teams.workload("low", 4, 0);
    teams.world.settle();
    teams.workload("urgent", 4, 9);
    teams.world.settle();
    EXPECT_NE(teams.admission("low"), "") << preference;
    EXPECT_NE(teams.admission("urgent"), "") << preference;
  }
}

TEST(KueueFungibility, EvictionGoesBeforeBorrowingWhereTheQueuePrefersIt) {
  Teams teams("{" + kBoth + R"(,"preference":"PreemptionOverBorrowing"})");
  teams.workload("low", 4, 0);
  teams.world.settle();
  EXPECT_THAT(teams.admission("low"), HasSubstr(R"("one")"));
  teams.workload("urgent", 4, 9);
  teams.world.settle();
  EXPECT_THAT(teams.admission("urgent"), HasSubstr(R"("one")")) << "in its queue's own quota";
  teams.world.settle();
  EXPECT_NE(teams.admission("low"), "") << "nobody is of lower priority than it, so that it borrows";
}

TEST(KueueFungibility, WhatIsMoreThanTheQueueHasBorrowsAtOnce) {
  Teams teams("{" + kBoth + R"(,"preference":"PreemptionOverBorrowing"})");
  teams.workload("large", 6, 9);
  teams.world.step();
  teams.world.step();
  EXPECT_NE(teams.admission("large"), "");
}

TEST(KueueFungibility, EvictionGoesBeforeTheNextFlavorWhereTheQueueSaysSo) {
  for (const bool eager : {false, true}) {
    Teams teams(fmt::format(R"({{"whenCanPreempt":"{}"}})", eager ? "MayStopSearch" : "TryNextFlavor"));
    teams.team("a", 4, 4, fmt::format(R"({{"whenCanPreempt":"{}"}})", eager ? "MayStopSearch" : "TryNextFlavor"));
    teams.team("b", 0, 0, "{}");
    teams.workload("low", 4, 0);
    teams.world.settle();
    teams.workload("urgent", 4, 9);
    teams.world.settle();
    EXPECT_THAT(teams.admission("urgent"), HasSubstr(eager ? R"("one")" : R"("two")"));
    teams.world.settle();
    EXPECT_NE(teams.admission("low"), "");
  }
}

TEST(KueueFungibility, AFlavorThatNobodyCouldMakeRoomInIsPassedOver) {
  Teams teams(R"({"whenCanPreempt":"MayStopSearch"})");
  teams.team("a", 2, 8, R"({"whenCanPreempt":"MayStopSearch"})");
  teams.team("b", 0, 0, "{}");
  teams.workload("large", 8, 9);
  teams.world.settle();
  EXPECT_THAT(teams.admission("large"), HasSubstr(R"("two")"));
}

// A job of several pod sets in a queue of eight flavors.
TEST(KueueFungibility, EveryPodSetFindsTheFlavorThatHasQuotaLeft) {
  QueueWorld world;
  std::string flavors;
  for (int i = 1; i <= 8; ++i) {
    world.flavor(fmt::format("f{}", i));
    flavors += fmt::format(R"({}{{"name":"f{}","resources":[{{"name":"cpu","nominalQuota":"{}"}}]}})",
                           i == 1 ? "" : ",", i, i == 8 ? 3 : 1);
  }
  world.put(
      "ClusterQueue", "", "q",
      fmt::format(R"({{"namespaceSelector":{{}},"resourceGroups":[{{"coveredResources":["cpu"],"flavors":[{}]}}]}})",
                  flavors));
  world.local_queue("ns", "q", "q");
  std::string sets;
  for (const char* name : {"a", "b", "c"}) {
    sets += fmt::format(R"({}{{"name":"{}","count":1,"template":{{"spec":{{"containers":[{{"name":"c","resources":)"
                        R"({{"requests":{{"cpu":"{}"}}}}}}]}}}}}})",
                        sets.empty() ? "" : ",", name, name[0] == 'a' ? 3 : 1);
  }
  world.put("Workload", "ns", "train", fmt::format(R"({{"queueName":"q","podSets":[{}]}})", sets));
  world.settle();
  const std::string admission = world.status("Workload ns/train", "admission");
  EXPECT_THAT(admission, HasSubstr(R"("f8")")) << "only there are three left, for the first pod set";
  EXPECT_THAT(admission, HasSubstr(R"("f1")"));
  EXPECT_THAT(admission, HasSubstr(R"("f2")"));
}

TEST(KueueFungibility, AHostIsReplacedWhicheverFlavorsTheJobHas) {
  test::SmallCluster cluster;
  std::string flavors;
  for (const char* name : {"g1", "g2", "g3", "g4", "g5", "g6", "g7", "f"}) {
    cluster.put(cluster.kGroup, "v1beta2", "ResourceFlavor",
                fmt::format("{{'metadata':{{'name':'{0}'}},'spec':{{'nodeLabels':{{'pool':'{0}'}},'topologyName':"
                            "'net'}}}}",
                            name));
    flavors += fmt::format("{}{{'name':'{}','resources':[{{'name':'nvidia.com/gpu','nominalQuota':100}}]}}",
                           flavors.empty() ? "" : ",", name);
  }
  cluster.put(cluster.kGroup, "v1beta2", "ClusterQueue",
              fmt::format("{{'metadata':{{'name':'c'}},'spec':{{'namespaceSelector':{{}},'resourceGroups':"
                          "[{{'coveredResources':['nvidia.com/gpu'],'flavors':[{}]}}]}}}}",
                          flavors));
  std::string jobs;
  for (const char* name : {"x", "y", "z"}) {
    jobs += fmt::format(
        "{}{{'name':'{}','replicas':1,'template':{{'spec':{{'parallelism':1,'completions':1,'template':{{'spec':"
        "{{'containers':[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'4'}}}}}}]}}}}}}}}}}",
        jobs.empty() ? "" : ",", name);
  }
  for (const char* name : {"a", "b", "c"}) {
    cluster.node(name, 4);
  }
  cluster.put("jobset.x-k8s.io", "v1alpha2", "JobSet",
              fmt::format("{{'metadata':{{'name':'s','namespace':'ns','labels':{{'kueue.x-k8s.io/queue-name':'q'}}}},"
                          "'spec':{{'suspend':true,'replicatedJobs':[{}]}}}}",
                          jobs));
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("s")) << "no other flavor has hosts";
  cluster.node("spare", 4);
  cluster.node("a", 4, "r0", true);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("s"));
  const std::string status = cluster.workload("s").find({"status", "admission"})->to_json();
  EXPECT_THAT(status, HasSubstr("spare"));
}

}  // namespace
}  // namespace gantree::kueue

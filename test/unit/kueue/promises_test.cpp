// Pods of queues that Gantree itself binds.
#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

// A pod of a job, for Gantree to bind.
void own_pod(SmallCluster& cluster, const std::string& job, int index, const std::string& name) {
  cluster.pod(job, index, name);
  cluster.server.change(SmallCluster::pod_key(name),
                        [](Tree& pod) { pod.at({"spec", "schedulerName"}) = Tree::string("gantree"); });
}

std::string node_of(const SmallCluster& cluster, const std::string& pod) {
  return cluster.server.find(SmallCluster::pod_key(pod))->tree.str({"spec", "nodeName"});
}

// A pod that is in no queue, for Gantree to bind.
void stranger(SmallCluster& cluster, const std::string& name, int gpus) {
  cluster.put(
      "", "v1", "Pod",
      fmt::format("{{'metadata':{{'name':'{}','namespace':'ns'}},'spec':{{'schedulerName':'gantree','containers':"
                  "[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'{}'}}}}}}]}},"
                  "'status':{{'phase':'Pending'}}}}",
                  name, gpus));
}

TEST(Promises, OwnPodsOfAQueueAreBoundWhereRoomIsKeptForThem) {
  SmallCluster cluster;
  cluster.node("a", 2);
  cluster.node("b", 2);
  cluster.job("j", 4, 1);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  for (int i = 0; i < 4; ++i) {
    own_pod(cluster, "j", i, fmt::format("p{}", i));
  }
  cluster.settle();
  std::map<std::string, int> here;
  for (int i = 0; i < 4; ++i) {
    ++here[node_of(cluster, fmt::format("p{}", i))];
  }
  EXPECT_EQ(here, (std::map<std::string, int>{{"a", 2}, {"b", 2}}));
  EXPECT_EQ(cluster.process.cluster().pods(), 4U) << "nothing is held beside them";
}

TEST(Promises, NobodyElseGetsThatRoom) {
  SmallCluster cluster;
  cluster.node("a", 2);
  cluster.job("j", 2, 1);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  stranger(cluster, "other", 1);
  cluster.settle();
  own_pod(cluster, "j", 0, "p0");
  cluster.settle();
  EXPECT_EQ(node_of(cluster, "p0"), "a");
  EXPECT_EQ(node_of(cluster, "other"), "");
  own_pod(cluster, "j", 1, "p1");
  cluster.settle();
  EXPECT_EQ(node_of(cluster, "p1"), "a");
  EXPECT_EQ(node_of(cluster, "other"), "");
}

TEST(Promises, OwnPodsGoToAHostOfTheirRackWhereTheRackIsTheLowestLevel) {
  SmallCluster cluster({}, false);
  cluster.node("a", 2);
  cluster.node("b", 2);
  cluster.job("j", 4, 1);
  cluster.settle();
  for (int i = 0; i < 4; ++i) {
    own_pod(cluster, "j", i, fmt::format("p{}", i));
  }
  cluster.settle();
  for (int i = 0; i < 4; ++i) {
    EXPECT_NE(node_of(cluster, fmt::format("p{}", i)), "");
  }
}

TEST(Promises, ABindingThatIsNotDoneGivesTheRoomBackToThePlaceholder) {
  SmallCluster cluster;
  cluster.node("a", 1);
  cluster.job("j", 1, 1);
  cluster.settle();
  own_pod(cluster, "j", 0, "p");
  for (int round = 0; round < 5; ++round) {
    cluster.tell();
    for (const Order& order : cluster.process.step(cluster.now)) {
      const bool bind = order.write.verb == WriteVerb::kBind;
      const bool done = !bind && cluster.server.apply(order.write) == WriteResult::kOk;
      cluster.process.answered(order.id, done ? Answer::kDone : Answer::kWithdrawn, cluster.now);
    }
  }
  stranger(cluster, "other", 1);
  cluster.settle();
  EXPECT_EQ(node_of(cluster, "p"), "a");
  EXPECT_EQ(node_of(cluster, "other"), "");
}

TEST(Promises, NoPodIsBoundToAHostOnWhichSomebodyElseHasTakenItsRoom) {
  SmallCluster cluster;
  cluster.node("a", 2);
  cluster.job("j", 2, 1);
  cluster.settle();
  stranger(cluster, "other", 1);
  cluster.bind("other", "a");  // by another scheduler
  cluster.settle();
  own_pod(cluster, "j", 0, "p0");
  own_pod(cluster, "j", 1, "p1");
  cluster.settle();
  const std::string first = node_of(cluster, "p0");
  EXPECT_NE(first.empty(), node_of(cluster, "p1").empty()) << "there is room for one of them";
  cluster.server.remove(SmallCluster::pod_key("other"));
  cluster.settle();
  EXPECT_EQ(node_of(cluster, "p0"), "a");
  EXPECT_EQ(node_of(cluster, "p1"), "a");
}

TEST(Promises, OfAFlavorWithoutATopologyNothingIsKept) {
  SmallCluster cluster;
  cluster.put(SmallCluster::kGroup, "v1beta2", "ResourceFlavor", "{'metadata':{'name':'f'},'spec':{}}");
  cluster.node("a", 2);
  cluster.job("j", 1, 1);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  own_pod(cluster, "j", 0, "p");
  cluster.settle();
  EXPECT_EQ(node_of(cluster, "p"), "a");
}

}  // namespace
}  // namespace gantree::test

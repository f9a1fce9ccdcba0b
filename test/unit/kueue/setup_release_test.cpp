// Queues, flavors and topologies stay as long as something uses them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Somebody deletes it, and Kueue had put its finalizer on it beside that of another.
void remove(SmallCluster& cluster, const std::string& kind, const std::string& name) {
  cluster.server.change(FakeServer::key(kind, "", name), [](Tree& one) {
    one.at({"metadata", "deletionTimestamp"}) = Tree::string("2026-01-01T00:00:00Z");
    one.at({"metadata", "finalizers"}) = Tree::parse(R"(["example.com/kept","kueue.x-k8s.io/resource-in-use"])");
  });
  cluster.settle();
}

std::string finalizers(const SmallCluster& cluster, const std::string& kind, const std::string& name) {
  return cluster.server.find(FakeServer::key(kind, "", name))->tree.find({"metadata", "finalizers"})->to_json();
}

TEST(SetupRelease, WhatMayBeInUseGetsTheFinalizerBesideThoseOfOthers) {
  SmallCluster cluster;
  cluster.server.change(FakeServer::key("ResourceFlavor", "", "f"),
                        [](Tree& one) { one.at({"metadata", "finalizers"}) = Tree::parse(R"(["example.com/kept"])"); });
  cluster.settle();
  EXPECT_EQ(finalizers(cluster, "ClusterQueue", "c"), R"(["kueue.x-k8s.io/resource-in-use"])");
  EXPECT_EQ(finalizers(cluster, "Topology", "net"), R"(["kueue.x-k8s.io/resource-in-use"])");
  EXPECT_EQ(finalizers(cluster, "ResourceFlavor", "f"), R"(["example.com/kept","kueue.x-k8s.io/resource-in-use"])");
}

TEST(SetupRelease, WhatIsBeingDeletedWithoutItGetsNone) {
  SmallCluster cluster;
  cluster.server.change(FakeServer::key("ResourceFlavor", "", "f"), [](Tree& one) {
    one.at({"metadata", "deletionTimestamp"}) = Tree::string("2026-01-01T00:00:00Z");
    one.at({"metadata", "finalizers"}) = Tree::parse(R"(["example.com/kept"])");
  });
  cluster.settle();
  EXPECT_EQ(finalizers(cluster, "ResourceFlavor", "f"), R"(["example.com/kept"])");
}

TEST(SetupRelease, AQueueThatIsDeletedAdmitsNothingAndGoesWithItsLastJob) {
  SmallCluster cluster;
  cluster.node("a", 8);
  cluster.job("first", 1, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("first"));
  remove(cluster, "ClusterQueue", "c");
  EXPECT_THAT(finalizers(cluster, "ClusterQueue", "c"), HasSubstr("resource-in-use"));
  EXPECT_EQ(cluster.process.controller().queue_statuses().cluster_queues.at("c").standing.reason, "Terminating");
  cluster.job("late", 1, 4);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("late"));
  EXPECT_TRUE(cluster.admitted("first")) << "what runs goes on";
  cluster.server.remove(FakeServer::key("Workload", "ns", cluster.workload("first").str({"metadata", "name"})));
  cluster.server.remove(FakeServer::key("Job", "ns", "first"));
  cluster.settle();
  EXPECT_EQ(finalizers(cluster, "ClusterQueue", "c"), R"(["example.com/kept"])");
}

TEST(SetupRelease, AFlavorGoesWhenNoQueueNamesItAndATopologyWhenNoFlavorDoes) {
  SmallCluster cluster;
  remove(cluster, "Topology", "net");
  remove(cluster, "ResourceFlavor", "f");
  EXPECT_THAT(finalizers(cluster, "Topology", "net"), HasSubstr("resource-in-use"));
  EXPECT_THAT(finalizers(cluster, "ResourceFlavor", "f"), HasSubstr("resource-in-use"));
  cluster.server.remove(FakeServer::key("ClusterQueue", "", "c"));
  cluster.settle();
  EXPECT_THAT(finalizers(cluster, "ResourceFlavor", "f"), Not(HasSubstr("resource-in-use")));
  EXPECT_THAT(finalizers(cluster, "Topology", "net"), HasSubstr("resource-in-use"));
  cluster.server.remove(FakeServer::key("ResourceFlavor", "", "f"));
  cluster.settle();
  EXPECT_THAT(finalizers(cluster, "Topology", "net"), Not(HasSubstr("resource-in-use")));
}

}  // namespace
}  // namespace gantree::test

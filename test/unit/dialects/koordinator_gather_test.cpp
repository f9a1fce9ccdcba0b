#include <gtest/gtest.h>

#include <map>

#include "cycle/cycle.h"
#include "unit/dialects/koordinator_manifests.h"

namespace gantree {

namespace {

// A gang of two pods with this network-topology-spec.
std::string gang_with(const std::string& annotations) {
  return koordinator_nodes() + network_topology(kSpineAndBlock) + pod_group("gang", 2, annotations) +
         koord_pod("p-0", in_group("gang")) + koord_pod("p-1", in_group("gang"));
}

std::string rejection_of(const std::string& annotations) {
  return World(gang_with(annotations)).rejection("gang");
}

}  // namespace

TEST(KoordinatorGather, TheDeepestMustGatherIsRequired) {
  World world(
      gang_with(gather(gather_rule("spinelayer", "MustGather") + "," + gather_rule("BLOCKLAYER", "MustGather"))));
  EXPECT_EQ(world.constraint("gang").required, 1);
  EXPECT_EQ(world.constraint("gang").preferred, std::nullopt);
  EXPECT_EQ(world.constraint("gang").packing, Packing::kPack);
}

TEST(KoordinatorGather, TheDeepestPreferGatherIsPreferredBelowWhatIsRequired) {
  World world(
      gang_with(gather(gather_rule("SpineLayer", "MustGather") + "," + gather_rule("BlockLayer", "PreferGather"))));
  EXPECT_EQ(world.constraint("gang").required, 0);
  EXPECT_EQ(world.constraint("gang").preferred, 1);
  World implied(
      gang_with(gather(gather_rule("SpineLayer", "PreferGather") + "," + gather_rule("BlockLayer", "MustGather"))));
  EXPECT_EQ(implied.constraint("gang").required, 1);
  EXPECT_EQ(implied.constraint("gang").preferred, std::nullopt);
}

TEST(KoordinatorGather, NodesAndTheClusterAreLayersToo) {
  World nodes(gang_with(gather(gather_rule("NodeTopologyLayer", "MustGather"))));
  EXPECT_EQ(nodes.constraint("gang").required, 2);
  World cluster(gang_with(gather(gather_rule("ClusterTopologyLayer", "MustGather"))));
  EXPECT_EQ(cluster.constraint("gang").required, std::nullopt);
}

TEST(KoordinatorGather, MultiplesAreSlicesInLayers) {
  World world(gang_with(gather(gather_rule("BlockLayer", "PreferGather", 6) + "," +
                               gather_rule("NodeTopologyLayer", "PreferGather", 4))));
  EXPECT_EQ(world.constraint("gang").slices, (std::vector<Slice>{{1, 12}, {2, 4}}));
  World required(gang_with(
      gather(gather_rule("BlockLayer", "MustGather", 6) + "," + gather_rule("NodeTopologyLayer", "PreferGather", 2))));
  EXPECT_EQ(required.constraint("gang").slices, (std::vector<Slice>{{2, 2}}));
}

TEST(KoordinatorGather, MultiplesCutAllPodsOfAGroupTogether) {
  const std::string both =
      groups("\"default/a\", \"default/b\"") + ", " + gather(gather_rule("NodeTopologyLayer", "PreferGather", 2));
  World world(koordinator_nodes() + network_topology(kSpineAndBlock) + pod_group("a", 1, both) +
              pod_group("b", 3, both) + koord_pod("a-0", in_group("a"), 4) + koord_pod("b-0", in_group("b"), 3) +
              koord_pod("b-1", in_group("b"), 3) + koord_pod("b-2", in_group("b"), 3));
  const auto decisions = run_cycle(world.cluster, world.quota, world.reading->queue).decisions;
  ASSERT_EQ(decisions.at(0).state, GangState::kPlaced) << decisions.at(0).message;
  std::map<NodeId, int> pods;
  for (const PodSetDecision& set : decisions.at(0).pod_sets) {
    for (const HostShare& share : set.hosts) {
      pods[share.node] += share.count;
    }
  }
  EXPECT_EQ(pods.size(), 2U);
  for (const auto& [node, count] : pods) {
    EXPECT_EQ(count, 2);
  }
}

TEST(KoordinatorGather, UnknownLayersAreRejectedWhereTheyMustHold) {
  EXPECT_EQ(
      rejection_of(gather(gather_rule("RackLayer", "MustGather"))),
      "test.yaml:50: gang.scheduling.koordinator.sh/network-topology-spec: ClusterNetworkTopology \"default\" has "
      "no layer RackLayer (it has ClusterTopologyLayer, SpineLayer, BlockLayer, NodeTopologyLayer)");
  EXPECT_NE(rejection_of(gather(gather_rule("RackLayer", "PreferGather", 2))).find("has no layer RackLayer"),
            std::string::npos);
  World world(
      gang_with(gather(gather_rule("RackLayer", "PreferGather") + "," + gather_rule("SpineLayer", "PreferGather"))));
  EXPECT_EQ(world.constraint("gang").preferred, 0);
  ASSERT_EQ(world.reading->notes.size(), 1U);
  EXPECT_NE(world.reading->notes.front().find("passed over: RackLayer"), std::string::npos);
}

TEST(KoordinatorGather, WithoutATopologyOnlyPreferencesCanBePassedOver) {
  const std::string pod = koord_pod("p", in_group("gang"));
  World must(koordinator_nodes() + pod_group("gang", 1, gather(gather_rule("SpineLayer", "MustGather"))) + pod);
  EXPECT_NE(must.rejection("gang").find("there is no ClusterNetworkTopology \"default\" in the input"),
            std::string::npos);
  World prefer(koordinator_nodes() + pod_group("gang", 1, gather(gather_rule("SpineLayer", "PreferGather"))) + pod);
  EXPECT_EQ(prefer.rejection("gang"), "");
  ASSERT_EQ(prefer.reading->notes.size(), 1U);
  EXPECT_NE(prefer.reading->notes.front().find("no ClusterNetworkTopology \"default\" is in the input"),
            std::string::npos);
}

TEST(KoordinatorGather, WhatIsNoSpecIsRejectedWithTheAnnotation) {
  const std::string spec = "gang.scheduling.koordinator.sh/network-topology-spec: ";
  EXPECT_NE(rejection_of(spec + "'{\"gatherStrategy\": '").find("network-topology-spec is not JSON"),
            std::string::npos);
  EXPECT_NE(rejection_of(spec + "'[]'").find("it must hold a JSON object, not a list"), std::string::npos);
  EXPECT_NE(rejection_of(spec + "'{\"gather\": []}'").find("the field \"gather\" is not known"), std::string::npos);
  EXPECT_NE(rejection_of(gather("{\"layer\": \"SpineLayer\", \"strategy\": \"Gather\"}"))
                .find("strategy of SpineLayer must be MustGather or PreferGather, not \"Gather\""),
            std::string::npos);
  EXPECT_NE(
      rejection_of(gather(gather_rule("SpineLayer", "MustGather") + "," + gather_rule("spineLayer", "MustGather")))
          .find("the layer spineLayer has two rules"),
      std::string::npos);
  EXPECT_NE(rejection_of(gather("{\"strategy\": \"MustGather\"}")).find("a rule names no layer"), std::string::npos);
  EXPECT_NE(rejection_of(gather("{\"layer\": \"SpineLayer\", \"strategy\": \"MustGather\", \"podCountMultiple\": -1}"))
                .find("podCountMultiple a whole number"),
            std::string::npos);
}

TEST(KoordinatorGather, MembersOfAGroupMustAgreeButMayBeSilent) {
  const std::string both = groups("\"default/a\", \"default/b\"");
  const std::string must = gather(gather_rule("SpineLayer", "MustGather"));
  const auto world = [&](const std::string& of_b) {
    return World(koordinator_nodes() + network_topology(kSpineAndBlock) + pod_group("a", 1, both + ", " + must) +
                 pod_group("b", 1, both + of_b) + koord_pod("p-0", in_group("a")) + koord_pod("p-1", in_group("b"), 2));
  };
  EXPECT_NE(world(", " + gather(gather_rule("BlockLayer", "MustGather")))
                .rejection("a")
                .find("PodGroup \"default/a\" and PodGroup \"default/b\" are of one group, but ask for different "
                      "topologies"),
            std::string::npos);
  const World silent = world("");
  EXPECT_EQ(silent.rejection("a"), "");
  EXPECT_EQ(silent.job("a").parts.at(0).at(0).gang.root.constraint.required, 0);
}

}  // namespace gantree

// Topologies of KAI, and what jobs ask of them.
#include <gtest/gtest.h>

#include "unit/dialects/kai_manifests.h"

namespace gantree {
namespace {

std::string topology(const std::string& levels) {
  return object("kai.scheduler/v1alpha1", "Topology", "t", "", "{levels: " + levels + "}");
}

TEST(KaiTopology, IsRefusedWhereLevelsOrAliasesAreWrong) {
  for (const char* levels :
       {"[]", "[{nodeLabel: a}, {nodeLabel: a}]", "[{nodeLabel: kubernetes.io/hostname}, {nodeLabel: a}]",
        "[{nodeLabel: a, alias: x}, {nodeLabel: b, alias: x}]", "[{nodeLabel: a, alias: b}, {nodeLabel: b}]",
        "[{label: a}]", "[{nodeLabel: not a label}]", "[{nodeLabel: a, alias: 3}]"}) {
    const std::string error = World(topology(levels)).error();
    EXPECT_TRUE(error.starts_with("test.yaml:")) << levels << ": " << error;
    EXPECT_NE(error.find("opology \"t\""), std::string::npos) << error;
  }
}

TEST(KaiTopology, AndOneOfKueueWithTheSameNameAndLevelsAreOneTree) {
  World world(
      std::string(kNetwork) +
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology\nmetadata: {name: network}\nspec: {levels: [{nodeLabel: "
      "net/zone}, {nodeLabel: net/rack}, {nodeLabel: kubernetes.io/hostname}]}\n");
  ASSERT_EQ(world.error(), "");
  EXPECT_EQ(world.cluster.engine().topologies(), 1U);
}

TEST(KaiLevels, AreFoundByLabelAndByAlias) {
  for (const char* level : {"rack", "net/rack"}) {
    const World world(kNetwork + kai_job("a", 2,
                                         std::string("kai.scheduler/topology: network, "
                                                     "kai.scheduler/topology-required-placement: ") +
                                             level));
    EXPECT_EQ(world.rejection("a"), "");
    EXPECT_EQ(world.constraint("a").required, 1) << level;
    EXPECT_EQ(world.constraint("a").packing, Packing::kPack);
  }
}

TEST(KaiLevels, OfAKueueTopologyCountToo) {
  const World world(
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology\nmetadata: {name: k}\nspec: {levels: [{nodeLabel: "
      "net/rack}]}\n" +
      kai_job("a", 2, "kai.scheduler/topology: k, kai.scheduler/topology-preferred-placement: net/rack"));
  EXPECT_EQ(world.constraint("a").preferred, 0);
  EXPECT_EQ(world.constraint("a").packing, Packing::kNearest);
}

TEST(KaiLevels, NeedATopologyUnlessThereIsOnlyOne) {
  const std::string job = kai_job("a", 2, "kai.scheduler/topology-required-placement: rack");
  const World one(kNetwork + job);
  EXPECT_EQ(one.constraint("a").required, 1);
  EXPECT_EQ(one.reading->notes.at(0),
            "Job default/a of KAI: no kai.scheduler/topology is given: Topology \"network\", the only one, is taken");
  const World two(kNetwork + topology("[{nodeLabel: other/rack, alias: rack}]") + job);
  EXPECT_NE(two.rejection("a").find("kai.scheduler/topology-required-placement needs kai.scheduler/topology beside it"),
            std::string::npos);
  const World none(job);
  EXPECT_NE(none.rejection("a").find("the input has none"), std::string::npos);
}

TEST(KaiLevels, MayBeThoseOfTheCommandLine) {
  const World world(
      kai_job("a", 2, "kai.scheduler/topology: network, kai.scheduler/topology-required-placement: net/rack"),
      {"net/zone", "net/rack"});
  EXPECT_EQ(world.constraint("a").required, 1);
}

TEST(KaiLevels, PreferredMustNotBeAboveRequired) {
  const auto both = [](const std::string& required, const std::string& preferred) {
    return World(kNetwork + kai_job("a", 2,
                                    "kai.scheduler/topology: network, kai.scheduler/topology-required-placement: " +
                                        required + ", kai.scheduler/topology-preferred-placement: " + preferred))
        .rejection("a");
  };
  EXPECT_EQ(both("zone", "rack"), "");
  EXPECT_EQ(both("rack", "rack"), "");
  EXPECT_NE(both("rack", "zone").find("a preferred level lies inside the required one"), std::string::npos);
}

TEST(KaiSegments, AreSlicesOfTheRequiredLevel) {
  const World world(kNetwork + kai_job("a", 6, "kai.scheduler/topology: network",
                                       "annotations: {kai.scheduler/segment-size: '4', "
                                       "kai.scheduler/segment-topology-required-placement: rack}"));
  ASSERT_EQ(world.rejection("a"), "");
  EXPECT_EQ(world.constraint("a").slices, (std::vector<Slice>{{.level = 1, .size = 4}}));
  EXPECT_EQ(root_of(world, "a").pod_sets.at(0).min_count, 6);
}

TEST(KaiSegments, ThatPreferALevelClimbOneAlternativeAtATime) {
  const World world(kNetwork + kai_job("a", 4, "kai.scheduler/topology: network",
                                       "annotations: {kai.scheduler/segment-size: '2', "
                                       "kai.scheduler/segment-topology-preferred-placement: rack}"));
  const auto& alternatives = world.job("a").parts.at(0);
  ASSERT_EQ(alternatives.size(), 3U);
  const auto slices = [&](std::size_t i) { return alternatives[i].gang.root.pod_sets.at(0).constraint.slices; };
  EXPECT_EQ(slices(0), (std::vector<Slice>{{.level = 1, .size = 2}}));
  EXPECT_EQ(slices(1), (std::vector<Slice>{{.level = 0, .size = 2}}));
  EXPECT_TRUE(slices(2).empty());
}

TEST(KaiSegments, NeedASizeAndALevel) {
  const auto rejection = [](const std::string& annotations) {
    return World(kNetwork + kai_job("a", 4, "kai.scheduler/topology: network", "annotations: {" + annotations + "}"))
        .rejection("a");
  };
  EXPECT_NE(rejection("kai.scheduler/segment-size: '2'").find("beside it"), std::string::npos);
  EXPECT_NE(rejection("kai.scheduler/segment-topology-required-placement: rack").find("beside it"), std::string::npos);
  EXPECT_NE(rejection("kai.scheduler/segment-size: two, kai.scheduler/segment-topology-required-placement: rack")
                .find("whole number"),
            std::string::npos);
}

TEST(KaiPlacement, MaySpreadOrPack) {
  const auto packing = [](const std::string& word) {
    return World(kNetwork + kai_job("a", 4,
                                    "kai.scheduler/topology: network, kai.scheduler/topology-required-placement: zone, "
                                    "gantree.dev/placement: " +
                                        word))
        .constraint("a")
        .packing;
  };
  EXPECT_EQ(packing("spread"), Packing::kSpread);
  EXPECT_EQ(packing("pack"), Packing::kPack);
  EXPECT_EQ(packing("balanced"), Packing::kBalanced);
  EXPECT_NE(World(kai_job("a", 1, "gantree.dev/placement: wide")).rejection("a").find("pack, spread or balanced"),
            std::string::npos);
}

TEST(KaiPods, ThatWantAPartOfAGpuAreRejected) {
  EXPECT_NE(World(kai_job("a", 1, "", "annotations: {gpu-fraction: '0.5'}")).rejection("a").find("not supported"),
            std::string::npos);
  EXPECT_NE(World(kai_job("a", 1, "", "annotations: {gpu-memory: '2000'}")).rejection("a").find("not supported"),
            std::string::npos);
}

}  // namespace
}  // namespace gantree

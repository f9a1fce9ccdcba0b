// What the annotations of a pod template ask for.
#include <gtest/gtest.h>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

constexpr char kSlices[] = "kueue.x-k8s.io/podset-slice-required-topology: ";
constexpr char kSize[] = "kueue.x-k8s.io/podset-slice-size: ";
constexpr char kLayers[] = "kueue.x-k8s.io/podset-slice-required-topology-constraints: ";
constexpr char kUnconstrained[] = "kueue.x-k8s.io/podset-unconstrained-topology: ";
constexpr char kPlacement[] = "gantree.dev/placement: ";

// The constraint of a job with these annotations.
Constraint asked(const std::string& annotations) {
  const World world(kSetup + job("a", 8, annotations));
  EXPECT_EQ(world.rejection("a"), "");
  return world.constraint("a");
}

std::string refused(const std::string& annotations) {
  const World world(kSetup + job("a", 8, annotations) + job("good", 1));
  EXPECT_EQ(world.rejection("good"), "") << "one bad job must not spoil another";
  EXPECT_EQ(world.job("a").pod_sets, (std::vector<std::pair<std::string, int>>{{"main", 8}}));
  return world.rejection("a");
}

TEST(KueueRequest, RequiresALevel) {
  const Constraint constraint = asked(required("net/rack"));
  EXPECT_EQ(constraint.required, 1);
  EXPECT_FALSE(constraint.preferred);
  EXPECT_EQ(constraint.packing, Packing::kPack);
}

TEST(KueueRequest, PrefersALevel) {
  const Constraint constraint = asked(preferred("kubernetes.io/hostname"));
  EXPECT_EQ(constraint.preferred, 2);
  EXPECT_FALSE(constraint.required);
  EXPECT_EQ(constraint.packing, Packing::kPack);
}

TEST(KueueRequest, RequiresOneLevelAndPrefersALowerOne) {
  const Constraint constraint = asked(required("net/block") + ", " + preferred("net/rack"));
  EXPECT_EQ(constraint.required, 0);
  EXPECT_EQ(constraint.preferred, 1);
}

TEST(KueueRequest, RefusesToPreferALevelAboveTheRequiredOne) {
  EXPECT_EQ(refused(required("net/rack") + ", " + preferred("net/block")),
            "test.yaml:39: kueue.x-k8s.io/podset-preferred-topology must not be above the level of "
            "kueue.x-k8s.io/podset-required-topology");
}

TEST(KueueRequest, LeavesTheLevelOpenWithAuto) {
  EXPECT_EQ(asked(required("auto")).required, 0) << "one domain of the top, and in it the fewest";
  EXPECT_EQ(asked(preferred("auto")).preferred, 2) << "from the lowest level up";
}

TEST(KueueRequest, FillsTheTightestHolesWhereNothingIsAskedFor) {
  EXPECT_EQ(asked("").packing, Packing::kTightest);
  EXPECT_EQ(asked(kUnconstrained + std::string("'true'")).packing, Packing::kTightest);
  EXPECT_EQ(asked(kUnconstrained + std::string("'false', ") + required("net/rack")).required, 1);
}

TEST(KueueRequest, CutsIntoSlices) {
  const Constraint constraint = asked(required("net/block") + ", " + kSlices + "net/rack, " + kSize + "'4'");
  EXPECT_EQ(constraint.required, 0);
  EXPECT_EQ(constraint.slices, (std::vector<Slice>{{.level = 1, .size = 4}}));
  EXPECT_EQ(constraint.packing, Packing::kPack);
}

TEST(KueueRequest, CutsIntoSlicesOfSlices) {
  const Constraint constraint = asked(std::string(kLayers) +
                                      "'[{\"topology\": \"net/block\", \"size\": 12}, {\"topology\": \"net/rack\", "
                                      "\"size\": 4}, {\"topology\": \"kubernetes.io/hostname\", \"size\": 2}]'");
  EXPECT_EQ(constraint.slices,
            (std::vector<Slice>{{.level = 0, .size = 12}, {.level = 1, .size = 4}, {.level = 2, .size = 2}}));
}

TEST(KueueRequest, LeavesOutSlicesThatTheRequiredLevelImplies) {
  EXPECT_TRUE(asked(required("net/rack") + ", " + kSlices + "net/rack, " + kSize + "'4'").slices.empty());
}

TEST(KueueRequest, ChoosesAPlacement) {
  EXPECT_EQ(asked(kPlacement + std::string("pack")).packing, Packing::kPack);
  EXPECT_EQ(asked(kPlacement + std::string("spread")).packing, Packing::kSpread);
  const Constraint balanced =
      asked(kPlacement + std::string("balanced, ") + required("net/block") + ", " + preferred("net/rack"));
  EXPECT_EQ(balanced.packing, Packing::kBalanced);
  EXPECT_EQ(balanced.balance, 1);
  EXPECT_EQ(asked(kPlacement + std::string("balanced, ") + required("net/block")).balance, 0);
}

TEST(KueueRequest, NamesTheLevelsThereAreWhereOneIsUnknown) {
  EXPECT_NE(refused(required("net/row"))
                .find("kueue.x-k8s.io/podset-required-topology: Topology \"default\" has no level \"net/row\" (it has "
                      "net/block, net/rack, kubernetes.io/hostname)"),
            std::string::npos);
}

TEST(KueueRequest, RefusesWhatContradictsItself) {
  struct Case {
    std::string annotations;
    const char* says;
  };
  const std::string layers = kLayers;
  for (const Case& one : {
           Case{kUnconstrained + std::string("'true', ") + required("net/rack"),
                "podset-unconstrained-topology contradicts kueue.x-k8s.io/podset-required-topology"},
           Case{kUnconstrained + std::string("perhaps"), "must be \"true\" or \"false\""},
           Case{std::string(kSlices) + "net/rack", "needs kueue.x-k8s.io/podset-slice-size"},
           Case{std::string(kSize) + "'4'", "needs kueue.x-k8s.io/podset-slice-required-topology"},
           Case{std::string(kSlices) + "net/rack, " + kSize + "'0'", "whole number of at least 1, not \"0\""},
           Case{std::string(kSlices) + "net/rack, " + kSize + "'-4'", "whole number of at least 1"},
           Case{std::string(kSlices) + "net/rack, " + kSize + "four", "whole number of at least 1"},
           Case{std::string(kSlices) + "net/rack, " + kSize + "'99999999999'", "whole number of at least 1"},
           Case{std::string(kSlices) + "net/row, " + kSize + "'4'", "has no level \"net/row\""},
           Case{std::string(kSlices) + "auto, " + kSize + "'4'", "has no level \"auto\""},
           Case{std::string(kSlices) + "net/block, " + kSize + "'4', " + required("net/rack"), "is above the level of"},
           Case{layers + "'[]'", "has 0 layers; 1 to 3 are allowed"},
           Case{layers + "'[{\"topology\": \"net/rack\", \"size\": 2}]', " + kSize + "'4'", "excludes"},
           Case{layers + "'{}'", "must be a JSON list"},
           Case{layers + "'[{'", "must be a JSON list"},
           Case{layers + "'[{\"topology\": \"net/rack\"}]'", "must be a JSON list"},
           Case{layers + "'[{\"topology\": \"net/rack\", \"size\": 0}]'", "sizes of at least 1"},
           Case{layers + "'[{\"topology\": \"net/block\", \"size\": 6}, {\"topology\": \"net/rack\", \"size\": 4}]'",
                "size 4 does not divide size 6"},
           Case{layers + "'[{\"topology\": \"net/rack\", \"size\": 4}, {\"topology\": \"net/block\", \"size\": 2}]'",
                "is not below the level before it"},
           Case{std::string(kPlacement) + "tight", "must be pack, spread or balanced, not \"tight\""},
           Case{std::string(kPlacement) + "balanced", "\"balanced\" needs"},
           Case{"kueue.x-k8s.io/podset-group-name: g, " + required("net/rack"), "a group has at least two"},
       }) {
    const std::string message = refused(one.annotations);
    EXPECT_NE(message.find(one.says), std::string::npos) << one.annotations << " gives " << message;
    EXPECT_TRUE(message.starts_with("test.yaml:39: ")) << message;
  }
}

}  // namespace
}  // namespace gantree

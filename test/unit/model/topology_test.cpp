#include "model/topology.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

std::string complaint(const Topology& topology) {
  const auto checked = validate(topology);
  return checked ? "" : checked.error().message;
}

TEST(Topology, FindsALevelByAnyOfItsLabels) {
  const Topology topology{"t", {"block", "rack"}, {{}, {"rack.old"}}};
  EXPECT_EQ(topology.level("rack"), 1);
  EXPECT_EQ(topology.level("rack.old"), 1);
  EXPECT_EQ(topology.level("zone"), -1);
}

TEST(Topology, AcceptsFurtherLabelsOfSomeLevels) {
  EXPECT_EQ(complaint({"t", {"block", "rack"}, {{"example.com/spine"}}}), "");
  EXPECT_EQ(complaint({"t", {"block", "rack"}, {{}, {"a", "kubernetes.io/hostname"}}}), "");
}

TEST(Topology, ChecksFurtherLabelsLikeTheFirstOnes) {
  EXPECT_EQ(complaint({"t", {"block", "rack"}, {{"no key"}}}),
            "topology \"t\": level 1 is \"no key\", which is not a label key");
  EXPECT_EQ(complaint({"t", {"block", "rack"}, {{"rack"}}}), "topology \"t\" has level \"rack\" twice");
  EXPECT_EQ(complaint({"t", {"block", "rack"}, {{"kubernetes.io/hostname"}}}),
            "topology \"t\": kubernetes.io/hostname may only be the last level");
  EXPECT_EQ(complaint({"t", {"block"}, {{}, {"a"}}}),
            "topology \"t\" has further labels for more levels than there are");
}

}  // namespace
}  // namespace gantree

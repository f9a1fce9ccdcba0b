#include "live/domain_figures.h"

#include <gtest/gtest.h>

#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

const DomainFigures* find(const std::vector<DomainFigures>& all, const std::string& topology,
                          const std::string& level) {
  for (const DomainFigures& figures : all) {
    if (figures.topology == topology && figures.level == level) {
      return &figures;
    }
  }
  return nullptr;
}

TEST(DomainFigures, TellWhatIsFreeInAllAndInTheBestDomain) {
  FakeApi api;
  api.topology();
  api.racks(2, 2);
  api.decide();
  for (const char* node : {"n0-0", "n1-0"}) {
    api.pod(std::string("p-") + node, {.gpus = 8, .scheduler = "other", .node = node});
  }
  const auto all = domain_figures(api.scheduler.cluster());
  const DomainFigures* rack = find(all, "default", "rack");
  ASSERT_NE(rack, nullptr);
  EXPECT_EQ(rack->resource, "nvidia.com/gpu");
  EXPECT_EQ(rack->domains, 2);
  EXPECT_EQ(rack->capacity, 32);
  EXPECT_EQ(rack->free, 16);
  EXPECT_EQ(rack->largest, 8);
  EXPECT_EQ(rack->largest_empty, 16);
  EXPECT_DOUBLE_EQ(rack->fragmentation(), 0.5);
}

TEST(DomainFigures, AnEmptyClusterAndAFullOneAreNotFragmented) {
  FakeApi api;
  api.topology();
  api.racks(3, 1);
  api.decide();
  EXPECT_DOUBLE_EQ(find(domain_figures(api.scheduler.cluster()), "default", "rack")->fragmentation(), 0);
  for (const char* node : {"n0-0", "n1-0", "n2-0"}) {
    api.pod(std::string("p-") + node, {.gpus = 8, .scheduler = "other", .node = node});
  }
  EXPECT_DOUBLE_EQ(find(domain_figures(api.scheduler.cluster()), "default", "rack")->fragmentation(), 0);
}

TEST(DomainFigures, HostsAreALevelWithoutAnyTopology) {
  FakeApi api;
  api.node("a", R"("kubernetes.io/hostname":"a")", 8);
  api.node("b", R"("kubernetes.io/hostname":"b")", 4);
  api.decide();
  const auto all = domain_figures(api.scheduler.cluster());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().largest, 8);
  EXPECT_EQ(all.front().free, 12);
}

}  // namespace
}  // namespace gantree

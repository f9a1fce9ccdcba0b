#include "view/host_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gantree::view {
namespace {

TEST(HostNames, ThatDifferByANumberAreToldTogether) {
  EXPECT_EQ(host_names({"gpu-b1-r1-01"}), "gpu-b1-r1-01");
  EXPECT_EQ(host_names({"gpu-b1-r1-07", "gpu-b1-r1-02", "gpu-b1-r1-03", "gpu-b1-r1-01"}), "gpu-b1-r1-[01-03,07]");
  EXPECT_EQ(host_names({"n9", "n10", "n11", "n1", "n2"}), "n[1,2,9-11]");
  EXPECT_EQ(host_names({"gpu-r1-02", "gpu-r2-01", "gpu-r1-01"}), "gpu-r1-[01,02], gpu-r2-01");
}

TEST(HostNames, ThatHaveNoNumberStandByThemselves) {
  EXPECT_EQ(host_names({"login", "ip-10-0-1-5.internal", "ip-10-0-1-6.internal"}),
            "ip-10-0-1-5.internal, ip-10-0-1-6.internal, login");
  EXPECT_EQ(host_names({"7", "8", "9"}), "[7-9]");
  EXPECT_EQ(host_names({}), "");
}

TEST(HostNames, OfVeryManyTheFirstAreTold) {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back(fmt::format("r{:02}-host", i));
  }
  const std::string text = host_names(names);
  EXPECT_TRUE(text.ends_with("r15-host and 4 more hosts")) << text;
}

}  // namespace
}  // namespace gantree::view

// Pods of KAI where its scheduler is not served.
#include <gmock/gmock.h>

#include <chrono>

#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::chrono::seconds kLater{10};

TEST(NotLive, PodsOfTheirSchedulerAreLeftToIt) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 1, .scheduler = "kai-scheduler"});
  api.run();
  api.pass(kLater);
  api.run();
  EXPECT_TRUE(api.pods["p"].node.empty());
  EXPECT_THAT(api.written_to("Pod", "p"), IsEmpty()) << "it is not ours to tell";
}

TEST(NotLive, PodsOfOursThatCarryTheirMarksAreToldWhyTheyAreNotBound) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 1, .annotations = R"("kai.scheduler/batch-min-member":"600")"});
  api.run();
  EXPECT_TRUE(api.pods["p"].node.empty());
  const std::string told = api.written_to("Pod", "p");
  EXPECT_THAT(told, HasSubstr("InvalidRequest"));
  EXPECT_THAT(told, HasSubstr("carries kai.scheduler/batch-min-member, a mark of KAI-Scheduler"));
}

}  // namespace
}  // namespace gantree

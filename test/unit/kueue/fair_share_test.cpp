// Who is evicted for whom by shares, over time.
#include <gtest/gtest.h>

#include "unit/kueue/queue_world.h"

namespace gantree::kueue {
namespace {

// Four cores that two teams can only borrow; team-a has all of them.
class FairShares : public testing::Test {
 protected:
  FairShares() {
    world.flavor("default");
    world.cluster_queue("pool", 4, R"("cohortName":"all")");
    team("team-a", "1");
    team("team-b", "1");
    for (const char* name : {"a1", "a2", "a3", "a4"}) {
      world.workload("ns", name, "team-a", 1);
      world.settle();
    }
  }

  void team(const std::string& name, const std::string& weight) {
    world.cluster_queue(name, 0,
                        fmt::format(R"("cohortName":"all","fairSharing":{{"weight":"{}"}},)"
                                    R"("preemption":{{"reclaimWithinCohort":"Any"}})",
                                    weight));
    world.local_queue("ns", name, name);
  }

  [[nodiscard]] int running(const std::string& prefix) const {
    int count = 0;
    for (const auto& [key, object] : world.objects) {
      count += key.starts_with("Workload ns/" + prefix) && object.status.contains("admission") ? 1 : 0;
    }
    return count;
  }

  QueueWorld world{{.shares = {ShareStrategy::kFinalShare, ShareStrategy::kInitialShare}}};
};

TEST_F(FairShares, WhoWasEvictedHasNobodyEvictedUntilAnotherHasEnded) {
  ASSERT_EQ(running("a"), 4);
  for (const char* name : {"b1", "b2", "b3"}) {
    world.workload("ns", name, "team-b", 1);
    world.settle();
  }
  ASSERT_EQ(running("a"), 2) << "half of what can be borrowed for each";
  ASSERT_EQ(running("b"), 2);

  // By the weights of now team-a may have more. Those of it that wait were all evicted.
  team("team-b", "0.1");
  world.settle();
  world.settle();
  EXPECT_EQ(running("b"), 2);

  world.remove("Workload", "ns", "b3");
  world.settle();
  world.settle();
  EXPECT_EQ(running("a"), 4);
  EXPECT_EQ(running("b"), 0);
}

}  // namespace
}  // namespace gantree::kueue

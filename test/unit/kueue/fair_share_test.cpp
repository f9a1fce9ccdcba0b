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

  void team(const std::string& name, const std::string& weight) { team(world, name, weight); }
  static void team(QueueWorld& where, const std::string& name, const std::string& weight) {
    where.cluster_queue(name, 0,
                        fmt::format(R"("cohortName":"all","fairSharing":{{"weight":"{}"}},)"
                                    R"("preemption":{{"reclaimWithinCohort":"Any"}})",
                                    weight));
    where.local_queue("ns", name, name);
  }

  [[nodiscard]] int running(const std::string& prefix) const { return running(world, prefix); }
  [[nodiscard]] static int running(const QueueWorld& where, const std::string& prefix) {
    int count = 0;
    for (const auto& [key, object] : where.objects) {
      count += key.starts_with("Workload ns/" + prefix) && object.status.contains("admission") ? 1 : 0;
    }
    return count;
  }

  static ControllerOptions options() { return {.shares = {ShareStrategy::kFinalShare, ShareStrategy::kInitialShare}}; }

  QueueWorld world{options()};
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

TEST_F(FairShares, WhoWasNotEvictedMayHaveOthersEvictedThoughItStandsBehindThoseThatWere) {
  for (const char* name : {"b1", "b2"}) {
    world.workload("ns", name, "team-b", 1);
    world.settle();
  }
  ASSERT_EQ(running("a"), 2);
  team("team-b", "0.1");
  world.settle();
  world.settle();
  ASSERT_EQ(running("b"), 2);

  world.workload("ns", "a5", "team-a", 1);
  world.settle();
  world.settle();
  EXPECT_EQ(running("a5"), 1);
  EXPECT_EQ(running("b"), 1);
}

TEST_F(FairShares, ARestartDoesNotForgetWhoWasEvicted) {
  for (const char* name : {"b1", "b2", "b3"}) {
    world.workload("ns", name, "team-b", 1);
    world.settle();
  }
  QueueWorld again{options()};
  again.now = world.now;
  again.objects = world.objects;
  for (const auto& [key, kept] : world.objects) {
    again.put(kept.kind, kept.ns, kept.name, kept.spec);
  }
  team(again, "team-b", "0.1");
  again.settle();
  again.settle();
  EXPECT_EQ(running(again, "b"), 2);

  again.remove("Workload", "ns", "b3");
  again.settle();
  again.settle();
  EXPECT_EQ(running(again, "a"), 4);
}

}  // namespace
}  // namespace gantree::kueue

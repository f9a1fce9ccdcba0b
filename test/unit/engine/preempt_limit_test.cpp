// What a search for victims does when its work runs out.
#include <gtest/gtest.h>

#include <list>
#include <optional>
#include <string>

#include "engine/preempt.h"
#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

// A rack of hosts of four GPUs, and on each a gang that has them all.
class PreemptLimit : public ::testing::Test {
 protected:
  static constexpr int kHosts = 40;

  PreemptLimit() {
    for (int h = 0; h < kHosts; ++h) {
      const NodeId node = cluster_.host("b1/r1/n" + std::to_string(100 + h), 4);
      RunningGang& gang = running_.emplace_back();
      gang.key = {"default", "running-" + std::to_string(100 + h), "Job"};
      gang.started_seconds = 1000 + h;
      gang.holdings.push_back({node, cluster_.shape(1).requests, 4});
      cluster_.inventory().take(node, cluster_.shape(1).requests, 4);
      candidates_.push_back(&gang);
    }
  }

  // A leader with a host to itself, and workers on all of so many others.
  Gang on_hosts(int hosts) {
    return cluster_.gang({cluster_.set("leader", 1, 4), cluster_.set("workers", 2 * (hosts - 1), 2)}, required(1));
  }
  PreemptionAnswer ask(const Gang& gang, std::optional<std::int64_t> work = {}) {
    PreemptionRequest request{gang, candidates_, {}, {}};
    request.work = work;
    return find_victims(cluster_.engine(), request);
  }
  const RunningGang& running_front(int host) { return *candidates_[static_cast<std::size_t>(host)]; }
  // Of what the first answer took, so many hundredths.
  PreemptionAnswer with_share(const Gang& gang, std::int64_t all, int percent) {
    return ask(gang, all * percent / 100);
  }

  SmallCluster cluster_{{"block", "rack", "kubernetes.io/hostname"}};
  std::list<RunningGang> running_;
  std::vector<const RunningGang*> candidates_;
};

TEST_F(PreemptLimit, EvictsNobodyRatherThanMostOfWhatRunsWithoutHavingLookedFurther) {
  const Gang gang = on_hosts(30);
  const PreemptionAnswer all = ask(gang);
  ASSERT_EQ(all.verdict, PreemptionVerdict::kFound);
  ASSERT_EQ(all.victims.size(), 30U);
  for (int percent = 1; percent < 100; percent += 7) {
    const PreemptionAnswer answer = with_share(gang, all.work, percent);
    EXPECT_EQ(answer.verdict, PreemptionVerdict::kGaveUp) << percent;
    EXPECT_TRUE(answer.victims.empty()) << percent;
  }
}

TEST_F(PreemptLimit, EvictsFewWithoutAProof) {
  const Gang gang = on_hosts(15);
  const PreemptionAnswer all = ask(gang);
  ASSERT_EQ(all.victims.size(), 15U);
  int unproven = 0;
  for (int percent = 1; percent <= 100; percent += 7) {
    const PreemptionAnswer answer = with_share(gang, all.work, percent);
    unproven += answer.verdict == PreemptionVerdict::kFound && !answer.exact ? 1 : 0;
    EXPECT_NE(answer.verdict, PreemptionVerdict::kNone) << percent;
  }
  EXPECT_GT(unproven, 0);
}

TEST_F(PreemptLimit, SharesItsWorkAmongAllPlacementsThatAreTried) {
  // Where a pod of three GPUs runs, one GPU stays free that no other pod can use: the GPUs of 13 hosts are enough, and
  // it takes long to find out that the hosts are not.
  const Gang gang = cluster_.gang(
      {cluster_.set("a", 5, 3), cluster_.set("b", 5, 3), cluster_.set("c", 5, 2), cluster_.set("d", 5, 2)},
      required(1));
  for (int host = 0; host < 13; ++host) {
    cluster_.engine().evict(running_front(host));
  }
  Budget work(100'000'000);
  ASSERT_EQ(cluster_.engine().fits(gang, work), false);
  for (int host = 0; host < 13; ++host) {
    cluster_.engine().restore(running_front(host));
  }
  const std::int64_t one = 100'000'000 - work.left();
  const PreemptionAnswer all = ask(gang);
  ASSERT_EQ(all.victims.size(), 15U);
  EXPECT_GT(all.work, 10 * one);
  const PreemptionAnswer less = ask(gang, one);
  EXPECT_EQ(less.verdict, PreemptionVerdict::kGaveUp);
  EXPECT_TRUE(less.victims.empty());
  EXPECT_LE(less.work, 3 * one);
}

TEST_F(PreemptLimit, SaysThatNoneHelpOnlyWhereThatIsProven) {
  const Gang gang = on_hosts(kHosts + 1);
  const PreemptionAnswer all = ask(gang);
  ASSERT_EQ(all.verdict, PreemptionVerdict::kNone);
  for (int percent = 0; percent < 100; percent += 7) {
    const PreemptionAnswer answer = with_share(gang, all.work, percent);
    EXPECT_TRUE(answer.verdict == PreemptionVerdict::kGaveUp || answer.exact) << percent;
  }
  EXPECT_EQ(ask(gang, 0).verdict, PreemptionVerdict::kGaveUp);
}

}  // namespace
}  // namespace gantree

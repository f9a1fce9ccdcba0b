#include <gmock/gmock.h>

#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using namespace std::chrono_literals;

std::string pod_that(const std::string& annotation, const std::string& policy) {
  return fmt::format(
      "{{'metadata':{{'name':'p','annotations':{{{}}}}},'spec':{{'restartPolicy':'{}','containers':[{{'name':'main',"
      "'image':'i'}}]}}}}",
      annotation, policy);
}

const Value& status_of(FakeCluster& cluster) {
  return (*array_at(cluster.get(Kind::kPod, "p"), {"status", "containerStatuses"}))[0];
}
std::int64_t restarts(FakeCluster& cluster) {
  return whole_at(status_of(cluster), {"restartCount"});
}
bool waits(FakeCluster& cluster) {
  return text_at(status_of(cluster), {"state", "waiting", "reason"}) == "CrashLoopBackOff";
}

class KubeletTest : public testing::Test {
 protected:
  void run(FakeCluster& on, const std::string& annotation, const std::string& policy = "Always") {
    on.add_node("n1");
    on.add(Kind::kPod, pod_that(annotation, policy));
    on.bind_all("n1");
    on.pass(1s);
  }
  FakeCluster cluster;
};

TEST_F(KubeletTest, AContainerThatEndsIsRestartedAtOnceTheFirstTime) {
  run(cluster, "'gantree.dev/fail-after':'20s'");
  cluster.pass(21s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"status", "phase"}), "Running");
  EXPECT_EQ(restarts(cluster), 1);
  EXPECT_EQ(whole_at(status_of(cluster), {"lastState", "terminated", "exitCode"}), 1);
  EXPECT_FALSE(text_at(status_of(cluster), {"state", "running", "startedAt"}).empty());
}

TEST_F(KubeletTest, AContainerThatEndsAgainAndAgainWaitsLongerEachTime) {
  run(cluster, "'gantree.dev/fail-after':'2s'");
  cluster.pass(5s);
  EXPECT_EQ(restarts(cluster), 1);
  EXPECT_TRUE(waits(cluster));
  EXPECT_EQ(text_at(status_of(cluster), {"lastState", "terminated", "reason"}), "Error");
  const Object& pod = cluster.get(Kind::kPod, "p");
  EXPECT_EQ(text_at(pod, {"status", "phase"}), "Running");
  EXPECT_TRUE(condition_is(pod, "Ready", "False"));
  EXPECT_THAT(std::string(text_at(status_of(cluster), {"state", "waiting", "message"})),
              testing::StartsWith("back-off 10s restarting failed container=main pod=p_default("));
  // Ends at 2, 4, 16, 38, 80, 162, 324, 626 and so on: every 302 seconds in the end.
  cluster.pass(10s);
  EXPECT_EQ(restarts(cluster), 2);
  EXPECT_FALSE(waits(cluster));
  EXPECT_TRUE(condition_is(cluster.get(Kind::kPod, "p"), "Ready", "True"));
  cluster.pass(22s);
  EXPECT_EQ(restarts(cluster), 3);
  cluster.pass(600s);
  EXPECT_EQ(restarts(cluster), 7);
  const std::size_t before = cluster.writes();
  cluster.pass(3020s);
  EXPECT_EQ(restarts(cluster), 17);
  EXPECT_LE(cluster.writes() - before, 40U);
}

TEST_F(KubeletTest, AContainerThatEndsWellWaitsAsWellWhereItMustAlwaysRun) {
  run(cluster, "'gantree.dev/run-for':'1s'");
  cluster.pass(3s);
  EXPECT_TRUE(waits(cluster));
  EXPECT_EQ(text_at(status_of(cluster), {"lastState", "terminated", "reason"}), "Completed");
}

TEST_F(KubeletTest, AContainerThatLivedLongIsRestartedAtOnce) {
  run(cluster, "'gantree.dev/fail-after':'11m'", "OnFailure");
  cluster.pass(3 * 11min + 5s);
  EXPECT_EQ(restarts(cluster), 3);
  EXPECT_FALSE(waits(cluster));
}

TEST_F(KubeletTest, AFastClusterRestartsNoMoreOftenThanItsClockSays) {
  FakeCluster fast(Options{.speed = 60});
  run(fast, "'gantree.dev/fail-after':'10s'");
  const std::size_t before = fast.writes();
  fast.pass(2s);
  // Two minutes of that cluster: ends at 10, 20, 40, 70 and 120 seconds.
  EXPECT_GE(restarts(fast), 3);
  EXPECT_LE(restarts(fast), 5);
  EXPECT_LE(fast.writes() - before, 20U);
}

TEST_F(KubeletTest, APodThatWaitsForItsRestartStopsWhenItIsDeleted) {
  run(cluster, "'gantree.dev/fail-after':'1s'");
  cluster.pass(4s);
  ASSERT_TRUE(waits(cluster));
  cluster.erase(Kind::kPod, "p");
  cluster.pass(35s);
  EXPECT_EQ(cluster.count(Kind::kPod), 0U);
}

}  // namespace
}  // namespace gantree::controllers

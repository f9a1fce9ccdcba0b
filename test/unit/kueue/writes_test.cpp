// How often a Workload is written to in its life: an API server has better things to store.
#include <gtest/gtest.h>

#include "json/read.h"
#include "kueue/job.h"
#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

// As SmallCluster::settle(), and counts the writes to Workloads' statuses.
int settle_and_count(SmallCluster& cluster, int rounds = 20) {
  int writes = 0;
  for (int round = 0; round < rounds; ++round) {
    cluster.tell();
    for (const Order& order : cluster.process.step(cluster.now)) {
      writes += order.write.object.kind == "Workload" && order.write.verb == WriteVerb::kPatchStatus ? 1 : 0;
      const WriteResult result = cluster.server.apply(order.write);
      cluster.process.answered(order.id, result == WriteResult::kOk ? Answer::kDone : Answer::kRefused, cluster.now);
    }
    cluster.now += std::chrono::milliseconds(200);
  }
  return writes;
}

void set_status(SmallCluster& cluster, const std::string& job, const std::string& status) {
  cluster.server.change(FakeServer::key("Job", "ns", job),
                        [&](Tree& one) { one.at({"status"}) = Tree::parse(status); });
}

TEST(KueueWrites, OneWriteAdmitsAJobAndSaysThatItsPodsAreNotReady) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 1);
  EXPECT_EQ(settle_and_count(cluster), 1);
  ASSERT_FALSE(cluster.suspended("j"));
  bool told = false;
  const Tree workload = cluster.workload("j");
  for (const Tree& condition : workload.find({"status", "conditions"})->items) {
    told = told || (condition.str({"type"}) == "PodsReady" && condition.str({"status"}) == "False");
  }
  EXPECT_TRUE(told);
}

TEST(KueueWrites, PodsThatAreOverAreNotToldOfWhereTheJobEndsWithThem) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 2, 1);
  (void)settle_and_count(cluster);
  set_status(cluster, "j", R"({"startTime":"2026-01-01T00:00:00Z","active":2,"ready":2})");
  EXPECT_EQ(settle_and_count(cluster), 1);  // its pods are ready
  set_status(cluster, "j", R"({"startTime":"2026-01-01T00:00:00Z","succeeded":2})");
  EXPECT_EQ(settle_and_count(cluster, 3), 0);
  set_status(
      cluster, "j",
      R"({"startTime":"2026-01-01T00:00:00Z","succeeded":2,"conditions":[{"type":"Complete","status":"True"}]})");
  EXPECT_EQ(settle_and_count(cluster), 1);
  EXPECT_EQ(cluster.workload("j").find({"status", "reclaimablePods"}), nullptr);
}

TEST(KueueWrites, PodsThatAreOverAreToldOfWhereTheJobDoesNotEnd) {
  SmallCluster cluster;
  cluster.node("a", 2);
  cluster.job("j", 2, 1);
  (void)settle_and_count(cluster);
  set_status(cluster, "j", R"({"startTime":"2026-01-01T00:00:00Z","active":2,"ready":2})");
  (void)settle_and_count(cluster);
  set_status(cluster, "j", R"({"startTime":"2026-01-01T00:00:00Z","succeeded":2})");
  (void)settle_and_count(cluster, 40);
  const Tree workload = cluster.workload("j");
  ASSERT_NE(workload.find({"status", "reclaimablePods"}), nullptr);
  EXPECT_EQ(workload.find({"status", "reclaimablePods"})->items.front().num({"count"}, 0), 2);
}

TEST(KueueWrites, AnIndexThatFailedForGoodGivesBackItsPod) {
  const std::string text = R"({"spec":{"parallelism":4,"completions":4,"completionMode":"Indexed"},)"
                           R"("status":{"active":1,"succeeded":1,"failedIndexes":"0,2-2"}})";
  auto documents = json::read_documents("job", text);
  ASSERT_TRUE(documents);
  json::Reader read("job", documents->front().root(), "Job");
  Object job{};
  job.value = documents->front().root();
  const kueue::JobProgress progress = kueue::batch_job().progress(read, job);
  ASSERT_EQ(progress.reclaimable.size(), 1U);
  EXPECT_EQ(progress.reclaimable[0].second, 3);
}

}  // namespace
}  // namespace gantree::test

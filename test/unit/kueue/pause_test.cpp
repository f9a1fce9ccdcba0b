// Jobs whose pods did not become ready in time: they pause, are in nobody's way meanwhile, and stand in line anew.
#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using std::chrono::seconds;

class KueuePause : public testing::Test {
 protected:
  // A host for one job at a time, and a strict queue.
  void begin(const kueue::ReadyRules& rules) {
    cluster_ = std::make_unique<SmallCluster>(rules);
    cluster_->server.change(FakeServer::key("ClusterQueue", "", "c"), [](Tree& queue) {
      queue.at({"spec", "queueingStrategy"}) = Tree::string("StrictFIFO");
      queue.at({"spec", "preemption"}) = Tree::parse("{}");
    });
    cluster_->node("a", 4);
  }
  // A job that waits, or starts, by that creation.
  void submit(const std::string& name, const std::string& created) {
    cluster_->job(name, 1, 4);
    cluster_->settle();
    cluster_->server.change(FakeServer::key("Workload", "ns", cluster_->workload(name).str({"metadata", "name"})),
                            [&](Tree& one) { one.at({"metadata", "creationTimestamp"}) = Tree::string(created); });
    cluster_->settle();
  }
  void end(const std::string& name) {
    const std::string workload = cluster_->workload(name).str({"metadata", "name"});
    cluster_->server.remove(FakeServer::key("Job", "ns", name));
    cluster_->server.remove(FakeServer::key("Workload", "ns", workload));
    cluster_->settle();
  }
  void pass(seconds time) {
    cluster_->now += time;
    cluster_->settle();
  }
  void make_ready(const std::string& name) {
    cluster_->server.change(FakeServer::key("Job", "ns", name), [](Tree& job) {
      job.at({"status"}) = Tree::parse(R"({"active":1,"ready":1,"startTime":"2026-01-01T00:00:00Z"})");
    });
    cluster_->settle();
  }

  std::unique_ptr<SmallCluster> cluster_;
};

constexpr kueue::ReadyRules kRules{.timeout = seconds(60), .backoff = seconds(300)};

TEST_F(KueuePause, HoldsUpNobodyInAStrictQueue) {
  begin(kRules);
  submit("slow", "2025-12-31T00:00:00Z");
  submit("next", "2025-12-31T00:00:01Z");
  ASSERT_TRUE(cluster_->admitted("slow"));
  pass(seconds(70));
  EXPECT_FALSE(cluster_->admitted("slow"));
  EXPECT_TRUE(cluster_->admitted("next")) << "long before the pause of the other is over";
}

TEST_F(KueuePause, HoldsUpNobodyAfterARestartEither) {
  begin(kRules);
  submit("slow", "2025-12-31T00:00:00Z");
  pass(seconds(70));
  ASSERT_FALSE(cluster_->admitted("slow"));
  Process next(kRules);
  cluster_->server.list_all_again();
  cluster_->job("next", 1, 4);
  cluster_->settle(next);
  EXPECT_FALSE(cluster_->admitted("slow"));
  EXPECT_TRUE(cluster_->admitted("next"));
}

TEST_F(KueuePause, PutsAJobBehindThoseThatCameBeforeItWasEvicted) {
  begin(kRules);
  submit("slow", "2025-12-31T00:00:00Z");
  submit("next", "2025-12-31T00:00:01Z");
  submit("third", "2025-12-31T00:00:02Z");
  pass(seconds(70));
  ASSERT_TRUE(cluster_->admitted("next"));
  make_ready("next");
  pass(seconds(600));
  end("next");
  EXPECT_FALSE(cluster_->admitted("slow"));
  EXPECT_TRUE(cluster_->admitted("third"));
}

TEST_F(KueuePause, LetsAJobBeFirstAgainWhereItsCreationCounts) {
  kueue::ReadyRules rules = kRules;
  rules.requeue_by_creation = true;
  begin(rules);
  submit("slow", "2025-12-31T00:00:00Z");
  submit("next", "2025-12-31T00:00:01Z");
  submit("third", "2025-12-31T00:00:02Z");
  pass(seconds(70));
  ASSERT_TRUE(cluster_->admitted("next")) << "whatever counts afterwards";
  make_ready("next");
  pass(seconds(600));
  end("next");
  EXPECT_TRUE(cluster_->admitted("slow"));
  EXPECT_FALSE(cluster_->admitted("third"));
}

TEST_F(KueuePause, CountsFromTheLastEvictionForAsLongAsTheJobWaits) {
  begin(kRules);
  submit("slow", "2025-12-31T00:00:00Z");
  submit("next", "2025-12-31T00:00:01Z");
  pass(seconds(70));
  make_ready("next");
  pass(seconds(600));
  const auto& entry =
      cluster_->process.controller().workloads().at("ns/" + cluster_->workload("slow").str({"metadata", "name"}));
  ASSERT_TRUE(entry.place);
  const std::int64_t since = entry.place->rank.created_seconds;
  EXPECT_GT(since, 1'767'225'600);
  pass(seconds(600));
  EXPECT_EQ(entry.place->rank.created_seconds, since) << "what it is told changes nothing";
  end("next");
  ASSERT_TRUE(cluster_->admitted("slow"));
  make_ready("slow");
  // It is as old as ever for those who look for somebody to evict.
  EXPECT_EQ(entry.object.request.created_seconds, 1'767'139'200);
}

}  // namespace
}  // namespace gantree::test

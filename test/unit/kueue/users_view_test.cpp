// What those look for who know Kueue: labels, ids and events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kueue/workload_body.h"
#include "unit/kueue/job_world.h"
#include "unit/kueue/queue_world.h"
#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using kueue::JobWorld;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string told(const SmallCluster& cluster, const std::string& job, std::string_view type, std::string_view field) {
  const Tree workload = cluster.workload(job);
  const Tree* conditions = workload.find({"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->items.size(); ++i) {
    if (conditions->items[i].str({"type"}) == type) {
      return conditions->items[i].str({field});
    }
  }
  return {};
}

void set_active(SmallCluster& cluster, const std::string& job, bool active) {
  cluster.server.change(FakeServer::key("Workload", "ns", cluster.workload(job).str({"metadata", "name"})),
                        [&](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(active); });
  cluster.settle();
}

void set_suspended(SmallCluster& cluster, const std::string& job, bool suspended) {
  cluster.server.change(FakeServer::key("Job", "ns", job),
                        [&](Tree& one) { one.at({"spec", "suspend"}) = Tree::boolean(suspended); });
  cluster.settle();
}

TEST(KueueUsers, ReadWhyAWorkloadWaitsThatIsActiveAgain) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("first", 1, 4);
  cluster.settle();
  cluster.job("second", 1, 4);
  cluster.settle();
  const std::string before = told(cluster, "second", "QuotaReserved", "message");
  set_active(cluster, "second", false);
  EXPECT_EQ(told(cluster, "second", "QuotaReserved", "message"), "The workload is deactivated");
  set_active(cluster, "second", true);
  cluster.settle();
  cluster.settle();
  EXPECT_EQ(told(cluster, "second", "QuotaReserved", "message"), before);
  EXPECT_EQ(told(cluster, "second", "Requeued", "reason"), "Reactivated");
}

TEST(KueueUsers, ReadThatAWorkloadIsDeactivatedAlsoWhereItWasEvictedBefore) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("first", 1, 4);
  cluster.settle();
  set_suspended(cluster, "first", true);
  cluster.job("second", 1, 4);
  cluster.settle();
  set_suspended(cluster, "first", false);
  ASSERT_EQ(told(cluster, "first", "Evicted", "reason"), "Resumed");
  set_active(cluster, "first", false);
  EXPECT_EQ(told(cluster, "first", "QuotaReserved", "message"), "The workload is deactivated");
  EXPECT_EQ(told(cluster, "first", "Evicted", "reason"), "Deactivated");
}

TEST(KueueUsers, ResumeAJobThatTheWebhookKeepsSuspended) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("first", 1, 4);
  cluster.settle();
  const auto mark = [&](std::string_view word) {
    cluster.server.change(FakeServer::key("Job", "ns", "first"), [&](Tree& one) {
      one.at({"spec", "suspend"}) = Tree::boolean(true);
      one.at({"metadata", "annotations", "gantree.dev/suspension"}) = Tree::string(std::string(word));
    });
    cluster.settle();
  };
  mark("suspended");
  EXPECT_EQ(told(cluster, "first", "Evicted", "reason"), "Suspended");
  EXPECT_TRUE(cluster.suspended("first"));
  mark("resumed");
  EXPECT_FALSE(cluster.suspended("first")) << "there is room: it is admitted again";
  mark("suspended");
  EXPECT_TRUE(cluster.suspended("first")) << "the mark of the last time does not bring it back";
}

TEST(KueueUsers, FindThatAWorkloadIsSuspendedStillWhenItIsActiveAgain) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  set_suspended(cluster, "j", true);
  set_active(cluster, "j", false);
  set_active(cluster, "j", true);
  EXPECT_EQ(told(cluster, "j", "Evicted", "reason"), "Suspended");
  EXPECT_FALSE(cluster.admitted("j")) << "its user has not resumed it";
}

TEST(KueueUsers, FindTheQueuesOfAPodInItsLabels) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("j"));
  const Tree job = cluster.server.find(FakeServer::key("Job", "ns", "j"))->tree;
  const Tree* labels = job.find({"spec", "template", "metadata", "labels"});
  ASSERT_NE(labels, nullptr);
  EXPECT_EQ(labels->str({"kueue.x-k8s.io/local-queue-name"}), "q");
  EXPECT_EQ(labels->str({"kueue.x-k8s.io/cluster-queue-name"}), "c");
  set_active(cluster, "j", false);
  set_active(cluster, "j", true);
  EXPECT_FALSE(cluster.suspended("j")) << "what a start adds is nothing that its user changed";
}

TEST(KueueUsers, FindTheJobForWhichAnotherHadToGo) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("low", 1, 4);
  cluster.settle();
  cluster.job("top", 1, 4, "high");
  cluster.settle();
  const std::string job = cluster.server.find(FakeServer::key("Job", "ns", "top"))->uid();
  EXPECT_EQ(cluster.workload("top").str({"metadata", "labels", "kueue.x-k8s.io/job-uid"}), job);
  EXPECT_THAT(told(cluster, "low", "Preempted", "message"),
              HasSubstr(fmt::format("(UID: {}, JobUID: {})", cluster.workload("top").str({"metadata", "uid"}), job)));
}

TEST(KueueUsers, FindTheJobOfAStatefulSetsWorkloadByItsLabel) {
  const ObjectRef set{.group = "apps", .version = "v1", .kind = "StatefulSet", .ns = "ns", .name = "db", .uid = "u7"};
  kueue::WorkloadSeed seed{
      .job = set, .queue = "q", .priority_class = {}, .pod_priority_class = {}, .priority = {}, .most_seconds = {}};
  seed.group = true;
  seed.owners = {set};
  EXPECT_THAT(kueue::create_workload(seed, {}).body, HasSubstr(R"("labels":{"kueue.x-k8s.io/job-uid":"u7"})"));
  seed.owners.front().kind = "Pod";
  EXPECT_THAT(kueue::create_workload(seed, {}).body, Not(HasSubstr("job-uid")));
}

TEST(KueueUsers, AreToldInEventsWhoGoesForWhomAndWhatIsDeactivated) {
  kueue::QueueWorld world;
  world.flavor("default");
  world.cluster_queue("q", 4, R"("preemption":{"withinClusterQueue":"LowerPriority"})");
  world.local_queue("ns", "q", "q");
  const auto submit = [&](const std::string& name, int priority, bool active) {
    world.put("Workload", "ns", name,
              fmt::format(R"({{"queueName":"q","priority":{},"active":{},"podSets":[{{"name":"main","count":4,)"
                          R"("template":{{"spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}})"
                          R"(}}]}}}}}}]}})",
                          priority, active));
    world.settle();
  };
  submit("low", 1, true);
  submit("top", 2, true);
  EXPECT_THAT(world.events, Contains(StartsWith("low Preempted: Preempted for workload ns/top (UID: u-top, ")));
  EXPECT_THAT(world.events, Contains(StartsWith("low EvictedDueToPreempted: ")));
  EXPECT_THAT(world.events, Contains(StartsWith("top PreemptedWorkload: Workload ns/low (UID: u-low, ")));
  world.events.clear();
  submit("low", 1, false);
  EXPECT_THAT(world.events, Contains("low EvictedDueToDeactivated: The workload is deactivated"));
}

TEST(KueueUsers, AreNotToldOfARunningJobThatIsDeactivatedThatItsQueueHadNotStartedIt) {
  JobWorld world(1, 1, 8);
  const auto [workload, start] = world.admitted("a");
  world.done(start);
  world.job(
      "a",
      {.suspended = false, .started = true, .marks = fmt::format(R"("gantree.dev/started-for":"w-{}")", workload)});
  world.settle();
  world.set(workload, "active", "false");
  world.settle();
  ASSERT_FALSE(world.to_jobs.empty()) << "it is stopped";
  for (const Order& order : world.events) {
    EXPECT_THAT(order.write.body, Not(HasSubstr("not started by its queue")));
  }
}

TEST(KueueUsers, MayHaveAJobWaitForSomebodysLeave) {
  SmallCluster cluster;
  cluster.job("j", 1, 4);
  const std::string key = FakeServer::key("Job", "ns", "j");
  const auto gate = [&](const std::string& by) {
    cluster.server.change(key, [&](Tree& job) {
      job.at({"metadata", "annotations", "kueue.x-k8s.io/admission-gated-by"}) = Tree::string(by);
    });
    cluster.settle();
  };
  gate("example.com/budget");
  cluster.node("a", 4);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  EXPECT_THAT(told(cluster, "j", "QuotaReserved", "message"), HasSubstr("example.com/budget"));
  gate("");
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(KueueUsers, ReadOnceWhichClusterQueueAdmitsNothing) {
  kueue::QueueWorld world;
  world.cluster_queue("team", 4);
  world.local_queue("ns", "mine", "team");
  world.settle();
  EXPECT_THAT(world.status("LocalQueue ns/mine", "conditions"),
              HasSubstr(R"(ClusterQueue \"team\" admits nothing: there is no ResourceFlavor)"));
}

}  // namespace
}  // namespace gantree::test

// What people are told: conditions that are true, and events on what they made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/kueue/job_world.h"
#include "unit/kueue/queue_world.h"
#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using kueue::JobState;
using kueue::JobWorld;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Tree condition(const SmallCluster& cluster, const std::string& job, std::string_view type) {
  const Tree workload = cluster.workload(job);
  const Tree* conditions = workload.find({"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->items.size(); ++i) {
    if (conditions->items[i].str({"type"}) == type) {
      return conditions->items[i];
    }
  }
  return {};
}

void change_workload(SmallCluster& cluster, const std::string& job, const std::function<void(Tree&)>& how) {
  cluster.server.change(FakeServer::key("Workload", "ns", cluster.workload(job).str({"metadata", "name"})), how);
}

void put_class(SmallCluster& cluster, const std::string& name, int value) {
  cluster.put(SmallCluster::kGroup, "v1beta2", "WorkloadPriorityClass",
              fmt::format("{{'metadata':{{'name':'{}'}},'value':{}}}", name, value));
}

TEST(KueueTelling, AClassOfPriorityThatIsNotThereIsWaitedFor) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 1, "nosuch");
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  const Tree told = condition(cluster, "j", "QuotaReserved");
  EXPECT_EQ(told.str({"reason"}), "Misconfigured");
  EXPECT_THAT(told.str({"message"}), HasSubstr("there is no WorkloadPriorityClass \"nosuch\""));
  EXPECT_THAT(told.str({"message"}), HasSubstr("PriorityClassNotFound: "));
  EXPECT_EQ(cluster.workload("j").find({"spec", "priorityClassRef"}), nullptr);
  put_class(cluster, "nosuch", 7);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_EQ(cluster.workload("j").find({"spec", "priority"})->to_json(), "7");
}

TEST(KueueTelling, AJobThatIsGivenAClassThatIsNotThereWhileItWaitsDoesNotKeepTheOldPriority) {
  SmallCluster cluster;
  cluster.job("j", 1, 1, "high");
  cluster.settle();
  ASSERT_EQ(cluster.workload("j").find({"spec", "priority"})->to_json(), "100");
  cluster.server.change(FakeServer::key("Job", "ns", "j"), [](Tree& job) {
    job.at({"metadata", "labels", "kueue.x-k8s.io/priority-class"}) = Tree::string("hihg");
  });
  cluster.node("a", 4);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  EXPECT_THAT(condition(cluster, "j", "QuotaReserved").str({"message"}), HasSubstr("hihg"));
}

TEST(KueueTelling, AQueueThatIsNotThereIsSaidToBeMissingAndNotToBeStopped) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 1);
  cluster.server.change(FakeServer::key("Job", "ns", "j"), [](Tree& job) {
    job.at({"metadata", "labels", "kueue.x-k8s.io/queue-name"}) = Tree::string("nosuch");
  });
  cluster.settle();
  EXPECT_EQ(condition(cluster, "j", "QuotaReserved").str({"reason"}), "Misconfigured");
  EXPECT_THAT(condition(cluster, "j", "QuotaReserved").str({"message"}),
              HasSubstr("QueueNotFound: there is no LocalQueue \"nosuch\""));
}

TEST(KueueTelling, MoreThanAllQuotaIsToldApartFromQuotaThatIsInUse) {
  SmallCluster cluster({}, true, 4);
  cluster.node("a", 8);
  cluster.job("first", 1, 3);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("first"));
  cluster.job("later", 1, 2);
  cluster.job("never", 1, 5);
  cluster.settle();
  EXPECT_EQ(condition(cluster, "later", "QuotaReserved").str({"reason"}), "WaitingForQuota");
  EXPECT_EQ(condition(cluster, "never", "QuotaReserved").str({"reason"}), "ExceedsMaxQuota");
}

TEST(KueueTelling, WhatNoHostCouldHoldIsToldSoAlsoWhileItsQuotaIsInUse) {
  SmallCluster cluster({}, true, 8);
  cluster.node("a", 4);
  cluster.job("first", 1, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("first"));
  cluster.job("never", 1, 8, "high");
  cluster.settle();
  EXPECT_EQ(condition(cluster, "never", "QuotaReserved").str({"reason"}), "TopologyPlacementFailed");
  EXPECT_THAT(condition(cluster, "never", "QuotaReserved").str({"message"}), HasSubstr("TopologyTooLarge"));
  EXPECT_TRUE(cluster.admitted("first")) << "nobody is evicted in vain";
  // A host that could hold it: now it waits for quota, and for that another may have to go.
  cluster.node("b", 8);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("never"));
  EXPECT_FALSE(cluster.admitted("first"));
}

TEST(KueueTelling, WhatIsActivatedAgainSaysSo) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  change_workload(cluster, "j", [](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(false); });
  cluster.settle();
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"status"}), "False");
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"reason"}), "Deactivated");
  change_workload(cluster, "j", [](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(true); });
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"status"}), "True");
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"reason"}), "Reactivated");
  EXPECT_EQ(condition(cluster, "j", "Evicted").str({"status"}), "False");
}

TEST(KueueTelling, WhatIsDeactivatedWhileItWaitsSaysSo) {
  SmallCluster cluster;
  cluster.job("j", 1, 4);
  cluster.settle();
  change_workload(cluster, "j", [](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(false); });
  cluster.settle();
  EXPECT_EQ(condition(cluster, "j", "Evicted").str({"reason"}), "Deactivated");
  cluster.node("a", 4);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  change_workload(cluster, "j", [](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(true); });
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"reason"}), "Reactivated");
}

TEST(KueueTelling, WhatItsUserSuspendedIsNotSaidToBeQueuedAgain) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  const std::string job = FakeServer::key("Job", "ns", "j");
  cluster.server.change(job, [](Tree& one) { one.at({"spec", "suspend"}) = Tree::boolean(true); });
  cluster.settle();
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"status"}), "False");
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"reason"}), "Suspended");
  cluster.server.change(job, [](Tree& one) { one.at({"spec", "suspend"}) = Tree::boolean(false); });
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"status"}), "True");
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"reason"}), "Resumed");
}

TEST(KueueTelling, AQueueThatIsRestartedWhileItsJobsLeaveItIsSaidToBeRestarted) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  const auto set_policy = [&](const std::string& policy) {
    cluster.put(SmallCluster::kGroup, "v1beta2", "LocalQueue",
                fmt::format("{{'metadata':{{'name':'q','namespace':'ns'}},'spec':{{'clusterQueue':'c',"
                            "'stopPolicy':'{}'}}}}",
                            policy));
  };
  const std::string job = FakeServer::key("Job", "ns", "j");
  cluster.server.change(job, [](Tree& one) { one.at({"status", "active"}) = Tree::number(1); });
  set_policy("HoldAndDrain");
  cluster.settle();
  ASSERT_EQ(condition(cluster, "j", "Evicted").str({"reason"}), "LocalQueueStopped");
  set_policy("None");
  cluster.settle();
  cluster.server.change(job, [](Tree& one) { one.at({"status", "active"}) = Tree::number(0); });
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"status"}), "True");
  EXPECT_EQ(condition(cluster, "j", "Requeued").str({"reason"}), "LocalQueueRestarted");
}

TEST(KueueTelling, AVictimThatWaitsAgainSaysForWhat) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("blocker", 1, 4);
  cluster.settle();
  cluster.job("low", 1, 4);
  cluster.settle();
  const std::string before = condition(cluster, "low", "QuotaReserved").str({"reason"});
  cluster.server.remove(FakeServer::key("Job", "ns", "blocker"));
  cluster.server.remove(FakeServer::key("Workload", "ns", cluster.workload("blocker").str({"metadata", "name"})));
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("low"));
  cluster.job("urgent", 1, 4, "high");
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("urgent"));
  EXPECT_EQ(condition(cluster, "low", "QuotaReserved").str({"reason"}), before);
  EXPECT_THAT(condition(cluster, "low", "QuotaReserved").str({"message"}), Not(HasSubstr("Preempted")));
  EXPECT_EQ(condition(cluster, "low", "Requeued").str({"reason"}), "Preempted");
  EXPECT_THAT(condition(cluster, "low", "Requeued").str({"message"}), HasSubstr("queued again"));
  EXPECT_THAT(condition(cluster, "low", "Evicted").str({"message"}), Not(HasSubstr("looked at")));
}

// "Kind/Reason" of each.
std::vector<std::string> told(const JobWorld& world) {
  std::vector<std::string> all;
  for (const Order& order : world.events) {
    const auto body = json::read_documents("event", order.write.body);
    const json::Value root = body->front().root();
    all.push_back(fmt::format("{}/{}", root["regarding"]["kind"].text(), root["reason"].text()));
  }
  return all;
}

TEST(KueueTelling, VeryManyAreToldWhyTheyWaitFiftyASecond) {
  kueue::QueueWorld world;
  world.flavor("default");
  world.cluster_queue("q", 1);
  world.local_queue("ns", "q", "q");
  constexpr int kMany = 500;
  for (int i = 0; i < kMany; ++i) {
    world.workload("ns", fmt::format("w{}", i), "q", 2);
  }
  const Time end = world.now + std::chrono::seconds(8);
  for (; world.now < end; world.now += std::chrono::milliseconds(100)) {
    world.step();
  }
  int told = 0;
  for (int i = 0; i < kMany; ++i) {
    told += world.status(fmt::format("Workload ns/w{}", i), "conditions").empty() ? 0 : 1;
  }
  EXPECT_EQ(told, kMany) << "two hundred at once, and then the others";
}

TEST(KueueTelling, AJobGetsEventsOfItsOwn) {
  JobWorld world(1, 2, 8);
  world.job("a", {.pods = 8});
  world.settle();
  EXPECT_THAT(told(world), Contains("Job/CreatedWorkload"));
  EXPECT_THAT(told(world), Contains("Job/Started"));
  world.events.clear();
  world.job("b", {.pods = 4});
  world.settle();
  EXPECT_THAT(told(world), Contains("Job/Pending"));
  EXPECT_THAT(told(world), Contains("Workload/Pending"));
}

TEST(KueueTelling, AStartIsToldOnce) {
  JobWorld world(1, 2, 8);
  const auto [name, start] = world.admitted("a");
  world.controller.answered(start.id, Answer::kUncertain, "somebody was faster", world.now);
  world.job("a", {});
  world.settle();
  const std::vector<std::string> all = told(world);
  EXPECT_EQ(std::count(all.begin(), all.end(), "Job/Started"), 1);
}

TEST(KueueTelling, AJobThatItsUserStartsInTheMomentOfItsAdmissionIsStoppedAndStartedWithItsAssignment) {
  JobWorld world(1, 2, 8);
  const auto [name, start] = world.admitted("a");
  // The user was faster than the start.
  world.controller.answered(start.id, Answer::kRefused, "it has changed", world.now);
  world.job("a", {.suspended = false, .started = true, .marked = false});
  world.now += std::chrono::seconds(1);
  const Order stop = world.only("Job");
  EXPECT_THAT(stop.write.body, HasSubstr(R"("path":"/spec/suspend","value":true)"));
  world.done(stop);
  world.job("a", {.suspended = true});
  world.now += std::chrono::seconds(1);
  const Order again = world.only("Job");
  EXPECT_THAT(again.write.body, HasSubstr("kueue.x-k8s.io/topology"));
  EXPECT_NE(world.status(name, "admission"), "") << "it keeps what it was given";
}

TEST(KueueTelling, PodsThatAJobMadeOfTheMomentBeforeItsStartStopItOnceMore) {
  JobWorld world(1, 2, 8);
  const auto [name, start] = world.admitted("a");
  world.done(start);
  const std::string mark = fmt::format(R"("gantree.dev/started-for":"w-{}")", name);
  world.job("a", {.suspended = false, .started = true, .marks = mark});
  world.now += std::chrono::seconds(1);
  world.settle();
  ASSERT_TRUE(world.to_jobs.empty());
  // Its controller had seen what the user did, and not what came after.
  world.stray("a", "p0");
  const Order stop = world.only("Job");
  EXPECT_THAT(stop.write.body, HasSubstr(R"("path":"/spec/suspend","value":true)"));
  world.done(stop);
  world.job("a", {.suspended = true, .started = true});
  world.settle();
  EXPECT_TRUE(world.to_jobs.empty()) << "started now, it would keep the pod";
  EXPECT_THAT(world.status(name, "conditions"), Not(HasSubstr("Evicted"))) << "no user has suspended it";
  world.remove("Pod", "p0");
  world.settle();
  ASSERT_EQ(world.to_jobs.size(), 1U);
  EXPECT_THAT(world.to_jobs[0].write.body, HasSubstr("startTime"));
  EXPECT_NE(world.status(name, "admission"), "") << "it keeps what it was given";
}

TEST(KueueTelling, APodThatWasSentToALostHostIsFailedSoThatPoliciesCanTell) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.pod("j", 0, "p");
  cluster.settle();
  cluster.node("b", 4);
  cluster.node("a", 4, "r0", true);
  cluster.settle();
  EXPECT_EQ(cluster.server.find(SmallCluster::pod_key("p"))->tree.str({"status", "phase"}), "Failed");
}

std::string pod_of_group(const std::string& name) {
  std::string text = fmt::format(
      "{{'metadata':{{'name':'{0}','namespace':'ns','uid':'u-{0}','creationTimestamp':'2023-11-14T22:13:20Z',"
      "'labels':{{'kueue.x-k8s.io/managed':'true','kueue.x-k8s.io/queue-name':'q',"
      "'kueue.x-k8s.io/pod-group-name':'duo'}},'annotations':{{'kueue.x-k8s.io/pod-group-total-count':'3',"
      "'kueue.x-k8s.io/role-hash':'x'}}}},'spec':{{'schedulingGates':[{{'name':'kueue.x-k8s.io/admission'}}],"
      "'containers':[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'1'}}}}}}]}},"
      "'status':{{'phase':'Pending'}}}}",
      name);
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

TEST(KueueTelling, PodsOfAGroupThatIsNotCompleteAreToldOnce) {
  JobWorld world(1, 1, 8);
  for (const char* name : {"d0", "d1"}) {
    world.send("", "v1", "Pod", pod_of_group(name));
  }
  world.now += std::chrono::seconds(1);
  world.settle();
  const std::vector<std::string> all = told(world);
  EXPECT_EQ(std::count(all.begin(), all.end(), "Pod/Pending"), 2);
}

}  // namespace
}  // namespace gantree::test

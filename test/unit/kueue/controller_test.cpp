#include "kueue/controller.h"

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using std::chrono::seconds;

TEST(KueueController, AJobThatSomebodyStartedIsStoppedAndWaitsLikeAnyOther) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("blocker", 1, 4);
  cluster.settle();
  cluster.job("eager", 1, 1, "", false);
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("eager"));
  EXPECT_FALSE(cluster.admitted("eager"));
}

TEST(KueueController, AJobThatDidNotStartInTimeIsTriedAgainWhenItsPauseIsOver) {
  SmallCluster cluster({.timeout = seconds(10), .backoff = seconds(60)});
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.now += seconds(20);
  cluster.settle();
  ASSERT_FALSE(cluster.admitted("j"));
  cluster.now += seconds(70);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(KueueController, WhoIsPassedOverWhileItIsWrittenToIsTriedAgain) {
  SmallCluster cluster;
  cluster.job("j", 1, 4);
  cluster.tell();
  const auto to_workloads = [&] {
    std::vector<Order> orders = cluster.process.step(cluster.now);
    std::erase_if(orders, [](const Order& order) { return order.write.object.kind != "Workload"; });
    return orders;
  };
  const auto created = to_workloads();
  ASSERT_EQ(created.size(), 1U);
  ASSERT_EQ(cluster.server.apply(created[0].write), WriteResult::kOk);
  cluster.process.answered(created[0].id, Answer::kDone, cluster.now);
  cluster.tell();
  EXPECT_TRUE(to_workloads().empty());  // it may be admitted in a moment
  cluster.now += seconds(1);
  const auto told = to_workloads();  // that it waits
  ASSERT_EQ(told.size(), 1U);
  cluster.node("a", 4);
  cluster.tell();
  EXPECT_TRUE(to_workloads().empty());
  cluster.process.answered(told[0].id, Answer::kRefused, cluster.now);
  cluster.now += seconds(2);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(KueueController, NoPodIsSentToAHostThatIsNoUseAnyMore) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.pod("j", 0, "p");
  cluster.node("a", 4, "r0", true);
  cluster.node("b", 4);
  cluster.settle();
  EXPECT_EQ(
      cluster.server.find(SmallCluster::pod_key("p"))->tree.str({"spec", "nodeSelector", "kubernetes.io/hostname"}),
      "b");
}

TEST(KueueController, APodThatIsOnItsWayToWhereItsWorkloadHasNoPlaceAnyMoreIsReplaced) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.pod("j", 0, "p");
  cluster.tell();
  const auto released = cluster.process.step(cluster.now);
  ASSERT_EQ(released.size(), 1U);
  // Its host is lost, and others are assigned, before that is carried out.
  cluster.node("a", 4, "r0", true);
  cluster.node("b", 4);
  cluster.tell();
  for (const Order& order : cluster.process.step(cluster.now)) {
    ASSERT_EQ(cluster.server.apply(order.write), WriteResult::kOk);
    cluster.process.answered(order.id, Answer::kDone, cluster.now);
  }
  ASSERT_EQ(cluster.server.apply(released[0].write), WriteResult::kOk);
  cluster.process.answered(released[0].id, Answer::kDone, cluster.now);
  cluster.settle();
  EXPECT_EQ(cluster.server.find(SmallCluster::pod_key("p"))->tree.str({"status", "phase"}), "Failed");
}

TEST(KueueController, WhereOneHostTakesThePodsOfTwoThatAreLostRoomIsHeldThereForBoth) {
  SmallCluster cluster;
  cluster.node("a", 1);
  cluster.node("b", 1);
  cluster.job("j", 2, 1);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.node("a", 1, "r0", true);
  cluster.node("b", 1, "r0", true);
  cluster.node("c", 2);
  cluster.settle();
  cluster.job("next", 1, 1);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_FALSE(cluster.admitted("next"));
}

TEST(KueueController, WherePodsRunOnOtherHostsOfTheirRackThoseThatWerePlannedAreFree) {
  SmallCluster cluster({}, false);
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.pod("j", 0, "p");
  cluster.settle();
  const auto& entry = cluster.process.controller().workloads().begin()->second;
  ASSERT_EQ(entry.placeholders.size(), 1U);
  cluster.bind("p", cluster.process.cluster().node_of(entry.placeholders[0]) == "a" ? "b" : "a");
  cluster.settle();
  cluster.job("next", 1, 4);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("next"));
}

TEST(KueueController, AfterARestartRoomIsHeldInARackForPodsThatHaveNoNodeYet) {
  SmallCluster cluster({}, false);
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  Process next({});
  cluster.server.list_all_again();
  while (cluster.server.has_events()) {
    next.take(cluster.server.next_event(cluster.random), cluster.now);
  }
  (void)next.step(cluster.now);
  EXPECT_EQ(next.cluster().pods(), 1U);
}

TEST(KueueController, WhoWasEvictedForAnotherAndIsAdmittedElsewhereDoesNotHoldItUp) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("victim", 1, 2);
  cluster.settle();
  cluster.job("urgent", 1, 4, "high");
  cluster.tell();
  for (int i = 0; i < 4; ++i) {  // until the victim is to leave
    for (const Order& order : cluster.process.step(cluster.now)) {
      (void)cluster.server.apply(order.write);
      cluster.process.answered(order.id, Answer::kDone, cluster.now);
    }
    cluster.tell();
  }
  cluster.node("b", 2);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("urgent"));
  EXPECT_TRUE(cluster.admitted("victim"));
}

TEST(KueueController, RoomOfAPodThatFailedIsKeptForTheOneThatTakesItsPlace) {
  SmallCluster cluster;
  cluster.node("a", 1);
  cluster.node("b", 2);
  cluster.job("j", 3, 1);
  cluster.settle();
  for (int i = 0; i < 3; ++i) {
    cluster.pod("j", i, fmt::format("p{}", i));
    cluster.settle();
    const Tree& pod = cluster.server.find(SmallCluster::pod_key(fmt::format("p{}", i)))->tree;
    cluster.bind(fmt::format("p{}", i), pod.str({"spec", "nodeSelector", "kubernetes.io/hostname"}));
  }
  // Of the two hosts the one that comes first has a pod that failed, the other one a pod that succeeded.
  const std::string first = cluster.server.find(SmallCluster::pod_key("p0"))->tree.str({"spec", "nodeName"});
  cluster.phase("p0", "Failed");
  cluster.phase("p2", "Succeeded");
  cluster.server.change(FakeServer::key("Job", "ns", "j"),
                        [](Tree& job) { job.at({"status", "succeeded"}) = Tree::number(1); });
  cluster.settle();
  const auto& entry = cluster.process.controller().workloads().begin()->second;
  ASSERT_EQ(entry.placeholders.size(), 1U);
  EXPECT_EQ(cluster.process.cluster().node_of(entry.placeholders[0]), first);
}

TEST(KueueController, PodsThatAreOverAreNoRoomToBeWonByAnEviction) {
  SmallCluster cluster;
  cluster.node("b", 4);
  cluster.job("other", 4, 1, "high");
  cluster.settle();
  cluster.node("a", 4);
  cluster.job("running", 4, 1);
  cluster.settle();
  for (int i = 0; i < 4; ++i) {
    cluster.pod("running", i, fmt::format("p{}", i));
    cluster.settle();
    cluster.bind(fmt::format("p{}", i), "a");
  }
  cluster.phase("p0", "Succeeded");
  cluster.phase("p1", "Succeeded");
  cluster.server.change(FakeServer::key("Job", "ns", "running"),
                        [](Tree& job) { job.at({"status", "succeeded"}) = Tree::number(2); });
  cluster.settle();
  cluster.job("urgent", 6, 1, "high");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("running"));
  EXPECT_FALSE(cluster.admitted("urgent"));
}

// Whoever may create pods may create these.
TEST(KueueController, WhereAdmissionIsBlockedOneJobAfterTheOtherGetsReady) {
  SmallCluster cluster({.one_by_one = true});
  cluster.node("a", 8);
  for (const char* name : {"a", "b", "c"}) {
    cluster.job(name, 1, 1);
    cluster.settle();
  }
  EXPECT_TRUE(cluster.admitted("a"));
  EXPECT_FALSE(cluster.admitted("b"));
  const Tree told = cluster.workload("b");
  EXPECT_NE(told.find({"status", "conditions"})->items.front().str({"message"}).find("have to be ready first"),
            std::string::npos);
  const auto ready = [&](const std::string& name) {
    cluster.server.change(FakeServer::key("Job", "ns", name), [](Tree& job) {
      job.at({"status"}) = Tree::parse(R"({"active":1,"ready":1,"startTime":"2026-01-01T00:00:00Z"})");
    });
    cluster.settle();
  };
  const auto waits_for = [&](const std::string& name, const std::string& other) {
    return cluster.workload(name).find({"status", "conditions"})->items.front().str({"message"}).find("job-" + other) !=
           std::string::npos;
  };
  EXPECT_TRUE(waits_for("c", "a"));
  ready("a");
  EXPECT_TRUE(cluster.admitted("b"));
  EXPECT_FALSE(cluster.admitted("c"));
  for (int i = 0; i < 3; ++i) {
    cluster.settle();
  }
  EXPECT_TRUE(waits_for("c", "b"));
  ready("b");
  EXPECT_TRUE(cluster.admitted("c"));
}

TEST(KueueController, AGatedPodWithoutAnnotationsDoesNoHarm) {
  Cluster cluster;
  kueue::Controller controller(cluster, {});
  const auto pod =
      prune("", "v1", "Pod",
            R"({"metadata":{"name":"p","namespace":"ns","uid":"u","labels":{"kueue.x-k8s.io/managed":"true",)"
            R"("kueue.x-k8s.io/queue-name":"q"}},"spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/admission"},)"
            R"({"name":"kueue.x-k8s.io/topology"}],"containers":[]}})");
  ASSERT_TRUE(pod);
  EXPECT_TRUE(controller.changed(*pod, Time()));
  EXPECT_TRUE(controller.workloads().empty());
}

}  // namespace
}  // namespace gantree::test

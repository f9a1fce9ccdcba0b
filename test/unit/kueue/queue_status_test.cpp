#include "kueue/queue_status.h"

#include <gmock/gmock.h>

#include "unit/kueue/queue_world.h"

namespace gantree::kueue {
namespace {

using testing::HasSubstr;

// One team with four cores, and one that lends it four more.
void two_teams(QueueWorld& world) {
  world.flavor("default");
  world.cluster_queue("team-a", 4, R"("cohortName":"all","fairSharing":{"weight":"1"})");
  world.cluster_queue("team-b", 4, R"("cohortName":"all")");
  world.local_queue("ns", "a", "team-a");
  world.local_queue("ns", "b", "team-b");
}

TEST(QueueStatus, TellsWhoWaitsWhoIsAdmittedAndWhatIsUsedAndBorrowed) {
  QueueWorld world;
  two_teams(world);
  world.workload("ns", "first", "a", 3);
  world.workload("ns", "second", "a", 3);
  world.workload("ns", "third", "a", 3);
  world.settle();
  EXPECT_EQ(world.status("ClusterQueue /team-a", "pendingWorkloads"), "1");
  EXPECT_EQ(world.status("ClusterQueue /team-a", "reservingWorkloads"), "2");
  EXPECT_EQ(world.status("ClusterQueue /team-a", "admittedWorkloads"), "2");
  EXPECT_EQ(world.status("ClusterQueue /team-a", "flavorsUsage"),
            R"([{"name":"default","resources":[{"name":"cpu","total":"6","borrowed":"2"}]}])");
  EXPECT_EQ(world.status("ClusterQueue /team-a", "flavorsReservation"),
            world.status("ClusterQueue /team-a", "flavorsUsage"));
  EXPECT_EQ(world.status("ClusterQueue /team-a", "fairSharing"), R"({"weightedShare":250})");
  EXPECT_EQ(world.status("ClusterQueue /team-b", "fairSharing"), "");
  EXPECT_THAT(world.status("ClusterQueue /team-a", "conditions"),
              HasSubstr(R"("type":"Active","status":"True","reason":"Ready")"));
  EXPECT_EQ(world.status("LocalQueue ns/a", "pendingWorkloads"), "1");
  EXPECT_EQ(world.status("LocalQueue ns/a", "admittedWorkloads"), "2");
  EXPECT_EQ(world.status("LocalQueue ns/a", "flavorsUsage"),
            R"([{"name":"default","resources":[{"name":"cpu","total":"6"}]}])");
  EXPECT_EQ(world.status("LocalQueue ns/b", "admittedWorkloads"), "0");
}

TEST(QueueStatus, SaysThatNobodyRunsItsAdmissionChecks) {
  const auto conditions = [](bool ignore) {
    QueueWorld world({.ignore_checks = ignore});
    world.flavor("default");
    world.cluster_queue("q", 4, R"("admissionChecksStrategy":{"admissionChecks":[{"name":"budget"}]})");
    world.local_queue("ns", "l", "q");
    world.workload("ns", "w", "l", 1);
    world.settle();
    return world.status("ClusterQueue /q", "conditions") + world.status("Workload ns/w", "conditions");
  };
  EXPECT_THAT(conditions(false), HasSubstr(R"("status":"False","reason":"AdmissionCheckNotFound")"));
  EXPECT_THAT(conditions(false), HasSubstr("has admission checks, and nobody runs them"));
  EXPECT_THAT(conditions(true), HasSubstr(R"("type":"Admitted","status":"True")"));
}

TEST(QueueStatus, SaysWhatIsMissing) {
  QueueWorld world;
  world.cluster_queue("poor", 4);
  world.flavor("gpu", "racks");
  world.cluster_queue("lost", 4, "", "gpu");
  world.local_queue("ns", "poor", "poor");
  world.local_queue("ns", "nowhere", "none");
  world.settle();
  EXPECT_THAT(world.status("ClusterQueue /poor", "conditions"),
              HasSubstr(R"("status":"False","reason":"FlavorNotFound","message":"ClusterQueue \"poor\": there is no )"
                        R"(ResourceFlavor \"default\"")"));
  EXPECT_THAT(world.status("ClusterQueue /lost", "conditions"), HasSubstr(R"("reason":"TopologyNotFound")"));
  EXPECT_THAT(world.status("ClusterQueue /lost", "conditions"), HasSubstr(R"(Topology \"racks\")"));
  EXPECT_THAT(world.status("LocalQueue ns/poor", "conditions"), HasSubstr(R"("reason":"ClusterQueueIsInactive")"));
  EXPECT_THAT(world.status("LocalQueue ns/nowhere", "conditions"), HasSubstr(R"("reason":"ClusterQueueDoesNotExist")"));
  // What comes is seen.
  world.flavor("default");
  world.settle();
  EXPECT_THAT(world.status("ClusterQueue /poor", "conditions"), HasSubstr(R"("status":"True","reason":"Ready")"));
  EXPECT_THAT(world.status("LocalQueue ns/poor", "conditions"), HasSubstr(R"("status":"True","reason":"Ready")"));
}

TEST(QueueStatus, ACohortTellsItsShareOfWhatItsOwnCohortLends) {
  QueueWorld world;
  world.flavor("default");
  world.put("Cohort", "", "all", "{}");
  world.put("Cohort", "", "inner", R"({"parentName":"all","fairSharing":{"weight":"2"}})");
  world.cluster_queue("rich", 8, R"("cohortName":"all")");
  world.cluster_queue("poor", 2, R"("cohortName":"inner")");
  world.local_queue("ns", "q", "poor");
  world.workload("ns", "w", "q", 6);
  world.settle();
  // Four of ten are borrowed, with twice the weight.
  EXPECT_EQ(world.status("Cohort /inner", "fairSharing"), R"({"weightedShare":200})");
  EXPECT_EQ(world.status("Cohort /all", "fairSharing"), "");
}

TEST(QueueStatus, RoundsTheShareOfACohortUpAsThatOfAQueue) {
  QueueWorld world;
  world.flavor("default");
  world.put("Cohort", "", "all", "{}");
  world.put("Cohort", "", "inner", R"({"parentName":"all","fairSharing":{"weight":"1"}})");
  world.cluster_queue("rich", 6, R"("cohortName":"all")");
  world.cluster_queue("poor", 1, R"("cohortName":"inner")");
  world.local_queue("ns", "q", "poor");
  world.workload("ns", "w", "q", 4);
  world.settle();
  EXPECT_EQ(world.status("Cohort /inner", "fairSharing"), R"({"weightedShare":429})") << "three of seven";
}

TEST(QueueStatus, IsWrittenAtMostOnceASecondAndOnlyWhereItDiffers) {
  QueueWorld world;
  two_teams(world);
  EXPECT_EQ(world.step().size(), 4U);
  // Within the second nothing is written, whatever happens, but it is told when to come again.
  for (int i = 0; i < 50; ++i) {
    world.now += std::chrono::milliseconds(10);
    world.workload("ns", "w" + std::to_string(i), "a", 1);
    EXPECT_TRUE(world.step().empty());
  }
  ASSERT_TRUE(world.wake);
  EXPECT_EQ(*world.wake, kWorldStart + std::chrono::seconds(1));
  world.now = *world.wake;
  const std::vector<Write> written = world.step();
  ASSERT_EQ(written.size(), 2U);  // of the queues that nobody uses nothing changed
  EXPECT_EQ(written[0].object.name, "team-a");
  EXPECT_EQ(written[1].object.name, "a");
  for (int i = 0; i < 3; ++i) {
    world.settle();
  }
  EXPECT_TRUE(world.step().empty());
  EXPECT_FALSE(world.wake);
}

TEST(QueueStatus, ItsOwnWriteDoesNotMakeTheQueueBeReadAnew) {
  QueueWorld world;
  two_teams(world);
  world.workload("ns", "big", "a", 99);
  world.settle();
  const std::size_t queues = world.controller.quota().queues();
  const Step idle = world.controller.step(world.now);
  EXPECT_FALSE(idle.figures.decided);
  EXPECT_EQ(world.controller.quota().queues(), queues);
}

TEST(QueueStatus, WhatSomebodyElseWroteIsPutRight) {
  QueueWorld world;
  two_teams(world);
  world.settle();
  world.objects.at("ClusterQueue /team-a").status["pendingWorkloads"] = "77";
  world.cluster_queue("team-a", 4, R"("cohortName":"all","fairSharing":{"weight":"1"})");
  world.settle();
  EXPECT_EQ(world.status("ClusterQueue /team-a", "pendingWorkloads"), "0");
}

TEST(QueueStatus, HoldLetsNothingNewInAndLeavesWhatRuns) {
  QueueWorld world;
  two_teams(world);
  world.workload("ns", "runs", "a", 1);
  world.settle();
  world.cluster_queue("team-a", 4, R"("stopPolicy":"Hold")");
  world.workload("ns", "late", "a", 1);
  world.settle();
  EXPECT_EQ(world.status("ClusterQueue /team-a", "admittedWorkloads"), "1");
  EXPECT_EQ(world.status("ClusterQueue /team-a", "pendingWorkloads"), "1");
  EXPECT_THAT(world.status("ClusterQueue /team-a", "conditions"), HasSubstr(R"("status":"False","reason":"Stopped")"));
  EXPECT_THAT(world.status("Workload ns/runs", "conditions"), testing::Not(HasSubstr("Evicted")));
}

TEST(QueueStatus, HoldAndDrainEvictsWhatRunsAndQueuesItAgainWhenTheQueueRuns) {
  for (const bool cluster_queue : {true, false}) {
    QueueWorld world;
    two_teams(world);
    world.workload("ns", "w", "a", 1);
    world.workload("ns", "other", "b", 1);
    world.settle();
    EXPECT_THAT(world.status("Workload ns/w", "conditions"), HasSubstr(R"("type":"Admitted","status":"True")"));
    if (cluster_queue) {
      world.cluster_queue("team-a", 4, R"("stopPolicy":"HoldAndDrain")");
    } else {
      world.local_queue("ns", "a", "team-a", R"("stopPolicy":"HoldAndDrain")");
    }
    world.settle();
    const std::string stopped = world.status("Workload ns/w", "conditions");
    const std::string reason = cluster_queue ? "ClusterQueueStopped" : "LocalQueueStopped";
    EXPECT_THAT(stopped, HasSubstr(R"("type":"Evicted","status":"True","reason":")" + reason));
    EXPECT_THAT(stopped, HasSubstr(R"("type":"Requeued","status":"False","reason":")" + reason));
    EXPECT_THAT(stopped, HasSubstr(R"("type":"Admitted","status":"False")"));
    EXPECT_EQ(world.status("Workload ns/w", "admission"), "");
    EXPECT_EQ(world.status("ClusterQueue /team-a", "admittedWorkloads"), "0");
    EXPECT_EQ(world.status("ClusterQueue /team-b", "admittedWorkloads"), "1");
    world.cluster_queue("team-a", 4);
    world.local_queue("ns", "a", "team-a");
    world.settle();
    const std::string again = world.status("Workload ns/w", "conditions");
    EXPECT_THAT(again,
                HasSubstr(cluster_queue ? R"("type":"Requeued","status":"True","reason":"ClusterQueueRestarted")"
                                        : R"("type":"Requeued","status":"True","reason":"LocalQueueRestarted")"));
    EXPECT_THAT(again, HasSubstr(R"("type":"Admitted","status":"True")"));
    EXPECT_THAT(again, HasSubstr(R"("type":"Evicted","status":"False")"));
  }
}

TEST(QueueStatus, AQueueWithoutASelectorAdmitsNoNamespaceUntilItHasOne) {
  QueueWorld world;
  world.flavor("default");
  const std::string groups = R"("resourceGroups":[{"coveredResources":["cpu"],"flavors":[)"
                             R"({"name":"default","resources":[{"name":"cpu","nominalQuota":"4"}]}]}])";
  world.put("ClusterQueue", "", "c", "{" + groups + "}");
  world.local_queue("ns", "q", "c");
  world.workload("ns", "w", "q", 1);
  world.settle();
  EXPECT_EQ(world.status("Workload ns/w", "admission"), "");
  EXPECT_NE(world.status("Workload ns/w", "conditions").find("has no namespaceSelector, so no namespace may use it"),
            std::string::npos)
      << world.status("Workload ns/w", "conditions");
  world.put("ClusterQueue", "", "c",
            R"({"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"other"}},)" + groups + "}");
  world.settle();
  EXPECT_EQ(world.status("Workload ns/w", "admission"), "") << "it waits, and is not given up";
  world.put("ClusterQueue", "", "c", R"({"namespaceSelector":{},)" + groups + "}");
  world.settle();
  EXPECT_NE(world.status("Workload ns/w", "admission"), "");
}

TEST(QueueStatus, CohortsThatGoRoundInACircleAreNoEndOfTheWorld) {
  QueueWorld world;
  two_teams(world);
  world.workload("ns", "w", "a", 1);
  world.settle();
  world.put("Cohort", "", "all", R"({"parentName":"inner"})");
  world.put("Cohort", "", "inner", R"({"parentName":"all"})");
  world.workload("ns", "late", "a", 1);
  world.settle();
  EXPECT_EQ(world.status("LocalQueue ns/a", "admittedWorkloads"), "1");
  EXPECT_THAT(world.status("ClusterQueue /team-a", "conditions"),
              HasSubstr(R"("reason":"CohortCycle","message":"Cohort \"all\" is its own ancestor")"));
  // Once it is mended, all goes on.
  world.put("Cohort", "", "inner", "{}");
  world.settle();
  EXPECT_EQ(world.status("LocalQueue ns/a", "admittedWorkloads"), "2");
}

TEST(QueueStatus, AQueueIsDrainedAtOnceThoughTheAnswerToAnAdmissionCameAfterItsEvent) {
  QueueWorld world;
  world.flavor("default");
  world.cluster_queue("team-a", 4);
  world.local_queue("ns", "q", "team-a");
  world.settle();
  world.answers_late = true;
  world.workload("ns", "w", "q", 2);
  world.step();
  ASSERT_NE(world.status("Workload ns/w", "admission"), "");
  world.cluster_queue("team-a", 4, R"("stopPolicy":"HoldAndDrain")");
  world.step();
  world.answer_all();
  world.step();
  EXPECT_NE(world.status("Workload ns/w", "conditions").find("ClusterQueueStopped"), std::string::npos);
}

TEST(QueueStatus, AnObjectOfAnotherFamilyThatHasTheSameKindAndNameIsNoneOfOurs) {
  QueueWorld world;
  world.put("Topology", "", "default", R"({"levels":[{"nodeLabel":"kubernetes.io/hostname"}]})");
  world.flavor("gpus", "default");
  world.cluster_queue("team-a", 4, "", "gpus");
  world.settle();
  ASSERT_THAT(world.status("ClusterQueue /team-a", "conditions"), HasSubstr(R"("reason":"Ready")"));
  world.controller.removed("kai.scheduler", "Topology", "", "default", world.now);
  world.cluster_queue("team-a", 5, "", "gpus");
  world.settle();
  EXPECT_THAT(world.status("ClusterQueue /team-a", "conditions"), HasSubstr(R"("reason":"Ready")"));
  // Nor does it take the place of ours.
  const auto other = prune("kai.scheduler", "v1alpha1", "Topology", R"({"metadata":{"name":"default"},"spec":{}})");
  ASSERT_TRUE(other);
  ASSERT_TRUE(world.controller.changed(*other, world.now));
  world.settle();
  EXPECT_THAT(world.status("ClusterQueue /team-a", "conditions"), HasSubstr(R"("reason":"Ready")"));
  world.remove("Topology", "", "default");
  world.settle();
  EXPECT_THAT(world.status("ClusterQueue /team-a", "conditions"), HasSubstr(R"("reason":"TopologyNotFound")"));
}

TEST(QueueStatus, TellsEveryShareWhereFairSharingIsOn) {
  QueueWorld world({.shares = {ShareStrategy::kFinalShare}});
  world.flavor("default");
  world.put("Cohort", "", "all", "{}");
  world.cluster_queue("team-a", 4, R"("cohortName":"all")");
  world.cluster_queue("team-b", 4, R"("cohortName":"all")");
  world.local_queue("ns", "a", "team-a");
  world.workload("ns", "w", "a", 6);
  world.settle();
  EXPECT_EQ(world.status("ClusterQueue /team-a", "fairSharing"), R"({"weightedShare":250})");
  EXPECT_EQ(world.status("ClusterQueue /team-b", "fairSharing"), R"({"weightedShare":0})");
  EXPECT_EQ(world.status("Cohort /all", "fairSharing"), R"({"weightedShare":0})");
}

}  // namespace
}  // namespace gantree::kueue

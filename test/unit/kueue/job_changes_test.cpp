// What users, and others who make jobs, do to jobs of queues.
#include <gmock/gmock.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

const std::string kJob = FakeServer::key("Job", "ns", "j");

// A Job "j" with two pods of one GPU each; further fields of its metadata and spec, each with a comma before it.
void put_job(SmallCluster& cluster, const std::string& metadata, const std::string& spec = "",
             const std::string& labels = "", bool suspended = true) {
  cluster.put(
      "batch", "v1", "Job",
      fmt::format("{{'metadata':{{'name':'j','namespace':'ns','labels':{{'kueue.x-k8s.io/queue-name':'q'{2}}}{0}}},"
                  "'spec':{{'suspend':{3},'parallelism':2,'completions':2{1},'template':{{'spec':{{'containers':"
                  "[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'1'}}}}}}]}}}}}}}}",
                  metadata, spec, labels, suspended));
}

const Tree& job(const SmallCluster& cluster) {
  return cluster.server.find(kJob)->tree;
}

std::string workload_key(const SmallCluster& cluster) {
  return FakeServer::key("Workload", "ns", cluster.workload("j").str({"metadata", "name"}));
}

std::string evicted_for(const Tree& workload) {
  const Tree* conditions = workload.find({"status", "conditions"});
  for (const Tree& one : conditions == nullptr ? std::vector<Tree>() : conditions->items) {
    if (one.str({"type"}) == "Evicted" && one.str({"status"}) == "True") {
      return one.str({"reason"});
    }
  }
  return "";
}

TEST(JobOfAQueue, ThatACronJobMakesIsStartedLikeAnyOther) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster,
          ",'ownerReferences':[{'apiVersion':'batch/v1','kind':'CronJob','name':'c','uid':'u','controller':true}]");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_FALSE(cluster.suspended("j"));
}

TEST(JobOfAQueue, ThatAWorkflowOwnsWithoutControllingItIsStarted) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster,
          ",'ownerReferences':[{'apiVersion':'jobset.x-k8s.io/v1alpha2','kind':'JobSet','name':'c','uid':'u'}]");
  cluster.settle();
  EXPECT_FALSE(cluster.suspended("j"));
}

TEST(JobOfAQueue, ThatAJobSetMakesIsTheJobSets) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster,
          ",'ownerReferences':[{'apiVersion':'jobset.x-k8s.io/v1alpha2','kind':'JobSet','name':'c','uid':'u',"
          "'controller':true}]");
  cluster.settle();
  EXPECT_TRUE(cluster.server.all("Workload").empty());
}

TEST(JobOfAQueue, ThatChangesWhileItsWorkloadIsBeingWrittenIsNotStartedWithItsOldCount) {
  for (const Answer late : {Answer::kDone, Answer::kRefused}) {
    SmallCluster cluster;
    cluster.node("a", 1);
    cluster.job("j", 2, 1);
    // Its Workload is made, and said why it waits; that answer stays away.
    std::optional<std::uint64_t> open;
    for (int round = 0; round < 20 && !open; ++round) {
      cluster.tell();
      for (const Order& order : cluster.process.step(cluster.now)) {
        const bool telling = order.write.object.kind == "Workload" && order.urgency == Urgency::kStatus;
        const bool lost = telling && late == Answer::kRefused;
        const WriteResult result = lost ? WriteResult::kOk : cluster.server.apply(order.write);
        if (telling) {
          open = order.id;
        } else {
          cluster.process.answered(order.id, result == WriteResult::kOk ? Answer::kDone : Answer::kRefused,
                                   cluster.now);
        }
      }
      cluster.now += std::chrono::milliseconds(200);
    }
    ASSERT_TRUE(open);
    cluster.node("a", 8);
    cluster.job("j", 3, 1);
    cluster.tell();
    EXPECT_FALSE(cluster.admitted("j"));
    for (const Order& order : cluster.process.step(cluster.now)) {
      (void)cluster.server.apply(order.write);
    }
    cluster.process.answered(*open, late, cluster.now);
    for (int round = 0; round < 40; ++round) {
      cluster.tell();
      for (const Order& order : cluster.process.step(cluster.now)) {
        const WriteResult result = cluster.server.apply(order.write);
        cluster.process.answered(order.id, result == WriteResult::kOk ? Answer::kDone : Answer::kRefused, cluster.now);
        if (cluster.admitted("j")) {
          EXPECT_THAT(cluster.workload("j").find({"status", "admission"})->to_json(), HasSubstr(R"("count":3)"));
        }
      }
      cluster.now += std::chrono::milliseconds(200);
    }
    EXPECT_TRUE(cluster.admitted("j"));
  }
}

TEST(JobOfAQueue, WhoseWorkloadIsDeletedIsStoppedQueuedAndStartedAnew) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster, "");
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("j"));
  const Tree first = *cluster.workload("j").find({"spec", "podSets"});
  cluster.server.remove(workload_key(cluster));
  cluster.settle();
  ASSERT_EQ(cluster.server.all("Workload").size(), 1U);
  EXPECT_EQ(*cluster.workload("j").find({"spec", "podSets"}), first) << "nothing of the first start is in it";
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_FALSE(cluster.suspended("j"));
  const Tree* gates = job(cluster).find({"spec", "template", "spec", "schedulingGates"});
  ASSERT_NE(gates, nullptr);
  EXPECT_EQ(gates->items.size(), 1U);
}

TEST(JobOfAQueue, IsNotNailedToTheFlavorOfItsFirstStart) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster, "");
  cluster.settle();
  EXPECT_EQ(job(cluster).str({"spec", "template", "spec", "nodeSelector", "pool"}), "f");
  cluster.put("kueue.x-k8s.io", "v1beta2", "ResourceFlavor",
              "{'metadata':{'name':'f'},'spec':{'nodeLabels':{'rack':'r0'},'topologyName':'net',"
              "'tolerations':[{'key':'t','operator':'Exists'}]}}");
  cluster.server.remove(workload_key(cluster));
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("j"));
  EXPECT_EQ(job(cluster).str({"spec", "template", "spec", "nodeSelector", "pool"}), "");
  EXPECT_EQ(job(cluster).str({"spec", "template", "spec", "nodeSelector", "rack"}), "r0");
  EXPECT_EQ(job(cluster).find({"spec", "template", "spec", "tolerations"})->items.size(), 1U);
}

TEST(JobOfAQueue, ThatGrowsWhileItRunsIsStoppedAndQueuesForAll) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster, "");
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("j"));
  cluster.job("other", 2, 1);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("other"));
  cluster.server.change(kJob, [](Tree& one) {
    one.at({"spec", "parallelism"}) = Tree::number(4);
    one.at({"spec", "completions"}) = Tree::number(4);
  });
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("j"));
  EXPECT_FALSE(cluster.admitted("j"));
  EXPECT_EQ(cluster.workload("j").find({"spec", "podSets"})->items.front().num({"count"}, 0), 4);
  cluster.server.remove(FakeServer::key("Workload", "ns", cluster.workload("other").str({"metadata", "name"})));
  cluster.server.remove(FakeServer::key("Job", "ns", "other"));
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_FALSE(cluster.suspended("j"));
  EXPECT_EQ(job(cluster).num({"spec", "parallelism"}, 0), 4);
}

TEST(JobOfAQueue, ThatShrinksWhileItRunsGivesBackWhatItDoesWithout) {
  SmallCluster cluster({}, true, 2);
  cluster.node("a", 2);
  put_job(cluster, "");
  cluster.settle();
  cluster.job("other", 1, 1);
  cluster.settle();
  ASSERT_FALSE(cluster.admitted("other"));
  cluster.server.change(kJob, [](Tree& one) { one.at({"spec", "parallelism"}) = Tree::number(1); });
  cluster.settle();
  EXPECT_FALSE(cluster.suspended("j"));
  EXPECT_TRUE(cluster.admitted("other"));
  // What was given away is not taken back.
  cluster.server.change(kJob, [](Tree& one) { one.at({"spec", "parallelism"}) = Tree::number(2); });
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("j"));
  EXPECT_TRUE(cluster.admitted("other"));
}

TEST(JobOfAQueue, ThatIsChangedBetweenTwoStartsStartsAsItIsNow) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster, "");
  cluster.settle();
  const std::string workload = workload_key(cluster);
  cluster.server.change(workload, [](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(false); });
  cluster.settle();
  ASSERT_TRUE(cluster.suspended("j"));
  cluster.server.change(kJob, [](Tree& one) {
    one.at({"spec", "parallelism"}) = Tree::number(3);
    one.at({"spec", "completions"}) = Tree::number(3);
    one.at({"spec", "template", "metadata", "labels", "mine"}) = Tree::string("yes");
  });
  cluster.settle();
  cluster.server.change(workload, [](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(true); });
  cluster.settle();
  EXPECT_FALSE(cluster.suspended("j"));
  EXPECT_EQ(cluster.workload("j").find({"spec", "podSets"})->items.front().num({"count"}, 0), 3);
  EXPECT_EQ(job(cluster).num({"spec", "parallelism"}, 0), 3);
  EXPECT_EQ(job(cluster).str({"spec", "template", "metadata", "labels", "mine"}), "yes");
}

TEST(JobOfAQueue, ThatIsChangedAfterItWasAdmittedQueuesAgainBeforeItStarts) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.settle();
  put_job(cluster, "");
  cluster.tell();
  // All but what concerns the job is carried out, until it is about to be started.
  for (int round = 0; round < 10; ++round) {
    for (const Order& order : cluster.process.step(cluster.now)) {
      if (order.write.object.kind != "Job") {
        ASSERT_EQ(cluster.server.apply(order.write), WriteResult::kOk);
        cluster.process.answered(order.id, Answer::kDone, cluster.now);
        continue;
      }
      cluster.server.change(kJob, [](Tree& one) {
        one.at({"spec", "parallelism"}) = Tree::number(3);
        one.at({"spec", "completions"}) = Tree::number(3);
      });
      cluster.process.answered(order.id, Answer::kRefused, cluster.now);
    }
    cluster.tell();
    cluster.now += std::chrono::milliseconds(200);
    if (job(cluster).num({"spec", "parallelism"}, 0) == 3) {
      break;
    }
  }
  cluster.settle();
  cluster.settle();
  EXPECT_FALSE(cluster.suspended("j"));
  EXPECT_EQ(cluster.workload("j").find({"spec", "podSets"})->items.front().num({"count"}, 0), 3);
}

TEST(JobOfAQueue, ThatStartsWithFewerPodsGetsItsNumbersBack) {
  SmallCluster cluster;
  cluster.node("a", 1);
  put_job(cluster,
          ",'annotations':{'kueue.x-k8s.io/job-min-parallelism':'1',"
          "'kueue.x-k8s.io/job-completions-equal-parallelism':'true'}",
          ",'completionMode':'Indexed'");
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("j"));
  EXPECT_EQ(job(cluster).num({"spec", "parallelism"}, 0), 1);
  EXPECT_EQ(job(cluster).num({"spec", "completions"}, 0), 1);
  const auto set_active = [&](bool active) {
    cluster.server.change(workload_key(cluster),
                          [&](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(active); });
    cluster.settle();
  };
  set_active(false);
  ASSERT_TRUE(cluster.suspended("j"));
  EXPECT_EQ(job(cluster).num({"spec", "parallelism"}, 0), 2) << "while it is stopped it asks for what its user wrote";
  EXPECT_EQ(job(cluster).num({"spec", "completions"}, 0), 2);
  set_active(true);
  ASSERT_FALSE(cluster.suspended("j"));
  EXPECT_EQ(job(cluster).num({"spec", "parallelism"}, 0), 1);
  cluster.node("a", 4);
  cluster.server.remove(workload_key(cluster));
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("j"));
  EXPECT_EQ(job(cluster).num({"spec", "parallelism"}, 0), 2);
  EXPECT_EQ(job(cluster).num({"spec", "completions"}, 0), 2);
}

TEST(JobOfAQueue, ThatRanBeforeAnybodyCameGoesOn) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster, ",'creationTimestamp':'2025-12-31T00:00:00Z'", "", "", false);
  cluster.settle();
  EXPECT_FALSE(cluster.suspended("j"));
  EXPECT_TRUE(cluster.server.all("Workload").empty());
}

TEST(JobOfAQueue, ThatIsCreatedPastItsQueueIsStopped) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.settle();
  put_job(cluster, ",'creationTimestamp':'2026-01-01T00:00:03Z'", "", "", false);
  cluster.tell();
  for (const Order& order : cluster.process.step(cluster.now)) {
    EXPECT_THAT(order.write.body, HasSubstr("\"/spec/suspend\",\"value\":true"));
  }
}

TEST(JobOfAQueue, WithAPrebuiltWorkloadIsLeftAlone) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster, "", "", ",'kueue.x-k8s.io/prebuilt-workload-name':'mine'", false);
  cluster.settle();
  EXPECT_FALSE(cluster.suspended("j"));
  EXPECT_TRUE(cluster.server.all("Workload").empty());
}

TEST(JobOfAQueue, WhosePriorityChangesWhileItRunsIsEvictedByTheNewOne) {
  SmallCluster cluster;
  cluster.put("kueue.x-k8s.io", "v1beta2", "WorkloadPriorityClass", "{'metadata':{'name':'low'},'value':1}");
  cluster.node("a", 2);
  put_job(cluster, "", "", ",'kueue.x-k8s.io/priority-class':'high'");
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.job("other", 1, 1, "high");
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.server.change(
      kJob, [](Tree& one) { one.at({"metadata", "labels", "kueue.x-k8s.io/priority-class"}) = Tree::string("low"); });
  cluster.settle();
  EXPECT_EQ(cluster.workload("j").num({"spec", "priority"}, 0), 1);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("other"));
  EXPECT_FALSE(cluster.admitted("j"));
}

TEST(JobOfAQueue, HasThePriorityThatItsClassHasByNow) {
  SmallCluster cluster;
  cluster.node("a", 2);
  put_job(cluster, "", "", ",'kueue.x-k8s.io/priority-class':'high'");
  cluster.job("waits", 4, 4, "high");
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.put("kueue.x-k8s.io", "v1beta2", "WorkloadPriorityClass", "{'metadata':{'name':'high'},'value':7}");
  cluster.settle();
  EXPECT_EQ(cluster.workload("j").num({"spec", "priority"}, 0), 7);
  EXPECT_EQ(cluster.workload("waits").num({"spec", "priority"}, 0), 7);
  cluster.job("new", 4, 4, "high");
  cluster.settle();
  EXPECT_EQ(cluster.workload("new").num({"spec", "priority"}, 0), 7);
}

TEST(JobOfAQueue, KeepsThePriorityThatSomebodyWroteIntoItsWorkload) {
  SmallCluster cluster;
  cluster.node("a", 1);
  cluster.job("waits", 4, 4, "high");
  cluster.settle();
  cluster.server.change(FakeServer::key("Workload", "ns", cluster.workload("waits").str({"metadata", "name"})),
                        [](Tree& one) { one.at({"spec", "priority"}) = Tree::number(55); });
  cluster.settle();
  EXPECT_EQ(cluster.workload("waits").num({"spec", "priority"}, 0), 55);
}

TEST(JobOfAQueue, ThatLeavesItBeforeItsWorkloadIsSeenIsForgotten) {
  SmallCluster cluster;
  cluster.node("a", 2);
  put_job(cluster, "", "", "");
  cluster.tell();
  std::vector<Order> made = cluster.process.step(cluster.now);
  std::erase_if(made, [](const Order& order) { return order.write.object.kind != "Workload"; });
  ASSERT_EQ(made.size(), 1U);
  cluster.server.change(kJob, [](Tree& one) { one.at({"metadata"}).members.erase("labels"); });
  cluster.tell();
  cluster.process.answered(made[0].id, Answer::kRefused, cluster.now);
  cluster.now += seconds(60);
  cluster.settle();
  EXPECT_TRUE(cluster.server.all("Workload").empty()) << "it is nobody's here any more";
}

TEST(JobOfAQueue, ThatRunsLongerThanItMayIsDeactivated) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster, "", "", ",'kueue.x-k8s.io/max-exec-time-seconds':'60'");
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("j"));
  EXPECT_EQ(cluster.workload("j").num({"spec", "maximumExecutionTimeSeconds"}, 0), 60);
  cluster.now += seconds(30);
  cluster.settle();
  EXPECT_FALSE(cluster.suspended("j"));
  cluster.now += seconds(60);
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("j"));
  EXPECT_EQ(evicted_for(cluster.workload("j")), "DeactivatedDueToMaximumExecutionTimeExceeded");
  EXPECT_FALSE(cluster.workload("j").flag({"spec", "active"}));
}

TEST(JobOfAQueue, CountsTheTimeOfEarlierStarts) {
  SmallCluster cluster;
  cluster.node("a", 2);
  put_job(cluster, "", "", ",'kueue.x-k8s.io/max-exec-time-seconds':'60'");
  cluster.settle();
  cluster.now += seconds(40);
  cluster.job("other", 2, 1, "high");
  cluster.settle();
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("other"));
  EXPECT_GE(cluster.workload("j").num({"status", "accumulatedPastExecutionTimeSeconds"}, 0), 40);
  cluster.server.remove(FakeServer::key("Workload", "ns", cluster.workload("other").str({"metadata", "name"})));
  cluster.server.remove(FakeServer::key("Job", "ns", "other"));
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.now += seconds(25);
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("j"));
}

TEST(WorkloadOfAQueue, ThatNobodyStartsIsNotAdmitted) {
  SmallCluster cluster;
  cluster.node("a", 4);
  const std::string spec =
      "'spec':{'queueName':'q','podSets':[{'name':'main','count':1,'template':{'spec':{'containers':"
      "[{'name':'c','resources':{'requests':{'nvidia.com/gpu':'1'}}}]}}}]}}";
  cluster.put("kueue.x-k8s.io", "v1beta2", "Workload",
              "{'metadata':{'name':'strange','namespace':'ns','ownerReferences':[{'apiVersion':'example.com/v1',"
              "'kind':'Pipeline','name':'r','uid':'u','controller':true}]}," +
                  spec);
  cluster.put("kueue.x-k8s.io", "v1beta2", "Workload", "{'metadata':{'name':'alone','namespace':'ns'}," + spec);
  cluster.settle();
  cluster.now += seconds(2);
  cluster.settle();
  const auto status = [&](const std::string& name) {
    const Tree* found = cluster.server.find(FakeServer::key("Workload", "ns", name))->tree.find({"status"});
    return found == nullptr ? std::string() : found->to_json();
  };
  EXPECT_THAT(status("strange"), HasSubstr("Pipeline"));
  EXPECT_THAT(status("strange"), testing::Not(HasSubstr("podSetAssignments")));
  EXPECT_THAT(status("alone"), HasSubstr("podSetAssignments"));
}

TEST(WorkloadOfAQueue, ThatKueueMadeGoesOnceNothingOfItRuns) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_job(cluster, "");
  cluster.settle();
  const std::string workload = workload_key(cluster);
  cluster.server.change(workload, [](Tree& one) {
    one.at({"metadata", "finalizers"}) = Tree::parse(R"(["other/one","kueue.x-k8s.io/resource-in-use"])");
    one.at({"metadata", "deletionTimestamp"}) = Tree::string("2026-01-01T00:00:10Z");
  });
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("j"));
  EXPECT_EQ(cluster.server.find(workload)->tree.find({"metadata", "finalizers"})->to_json(), R"(["other/one"])");
}

TEST(WorkloadOfAQueue, IsNotOwnedInAWayThatNeedsFurtherRights) {
  SmallCluster cluster;
  put_job(cluster, "");
  cluster.settle();
  EXPECT_EQ(cluster.workload("j").to_json().find("blockOwnerDeletion"), std::string::npos);
}

}  // namespace
}  // namespace gantree::test

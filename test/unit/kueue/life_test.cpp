// What a Workload lives through beside its first start: it is stopped and starts again with what is left of it, its
// priority changes, it is told why it waits in Kueue's words, and others look after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kueue/workload_body.h"
#include "unit/kueue/queue_world.h"
#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

Tree condition(const Tree& workload, std::string_view type) {
  const Tree* conditions = workload.find({"status", "conditions"});
  for (const Tree& one : conditions == nullptr ? std::vector<Tree>() : conditions->items) {
    if (one.str({"type"}) == type) {
      return one;
    }
  }
  return {};
}

void change_workload(SmallCluster& cluster, const std::string& job, const std::function<void(Tree&)>& how) {
  cluster.server.change(FakeServer::key("Workload", "ns", cluster.workload(job).str({"metadata", "name"})), how);
}

// How far the pods of a job are, as its controller tells.
void job_status(SmallCluster& cluster, const std::string& job, int active, int succeeded) {
  cluster.server.change(FakeServer::key("Job", "ns", job), [&](Tree& one) {
    one.at({"status", "active"}) = Tree::number(active);
    one.at({"status", "succeeded"}) = Tree::number(succeeded);
  });
  cluster.settle();
}

void remove_job(SmallCluster& cluster, const std::string& job) {
  const std::string workload = cluster.workload(job).str({"metadata", "name"});
  cluster.server.remove(FakeServer::key("Job", "ns", job));
  cluster.server.remove(FakeServer::key("Workload", "ns", workload));
  cluster.settle();
}

int given(const SmallCluster& cluster, const std::string& job) {
  Tree workload = cluster.workload(job);
  return workload.find({"status", "admission"}) == nullptr
             ? 0
             : workload.at({"status", "admission", "podSetAssignments", "0"}).num({"count"}, 0);
}

void stop(SmallCluster& cluster, const std::string& job, bool stopped = true) {
  change_workload(cluster, job, [&](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(!stopped); });
  cluster.settle();
}

// A job of three pods of which one has succeeded, and which was evicted for others then. Quota is for three pods.
struct StoppedInPart {
  SmallCluster cluster{{}, true, 3};

  StoppedInPart() {
    cluster.node("a", 8);
    cluster.job("first", 3, 1);
    cluster.settle();
    job_status(cluster, "first", 2, 1);
    cluster.job("second", 1, 1, "high");
    cluster.settle();
    cluster.job("third", 2, 1, "high");
    cluster.settle();
    job_status(cluster, "first", 0, 1);
  }
};

TEST(JobThatWasStoppedInPart, AsksForThePodsThatAreLeft) {
  StoppedInPart world;
  SmallCluster& cluster = world.cluster;
  ASSERT_TRUE(cluster.suspended("first"));
  ASSERT_TRUE(cluster.admitted("third"));
  EXPECT_EQ(cluster.workload("first").find({"status", "reclaimablePods"})->to_json(), R"([{"count":1,"name":"main"}])");
  remove_job(cluster, "third");
  EXPECT_FALSE(cluster.suspended("first")) << cluster.workload("first").to_json();
  EXPECT_EQ(given(cluster, "first"), 2);
  EXPECT_EQ(cluster.workload("first").at({"spec", "podSets", "0"}).num({"count"}, 0), 3);
  EXPECT_EQ(cluster.server.find(FakeServer::key("Job", "ns", "first"))->tree.num({"spec", "parallelism"}, 0), 3);
}

TEST(JobThatWasStoppedInPart, GivesBackWhatFurtherPodsLeaveAndNoMore) {
  StoppedInPart world;
  SmallCluster& cluster = world.cluster;
  remove_job(cluster, "third");
  cluster.job("fourth", 1, 1);
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("fourth")) << "one pod of the second and two of the first are all of the quota";
  job_status(cluster, "first", 1, 2);
  EXPECT_EQ(cluster.workload("first").find({"status", "reclaimablePods"})->to_json(), R"([{"count":2,"name":"main"}])");
  EXPECT_FALSE(cluster.suspended("fourth"));
  cluster.job("fifth", 1, 1);
  cluster.settle();
  EXPECT_TRUE(cluster.suspended("fifth")) << "the last pod of the first keeps its quota";
}

TEST(JobThatWasStoppedInPart, IsToldAtOnceWhatItLacksByNow) {
  SmallCluster cluster({}, true, 3);
  cluster.node("a", 8);
  cluster.job("first", 3, 1);
  cluster.settle();
  stop(cluster, "first");
  cluster.job("other", 2, 1, "high");
  cluster.settle();
  stop(cluster, "first", false);
  const std::string before = condition(cluster.workload("first"), "QuotaReserved").str({"message"});
  EXPECT_THAT(before, HasSubstr("3"));
  job_status(cluster, "first", 0, 1);
  cluster.now += seconds(12);
  cluster.settle();
  EXPECT_NE(condition(cluster.workload("first"), "QuotaReserved").str({"message"}), before)
      << "a message of other numbers is told every five minutes, this one is of other pods";
}

TEST(JobThatWasStopped, HasItsOwnTemplateAgainAtOnce) {
  SmallCluster cluster;
  cluster.node("a", 8);
  cluster.job("j", 2, 1);
  cluster.settle();
  const std::string key = FakeServer::key("Job", "ns", "j");
  ASSERT_THAT(cluster.server.find(key)->tree.find({"spec", "template"})->to_json(), HasSubstr("pool"));
  cluster.server.change(key, [](Tree& job) {
    job.at({"status", "startTime"}) = Tree::string("2026-01-01T00:00:00Z");
    job.at({"status", "active"}) = Tree::number(2);
  });
  cluster.settle();
  stop(cluster, "j");
  const Tree& job = cluster.server.find(key)->tree;
  EXPECT_TRUE(cluster.suspended("j"));
  EXPECT_EQ(job.find({"status", "startTime"}), nullptr);
  EXPECT_THAT(job.find({"spec", "template"})->to_json(), Not(HasSubstr("pool"))) << "its pods are still there";
  EXPECT_THAT(job.to_json(), Not(HasSubstr("kueue.x-k8s.io/workload")));
  EXPECT_THAT(job.to_json(), Not(HasSubstr("started-with")));
  job_status(cluster, "j", 0, 0);
  stop(cluster, "j", false);
  EXPECT_FALSE(cluster.suspended("j"));
  EXPECT_THAT(cluster.server.find(key)->tree.find({"spec", "template"})->to_json(), HasSubstr("pool"));
}

TEST(PriorityClass, ThatChangesReachesTheWorkloadsThatNameIt) {
  SmallCluster cluster({}, true, 2);
  cluster.node("a", 8);
  const auto put_class = [&](int value) {
    cluster.put(SmallCluster::kGroup, "v1beta2", "WorkloadPriorityClass",
                fmt::format("{{'metadata':{{'name':'dyn'}},'value':{}}}", value));
    cluster.settle();
  };
  const auto priority = [&](const std::string& job) { return cluster.workload(job).num({"spec", "priority"}, 0); };
  put_class(10);
  cluster.job("runs", 2, 1, "dyn");
  cluster.settle();
  cluster.job("waits", 2, 1, "dyn");
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("runs"));
  put_class(20);
  EXPECT_EQ(priority("runs"), 20);
  EXPECT_EQ(priority("waits"), 20);
  change_workload(cluster, "waits", [](Tree& one) { one.at({"spec", "priority"}) = Tree::number(5); });
  cluster.settle();
  EXPECT_EQ(priority("waits"), 5) << "what somebody wrote stays";
  put_class(-3);
  EXPECT_EQ(priority("waits"), -3) << "until the class changes";
  cluster.job("next", 2, 1, "high");
  cluster.settle();
  EXPECT_EQ(condition(cluster.workload("runs"), "Evicted").str({"status"}), "True");
}

std::string reason_of(const kueue::QueueWorld& world, const std::string& workload, const std::string& type) {
  const std::string conditions = world.status("Workload ns/" + workload, "conditions");
  const auto read = json::read_documents("conditions", conditions.empty() ? "[]" : conditions);
  for (const json::NodeData& item : read->front().root().items()) {
    if (json::Value(&item)["type"].text() == type) {
      return fmt::format("{} {}", json::Value(&item)["status"].text(), json::Value(&item)["reason"].text());
    }
  }
  return "";
}

constexpr std::string_view kOnePod =
    R"("podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c","resources":)"
    R"({"requests":{"cpu":"1"}}}]}}}])";

TEST(WhyAWorkloadWaits, IsAQueueThatIsNotThere) {
  kueue::QueueWorld world;
  world.local_queue("ns", "half", "nosuch");
  world.workload("ns", "no-local", "nosuch", 1);
  world.workload("ns", "no-cluster", "half", 1);
  world.settle();
  for (const std::string name : {"no-local", "no-cluster"}) {
    EXPECT_EQ(reason_of(world, name, "QuotaReserved"), "False Misconfigured") << name;
    EXPECT_EQ(reason_of(world, name, "Admitted"), "False NoReservation") << name;
  }
}

TEST(WhyAWorkloadWaits, IsAStoppedQueue) {
  kueue::QueueWorld world;
  world.flavor("default");
  world.cluster_queue("cq", 4, R"("stopPolicy":"Hold")");
  world.local_queue("ns", "q", "cq");
  world.workload("ns", "w", "q", 1);
  world.settle();
  EXPECT_EQ(reason_of(world, "w", "QuotaReserved"), "False Suspended");
}

TEST(WhyAWorkloadWaits, IsThatItIsNotActive) {
  kueue::QueueWorld world;
  world.flavor("default");
  world.cluster_queue("cq", 4);
  world.local_queue("ns", "q", "cq");
  world.put("Workload", "ns", "w", fmt::format(R"({{"queueName":"q","active":false,{}}})", kOnePod));
  world.settle();
  EXPECT_EQ(reason_of(world, "w", "QuotaReserved"), "False Deactivated");
  EXPECT_EQ(reason_of(world, "w", "Admitted"), "False NoReservation");
  EXPECT_EQ(reason_of(world, "w", "Evicted"), "True Deactivated");
  world.objects.at("Workload ns/w").status["requeueState"] = R"({"count":2,"requeueAt":"2033-01-01T00:00:00Z"})";
  world.put("Workload", "ns", "w", fmt::format(R"({{"queueName":"q","active":false,{}}})", kOnePod));
  world.settle();
  EXPECT_EQ(world.status("Workload ns/w", "requeueState"), "");
  world.put("Workload", "ns", "w", fmt::format(R"({{"queueName":"q","active":true,{}}})", kOnePod));
  world.settle();
  EXPECT_EQ(reason_of(world, "w", "Admitted"), "True Admitted");
  world.makers_stop = false;
  world.put("Workload", "ns", "w", fmt::format(R"({{"queueName":"q","active":false,{}}})", kOnePod));
  world.settle();
  EXPECT_EQ(reason_of(world, "w", "Evicted"), "True Deactivated");
  world.objects.at("Workload ns/w").status.erase("admission");
  world.put("Workload", "ns", "w", fmt::format(R"({{"queueName":"q","active":false,{}}})", kOnePod));
  world.settle();
  EXPECT_EQ(reason_of(world, "w", "QuotaReserved"), "False Deactivated");
}

TEST(WhyAWorkloadWaits, IsThatThePodsOfAnotherAreNotReady) {
  kueue::ControllerOptions options;
  options.ready.one_by_one = true;
  kueue::QueueWorld world(options);
  world.flavor("default");
  world.cluster_queue("cq", 4);
  world.local_queue("ns", "q", "cq");
  world.workload("ns", "a", "q", 1);
  world.workload("ns", "b", "q", 1);
  world.settle();
  EXPECT_EQ(reason_of(world, "a", "Admitted"), "True Admitted");
  EXPECT_EQ(reason_of(world, "b", "QuotaReserved"), "False WaitingForPodsReady");
}

TEST(WhyAWorkloadWaits, IsAnotherOfAStrictQueue) {
  kueue::QueueWorld world;
  world.flavor("default");
  world.cluster_queue("cq", 4, R"("queueingStrategy":"StrictFIFO")");
  world.local_queue("ns", "q", "cq");
  world.workload("ns", "a", "q", 3);
  world.settle();
  world.workload("ns", "b", "q", 3);
  world.workload("ns", "c", "q", 1);
  world.settle();
  EXPECT_EQ(reason_of(world, "b", "QuotaReserved"), "False WaitingForQuota");
  EXPECT_EQ(reason_of(world, "c", "QuotaReserved"), "False PendingEvaluation");
}

// A Workload of one pod that nothing owns.
void put_unowned(SmallCluster& cluster, const std::string& name, const std::string& metadata = "",
                 const std::string& spec = "", const std::string& pod = "") {
  cluster.put(SmallCluster::kGroup, "v1beta2", "Workload",
              fmt::format("{{'metadata':{{'name':'{}','namespace':'ns'{}}},'spec':{{'queueName':'q'{},'podSets':"
                          "[{{'name':'main','count':1,'template':{{'spec':{{'containers':[{{'name':'c','resources':"
                          "{{'requests':{{'nvidia.com/gpu':'1'}}}}}}]{}}}}}}}]}}}}",
                          name, metadata, spec, pod));
}

const Tree& unowned(const SmallCluster& cluster, const std::string& name) {
  return cluster.server.find(FakeServer::key("Workload", "ns", name))->tree;
}

void change_unowned(SmallCluster& cluster, const std::string& name, const std::function<void(Tree&)>& how) {
  cluster.server.change(FakeServer::key("Workload", "ns", name), how);
  cluster.settle();
}

TEST(WhyAWorkloadWaits, IsThatSomebodyHasToGiveLeave) {
  SmallCluster cluster;
  cluster.node("a", 8);
  put_unowned(cluster, "w", ",'annotations':{'kueue.x-k8s.io/admission-gated-by':'example.com/gate'}");
  cluster.settle();
  EXPECT_EQ(condition(unowned(cluster, "w"), "QuotaReserved").str({"reason"}), "AdmissionGated");
  EXPECT_THAT(condition(unowned(cluster, "w"), "QuotaReserved").str({"message"}), HasSubstr("example.com/gate"));
  change_unowned(cluster, "w", [](Tree& one) { one.erase({"metadata", "annotations"}); });
  EXPECT_EQ(condition(unowned(cluster, "w"), "Admitted").str({"status"}), "True");
}

TEST(WorkloadThatNothingOwns, KeepsWhatItHasUntilItsMakerGivesItBack) {
  SmallCluster cluster({}, true, 1);
  cluster.node("a", 8);
  put_unowned(cluster, "low");
  cluster.settle();
  put_unowned(cluster, "high", "", ",'priority':5");
  cluster.settle();
  EXPECT_EQ(condition(unowned(cluster, "low"), "Evicted").str({"reason"}), "Preempted");
  cluster.now += seconds(30);
  cluster.settle();
  ASSERT_NE(unowned(cluster, "low").find({"status", "admission"}), nullptr) << "what it stands for may still run";
  EXPECT_EQ(unowned(cluster, "high").find({"status", "admission"}), nullptr);
  change_unowned(cluster, "low", [](Tree& one) { one.erase({"status", "admission"}); });
  EXPECT_NE(unowned(cluster, "high").find({"status", "admission"}), nullptr);
  EXPECT_EQ(condition(unowned(cluster, "low"), "Admitted").str({"status"}), "False");
  EXPECT_EQ(condition(unowned(cluster, "low"), "QuotaReserved").str({"status"}), "False");
  EXPECT_EQ(condition(unowned(cluster, "low"), "Requeued").str({"reason"}), "Preempted");
  EXPECT_GE(unowned(cluster, "low").num({"status", "accumulatedPastExecutionTimeSeconds"}, 0), 1);
}

// As somebody does who applies conditions on the server, where fields that others wrote cannot be taken away.
TEST(WorkloadThatNothingOwns, GivesBackWhatItHasWhereItsMakerSaysSoByTheConditionAlone) {
  SmallCluster cluster({}, true, 1);
  cluster.node("a", 8);
  put_unowned(cluster, "low");
  cluster.settle();
  put_unowned(cluster, "high", "", ",'priority':5");
  cluster.settle();
  ASSERT_EQ(condition(unowned(cluster, "low"), "Evicted").str({"reason"}), "Preempted");
  change_unowned(cluster, "low", [](Tree& one) {
    for (Tree& condition : one.at({"status", "conditions"}).items) {
      if (condition.str({"type"}) == "QuotaReserved" || condition.str({"type"}) == "Admitted") {
        condition.at({"status"}) = Tree::string("False");
      }
    }
  });
  EXPECT_EQ(unowned(cluster, "low").find({"status", "admission"}), nullptr);
  EXPECT_NE(unowned(cluster, "high").find({"status", "admission"}), nullptr);
}

TEST(WorkloadThatNothingOwns, IsEvictedWhereItsMakerDoesNotSayThatItsPodsAreReady) {
  SmallCluster cluster({.timeout = seconds(60), .limit = 1, .backoff = seconds(20)});
  cluster.node("a", 8);
  put_unowned(cluster, "w");
  cluster.settle();
  cluster.now += seconds(61);
  cluster.settle();
  EXPECT_EQ(condition(unowned(cluster, "w"), "Evicted").str({"reason"}), "PodsReadyTimeout");
  EXPECT_EQ(unowned(cluster, "w").num({"status", "requeueState", "count"}, 0), 1);
  change_unowned(cluster, "w", [](Tree& one) { one.erase({"status", "admission"}); });
  EXPECT_EQ(condition(unowned(cluster, "w"), "Requeued").str({"status"}), "False");
  cluster.now += seconds(21);
  cluster.settle();
  ASSERT_NE(unowned(cluster, "w").find({"status", "admission"}), nullptr);
  EXPECT_EQ(unowned(cluster, "w").num({"status", "requeueState", "count"}, 0), 1);
  EXPECT_EQ(unowned(cluster, "w").find({"status", "requeueState", "requeueAt"}), nullptr) << "its pause is over";
  change_unowned(cluster, "w", [](Tree& one) {
    one.at({"status", "conditions"})
        .items.push_back(Tree::parse(R"({"type":"PodsReady","status":"True","reason":"Started","message":"",)"
                                     R"("lastTransitionTime":"2026-01-01T00:02:00Z"})"));
  });
  cluster.now += seconds(600);
  cluster.settle();
  EXPECT_EQ(condition(unowned(cluster, "w"), "Evicted").str({"status"}), "False");
}

TEST(WorkloadThatNothingOwns, MayNotRunForLongerThanItSays) {
  SmallCluster cluster;
  cluster.node("a", 8);
  put_unowned(cluster, "w", "", ",'maximumExecutionTimeSeconds':30");
  cluster.settle();
  cluster.now += seconds(31);
  cluster.settle();
  EXPECT_FALSE(unowned(cluster, "w").flag({"spec", "active"}));
  EXPECT_EQ(condition(unowned(cluster, "w"), "Evicted").str({"reason"}),
            "DeactivatedDueToMaximumExecutionTimeExceeded");
}

TEST(WorkloadThatNothingOwns, AsksForWhatItsPodsWillAskFor) {
  SmallCluster cluster;
  cluster.node("a", 8);
  cluster.put("", "v1", "LimitRange",
              "{'metadata':{'name':'l','namespace':'ns'},'spec':{'limits':[{'type':'Container','defaultRequest':"
              "{'example.com/licence':'1'}}]}}");
  cluster.settle();
  put_unowned(cluster, "w");
  cluster.settle();
  EXPECT_EQ(unowned(cluster, "w").find({"status", "admission"}), nullptr);
  EXPECT_THAT(condition(unowned(cluster, "w"), "QuotaReserved").str({"message"}), HasSubstr("example.com/licence"));
  cluster.server.remove(FakeServer::key("LimitRange", "ns", "l"));
  cluster.settle();
  EXPECT_NE(unowned(cluster, "w").find({"status", "admission"}), nullptr);
}

TEST(WorkloadThatNothingOwns, IsAdmittedWithTheQuotaThatSomebodyElseReserved) {
  SmallCluster cluster;
  cluster.node("a", 8);
  put_unowned(cluster, "w", "", ",'active':true");
  cluster.server.change(FakeServer::key("Workload", "ns", "w"), [](Tree& one) {
    one.at({"status"}) = Tree::parse(
        R"({"admission":{"clusterQueue":"c","podSetAssignments":[{"name":"main","flavors":{"nvidia.com/gpu":"f"},)"
        R"("resourceUsage":{"nvidia.com/gpu":"1"}}]},"conditions":[{"type":"QuotaReserved","status":"True",)"
        R"("reason":"QuotaReserved","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]})");
  });
  cluster.settle();
  EXPECT_EQ(condition(unowned(cluster, "w"), "Admitted").str({"status"}), "True");
}

TEST(WorkloadThatNothingOwns, IsOverWhereItsJobLeftItBehind) {
  SmallCluster cluster;
  cluster.node("a", 8);
  put_unowned(cluster, "w", ",'labels':{'kueue.x-k8s.io/job-uid':'gone'}");
  cluster.settle();
  EXPECT_EQ(condition(unowned(cluster, "w"), "Finished").str({"reason"}), "OwnerNotFound");
}

TEST(Admission, WithoutCountsIsOfAllThePodsThatAreAskedFor) {
  SmallCluster cluster({}, true, 4);
  cluster.node("a", 8);
  cluster.job("j", 3, 1);
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("j"));
  change_workload(cluster, "j",
                  [](Tree& one) { one.at({"status", "admission", "podSetAssignments", "0"}).erase({"count"}); });
  cluster.settle();
  EXPECT_NE(condition(cluster.workload("j"), "Evicted").str({"status"}), "True");
  job_status(cluster, "j", 2, 1);
  cluster.job("k", 2, 1);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("k")) << "two of its pods use quota, by the word of its job";
}

TEST(WorkloadName, IsTheOneThatKueueWouldGive) {
  const ObjectRef job{.group = "batch", .version = "v1", .kind = "Job", .ns = "ns", .name = "train", .uid = "u-1"};
  EXPECT_EQ(kueue::workload_name(job), "job-train-d688a");
}

}  // namespace
}  // namespace gantree::test

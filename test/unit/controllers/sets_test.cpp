#include <gmock/gmock.h>

#include "controllers/leader_worker_names.h"
#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr const char* kPodSpec = "'spec':{'restartPolicy':'Never','containers':[{'name':'main','image':'v1'}]}";

class LeaderWorkerTest : public testing::Test {
 protected:
  LeaderWorkerTest() { cluster.add_node("n1", "{'rack':'r1'}"); }
  void add(const std::string& more = "", const std::string& annotations = "{}") {
    cluster.add(
        Kind::kLeaderWorkerSet,
        fmt::format("{{'metadata':{{'name':'serve','annotations':{}}},'spec':{{'replicas':2,{}'leaderWorkerTemplate':"
                    "{{'size':3,'workerTemplate':{{'spec':{{'containers':[{{'name':'main','image':'v1'}}]}}}}}}}}}}",
                    annotations, more));
  }
  const Object& status() { return *object_at(cluster.get(Kind::kLeaderWorkerSet, "serve"), {"status"}); }
  FakeCluster cluster;
};

TEST_F(LeaderWorkerTest, HasALeaderAndItsWorkersForEachReplica) {
  add();
  EXPECT_THAT(cluster.names(Kind::kStatefulSet), ElementsAre("serve", "serve-0", "serve-1"));
  EXPECT_THAT(cluster.names(Kind::kPod),
              ElementsAre("serve-0", "serve-0-1", "serve-0-2", "serve-1", "serve-1-1", "serve-1-2"));
  const Object& worker = cluster.get(Kind::kPod, "serve-1-2");
  const Object& leader = cluster.get(Kind::kPod, "serve-1");
  EXPECT_EQ(text_at(worker, {"metadata", "labels", lws::kWorkerIndex}), "2");
  EXPECT_EQ(text_at(worker, {"metadata", "labels", lws::kGroupIndex}), "1");
  EXPECT_EQ(text_at(worker, {"metadata", "annotations", lws::kLeaderName}), "serve-1");
  EXPECT_EQ(text_at(worker, {"metadata", "annotations", lws::kSize}), "3");
  EXPECT_EQ(text_at(leader, {"metadata", "labels", lws::kGroupKey}), lws::digest("default/serve-1"));
  EXPECT_EQ(text_at(worker, {"metadata", "labels", lws::kGroupKey}),
            text_at(leader, {"metadata", "labels", lws::kGroupKey}));
  cluster.run_pods();
  EXPECT_EQ(whole_at(status(), {"readyReplicas"}), 2);
  EXPECT_EQ(whole_at(status(), {"updatedReplicas"}), 2);
  EXPECT_TRUE(condition_is(cluster.get(Kind::kLeaderWorkerSet, "serve"), "Available", "True"));
}

TEST_F(LeaderWorkerTest, WaitsForTheLeaderWhereThePolicySaysSo) {
  add("'startupPolicy':'LeaderReady',");
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("serve-0", "serve-1"));
  cluster.run_pods();
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(6));
}

TEST_F(LeaderWorkerTest, SendsWorkersToTheDomainOfTheirLeader) {
  add("", fmt::format("{{'{}':'rack'}}", lws::kExclusive));
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("serve-0", "serve-1"));
  EXPECT_NE(array_at(cluster.get(Kind::kPod, "serve-0"),
                     {"spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"}),
            nullptr);
  cluster.bind_all("n1");
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(6));
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "serve-0-1"), {"spec", "nodeSelector", "rack"}), "r1");
}

TEST_F(LeaderWorkerTest, StartsAGroupAnewThatLostAWorker) {
  add();
  cluster.run_pods();
  const std::string leader(text_at(cluster.get(Kind::kPod, "serve-0"), {"metadata", "uid"}));
  const std::string other(text_at(cluster.get(Kind::kPod, "serve-1"), {"metadata", "uid"}));
  cluster.erase(Kind::kPod, "serve-0-1");
  cluster.pass(5s);
  cluster.run_pods();
  EXPECT_NE(text_at(cluster.get(Kind::kPod, "serve-0"), {"metadata", "uid"}), leader);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "serve-1"), {"metadata", "uid"}), other);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(6));
  EXPECT_EQ(whole_at(status(), {"readyReplicas"}), 2);
}

TEST_F(LeaderWorkerTest, RollsOneGroupAfterTheOther) {
  add();
  cluster.run_pods();
  cluster.change(
      Kind::kLeaderWorkerSet, "serve",
      "{'spec':{'leaderWorkerTemplate':{'workerTemplate':{'spec':{'containers':[{'name':'main','image':'v2'}]}}}}}");
  for (int i = 0; i < 8; ++i) {
    cluster.run_pods();
  }
  for (const auto& [name, pod] : cluster.objects(Kind::kPod)) {
    EXPECT_EQ(text_at((*array_at(pod, {"spec", "containers"}))[0], {"image"}), "v2") << name;
  }
  EXPECT_EQ(whole_at(status(), {"updatedReplicas"}), 2);
  EXPECT_EQ(
      whole_at(cluster.get(Kind::kStatefulSet, "serve"), {"spec", "updateStrategy", "rollingUpdate", "partition"}), 0);
}

TEST_F(LeaderWorkerTest, ScalesByGroups) {
  add();
  cluster.change(Kind::kLeaderWorkerSet, "serve", "{'spec':{'replicas':1}}");
  cluster.run_pods();
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("serve-0", "serve-0-1", "serve-0-2"));
}

class JobSetTest : public testing::Test {
 protected:
  JobSetTest() { cluster.add_node("n1"); }
  void add(const std::string& more, const std::string& annotations = "{}") {
    cluster.add(
        Kind::kJobSet,
        fmt::format(
            "{{'metadata':{{'name':'js'}},'spec':{{{}'replicatedJobs':[{{'name':'a','replicas':1,'template':{{"
            "'spec':{{'parallelism':1,'completions':1,'backoffLimit':0,'template':{{'metadata':{{'annotations':{}}},"
            "{}}}}}}}}},{{'name':'b','replicas':2,'template':{{'spec':{{'parallelism':2,'completions':2,"
            "'backoffLimit':0,'completionMode':'Indexed','template':{{{}}}}}}}}}]}}}}",
            more, annotations, kPodSpec, kPodSpec));
  }
  const Object& status() { return *object_at(cluster.get(Kind::kJobSet, "js"), {"status"}); }
  FakeCluster cluster;
};

TEST_F(JobSetTest, MakesTheJobsOfEachGroupWithTheirPlaceAsLabels) {
  add("");
  EXPECT_THAT(cluster.names(Kind::kJob), ElementsAre("js-a-0", "js-b-0", "js-b-1"));
  const Object& job = cluster.get(Kind::kJob, "js-b-1");
  EXPECT_EQ(text_at(job, {"metadata", "labels", "jobset.sigs.k8s.io/job-index"}), "1");
  EXPECT_EQ(text_at(job, {"metadata", "labels", "jobset.sigs.k8s.io/job-global-index"}), "2");
  EXPECT_EQ(text_at(job, {"metadata", "labels", "jobset.sigs.k8s.io/global-replicas"}), "3");
  EXPECT_EQ(text_at(job, {"metadata", "labels", "jobset.sigs.k8s.io/job-key"}), lws::digest("default/js-b-1"));
  EXPECT_EQ(text_at(job, {"spec", "template", "spec", "subdomain"}), "js");
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(5));
}

TEST_F(JobSetTest, CompletesWhenAllItsJobsHave) {
  add("");
  cluster.run_pods();
  EXPECT_EQ(whole_at((*array_at(status(), {"replicatedJobsStatus"}))[1], {"ready"}), 2);
  for (const std::string& name : cluster.names(Kind::kPod)) {
    cluster.end_pod(name, true);
  }
  EXPECT_TRUE(condition_is(cluster.get(Kind::kJobSet, "js"), "Completed", "True"));
  EXPECT_EQ(text_at(status(), {"terminalState"}), "Completed");
}

TEST_F(JobSetTest, SuspendsAndResumesAll) {
  add("'suspend':true,");
  EXPECT_THAT(cluster.names(Kind::kJob), SizeIs(3));
  EXPECT_THAT(cluster.names(Kind::kPod), IsEmpty());
  EXPECT_TRUE(condition_is(cluster.get(Kind::kJobSet, "js"), "Suspended", "True"));
  cluster.change(Kind::kJobSet, "js", "{'spec':{'suspend':false}}");
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(5));
  EXPECT_TRUE(condition_is(cluster.get(Kind::kJobSet, "js"), "Suspended", "False"));
}

TEST_F(JobSetTest, StartsAllAnewWhereOneFailsAndThenFails) {
  add("'failurePolicy':{'maxRestarts':1},", "{'gantree.dev/fail-after':'20s'}");
  cluster.run_pods();
  cluster.pass(40s);
  EXPECT_EQ(whole_at(status(), {"restarts"}), 1);
  EXPECT_EQ(text_at(cluster.get(Kind::kJob, "js-b-0"), {"metadata", "labels", "jobset.sigs.k8s.io/restart-attempt"}),
            "1");
  cluster.run_pods();
  cluster.pass(40s);
  EXPECT_TRUE(condition_is(cluster.get(Kind::kJobSet, "js"), "Failed", "True"));
  EXPECT_EQ(text_at(*find_condition(cluster.get(Kind::kJobSet, "js"), "Failed"), {"reason"}), "ReachedMaxRestarts");
}

TEST_F(JobSetTest, FailsAtOnceWhereARuleOfThatGroupSaysSo) {
  add("'failurePolicy':{'maxRestarts':5,'rules':[{'name':'other','action':'RestartJobSet','targetReplicatedJobs':['b']}"
      ","
      "{'name':'silent','action':'RestartJobSet','onJobFailureMessagePatterns':['^nothing', '(']},"
      "{'name':'mine','action':'FailJobSet','onJobFailureReasons':['BackoffLimitExceeded'],"
      "'onJobFailureMessagePatterns':['backoff li.it$']}]},",
      "{'gantree.dev/fail-after':'20s'}");
  cluster.run_pods();
  cluster.pass(40s);
  const Value* failed = find_condition(cluster.get(Kind::kJobSet, "js"), "Failed");
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(text_at(*failed, {"reason"}), "FailJobSetFailurePolicyAction");
  EXPECT_EQ(text_at(*failed, {"message"}), "applying FailJobSet failure policy action (first failed job: js-a-0)");
  EXPECT_EQ(find_condition(cluster.get(Kind::kJobSet, "js"), "Restarting"), nullptr);
}

TEST_F(JobSetTest, StartsAnewFreeOfChargeWhereARuleSaysSo) {
  add("'failurePolicy':{'maxRestarts':0,'rules':[{'name':'free','action':'RestartJobSetAndIgnoreMaxRestarts'}]},",
      "{'gantree.dev/fail-after':'20s'}");
  cluster.run_pods();
  cluster.pass(40s);
  EXPECT_EQ(whole_at(status(), {"restarts"}), 1);
  EXPECT_EQ(whole_at(status(), {"restartsCountTowardsMax"}), 0);
  const Value* restarting = find_condition(cluster.get(Kind::kJobSet, "js"), "Restarting");
  ASSERT_NE(restarting, nullptr);
  EXPECT_EQ(text_at(*restarting, {"reason"}), "FailurePolicy_free");
  cluster.run_pods();
  EXPECT_TRUE(condition_is(cluster.get(Kind::kJobSet, "js"), "Restarting", "False"));
}

TEST_F(JobSetTest, StartsGroupsInOrderWhereAsked) {
  add("'startupPolicy':{'startupPolicyOrder':'InOrder'},");
  EXPECT_THAT(cluster.names(Kind::kJob), ElementsAre("js-a-0"));
  cluster.run_pods();
  EXPECT_THAT(cluster.names(Kind::kJob), SizeIs(3));
}

}  // namespace
}  // namespace gantree::controllers

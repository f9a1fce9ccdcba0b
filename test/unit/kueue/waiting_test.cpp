// What is waited for, by whom, and for how long.
#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

const std::string kStrict = "'queueingStrategy':'StrictFIFO',";

// The queue of SmallCluster, anew.
void put_queue(SmallCluster& cluster, const std::string& resources, const std::string& more = {}) {
  std::string names;
  std::string quotas;
  for (std::size_t at = 0; at < resources.size();) {
    const std::size_t end = std::min(resources.find(' ', at), resources.size());
    const std::string name = resources.substr(at, end - at);
    names += fmt::format("{}'{}'", names.empty() ? "" : ",", name);
    quotas += fmt::format("{}{{'name':'{}','nominalQuota':100}}", quotas.empty() ? "" : ",", name);
    at = end + 1;
  }
  cluster.put(SmallCluster::kGroup, "v1beta2", "ClusterQueue",
              fmt::format("{{'metadata':{{'name':'c'}},'spec':{{{}'namespaceSelector':{{}},'resourceGroups':"
                          "[{{'coveredResources':[{}],'flavors':[{{'name':'f','resources':[{}]}}]}}]}}}}",
                          more, names, quotas));
}

void put_job_with_cpu(SmallCluster& cluster, const std::string& name) {
  cluster.job(name, 1, 1);
  cluster.server.change(FakeServer::key("Job", "ns", name), [](Tree& job) {
    job.at({"spec", "template", "spec"}) =
        Tree::parse(R"({"containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"1","cpu":"1"}}}]})");
  });
}

const Tree* condition(const Tree& workload, std::string_view type) {
  const Tree* conditions = workload.find({"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->items.size(); ++i) {
    if (conditions->items[i].str({"type"}) == type) {
      return &conditions->items[i];
    }
  }
  return nullptr;
}

std::string workload_key(const SmallCluster& cluster, const std::string& job) {
  return FakeServer::key("Workload", "ns", cluster.workload(job).str({"metadata", "name"}));
}

TEST(KueueWaiting, AJobThatAsksForWhatItsQueueDoesNotCoverWaitsUntilTheQueueDoes) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.server.change(FakeServer::key("Node", "", "a"),
                        [](Tree& node) { node.at({"status", "allocatable", "cpu"}) = Tree::string("8"); });
  put_job_with_cpu(cluster, "j");
  cluster.settle();
  const Tree waiting = cluster.workload("j");
  EXPECT_NE(waiting.str({"spec", "active"}), "false");
  ASSERT_NE(condition(waiting, "QuotaReserved"), nullptr);
  EXPECT_EQ(condition(waiting, "QuotaReserved")->str({"reason"}), "NoMatchingFlavor");
  EXPECT_NE(condition(waiting, "QuotaReserved")->str({"message"}).find("cpu"), std::string::npos);
  put_queue(cluster, "nvidia.com/gpu cpu");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(KueueWaiting, AJobThatSuitsNoFlavorWaitsUntilOneSuitsIt) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.put(SmallCluster::kGroup, "v1beta2", "ResourceFlavor",
              "{'metadata':{'name':'f'},'spec':{'nodeLabels':{'pool':'f'},'topologyName':'net',"
              "'nodeTaints':[{'key':'k','value':'v','effect':'NoSchedule'}]}}");
  cluster.job("j", 1, 1);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  cluster.put(SmallCluster::kGroup, "v1beta2", "ResourceFlavor",
              "{'metadata':{'name':'f'},'spec':{'nodeLabels':{'pool':'f'},'topologyName':'net'}}");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(KueueWaiting, AJobThatPrefersAWiderDomainThanItRequiresIsDeactivated) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 1);
  cluster.server.change(FakeServer::key("Job", "ns", "j"), [](Tree& job) {
    job.at({"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-required-topology"}) =
        Tree::string("kubernetes.io/hostname");
    job.at({"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-preferred-topology"}) =
        Tree::string("rack");
  });
  cluster.settle();
  EXPECT_EQ(cluster.workload("j").str({"spec", "active"}), "false");
}

TEST(KueueWaiting, WhatAStrictQueueDoesNotCoverHoldsUpNobody) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_queue(cluster, "nvidia.com/gpu", kStrict);
  put_job_with_cpu(cluster, "first");
  cluster.job("second", 1, 1);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("first"));
  EXPECT_TRUE(cluster.admitted("second"));
}

TEST(KueueWaiting, WhereTheHeadOfAStrictQueueIsDeactivatedTheNextOneIsAdmitted) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_queue(cluster, "nvidia.com/gpu", kStrict);
  cluster.job("blocker", 1, 2);
  cluster.settle();
  cluster.job("head", 1, 4);
  cluster.job("small", 1, 1);
  cluster.settle();
  ASSERT_FALSE(cluster.admitted("small"));
  cluster.server.change(workload_key(cluster, "head"),
                        [](Tree& workload) { workload.at({"spec", "active"}) = Tree::boolean(false); });
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("small"));
}

TEST(KueueWaiting, WhatAWorkloadWasGivenComesBackOnlyWhenItsJobHasNoPodsAnyMore) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  const std::string job = FakeServer::key("Job", "ns", "j");
  cluster.server.change(job, [](Tree& one) { one.at({"status", "active"}) = Tree::number(1); });
  cluster.server.change(workload_key(cluster, "j"),
                        [](Tree& workload) { workload.at({"spec", "active"}) = Tree::boolean(false); });
  cluster.settle();
  ASSERT_TRUE(cluster.suspended("j"));
  EXPECT_TRUE(cluster.admitted("j"));
  cluster.server.change(job, [](Tree& one) {
    one.at({"status", "active"}) = Tree::number(0);
    one.at({"status", "terminating"}) = Tree::number(1);
  });
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  cluster.server.change(job, [](Tree& one) { one.at({"status", "terminating"}) = Tree::number(0); });
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
}

TEST(KueueWaiting, TheQuotaOfADeletedJobComesBackWhenItsPodsAreGone) {
  SmallCluster cluster({}, true, 4);
  cluster.node("a", 8);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.pod("j", 0, "p");
  cluster.settle();
  cluster.bind("p", "a");
  cluster.phase("p", "Running");
  cluster.settle();
  const std::string workload = workload_key(cluster, "j");
  cluster.server.remove(FakeServer::key("Job", "ns", "j"));
  cluster.server.remove(workload);
  cluster.job("next", 1, 4);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("next"));
  // Whatever administrators do meanwhile.
  put_queue(cluster, "nvidia.com/gpu");
  cluster.server.change(FakeServer::key("ClusterQueue", "", "c"), [](Tree& queue) {
    queue.at({"spec"}) = Tree::parse(
        R"({"namespaceSelector":{},"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"f",)"
        R"("resources":[{"name":"nvidia.com/gpu","nominalQuota":4}]}]}]})");
  });
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("next"));
  cluster.server.remove(SmallCluster::pod_key("p"));
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("next"));
}

// What the next process makes of what it finds.
void restart(SmallCluster& cluster) {
  Process next({});
  cluster.server.list_all_again();
  cluster.settle(next);
}

TEST(KueueWaiting, AJobThatItsUserSuspendedWhileNobodyLookedStaysSuspended) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  ASSERT_FALSE(cluster.suspended("j"));
  const std::string job = FakeServer::key("Job", "ns", "j");
  cluster.server.change(job, [](Tree& one) { one.at({"spec", "suspend"}) = Tree::boolean(true); });
  restart(cluster);
  EXPECT_TRUE(cluster.suspended("j"));
  EXPECT_FALSE(cluster.admitted("j"));
  cluster.server.change(job, [](Tree& one) { one.at({"spec", "suspend"}) = Tree::boolean(false); });
  restart(cluster);
  EXPECT_FALSE(cluster.suspended("j"));
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(KueueWaiting, AJobThatWasAdmittedBeforeARestartIsStartedAfterIt) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.write_workloads_alone();
  ASSERT_TRUE(cluster.admitted("j"));
  ASSERT_TRUE(cluster.suspended("j"));
  restart(cluster);
  EXPECT_FALSE(cluster.suspended("j"));
}

TEST(KueueWaiting, AJobThatWasStoppedForAnotherIsStartedAgainAfterARestart) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("victim", 1, 4);
  cluster.settle();
  cluster.job("urgent", 1, 4, "high");
  cluster.settle();
  ASSERT_TRUE(cluster.suspended("victim"));
  cluster.server.remove(FakeServer::key("Job", "ns", "urgent"));
  cluster.server.remove(workload_key(cluster, "urgent"));
  restart(cluster);
  EXPECT_FALSE(cluster.suspended("victim"));
}

TEST(KueueWaiting, AJobThatNamesALevelThatIsNotThereStartsWhenTheTopologyGetsIt) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.server.change(FakeServer::key("Node", "", "a"),
                        [](Tree& node) { node.at({"metadata", "labels", "zone"}) = Tree::string("z"); });
  cluster.job("j", 1, 1);
  cluster.server.change(FakeServer::key("Job", "ns", "j"), [](Tree& job) {
    job.at({"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-required-topology"}) =
        Tree::string("zone");
  });
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  // Another change of what administrators set up does not help it.
  put_queue(cluster, "nvidia.com/gpu", kStrict);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  cluster.put(SmallCluster::kGroup, "v1beta2", "Topology",
              "{'metadata':{'name':'net'},'spec':{'levels':[{'nodeLabel':'zone'},{'nodeLabel':'rack'},"
              "{'nodeLabel':'kubernetes.io/hostname'}]}}");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
}

}  // namespace
}  // namespace gantree::test

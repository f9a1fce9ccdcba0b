// Hosts that take no pods any more while pods of a job run there: tainted, drained pod by pod, several at once.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

class HostTrouble : public testing::Test {
 protected:
  // A job of so many pods with one GPU each, all of which run where they were sent.
  void run(int pods) {
    cluster_.job("j", pods, 1);
    cluster_.server.change(FakeServer::key("Job", "ns", "j"), [](Tree& job) {
      job.at({"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-required-topology"}) =
          Tree::string("rack");
    });
    cluster_.settle();
    for (int index = 0; index < pods; ++index) {
      start(index, "p");
    }
  }
  // Makes a pod of that index; where it was sent it runs, as far as the host takes it.
  void start(int index, const std::string& prefix) {
    const std::string name = prefix + std::to_string(index);
    cluster_.pod("j", index, name);
    cluster_.settle();
    const std::string host = sent(name);
    if (!host.empty() && !closed_.contains(host)) {
      cluster_.bind(name, host);
      cluster_.phase(name, "Running");
      cluster_.settle();
    }
  }
  // The host that a pod was sent to; "" where it was sent nowhere.
  [[nodiscard]] std::string sent(const std::string& pod) const {
    return cluster_.server.find(SmallCluster::pod_key(pod))
        ->tree.str({"spec", "nodeSelector", "kubernetes.io/hostname"});
  }
  [[nodiscard]] std::string host_of(const std::string& pod) const {
    return cluster_.server.find(SmallCluster::pod_key(pod))->tree.str({"spec", "nodeName"});
  }
  void cordon(const std::string& node) {
    closed_.insert(node);
    cluster_.server.change(FakeServer::key("Node", "", node),
                           [](Tree& one) { one.at({"spec", "unschedulable"}) = Tree::boolean(true); });
    cluster_.settle();
  }
  void taint(const std::string& node, const std::string& effect) {
    closed_.insert(node);
    cluster_.server.change(FakeServer::key("Node", "", node), [&](Tree& one) {
      one.at({"spec", "taints"}) =
          Tree::parse(fmt::format(R"([{{"key":"broken","value":"fan","effect":"{}"}}])", effect));
    });
    cluster_.settle();
  }
  void lose_node(const std::string& node) {
    closed_.insert(node);
    cluster_.server.remove(FakeServer::key("Node", "", node));
    cluster_.settle();
  }
  // A pod goes, slowly where its host takes a while to end it.
  void evict(const std::string& pod) {
    cluster_.server.change(SmallCluster::pod_key(pod), [](Tree& one) {
      one.at({"metadata", "deletionTimestamp"}) = Tree::string("2026-01-01T00:00:00Z");
    });
    cluster_.settle();
  }
  void lose(const std::string& pod) {
    lose_without_telling(pod);
    cluster_.settle();
  }
  void lose_without_telling(const std::string& pod) { cluster_.server.remove(SmallCluster::pod_key(pod)); }
  // Pods by host, as they are assigned.
  [[nodiscard]] std::map<std::string, int> assigned() const {
    std::map<std::string, int> counts;
    const auto& entry = cluster_.process.controller().workloads().begin()->second;
    if (entry.object.admission) {
      for (const auto& domain : entry.object.admission->sets[0].topology->domains) {
        counts[domain.values.back()] += domain.count;
      }
    }
    return counts;
  }
  [[nodiscard]] std::vector<std::string> hosts_by_rank() const {
    std::vector<std::string> hosts;
    for (const auto& domain :
         cluster_.process.controller().workloads().begin()->second.object.admission->sets[0].topology->domains) {
      hosts.insert(hosts.end(), static_cast<std::size_t>(domain.count), domain.values.back());
    }
    return hosts;
  }

  using Hosts = std::map<std::string, int>;
  SmallCluster cluster_;
  std::set<std::string> closed_;
};

TEST_F(HostTrouble, ACordonedHostKeepsThePodsThatRunThere) {
  cluster_.node("a", 2);
  run(2);
  cluster_.node("b", 2);
  cordon("a");
  EXPECT_EQ(assigned(), (Hosts{{"a", 2}}));
  EXPECT_TRUE(cluster_.admitted("j"));
}

TEST_F(HostTrouble, ASuccessorGoesElsewhereThoughASiblingRunsOnAtTheCordonedHost) {
  cluster_.node("a", 2);
  run(2);
  cluster_.node("b", 2);
  cordon("a");
  lose("p1");
  start(1, "q");
  EXPECT_EQ(host_of("q1"), "b");
  EXPECT_EQ(hosts_by_rank(), (std::vector<std::string>{"a", "b"})) << "each rank where its pod is";
  EXPECT_EQ(host_of("p0"), "a");
}

TEST_F(HostTrouble, RanksStayWithTheirPodsWhereTheFirstOfAHostGoes) {
  cluster_.node("a", 3);
  run(3);
  cluster_.node("b", 3);
  cordon("a");
  lose("p1");
  start(1, "q");
  EXPECT_EQ(hosts_by_rank(), (std::vector<std::string>{"a", "b", "a"}));
  lose("p0");
  start(0, "q");
  EXPECT_EQ(hosts_by_rank(), (std::vector<std::string>{"b", "b", "a"}));
  EXPECT_EQ(host_of("q0"), "b");
}

TEST_F(HostTrouble, APodThatWasOnItsWayToACordonedHostIsReplacedThoughASiblingRunsThere) {
  cluster_.node("a", 2);
  cluster_.job("j", 2, 1);
  cluster_.settle();
  start(0, "p");
  cluster_.pod("j", 1, "p1");
  cluster_.settle();
  ASSERT_EQ(sent("p1"), "a");
  cluster_.node("b", 2);
  cordon("a");
  EXPECT_EQ(cluster_.server.find(SmallCluster::pod_key("p1"))->tree.str({"status", "phase"}), "Failed");
  start(1, "q");
  EXPECT_EQ(host_of("q1"), "b");
}

TEST_F(HostTrouble, WhereNoHostTakesTheSuccessorTheJobIsQueuedAgain) {
  cluster_.node("a", 2);
  cluster_.node("b", 2, "r1");
  run(2);
  const std::string home = host_of("p0");
  cordon(home);
  lose("p1");
  cluster_.pod("j", 1, "q1");
  cluster_.settle();
  EXPECT_TRUE(cluster_.suspended("j")) << "the other rack is no place for half of it";
}

TEST_F(HostTrouble, PodsThatAreOverNeedNoOtherHost) {
  cluster_.node("a", 2);
  run(2);
  cluster_.phase("p0", "Succeeded");
  cluster_.server.change(FakeServer::key("Job", "ns", "j"), [](Tree& job) {
    job.at({"status"}) = Tree::parse(R"({"active":1,"ready":1,"succeeded":1,"startTime":"2026-01-01T00:00:00Z"})");
  });
  cluster_.settle();
  cluster_.node("b", 1);
  cordon("a");
  lose("p1");
  start(1, "q");
  EXPECT_EQ(host_of("q1"), "b") << "which has room for one";
  EXPECT_TRUE(cluster_.admitted("j"));
}

TEST_F(HostTrouble, APodOnItsWayToAHostIsReplacedThoughOneHasComeToItsEndThere) {
  cluster_.node("a", 2);
  run(2);
  cluster_.phase("p0", "Succeeded");
  cluster_.server.change(FakeServer::key("Job", "ns", "j"), [](Tree& job) {
    job.at({"status"}) = Tree::parse(R"({"active":1,"ready":1,"succeeded":1,"startTime":"2026-01-01T00:00:00Z"})");
  });
  cluster_.settle();
  lose("p1");
  cluster_.pod("j", 1, "q1");
  cluster_.settle();
  ASSERT_EQ(sent("q1"), "a");
  cluster_.node("b", 2);
  cordon("a");
  EXPECT_EQ(cluster_.server.find(SmallCluster::pod_key("q1"))->tree.str({"status", "phase"}), "Failed");
}

TEST_F(HostTrouble, APodThatGotToItsHostAfterOthersWereGivenItsPlaceIsTakenAway) {
  cluster_.node("a", 2);
  cluster_.job("j", 2, 1);
  cluster_.settle();
  start(0, "p");
  cluster_.pod("j", 1, "p1");
  cluster_.settle();
  ASSERT_EQ(sent("p1"), "a");
  cluster_.node("b", 2);
  cluster_.node("a", 2, "r0", true);
  cluster_.tell();
  for (const Order& order : cluster_.process.step(cluster_.now)) {
    cluster_.process.answered(order.id,
                              cluster_.server.apply(order.write) == WriteResult::kOk ? Answer::kDone : Answer::kRefused,
                              cluster_.now);
  }
  cluster_.node("a", 2);
  cluster_.bind("p1", "a");  // a moment before it would have been failed
  cluster_.phase("p1", "Running");
  cluster_.settle();
  ASSERT_EQ(assigned(), (Hosts{{"a", 1}, {"b", 1}}));
  EXPECT_EQ(cluster_.server.find(SmallCluster::pod_key("p0"))->tree.find({"metadata", "deletionTimestamp"}), nullptr);
  const Stored* other = cluster_.server.find(SmallCluster::pod_key("p1"));
  EXPECT_TRUE(other == nullptr || other->tree.find({"metadata", "deletionTimestamp"}) != nullptr);
}

TEST_F(HostTrouble, AsLongAsItIsOnItsWayToOtherHostsNoPodIsSentToTheOldOnes) {
  cluster_.node("a", 2);
  run(2);
  cluster_.node("b", 2);
  cordon("a");
  lose_without_telling("p0");
  cluster_.tell();
  for (const Order& order : cluster_.process.step(cluster_.now)) {
    cluster_.process.answered(order.id, Answer::kUncertain, cluster_.now);  // and nothing is done
  }
  cluster_.node("a", 2);  // it takes pods again
  cluster_.pod("j", 0, "q0");
  cluster_.tell();
  for (const Order& order : cluster_.process.step(cluster_.now)) {
    EXPECT_NE(order.write.object.name, "q0") << order.write.body;
  }
}

TEST_F(HostTrouble, WhatASmallerJobHasLetGoIsNotTakenAgain) {
  cluster_.node("a", 1);
  cluster_.node("b", 1);
  run(2);
  // From now on one after the other.
  const auto job_says = [&](const std::string& status) {
    cluster_.server.change(FakeServer::key("Job", "ns", "j"), [&](Tree& job) {
      job.at({"spec", "parallelism"}) = Tree::number(1);
      job.at({"spec", "completions"}) = Tree::number(4);
      job.at({"status"}) = Tree::parse(status);
    });
    cluster_.settle();
  };
  const std::string first = host_of("p0");
  const std::string second = host_of("p1");
  lose("p0");
  job_says(R"({"active":1,"ready":1,"startTime":"2026-01-01T00:00:00Z"})");
  cluster_.job("other", 1, 1);
  cluster_.settle();
  cluster_.pod("other", 0, "o");
  cluster_.settle();
  ASSERT_EQ(sent("o"), first);
  cluster_.phase("p1", "Succeeded");
  job_says(R"({"active":0,"succeeded":1,"startTime":"2026-01-01T00:00:00Z"})");
  cluster_.pod("j", 0, "q0");
  cluster_.settle();
  EXPECT_EQ(sent("q0"), second) << "its rank was on the other host, which is no longer its own";
}

TEST_F(HostTrouble, ATaintThatLetsNoPodsComeIsLikeACordon) {
  cluster_.node("a", 2);
  run(2);
  cluster_.node("b", 2);
  taint("a", "NoSchedule");
  EXPECT_EQ(assigned(), (Hosts{{"a", 2}}));
  lose("p0");
  start(0, "q");
  EXPECT_EQ(host_of("q0"), "b");
}

TEST_F(HostTrouble, ATaintThatDrivesPodsAwayMovesEachAsItGoes) {
  cluster_.node("a", 2);
  run(2);
  cluster_.node("b", 2);
  taint("a", "NoExecute");
  for (const char* pod : {"p0", "p1"}) {
    evict(pod);
  }
  EXPECT_EQ(assigned(), (Hosts{{"b", 2}}));
  start(0, "q");
  start(1, "q");
  EXPECT_EQ(host_of("q0"), "b");
  EXPECT_EQ(host_of("q1"), "b");
}

TEST_F(HostTrouble, ATaintThatIsOnlyAPreferenceChangesNothing) {
  cluster_.node("a", 2);
  run(2);
  cluster_.node("b", 2);
  taint("a", "PreferNoSchedule");
  closed_.clear();
  lose("p0");
  start(0, "q");
  EXPECT_EQ(host_of("q0"), "a");
}

TEST_F(HostTrouble, ATaintThatTheFlavorToleratesChangesNothing) {
  cluster_.put(SmallCluster::kGroup, "v1beta2", "ResourceFlavor",
               "{'metadata':{'name':'f'},'spec':{'nodeLabels':{'pool':'f'},'topologyName':'net',"
               "'tolerations':[{'key':'broken','operator':'Exists'}]}}");
  cluster_.node("a", 2);
  run(2);
  cluster_.node("b", 2);
  for (const char* effect : {"NoSchedule", "NoExecute"}) {
    taint("a", effect);
    closed_.clear();
    lose("p0");
    start(0, "p");
    EXPECT_EQ(host_of("p0"), "a") << effect;
  }
}

TEST_F(HostTrouble, ADrainMovesPodAfterPod) {
  cluster_.node("a", 3);
  run(3);
  cluster_.node("b", 3);
  cordon("a");
  for (int index = 0; index < 3; ++index) {
    evict("p" + std::to_string(index));  // the host ends it in its own time
    EXPECT_EQ(assigned()["b"], index + 1);
    start(index, "q");
    EXPECT_EQ(host_of("q" + std::to_string(index)), "b") << "before the one before it is gone";
    lose("p" + std::to_string(index));
  }
  EXPECT_EQ(assigned(), (Hosts{{"b", 3}}));
  EXPECT_TRUE(cluster_.admitted("j"));
}

TEST_F(HostTrouble, SeveralHostsAtOnceAreReplacedInOneStep) {
  for (const char* name : {"a", "b", "c"}) {
    cluster_.node(name, 2);
  }
  run(6);
  cluster_.node("d", 2);
  cluster_.node("e", 2);
  const std::string gone = host_of("p0");
  const std::string drained = host_of("p2");
  const std::string whole = host_of("p4");
  cordon(drained);
  lose("p2");
  lose_node(gone);
  EXPECT_EQ(assigned().count(gone), 0U);
  EXPECT_EQ(assigned()[drained], 1) << "where one still runs";
  EXPECT_EQ(assigned()[whole], 2) << "with which nothing is wrong";
  EXPECT_EQ(assigned()["d"] + assigned()["e"], 3);
  for (const int index : {0, 1}) {
    lose("p" + std::to_string(index));
  }
  for (const int index : {0, 1, 2}) {
    start(index, "q");
    EXPECT_TRUE(host_of("q" + std::to_string(index)) == "d" || host_of("q" + std::to_string(index)) == "e");
  }
  EXPECT_TRUE(cluster_.admitted("j"));
}

TEST_F(HostTrouble, AHostnameOtherThanTheNodesNameIsFoundAsWell) {
  cluster_.node("a", 2);
  cluster_.server.change(FakeServer::key("Node", "", "a"), [](Tree& node) {
    node.at({"metadata", "labels", "kubernetes.io/hostname"}) = Tree::string("host-a");
  });
  cluster_.job("k", 2, 1);
  cluster_.settle();
  cluster_.pod("k", 0, "k0");
  cluster_.settle();
  EXPECT_EQ(sent("k0"), "host-a");
  cluster_.bind("k0", "a");
  cluster_.phase("k0", "Running");
  cluster_.node("b", 2);
  cordon("a");
  cluster_.pod("k", 1, "k1");
  cluster_.settle();
  EXPECT_EQ(sent("k1"), "b");
}

}  // namespace
}  // namespace gantree::test

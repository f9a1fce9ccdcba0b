// Room in domains of several hosts: the lowest level of the topology is the rack, and kube-scheduler chooses the host.
#include <gtest/gtest.h>

#include <tuple>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

class Racks : public SmallCluster {
 public:
  Racks() : SmallCluster({}, false) {}

  [[nodiscard]] const kueue::Entry& entry(const std::string& job) const {
    const std::string key = "ns/" + workload(job).str({"metadata", "name"});
    return process.controller().workloads().at(key);
  }
  // The host on which room is held for the one pod of a job that has none yet.
  [[nodiscard]] std::string held_on(const std::string& job) {
    const auto& held = entry(job).placeholders;
    return held.size() == 1 ? std::string(process.cluster().node_of(held[0])) : std::string();
  }
  void lose(const std::string& node) { server.remove(FakeServer::key("Node", "", node)); }
  [[nodiscard]] std::string reason_of(const std::string& job, std::string_view condition) const {
    const Tree one = workload(job);
    const Tree* conditions = one.find({"status", "conditions"});
    for (std::size_t i = 0; conditions != nullptr && i < conditions->items.size(); ++i) {
      if (conditions->items[i].str({"type"}) == condition) {
        return conditions->items[i].str({"reason"});
      }
    }
    return {};
  }
};

TEST(KueueDomainBooking, WhereAHostIsLostRoomIsHeldOnAnotherOfTheSameRack) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  const std::string first = cluster.held_on("j");
  const std::string second = first == "a" ? "b" : "a";
  cluster.lose(first);
  cluster.settle();
  EXPECT_EQ(cluster.held_on("j"), second);
  cluster.job("next", 1, 4);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_FALSE(cluster.admitted("next"));
}

TEST(KueueDomainBooking, RoomIsNotHeldOnAHostThatTakesNoMorePods) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  const std::string first = cluster.held_on("j");
  cluster.node(first, 4, "r0", true);
  cluster.settle();
  EXPECT_EQ(cluster.held_on("j"), first == "a" ? "b" : "a");
}

TEST(KueueDomainBooking, WhereAHostIsLostAndItsRackHasNoRoomTheWorkloadIsEvictedWithTheReason) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.job("other", 1, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  ASSERT_TRUE(cluster.admitted("other"));
  cluster.node("c", 4, "r1");
  cluster.lose(cluster.held_on("j"));
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("other"));
  EXPECT_EQ(cluster.reason_of("other", "Evicted"), "");
  EXPECT_EQ(cluster.reason_of("j", "Requeued"), "NodeFailures");
  // In another rack there was room for it.
  EXPECT_EQ(cluster.held_on("j"), "c");
}

TEST(KueueDomainBooking, APodThatWasLostWithItsHostHasRoomElsewhereInTheRackBeforeOthersGetIt) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.pod("j", 0, "p");
  cluster.settle();
  cluster.bind("p", "a");
  cluster.settle();
  ASSERT_TRUE(cluster.entry("j").placeholders.empty());
  cluster.lose("a");
  cluster.settle();
  cluster.server.remove(SmallCluster::pod_key("p"));
  cluster.job("next", 1, 4);
  cluster.settle();
  EXPECT_EQ(cluster.held_on("j"), "b");
  EXPECT_FALSE(cluster.admitted("next"));
}

TEST(KueueDomainBooking, WherePodsOfOneTakeTheHostThatWasPlannedForAnotherThatOneKeepsRoomElsewhere) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("x", 1, 4);
  cluster.job("y", 1, 4);
  cluster.settle();
  cluster.pod("x", 0, "px");
  cluster.settle();
  const std::string of_y = cluster.held_on("y");
  cluster.bind("px", of_y);  // not where it was expected
  cluster.settle();
  EXPECT_EQ(cluster.held_on("y"), of_y == "a" ? "b" : "a");
  cluster.job("z", 1, 1);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("z"));
}

TEST(KueueDomainBooking, OneThatWaitsForAVictimKeepsItsRoomInTheRackWherePodsOfAnotherTakeItsHost) {
  Racks cluster;
  cluster.node("c", 4, "r1");
  cluster.job("low", 1, 4);
  cluster.settle();
  cluster.pod("low", 0, "l0");
  cluster.settle();
  cluster.bind("l0", "c");
  cluster.settle();
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("small", 2, 1);
  cluster.settle();
  cluster.job("high", 2, 3, "high");
  cluster.settle();
  ASSERT_EQ(cluster.reason_of("low", "Evicted"), "Preempted");
  ASSERT_FALSE(cluster.admitted("high")) << "the victim's pod is still there";
  for (const auto& [index, pod] : {std::pair(0, "s0"), {1, "s1"}}) {
    cluster.pod("small", index, pod);
    cluster.settle();
    cluster.bind(pod, "b");  // both were expected on the other host, and this one was promised
    cluster.settle();
  }
  cluster.job("next", 1, 3);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("next")) << "of eight two are in use and three are promised, on one host each";
  cluster.server.remove(SmallCluster::pod_key("l0"));
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("high"));
}

TEST(KueueDomainBooking, RoomIsHeldOnHostsOfTheFlavorAloneThoughTheRackHasOthers) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.server.change(FakeServer::key("Node", "", "b"),
                        [](Tree& node) { node.at({"metadata", "labels", "pool"}) = Tree::string("g"); });
  cluster.job("j", 1, 4);
  cluster.settle();
  ASSERT_EQ(cluster.held_on("j"), "a");
  cluster.lose("a");
  cluster.settle();
  EXPECT_EQ(cluster.held_on("j"), "");
  EXPECT_EQ(cluster.reason_of("j", "Requeued"), "NodeFailures");
}

TEST(KueueDomainBooking, WhatIsLeftInPiecesForAPodThatFitsNowhereIsNotForOthers) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("small", 2, 1);
  cluster.job("large", 3, 2);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("small"));
  ASSERT_TRUE(cluster.admitted("large"));
  for (const auto& [job, index, pod, host] :
       {std::tuple("small", 0, "s0", "a"), {"small", 1, "s1", "b"}, {"large", 0, "l0", "a"}, {"large", 1, "l1", "b"}}) {
    cluster.pod(job, index, pod);
    cluster.settle();
    cluster.bind(pod, host);
    cluster.settle();
  }
  cluster.pod("large", 2, "l2");
  cluster.settle();
  cluster.job("next", 1, 1);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("next")) << "one is free on each host, and two were promised";
}

TEST(KueueDomainBooking, OneThatWaitsForRoomInItsRackIsEvictedWhereAnyHostOfThatIsLost) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 3);
  cluster.job("two", 2, 1);
  cluster.job("four", 1, 4);
  cluster.settle();
  for (const auto& [job, index, pod, host] :
       {std::tuple("two", 0, "t0", "b"), {"two", 1, "t1", "a"}, {"four", 0, "f", ""}}) {
    cluster.pod(job, index, pod);
    cluster.settle();
    cluster.bind(pod, host);
    cluster.settle();
  }
  ASSERT_TRUE(cluster.admitted("four"));
  ASSERT_EQ(cluster.reason_of("four", "Evicted"), "");
  cluster.lose("b");
  cluster.settle();
  EXPECT_EQ(cluster.reason_of("four", "Evicted"), "NodeFailures") << "it was to have the other host, and does not fit";
  EXPECT_EQ(cluster.reason_of("two", "Evicted"), "");
}

TEST(KueueDomainBooking, NoPodIsSentToARackThatHasLostItsHosts) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.lose("a");
  cluster.pod("j", 0, "p");
  cluster.settle();
  EXPECT_EQ(cluster.reason_of("j", "Evicted"), "NodeFailures");
  const Tree& pod = cluster.server.find(SmallCluster::pod_key("p"))->tree;
  EXPECT_NE(pod.find({"spec", "schedulingGates"}), nullptr) << "it would wait there for nothing";
}

TEST(KueueDomainBooking, AfterARestartTooItIsEvictedWhereTheHostsOfItsRackAreGone) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("j", 2, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.lose("a");
  Process next({});
  cluster.server.list_all_again();
  cluster.settle(next);
  EXPECT_EQ(cluster.reason_of("j", "Requeued"), "NodeFailures");
  EXPECT_FALSE(cluster.admitted("j"));
}

TEST(KueueDomainBooking, AfterARestartItWaitsForRoomThatAPodOfNobodyInAQueueHasTaken) {
  Racks cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.job("j", 2, 4);
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.put("", "v1", "Pod",
              "{'metadata':{'name':'guest','namespace':'ns'},'spec':{'nodeName':'a','containers':[{'name':'c',"
              "'resources':{'requests':{'nvidia.com/gpu':'1'}}}]},'status':{'phase':'Running'}}");
  Process next({});
  cluster.server.list_all_again();
  cluster.settle(next);
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_EQ(cluster.reason_of("j", "Evicted"), "");
}

// A job of five pods, four at once and two on each of the hosts a and b, of which four are over. The last one was sent
// to the place of one of those, and has no host yet. Returns the host to which it can only go.
std::string run_to_the_last_pod(SmallCluster& cluster) {
  cluster.node("a", 4, "ra");
  cluster.node("b", 4, "rb");
  cluster.job("j", 4, 2);
  const std::string job = FakeServer::key("Job", "ns", "j");
  cluster.server.change(job, [](Tree& one) { one.at({"spec", "completions"}) = Tree::number(5); });
  cluster.settle();
  const auto host_of = [&](const std::string& pod) {
    const Tree& one = cluster.server.find(SmallCluster::pod_key(pod))->tree;
    const std::string rack = one.str({"spec", "nodeSelector", "rack"});
    return rack.empty() ? one.str({"spec", "nodeSelector", "kubernetes.io/hostname"}) : rack.substr(1);
  };
  for (const char* pod : {"p0", "p1", "p2", "p3"}) {
    cluster.pod("j", pod[1] - '0', pod);
    cluster.settle();
    cluster.bind(pod, host_of(pod));
  }
  cluster.settle();
  for (const char* pod : {"p0", "p1", "p2", "p3"}) {
    cluster.phase(pod, "Succeeded");
  }
  cluster.pod("j", 4, "p4");
  cluster.settle();
  cluster.server.change(job, [](Tree& one) {
    one.at({"status", "active"}) = Tree::number(1);
    one.at({"status", "succeeded"}) = Tree::number(4);
  });
  cluster.settle();
  return host_of("p4");
}

TEST(KueueDomainBooking, WhereOthersAreOverRoomIsHeldInTheRackToWhichTheLastPodWasSent) {
  Racks cluster;
  const std::string host = run_to_the_last_pod(cluster);
  EXPECT_EQ(cluster.held_on("j"), host);
  // Lost with its host it would wait there for ever.
  cluster.lose(host);
  cluster.settle();
  EXPECT_EQ(cluster.reason_of("j", "Evicted"), "NodeFailures");
}

TEST(KueueDomainBooking, WhereOthersAreOverRoomIsHeldOnTheHostToWhichTheLastPodWasSent) {
  SmallCluster cluster;
  const std::string host = run_to_the_last_pod(cluster);
  const std::string key = "ns/" + cluster.workload("j").str({"metadata", "name"});
  const std::vector<std::string>& held = cluster.process.controller().workloads().at(key).placeholders;
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(cluster.process.cluster().node_of(held.front()), host);
}

}  // namespace
}  // namespace gantree::test

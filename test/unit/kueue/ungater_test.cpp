// Pods of a started job are told where to go: at once, and no more of them than their host was assigned.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

class KueueUngater : public testing::Test {
 protected:
  // Pods that are told where to go in the next step.
  [[nodiscard]] std::vector<Order> ungated_in_one_step() {
    cluster_.tell();
    std::vector<Order> orders = cluster_.process.step(cluster_.now);
    std::erase_if(orders, [](const Order& order) { return order.write.object.kind != "Pod"; });
    return orders;
  }
  [[nodiscard]] std::string sent(const std::string& pod) const {
    return cluster_.server.find(SmallCluster::pod_key(pod))
        ->tree.str({"spec", "nodeSelector", "kubernetes.io/hostname"});
  }
  void run(const std::string& pod) {
    cluster_.bind(pod, sent(pod));
    cluster_.phase(pod, "Running");
    cluster_.settle();
  }
  void end_slowly(const std::string& pod) {
    cluster_.server.change(SmallCluster::pod_key(pod), [](Tree& one) {
      one.at({"metadata", "deletionTimestamp"}) = Tree::string("2026-01-01T00:00:00Z");
    });
    cluster_.settle();
  }

  SmallCluster cluster_;
};

TEST_F(KueueUngater, APodIsToldInTheStepInWhichItIsSeen) {
  cluster_.node("a", 4);
  cluster_.job("j", 1, 4);
  cluster_.settle();
  cluster_.pod("j", 0, "p");
  const std::vector<Order> orders = ungated_in_one_step();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].urgency, Urgency::kBinding) << "before all that is only told";
}

TEST_F(KueueUngater, APodThatNamesNoPodSetIsOfTheOnlyOne) {
  cluster_.node("a", 4);
  cluster_.job("j", 1, 4);
  cluster_.settle();
  cluster_.pod("j", 0, "p");
  cluster_.server.change(SmallCluster::pod_key("p"),
                         [](Tree& one) { one.at({"metadata", "labels"}) = Tree::parse("{}"); });
  cluster_.settle();
  EXPECT_EQ(sent("p"), "a");
  // The same where it is seen before its Workload.
  cluster_.server.change(SmallCluster::pod_key("p"), [](Tree& one) {
    one.at({"spec"}) = Tree::parse(R"({"schedulingGates":[{"name":"kueue.x-k8s.io/topology"}],"containers":[]})");
  });
  Process other({});
  cluster_.server.list_all_again();
  cluster_.settle(other);
  EXPECT_EQ(sent("p"), "a");
}

TEST_F(KueueUngater, SoAreAThousandAtOnce) {
  SmallCluster large({}, true, 1000);
  for (int host = 0; host < 10; ++host) {
    large.node(fmt::format("n{}", host), 100);
  }
  large.job("j", 1000, 1);
  large.settle();
  for (int index = 0; index < 1000; ++index) {
    large.pod("j", index, fmt::format("p{}", index));
  }
  large.tell();
  const std::vector<Order> orders = large.process.step(large.now);
  EXPECT_EQ(std::count_if(orders.begin(), orders.end(),
                          [](const Order& order) {
                            return order.write.object.kind == "Pod" && order.urgency == Urgency::kBinding;
                          }),
            1000);
}

TEST_F(KueueUngater, SoIsAPodWhoseWorkloadIsJustBeingWrittenTo) {
  cluster_.node("a", 4);
  cluster_.job("j", 2, 2);
  cluster_.settle();
  // Something is written into the Workload, and no answer comes.
  cluster_.server.change(FakeServer::key("Job", "ns", "j"), [](Tree& job) {
    job.at({"status"}) = Tree::parse(R"({"active":2,"ready":2,"startTime":"2026-01-01T00:00:00Z"})");
  });
  cluster_.tell();
  const std::vector<Order> told = cluster_.process.step(cluster_.now);
  ASSERT_TRUE(
      std::any_of(told.begin(), told.end(), [](const Order& order) { return order.write.object.kind == "Workload"; }));
  cluster_.pod("j", 0, "p0");
  EXPECT_EQ(ungated_in_one_step().size(), 1U);
  cluster_.pod("j", 1, "p1");
  EXPECT_EQ(ungated_in_one_step().size(), 1U);
}

TEST_F(KueueUngater, TheSuccessorOfAPodThatIsOnItsWayOutWaitsUntilItIsGone) {
  cluster_.node("a", 2);
  cluster_.job("j", 2, 1);
  cluster_.settle();
  for (const int index : {0, 1}) {
    cluster_.pod("j", index, fmt::format("p{}", index));
    cluster_.settle();
    run(fmt::format("p{}", index));
  }
  end_slowly("p1");
  cluster_.pod("j", 1, "q1");
  cluster_.settle();
  EXPECT_EQ(sent("q1"), "") << "the host has no room for it yet";
  cluster_.server.remove(SmallCluster::pod_key("p1"));
  EXPECT_EQ(ungated_in_one_step().size(), 1U) << "at once when it has";
}

TEST_F(KueueUngater, ItDoesNotTakeThePlaceOfAnotherRankMeanwhile) {
  cluster_.node("a", 1);
  cluster_.node("b", 1);
  cluster_.job("j", 2, 1);
  cluster_.settle();
  cluster_.pod("j", 0, "p0");
  cluster_.settle();
  run("p0");
  const std::string own = sent("p0");
  end_slowly("p0");
  cluster_.pod("j", 0, "q0");
  cluster_.settle();
  EXPECT_EQ(sent("q0"), "");
  cluster_.pod("j", 1, "p1");
  cluster_.settle();
  EXPECT_EQ(sent("p1"), own == "a" ? "b" : "a");
  // It has ended, and only its object is left.
  cluster_.phase("p0", "Failed");
  cluster_.settle();
  EXPECT_EQ(sent("q0"), own);
}

TEST_F(KueueUngater, RanksBeyondAllNumbersDoNoHarm) {
  cluster_.node("a", 4);
  cluster_.job("j", 2, 1);
  cluster_.settle();
  cluster_.pod("j", 2147483647, "p");
  cluster_.server.change(SmallCluster::pod_key("p"), [](Tree& one) {
    one.at({"metadata", "annotations", "kueue.x-k8s.io/pod-index-offset"}) = Tree::string("2147483647");
  });
  cluster_.pod("j", 1, "q");
  cluster_.server.change(SmallCluster::pod_key("q"), [](Tree& one) {
    one.at({"metadata", "annotations", "kueue.x-k8s.io/pod-index-offset"}) = Tree::string("2147483647");
  });
  cluster_.settle();
  EXPECT_EQ(sent("p"), "a");
  EXPECT_EQ(sent("q"), "a");
}

}  // namespace
}  // namespace gantree::test

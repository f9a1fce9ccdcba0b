#include <gmock/gmock.h>

#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kPod =
    "{'metadata':{'name':'p'},'spec':{'tolerations':[{'key':'node.kubernetes.io/"
    "unreachable','operator':'Exists','effect':"
    "'NoExecute','tolerationSeconds':300}],'containers':[{'name':'main','image':'i'}]}}";

class NodeTest : public testing::Test {
 protected:
  NodeTest() { cluster.add_node("n1"); }
  void fail_node() {
    cluster.change(Kind::kNode, "n1",
                   fmt::format("{{'metadata':{{'annotations':{{'{}':'{}'}}}}}}", kFailedSince, rfc3339(cluster.now())),
                   "");
  }
  std::vector<std::string> taints() {
    std::vector<std::string> all;
    if (const Array* found = array_at(cluster.get(Kind::kNode, "n1", ""), {"spec", "taints"})) {
      for (const Value& one : *found) {
        all.push_back(fmt::format("{}:{}", text_at(one, {"key"}), text_at(one, {"effect"})));
      }
    }
    return all;
  }
  FakeCluster cluster;
};

TEST_F(NodeTest, ANewNodeBecomesReady) {
  EXPECT_TRUE(condition_is(cluster.get(Kind::kNode, "n1", ""), "Ready", "True"));
  EXPECT_EQ(text_at(cluster.get(Kind::kNode, "n1", ""), {"status", "allocatable", "cpu"}), "8");
}

TEST_F(NodeTest, ABoundPodRunsAfterAMoment) {
  cluster.add(Kind::kPod, kPod);
  cluster.pass(10s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"status", "phase"}), "Pending");
  cluster.bind_all("n1");
  cluster.pass(2s);
  const Object& pod = cluster.get(Kind::kPod, "p");
  EXPECT_EQ(text_at(pod, {"status", "phase"}), "Running");
  EXPECT_TRUE(condition_is(pod, "Ready", "True"));
  EXPECT_TRUE(condition_is(pod, "PodScheduled", "True"));
  EXPECT_FALSE(text_at(pod, {"status", "podIP"}).empty());
  EXPECT_TRUE(flag_at((*array_at(pod, {"status", "containerStatuses"}))[0], {"ready"}));
}

TEST_F(NodeTest, APodStopsWithinItsGrace) {
  cluster.add(Kind::kPod, kPod);
  cluster.run_pods();
  cluster.change(Kind::kPod, "p", "{'metadata':{'annotations':{'gantree.dev/stop-after':'300s'}}}");
  cluster.erase(Kind::kPod, "p");
  cluster.pass(25s);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(1));
  cluster.pass(10s);
  EXPECT_THAT(cluster.names(Kind::kPod), IsEmpty());
}

TEST_F(NodeTest, ANodeThatFailsIsFoundOutThenTaintedThenLeft) {
  cluster.add(Kind::kPod, kPod);
  cluster.run_pods();
  fail_node();
  cluster.pass(10s);
  EXPECT_TRUE(condition_is(cluster.get(Kind::kNode, "n1", ""), "Ready", "True"));
  cluster.pass(31s);
  EXPECT_TRUE(condition_is(cluster.get(Kind::kNode, "n1", ""), "Ready", "Unknown"));
  EXPECT_THAT(taints(),
              ElementsAre("node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"));
  EXPECT_TRUE(condition_is(cluster.get(Kind::kPod, "p"), "Ready", "False"));
  cluster.pass(200s);
  EXPECT_TRUE(text_at(cluster.get(Kind::kPod, "p"), {"metadata", "deletionTimestamp"}).empty());
  cluster.pass(150s);
  // Nobody is there to end it.
  EXPECT_FALSE(text_at(cluster.get(Kind::kPod, "p"), {"metadata", "deletionTimestamp"}).empty());
  EXPECT_TRUE(condition_is(cluster.get(Kind::kPod, "p"), "DisruptionTarget", "True"));
  cluster.change(Kind::kNode, "n1", fmt::format("{{'metadata':{{'annotations':{{'{}':null}}}}}}", kFailedSince), "");
  cluster.pass(5s);
  EXPECT_THAT(cluster.names(Kind::kPod), IsEmpty());
  EXPECT_THAT(taints(), IsEmpty());
}

TEST_F(NodeTest, APodIsReadyAgainWhereItsNodeComesBackInTime) {
  cluster.add(Kind::kPod, kPod);
  cluster.run_pods();
  fail_node();
  cluster.pass(60s);
  cluster.change(Kind::kNode, "n1", fmt::format("{{'metadata':{{'annotations':{{'{}':null}}}}}}", kFailedSince), "");
  cluster.pass(5s);
  EXPECT_TRUE(condition_is(cluster.get(Kind::kPod, "p"), "Ready", "True"));
}

TEST_F(NodeTest, ACordonedNodeIsTainted) {
  cluster.change(Kind::kNode, "n1", "{'spec':{'unschedulable':true}}", "");
  EXPECT_THAT(taints(), ElementsAre("node.kubernetes.io/unschedulable:NoSchedule"));
  cluster.change(Kind::kNode, "n1", "{'spec':{'unschedulable':null}}", "");
  EXPECT_THAT(taints(), IsEmpty());
}

TEST_F(NodeTest, PodsOfANodeThatIsGoneGoToo) {
  cluster.add(Kind::kPod, kPod);
  cluster.run_pods();
  cluster.erase(Kind::kNode, "n1", "");
  cluster.pass(35s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"status", "phase"}), "Running");
  cluster.pass(10s);
  EXPECT_THAT(cluster.names(Kind::kPod), IsEmpty());
}

// A dump may bring pods before their nodes.
TEST_F(NodeTest, PodsWaitAWhileForANodeThatIsNotThereYet) {
  cluster.add(Kind::kPod, "{'metadata':{'name':'p'},'spec':{'nodeName':'n2','containers':[{'name':'m','image':'i'}]}}");
  cluster.pass(20s);
  cluster.change(Kind::kPod, "p", "{'metadata':{'labels':{'a':'b'}}}");
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"status", "phase"}), "Pending");
  cluster.add_node("n2");
  cluster.pass(60s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"status", "phase"}), "Running");
}

TEST_F(NodeTest, PodsOfANodeThatNeverComesGoThoughTheyChangeMeanwhile) {
  cluster.add(Kind::kPod, "{'metadata':{'name':'p'},'spec':{'nodeName':'n2','containers':[{'name':'m','image':'i'}]}}");
  for (int i = 0; i < 5; ++i) {
    cluster.pass(10s);
    if (cluster.count(Kind::kPod) > 0) {
      cluster.change(Kind::kPod, "p", fmt::format("{{'metadata':{{'labels':{{'a':'{}'}}}}}}", i));
    }
  }
  EXPECT_THAT(cluster.names(Kind::kPod), IsEmpty());
}

TEST(FinishedPods, AreKeptUpToANumberAndTheOldestGo) {
  FakeCluster cluster({.finished_pods = 3});
  cluster.add_node("n1");
  for (int i = 0; i < 6; ++i) {
    cluster.add(Kind::kPod,
                fmt::format("{{'metadata':{{'name':'p{}','annotations':{{'gantree.dev/run-for':'5s'}}}},'spec':{{"
                            "'restartPolicy':'Never','containers':[{{'name':'m','image':'i'}}]}}}}",
                            i));
    cluster.run_pods();
  }
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("p3", "p4", "p5"));
}

TEST_F(NodeTest, PodsOfNoOtherSchedulerAreBoundAsLongAsThereIsRoom) {
  for (int i = 0; i < 3; ++i) {
    cluster.add(
        Kind::kPod,
        fmt::format("{{'metadata':{{'name':'p{}'}},'spec':{{'schedulerName':'default-scheduler','containers':[{{"
                    "'name':'main','image':'i','resources':{{'requests':{{'cpu':'3'}}}}}}]}}}}",
                    i));
  }
  cluster.pass(5s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p0"), {"spec", "nodeName"}), "n1");
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p1"), {"spec", "nodeName"}), "n1");
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p2"), {"spec", "nodeName"}), "");
  EXPECT_EQ(text_at(*find_condition(cluster.get(Kind::kPod, "p2"), "PodScheduled"), {"message"}),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims "
            "found for incoming pod.");
  cluster.erase(Kind::kPod, "p0");
  cluster.pass(60s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p2"), {"spec", "nodeName"}), "n1");
}

TEST_F(NodeTest, APodThatFoundNoRoomIsBoundAsSoonAsThereIsSome) {
  const auto pod = [](const std::string& name) {
    return fmt::format(
        "{{'metadata':{{'name':'{}'}},'spec':{{'schedulerName':'default-scheduler','containers':[{{"
        "'name':'main','image':'i','resources':{{'requests':{{'cpu':'6'}}}}}}]}}}}",
        name);
  };
  cluster.add(Kind::kPod, pod("first"));
  cluster.add(Kind::kPod, pod("second"));
  cluster.pass(60s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "second"), {"spec", "nodeName"}), "");
  cluster.end_pod("first", true);
  cluster.pass(100ms);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "second"), {"spec", "nodeName"}), "n1");
  cluster.add(Kind::kPod, pod("third"));
  cluster.pass(60s);
  cluster.add_node("n2");
  cluster.pass(100ms);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "third"), {"spec", "nodeName"}), "n2");
}

TEST_F(NodeTest, ANodeThatIsToldSoIsNotReadyUntilItIsToldOtherwise) {
  cluster.change(Kind::kNode, "n1", "{'metadata':{'annotations':{'gantree.dev/not-ready':''}}}", "");
  EXPECT_TRUE(condition_is(cluster.get(Kind::kNode, "n1", ""), "Ready", "False"));
  EXPECT_THAT(taints(),
              ElementsAre("node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"));
  cluster.change(Kind::kNode, "n1", "{'metadata':{'annotations':{'gantree.dev/not-ready':null}}}", "");
  EXPECT_TRUE(condition_is(cluster.get(Kind::kNode, "n1", ""), "Ready", "True"));
  EXPECT_THAT(taints(), IsEmpty());
}

TEST_F(NodeTest, APodThatIsToldSoNeverStarts) {
  cluster.add(Kind::kPod,
              "{'metadata':{'name':'p','annotations':{'gantree.dev/stay-pending':''}},'spec':{'containers':[{"
              "'name':'main','image':'i'}]}}");
  cluster.bind_all("n1");
  cluster.pass(60s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"status", "phase"}), "Pending");
}

TEST_F(NodeTest, PartsThatArePausedGoOnLaterWithWhatTheyMissed) {
  cluster.pause("scheduler,kubelets");
  cluster.add(Kind::kPod,
              "{'metadata':{'name':'p'},'spec':{'schedulerName':'default-scheduler','containers':[{'name':'main',"
              "'image':'i'}]}}");
  cluster.pass(60s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"spec", "nodeName"}), "");
  cluster.pause("kubelets");
  cluster.pass(60s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"spec", "nodeName"}), "n1");
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"status", "phase"}), "Pending");
  cluster.pause("");
  cluster.pass(2s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"status", "phase"}), "Running");
}

TEST_F(NodeTest, TimeRunsAsFastAsItIsTold) {
  FakeCluster fast(Options{.speed = 60});
  fast.add_node("n1");
  fast.add(Kind::kPod,
           "{'metadata':{'name':'p','annotations':{'gantree.dev/run-for':'10m'}},'spec':{'restartPolicy':'Never',"
           "'containers':[{'name':'main','image':'i'}]}}");
  fast.bind_all("n1");
  fast.pass(12s);
  EXPECT_EQ(text_at(fast.get(Kind::kPod, "p"), {"status", "phase"}), "Succeeded");
}

}  // namespace
}  // namespace gantree::controllers

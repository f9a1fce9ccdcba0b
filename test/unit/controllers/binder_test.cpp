#include <gmock/gmock.h>

#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class BinderTest : public testing::Test {
 protected:
  // Two hosts in each of two racks, and with GPUs where that is said.
  void add_racks(const std::string& more_capacity = "") {
    for (const std::string rack : {"a", "b"}) {
      for (int i = 1; i <= 2; ++i) {
        cluster.add(Kind::kNode,
                    fmt::format("{{'metadata':{{'name':'{0}{1}','labels':{{'rack':'{0}','kubernetes.io/hostname':"
                                "'{0}{1}'}}}},'status':{{'capacity':{{'cpu':'8','pods':'110'{2}}}}}}}",
                                rack, i, more_capacity),
                    "");
      }
    }
  }
  // `spec` is more of the spec, with a comma before.
  void add_pod(const std::string& name, const std::string& spec = "", const std::string& cpu = "1",
               const std::string& labels = "'app':'web'") {
    cluster.add(
        Kind::kPod,
        fmt::format("{{'metadata':{{'name':'{}','labels':{{{}}}}},'spec':{{'schedulerName':'default-scheduler',"
                    "'containers':[{{'name':'main','image':'i','resources':{{'requests':{{'cpu':'{}'}}}}}}]{}}}}}",
                    name, labels, cpu, spec));
    cluster.pass(100ms);
  }
  std::string node_of(const std::string& pod) {
    return std::string(text_at(cluster.get(Kind::kPod, pod), {"spec", "nodeName"}));
  }
  std::string why(const std::string& pod) {
    const Value* condition = find_condition(cluster.get(Kind::kPod, pod), "PodScheduled");
    return condition == nullptr ? "" : std::string(text_at(*condition, {"message"}));
  }
  FakeCluster cluster;
};

constexpr const char* kApart =
    ",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'rack',"
    "'labelSelector':{'matchLabels':{'app':'web'}}}]}}";
constexpr const char* kTogether =
    ",'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'rack',"
    "'labelSelector':{'matchLabels':{'app':'web'}}}]}}";
constexpr const char* kSpread =
    ",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'rack','whenUnsatisfiable':'DoNotSchedule',"
    "'labelSelector':{'matchLabels':{'app':'web'}}}]";

TEST_F(BinderTest, ThatAPodIsScheduledIsToldOnceItIs) {
  const auto told = [&] {
    return std::count_if(cluster.objects(Kind::kEvent).begin(), cluster.objects(Kind::kEvent).end(),
                         [](const auto& one) { return text_at(one.second, {"reason"}) == "Scheduled"; });
  };
  add_racks();
  cluster.refuse(1);
  cluster.add(Kind::kPod,
              "{'metadata':{'name':'p'},'spec':{'schedulerName':'default-scheduler','containers':[{'name':'main',"
              "'image':'i'}]}}");
  EXPECT_EQ(node_of("p"), "");
  EXPECT_EQ(told(), 0);
  cluster.pass(1s);
  EXPECT_NE(node_of("p"), "");
  EXPECT_EQ(told(), 1);
}

TEST_F(BinderTest, APodIsCountedAsEverySchedulerDoes) {
  add_racks();
  const auto fits = [&](const std::string& name, const std::string& spec) {
    add_pod(name, spec, "5");
    const bool bound = !node_of(name).empty();
    cluster.erase(Kind::kPod, name);
    cluster.pass(60s);
    return bound;
  };
  const auto init = [](const std::string& cpu, const std::string& more) {
    return fmt::format(",'initContainers':[{{'name':'first','image':'i','resources':{{'requests':{{'cpu':'{}'}}}}{}}}]",
                       cpu, more);
  };
  EXPECT_TRUE(fits("one-after-the-other", init("4", "")));
  EXPECT_FALSE(fits("too-large-at-first", init("9", "")));
  EXPECT_TRUE(fits("small-sidecar", init("3", ",'restartPolicy':'Always'")));
  EXPECT_FALSE(fits("sidecar", init("4", ",'restartPolicy':'Always'")));
  EXPECT_FALSE(fits("overhead", ",'overhead':{'cpu':'4'}"));
  EXPECT_FALSE(fits("as-a-whole", ",'resources':{'requests':{'cpu':'9'}}"));
}

TEST_F(BinderTest, TheLeastLoadedHostIsTaken) {
  add_racks();
  for (int i = 0; i < 4; ++i) {
    add_pod(fmt::format("p{}", i));
  }
  EXPECT_THAT((std::vector{node_of("p0"), node_of("p1"), node_of("p2"), node_of("p3")}),
              UnorderedElementsAre("a1", "a2", "b1", "b2"));
}

TEST_F(BinderTest, PodsWithoutDevicesGoToHostsWithout) {
  add_racks(",'nvidia.com/gpu':'8'");
  cluster.add_node("plain");
  for (int i = 0; i < 8; ++i) {
    add_pod(fmt::format("p{}", i));
    EXPECT_EQ(node_of(fmt::format("p{}", i)), "plain");
  }
  add_pod("one-more");
  EXPECT_EQ(node_of("one-more"), "a1");
}

TEST_F(BinderTest, PodsThatRepelEachOtherAreInDifferentDomains) {
  add_racks();
  add_pod("p0", kApart);
  add_pod("p1", kApart);
  add_pod("p2", kApart);
  EXPECT_NE(node_of("p0").substr(0, 1), node_of("p1").substr(0, 1));
  EXPECT_EQ(node_of("p2"), "");
  EXPECT_THAT(why("p2"), HasSubstr("0/4 nodes are available: 4 node(s) didn't"));
  EXPECT_THAT(why("p2"), HasSubstr("anti-affinity rules"));
  cluster.end_pod("p0", true);
  cluster.pass(2s);
  EXPECT_NE(node_of("p2"), "");
}

TEST_F(BinderTest, APodKeepsAwayFromThoseThatRepelIt) {
  add_racks();
  add_pod("p0", kApart);
  for (int i = 1; i < 4; ++i) {
    add_pod(fmt::format("p{}", i));
    EXPECT_NE(node_of(fmt::format("p{}", i)).substr(0, 1), node_of("p0").substr(0, 1));
  }
  add_pod("other", "", "1", "'app':'db'");
  EXPECT_EQ(node_of("other").substr(0, 1), node_of("p0").substr(0, 1));
}

TEST_F(BinderTest, PodsThatAttractEachOtherStayTogether) {
  add_racks();
  for (int i = 0; i < 6; ++i) {
    add_pod(fmt::format("p{}", i), kTogether, "3");
  }
  const std::string rack = node_of("p0").substr(0, 1);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(node_of(fmt::format("p{}", i)).substr(0, 1), rack);
  }
  EXPECT_EQ(node_of("p4"), "");
  EXPECT_EQ(why("p4").substr(0, why("p4").find(" preemption")),
            "0/4 nodes are available: 2 Insufficient cpu, 2 node(s) didn't match pod affinity rules.");
}

TEST_F(BinderTest, PodsAreSpreadAsEvenlyAsTheyAsk) {
  add_racks();
  cluster.change(Kind::kNode, "b1", "{'spec':{'unschedulable':true}}", "");
  for (int i = 0; i < 8; ++i) {
    add_pod(fmt::format("p{}", i), kSpread, "2");
  }
  std::map<char, int> in_rack;
  for (int i = 0; i < 8; ++i) {
    ++in_rack[node_of(fmt::format("p{}", i))[0]];
  }
  EXPECT_EQ(in_rack['a'], 4);
  EXPECT_EQ(in_rack['b'], 4);
  add_pod("p8", kSpread, "2");
  EXPECT_EQ(node_of("p8").substr(0, 1), "a");
  add_pod("p9", kSpread, "2");
  EXPECT_EQ(node_of("p9"), "");
  EXPECT_EQ(why("p9").substr(0, why("p9").find(" preemption")),
            "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 2 node(s) didn't match pod "
            "topology spread constraints.");
}

TEST_F(BinderTest, WhatIsPreferredDecidesAmongNodesThatWillDo) {
  add_racks();
  add_pod("p0",
          ",'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':10,'preference':{"
          "'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'In','values':['b2']}]}}]}}");
  EXPECT_EQ(node_of("p0"), "b2");
}

TEST_F(BinderTest, APortOfAHostIsGivenOnce) {
  cluster.add_node("n1");
  const std::string ports =
      ",'initContainers':[{'name':'s','image':'i','restartPolicy':'Always','ports':[{"
      "'containerPort':80,'hostPort':80,'protocol':'TCP'}]}]";
  add_pod("p0", ports);
  add_pod("p1", ports);
  EXPECT_EQ(node_of("p0"), "n1");
  EXPECT_EQ(node_of("p1"), "");
  EXPECT_THAT(why("p1"), HasSubstr("1 node(s) didn't have free ports for the requested pod ports."));
}

TEST_F(BinderTest, AMoreImportantPodTakesTheRoomOfTheLeastImportant) {
  cluster.add_node("n1");
  add_pod("low", ",'priority':1", "3");
  add_pod("lower", ",'priority':0", "3");
  add_pod("equal", ",'priority':100", "2");
  cluster.pass(2s);
  add_pod("high", ",'priority':100", "3");
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "high"), {"status", "nominatedNodeName"}), "n1");
  EXPECT_TRUE(condition_is(cluster.get(Kind::kPod, "lower"), "DisruptionTarget", "True"));
  // Nobody takes the room that is made for it.
  add_pod("small", ",'priority':0", "1");
  cluster.pass(40s);
  EXPECT_EQ(node_of("high"), "n1");
  EXPECT_EQ(node_of("small"), "");
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("equal", "high", "low", "small"));
}

TEST_F(BinderTest, NobodyGoesWhereThatIsNotEnoughOrNotWanted) {
  cluster.add_node("n1");
  add_pod("low", ",'priority':1", "6");
  add_pod("large", ",'priority':100", "9");
  add_pod("polite", ",'priority':100,'preemptionPolicy':'Never'", "6");
  cluster.pass(10s);
  EXPECT_EQ(node_of("low"), "n1");
  EXPECT_EQ(node_of("large"), "");
  EXPECT_EQ(node_of("polite"), "");
  EXPECT_EQ(why("large"),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims "
            "found for incoming pod.");
}

TEST_F(BinderTest, ABudgetIsHeededWhereThereIsAChoice) {
  add_racks();
  for (const std::string node : {"a1", "a2", "b1", "b2"}) {
    add_pod("on-" + node, fmt::format(",'nodeSelector':{{'kubernetes.io/hostname':'{}'}}", node), "6",
            node == "b1" ? "'app':'free'" : "'app':'web'");
  }
  cluster.add(Kind::kPodDisruptionBudget,
              "{'metadata':{'name':'b'},'spec':{'minAvailable':'100%','selector':{'matchLabels':{'app':'web'}}}}");
  add_pod("high", ",'priority':100", "6", "'app':'high'");
  cluster.pass(40s);
  EXPECT_EQ(node_of("high"), "b1");
}

TEST_F(BinderTest, WithoutNodesItSaysSo) {
  add_pod("p0");
  EXPECT_EQ(why("p0"), "no nodes available to schedule pods");
}

// The view alone, as large as it gets: a look costs what it looks at.
TEST(Hosts, ManyPodsOnManyNodesCostLittleEach) {
  Conductor conductor(Options{});
  const auto text = [](std::string json) {
    std::replace(json.begin(), json.end(), '\'', '"');
    return std::make_shared<const std::string>(std::move(json));
  };
  constexpr int kNodes = 20'000;
  constexpr int kPods = 4'000;
  for (int i = 0; i < kNodes; ++i) {
    ASSERT_TRUE(conductor.changed(
        Kind::kNode,
        text(fmt::format("{{'metadata':{{'name':'n{0}','uid':'n{0}','resourceVersion':'1','labels':{{"
                         "'kubernetes.io/hostname':'n{0}','rack':'r{1}'}}}},'status':{{'allocatable':{{'cpu':'8',"
                         "'pods':'110'}},'conditions':[{{'type':'Ready','status':'True'}}]}}}}",
                         i, i / 16))));
  }
  const char* spread =
      "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'kubernetes.io/hostname','whenUnsatisfiable':"
      "'DoNotSchedule','labelSelector':{'matchLabels':{'app':'web'}}}],";
  for (int i = 0; i < kPods; ++i) {
    // A third is spread, a third is told its host, and the last asks for more than there is.
    const std::string more = i % 3 == 0   ? std::string(spread)
                             : i % 3 == 1 ? fmt::format("'nodeSelector':{{'kubernetes.io/hostname':'n{}'}},", i)
                                          : std::string();
    ASSERT_TRUE(conductor.changed(
        Kind::kPod,
        text(fmt::format(
            "{{'metadata':{{'name':'p{0}','namespace':'default','uid':'p{0}','resourceVersion':'1','labels':{{"
            "'app':'web'}}}},'spec':{{{1}'schedulerName':'default-scheduler','containers':[{{'name':'m',"
            "'resources':{{'requests':{{'cpu':'{2}'}}}}}}]}},'status':{{'phase':'Pending'}}}}",
            i, more, i % 3 == 2 ? 9 : 1))));
  }
  std::size_t bound = 0;
  std::size_t told = 0;
  const auto before = std::chrono::steady_clock::now();
  const Time now(1'800'000'000s);
  while (conductor.more(now)) {
    for (const Write& write : conductor.next(now)) {
      bound += write.verb == Verb::kBind ? 1 : 0;
      told += write.verb == Verb::kPatchStatus && write.kind == Kind::kPod ? 1 : 0;
    }
  }
  const auto took = std::chrono::steady_clock::now() - before;
  EXPECT_EQ(bound, 2'667U);
  EXPECT_EQ(told, 1'333U);
  // A look at every node for every pod would take minutes.
  EXPECT_LT(took, 20s);
}

}  // namespace
}  // namespace gantree::controllers

#include <gmock/gmock.h>

#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kTemplate =
    "'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},'spec':{'containers':"
    "[{'name':'main','image':'v1'}]}}";

class FamilyTest : public testing::Test {
 protected:
  FamilyTest() { cluster.add_node("n1"); }
  void add(Kind kind, const std::string& spec) {
    cluster.add(kind, fmt::format("{{'metadata':{{'name':'web'}},'spec':{{{},{}}}}}", spec, kTemplate));
  }
  void add_pod(const std::string& name, const std::string& app) {
    cluster.add(Kind::kPod, fmt::format("{{'metadata':{{'name':'{}','labels':{{'app':'{}'}}}},'spec':{{'containers':"
                                        "[{{'name':'main','image':'v1'}}]}}}}",
                                        name, app));
  }
  std::string owner(Kind kind, const std::string& name) {
    const Array* owners = array_at(cluster.get(kind, name), {"metadata", "ownerReferences"});
    return owners == nullptr || owners->empty() ? "" : std::string(text_at((*owners)[0], {"name"}));
  }
  std::vector<std::string> without_owner() {
    std::vector<std::string> names;
    for (const std::string& name : cluster.names(Kind::kPod)) {
      if (owner(Kind::kPod, name).empty()) {
        names.push_back(name);
      }
    }
    return names;
  }
  FakeCluster cluster;
};

TEST_F(FamilyTest, ADeploymentTakesInTheReplicaSetThatWasLeftBehind) {
  add(Kind::kDeployment, "'replicas':2");
  cluster.run_pods();
  const auto sets = cluster.names(Kind::kReplicaSet);
  ASSERT_THAT(sets, SizeIs(1));
  cluster.pause("controllers");
  cluster.change(Kind::kReplicaSet, sets[0], "{'metadata':{'ownerReferences':null}}");
  cluster.erase(Kind::kDeployment, "web");
  ASSERT_THAT(cluster.names(Kind::kReplicaSet), SizeIs(1));
  add(Kind::kDeployment, "'replicas':3");
  cluster.pause("");
  cluster.run_pods();
  EXPECT_EQ(cluster.names(Kind::kReplicaSet), sets);
  EXPECT_EQ(owner(Kind::kReplicaSet, sets[0]), "web");
  EXPECT_EQ(whole_at(cluster.get(Kind::kDeployment, "web"), {"status", "availableReplicas"}), 3);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(3));
}

TEST_F(FamilyTest, ADeploymentTakesAnotherNameWhereItsReplicaSetsNameIsSomebodyElses) {
  add(Kind::kDeployment, "'replicas':1");
  const std::string first = cluster.names(Kind::kReplicaSet)[0];
  cluster.erase(Kind::kDeployment, "web");
  cluster.pass(10s);
  cluster.add(Kind::kReplicaSet,
              fmt::format("{{'metadata':{{'name':'{}','labels':{{'app':'other'}}}},'spec':{{'replicas':0}}}}", first));
  add(Kind::kDeployment, "'replicas':1");
  cluster.run_pods();
  EXPECT_EQ(whole_at(cluster.get(Kind::kDeployment, "web"), {"status", "collisionCount"}), 1);
  EXPECT_THAT(cluster.names(Kind::kReplicaSet), SizeIs(2));
  EXPECT_EQ(owner(Kind::kReplicaSet, first), "");
  EXPECT_EQ(whole_at(cluster.get(Kind::kDeployment, "web"), {"status", "availableReplicas"}), 1);
  // The other one's end changes nothing: the number is kept.
  cluster.erase(Kind::kReplicaSet, first);
  cluster.change(Kind::kDeployment, "web", "{'spec':{'replicas':2}}");
  EXPECT_THAT(cluster.names(Kind::kReplicaSet), SizeIs(1));
}

TEST_F(FamilyTest, AReplicaSetTakesInPodsThatMatchAndLetsGoThoseThatDoNotAnyLonger) {
  add_pod("mine", "web");
  add_pod("other", "db");
  add(Kind::kReplicaSet, "'replicas':2");
  EXPECT_EQ(owner(Kind::kPod, "mine"), "web");
  EXPECT_EQ(owner(Kind::kPod, "other"), "");
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(3));
  cluster.change(Kind::kPod, "mine", "{'metadata':{'labels':{'app':'debug'}}}");
  EXPECT_THAT(without_owner(), ElementsAre("mine", "other"));
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(4));
  // It comes back, and is one too many.
  cluster.change(Kind::kPod, "mine", "{'metadata':{'labels':{'app':'web'}}}");
  EXPECT_THAT(without_owner(), ElementsAre("other"));
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(3));
}

TEST_F(FamilyTest, AReplicationControllerKeepsItsNumberOfPodsByAPlainSelector) {
  add_pod("mine", "web");
  cluster.add(Kind::kReplicationController,
              "{'metadata':{'name':'web'},'spec':{'replicas':2,'selector':{'app':'web'},'template':{'metadata':"
              "{'labels':{'app':'web'}},'spec':{'containers':[{'name':'main','image':'v1'}]}}}}");
  cluster.run_pods();
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(2));
  EXPECT_EQ(owner(Kind::kPod, "mine"), "web");
  EXPECT_EQ(whole_at(cluster.get(Kind::kReplicationController, "web"), {"status", "readyReplicas"}), 2);
}

TEST_F(FamilyTest, AStatefulSetTakesInOnlyPodsThatAreNamedAsItsOwn) {
  add_pod("web-0", "web");
  add_pod("stray", "web");
  add(Kind::kStatefulSet, "'replicas':2");
  EXPECT_EQ(owner(Kind::kPod, "web-0"), "web");
  EXPECT_EQ(owner(Kind::kPod, "stray"), "");
}

TEST_F(FamilyTest, AStatefulSetTakesInTheRevisionsOfItsPredecessor) {
  add(Kind::kStatefulSet, "'replicas':1");
  const auto revisions = cluster.names(Kind::kControllerRevision);
  cluster.change(Kind::kControllerRevision, revisions[0], "{'metadata':{'ownerReferences':null}}");
  EXPECT_EQ(owner(Kind::kControllerRevision, revisions[0]), "web");
  EXPECT_EQ(cluster.names(Kind::kControllerRevision), revisions);
}

TEST_F(FamilyTest, ADaemonSetTakesInThePodOfItsNode) {
  cluster.add(Kind::kPod,
              "{'metadata':{'name':'mine','labels':{'app':'web'}},'spec':{'nodeName':'n1','containers':[]}}");
  add(Kind::kDaemonSet, "'updateStrategy':{'type':'OnDelete'}");
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("mine"));
  EXPECT_EQ(owner(Kind::kPod, "mine"), "web");
}

TEST_F(FamilyTest, AJobLetsGoAPodThatItNoLongerSelects) {
  cluster.add(Kind::kJob,
              "{'metadata':{'name':'train'},'spec':{'parallelism':1,'completions':1,'selector':{'matchLabels':"
              "{'job-name':'train'}},'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'main'}]}}}}");
  cluster.run_pods();
  const std::string pod = cluster.names(Kind::kPod)[0];
  cluster.change(Kind::kPod, pod, "{'metadata':{'labels':{'job-name':'debug'}}}");
  EXPECT_THAT(without_owner(), ElementsAre(pod));
  EXPECT_EQ(array_at(cluster.get(Kind::kPod, pod), {"metadata", "finalizers"}), nullptr);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(2));
}

TEST_F(FamilyTest, NothingIsTakenFromAnotherController) {
  add(Kind::kReplicaSet, "'replicas':2");
  const auto pods = cluster.names(Kind::kPod);
  cluster.add(Kind::kReplicaSet, fmt::format("{{'metadata':{{'name':'twin'}},'spec':{{'replicas':1,{}}}}}", kTemplate));
  for (const std::string& pod : pods) {
    EXPECT_EQ(owner(Kind::kPod, pod), "web");
  }
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(3));
}

TEST_F(FamilyTest, ANewSizeDuringARolloutIsSharedByParts) {
  add(Kind::kDeployment, "'replicas':10,'strategy':{'rollingUpdate':{'maxSurge':3,'maxUnavailable':2}}");
  cluster.run_pods();
  cluster.change(Kind::kDeployment, "web",
                 "{'spec':{'template':{'metadata':{'annotations':{'gantree.dev/stay-pending':'yes'}}}}}");
  cluster.run_pods();
  const auto sizes = [&] {
    std::vector<std::int64_t> all;
    for (const auto& [name, set] : cluster.objects(Kind::kReplicaSet)) {
      all.push_back(whole_at(set, {"spec", "replicas"}));
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_THAT(sizes(), ElementsAre(5, 8));
  cluster.change(Kind::kDeployment, "web", "{'spec':{'replicas':15}}");
  cluster.run_pods();
  EXPECT_THAT(sizes(), ElementsAre(7, 11));
  cluster.change(Kind::kDeployment, "web", "{'spec':{'replicas':0}}");
  cluster.run_pods();
  EXPECT_THAT(sizes(), ElementsAre(0, 0));
}

class EventsTest : public FamilyTest {
 protected:
  std::vector<std::string> told(std::string_view reason) {
    std::vector<std::string> messages;
    for (const auto& [name, event] : cluster.objects(Kind::kEvent)) {
      if (text_at(event, {"reason"}) == reason) {
        messages.emplace_back(text_at(event, {"message"}));
      }
    }
    return messages;
  }
};

TEST_F(EventsTest, NameThePodThatWasMadeAndWhoMadeIt) {
  add(Kind::kReplicaSet, "'replicas':1");
  EXPECT_THAT(told("SuccessfulCreate"), ElementsAre("Created pod: " + cluster.names(Kind::kPod)[0]));
  const Object& event = cluster.objects(Kind::kEvent).begin()->second;
  EXPECT_EQ(text_at(event, {"source", "component"}), "replicaset-controller");
  EXPECT_EQ(text_at(event, {"involvedObject", "kind"}), "ReplicaSet");
}

TEST_F(EventsTest, OfManyAreToldTogether) {
  add(Kind::kReplicaSet, "'replicas':25");
  const auto messages = told("SuccessfulCreate");
  ASSERT_THAT(messages, SizeIs(11));
  EXPECT_THAT(messages.back(), StartsWith("(combined from similar events): Created pod: web-"));
  EXPECT_EQ(whole_at(cluster.objects(Kind::kEvent).rbegin()->second, {"count"}), 15);
}

TEST_F(EventsTest, DoNotTellOfWhatWasRefused) {
  cluster.refuse(2);
  add(Kind::kReplicaSet, "'replicas':1");
  EXPECT_THAT(told("SuccessfulCreate"), IsEmpty());
  EXPECT_THAT(told("FailedCreate"), SizeIs(1));
  cluster.pass(1s);
  EXPECT_THAT(told("SuccessfulCreate"), SizeIs(1));
}

TEST_F(EventsTest, DoNotTellOfAPodOfAStatefulSetThatWasRefused) {
  cluster.refuse(2);
  add(Kind::kStatefulSet, "'replicas':1,'serviceName':'web'");
  EXPECT_THAT(told("SuccessfulCreate"), IsEmpty());
  cluster.pass(1s);
  EXPECT_THAT(told("SuccessfulCreate"), ElementsAre("create Pod web-0 in StatefulSet web successful"));
}

TEST_F(EventsTest, ThatAreToldAgainAreCounted) {
  cluster.add(Kind::kPod,
              "{'metadata':{'name':'p','annotations':{'gantree.dev/fail-after':'1s'}},'spec':{'restartPolicy':'Always',"
              "'containers':[{'name':'main','image':'i'}]}}");
  cluster.run_pods();
  cluster.pass(1800s);
  ASSERT_THAT(told("BackOff"), SizeIs(1));
  for (const auto& [name, event] : cluster.objects(Kind::kEvent)) {
    if (text_at(event, {"reason"}) == "BackOff") {
      EXPECT_GE(whole_at(event, {"count"}), 5);
      EXPECT_GT(text_at(event, {"lastTimestamp"}), text_at(event, {"firstTimestamp"}));
    }
  }
}

TEST_F(EventsTest, AreToldAnewWhereTheOneThatCountsIsGone) {
  cluster.add(Kind::kPod,
              "{'metadata':{'name':'p','annotations':{'gantree.dev/fail-after':'1s'}},'spec':{'restartPolicy':'Always',"
              "'containers':[{'name':'main','image':'i'}]}}");
  cluster.run_pods();
  cluster.pass(600s);
  ASSERT_THAT(told("BackOff"), SizeIs(1));
  cluster.objects(Kind::kEvent).clear();
  cluster.pass(1200s);
  EXPECT_THAT(told("BackOff"), SizeIs(1));
}

TEST_F(EventsTest, ThatDifferInTheirMessageAloneAreCombinedAfterTheFirstTen) {
  Events events;
  Item about;
  about.ns = "default";
  about.name = "p";
  about.uid = "u";
  std::size_t made = 0;
  Write last;
  for (int i = 0; i < 30; ++i) {
    const std::string message = "reason " + std::to_string(i);
    last = events.tell(about, "c", {"Warning", "FailedScheduling", message}, cluster.now() + i * 1s);
    made += last.verb == Verb::kCreate ? 1 : 0;
  }
  EXPECT_EQ(made, 11U);
  EXPECT_THAT(last.body, testing::HasSubstr("\"count\":20"));
  EXPECT_THAT(last.body, testing::HasSubstr("(combined from similar events): reason 29"));
  // Long after, there is nothing to be brief about.
  EXPECT_EQ(events.tell(about, "c", {"Warning", "FailedScheduling", "late"}, cluster.now() + 1h).verb, Verb::kCreate);
}

TEST_F(EventsTest, OfOneMomentAreListedInTheOrderInWhichTheyWereTold) {
  add(Kind::kDeployment, "'replicas':3,'strategy':{'rollingUpdate':{'maxSurge':1,'maxUnavailable':0}}");
  cluster.run_pods();
  cluster.change(Kind::kDeployment, "web", "{'spec':{'replicas':2}}");
  cluster.change(Kind::kDeployment, "web", "{'spec':{'replicas':1}}");
  const auto messages = told("ScalingReplicaSet");
  ASSERT_THAT(messages, SizeIs(3));
  EXPECT_THAT(messages[1], testing::HasSubstr("from 3 to 2"));
  EXPECT_THAT(messages[2], testing::HasSubstr("from 2 to 1"));
}

}  // namespace
}  // namespace gantree::controllers

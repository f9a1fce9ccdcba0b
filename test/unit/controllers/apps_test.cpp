#include <gmock/gmock.h>

#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kTemplate =
    "'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},'spec':{'containers':"
    "[{'name':'main','image':'v1'}]}}";
constexpr const char* kNewImage = "{'spec':{'template':{'spec':{'containers':[{'name':'main','image':'v2'}]}}}}";

class AppsTest : public testing::Test {
 protected:
  AppsTest() { cluster.add_node("n1"); }
  void add(Kind kind, const std::string& spec) {
    cluster.add(kind, fmt::format("{{'metadata':{{'name':'web'}},'spec':{{{},{}}}}}", spec, kTemplate));
  }
  std::int64_t status(Kind kind, std::string_view field) {
    return whole_at(cluster.get(kind, "web"), {"status", field});
  }
  std::size_t of_image(std::string_view image) {
    std::size_t count = 0;
    for (const auto& [name, pod] : cluster.objects(Kind::kPod)) {
      count += text_at((*array_at(pod, {"spec", "containers"}))[0], {"image"}) == image ? 1 : 0;
    }
    return count;
  }
  FakeCluster cluster;
};

TEST_F(AppsTest, AReplicaSetKeepsItsNumberOfPods) {
  add(Kind::kReplicaSet, "'replicas':3");
  cluster.run_pods();
  EXPECT_EQ(status(Kind::kReplicaSet, "readyReplicas"), 3);
  EXPECT_EQ(status(Kind::kReplicaSet, "availableReplicas"), 3);
  cluster.erase(Kind::kPod, cluster.names(Kind::kPod)[0]);
  cluster.run_pods();
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(3));
  cluster.change(Kind::kReplicaSet, "web", "{'spec':{'replicas':1}}");
  cluster.pass(10s);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(1));
}

TEST_F(AppsTest, ADeploymentRollsWithoutFallingBelowItsMinimum) {
  add(Kind::kDeployment, "'replicas':4,'strategy':{'rollingUpdate':{'maxSurge':1,'maxUnavailable':1}}");
  cluster.run_pods();
  EXPECT_EQ(status(Kind::kDeployment, "availableReplicas"), 4);
  EXPECT_TRUE(condition_is(cluster.get(Kind::kDeployment, "web"), "Available", "True"));
  cluster.change(Kind::kDeployment, "web", kNewImage);
  for (int i = 0; i < 30 && of_image("v2") < 4; ++i) {
    std::size_t active = 0;
    for (const auto& [name, pod] : cluster.objects(Kind::kPod)) {
      active += text_at(pod, {"metadata", "deletionTimestamp"}).empty() ? 1 : 0;
    }
    EXPECT_LE(active, 5U);
    EXPECT_GE(status(Kind::kDeployment, "availableReplicas"), 3);
    cluster.bind_all("n1");
    cluster.pass(2s);
  }
  cluster.run_pods();
  EXPECT_EQ(of_image("v2"), 4U);
  EXPECT_EQ(of_image("v1"), 0U);
  EXPECT_EQ(status(Kind::kDeployment, "updatedReplicas"), 4);
  EXPECT_EQ(status(Kind::kDeployment, "observedGeneration"), 2);
  EXPECT_EQ(text_at(*find_condition(cluster.get(Kind::kDeployment, "web"), "Progressing"), {"reason"}),
            "NewReplicaSetAvailable");
  EXPECT_EQ(text_at(cluster.get(Kind::kDeployment, "web"), {"metadata", "annotations", kRevision}), "2");
}

TEST_F(AppsTest, ADeploymentThatRecreatesStartsNothingNewBeforeAllIsGone) {
  add(Kind::kDeployment, "'replicas':2,'strategy':{'type':'Recreate'}");
  cluster.run_pods();
  cluster.change(Kind::kDeployment, "web", kNewImage);
  EXPECT_EQ(of_image("v2"), 0U);
  cluster.run_pods();
  EXPECT_EQ(of_image("v2"), 2U);
  EXPECT_EQ(of_image("v1"), 0U);
}

TEST_F(AppsTest, AnEarlierTemplateGetsItsReplicaSetBack) {
  add(Kind::kDeployment, "'replicas':1");
  cluster.run_pods();
  cluster.change(Kind::kDeployment, "web", kNewImage);
  cluster.run_pods();
  cluster.change(Kind::kDeployment, "web",
                 "{'spec':{'template':{'spec':{'containers':[{'name':'main','image':'v1'}]}}}}");
  cluster.run_pods();
  EXPECT_THAT(cluster.names(Kind::kReplicaSet), SizeIs(2));
  EXPECT_EQ(of_image("v1"), 1U);
  EXPECT_EQ(text_at(cluster.get(Kind::kDeployment, "web"), {"metadata", "annotations", kRevision}), "3");
}

TEST_F(AppsTest, AStatefulSetStartsInOrder) {
  add(Kind::kStatefulSet, "'replicas':3,'serviceName':'web'");
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("web-0"));
  cluster.bind_all("n1");
  cluster.pass(3s);
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("web-0", "web-1"));
  cluster.run_pods();
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("web-0", "web-1", "web-2"));
  EXPECT_EQ(status(Kind::kStatefulSet, "readyReplicas"), 3);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "web-1"), {"metadata", "labels", kPodIndex}), "1");
  cluster.change(Kind::kStatefulSet, "web", "{'spec':{'replicas':1}}");
  cluster.pass(10s);
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("web-0"));
}

TEST_F(AppsTest, AParallelStatefulSetStartsAllAtOnceFromItsFirstOrdinal) {
  add(Kind::kStatefulSet, "'replicas':3,'podManagementPolicy':'Parallel','ordinals':{'start':1}");
  EXPECT_THAT(cluster.names(Kind::kPod), ElementsAre("web-1", "web-2", "web-3"));
}

TEST_F(AppsTest, AStatefulSetRollsFromTheLastAndStopsAtThePartition) {
  add(Kind::kStatefulSet, "'replicas':3,'updateStrategy':{'rollingUpdate':{'partition':1}}");
  cluster.run_pods();
  cluster.change(Kind::kStatefulSet, "web", kNewImage);
  for (int i = 0; i < 4; ++i) {
    cluster.run_pods();
  }
  EXPECT_EQ(of_image("v2"), 2U);
  EXPECT_EQ(text_at((*array_at(cluster.get(Kind::kPod, "web-0"), {"spec", "containers"}))[0], {"image"}), "v1");
  cluster.erase(Kind::kPod, "web-0");
  cluster.run_pods();
  EXPECT_EQ(text_at((*array_at(cluster.get(Kind::kPod, "web-0"), {"spec", "containers"}))[0], {"image"}), "v1");
  cluster.change(Kind::kStatefulSet, "web", "{'spec':{'updateStrategy':{'rollingUpdate':{'partition':0}}}}");
  cluster.run_pods();
  EXPECT_EQ(of_image("v2"), 3U);
  EXPECT_EQ(text_at(cluster.get(Kind::kStatefulSet, "web"), {"status", "currentRevision"}),
            text_at(cluster.get(Kind::kStatefulSet, "web"), {"status", "updateRevision"}));
}

TEST_F(AppsTest, ADaemonSetHasAPodForEachNodeThatItWants) {
  cluster.add_node("n2", "{'gpu':'yes'}");
  cluster.add_node("n3", "{'gpu':'yes'}");
  cluster.add(
      Kind::kDaemonSet,
      "{'metadata':{'name':'web'},'spec':{'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':"
      "{'labels':{'app':'web'}},'spec':{'nodeSelector':{'gpu':'yes'},'containers':[{'name':'m','image':'v1'}]}}}}");
  cluster.pass(1s);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(2));
  EXPECT_EQ(status(Kind::kDaemonSet, "desiredNumberScheduled"), 2);
  cluster.add_node("n4", "{'gpu':'yes'}");
  cluster.pass(1s);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(3));
}

TEST_F(AppsTest, ADaemonSetThatSurgesStartsTheNewPodBeforeTheOldOneGoes) {
  cluster.add_node("n2");
  cluster.add(Kind::kDaemonSet,
              "{'metadata':{'name':'web'},'spec':{'updateStrategy':{'rollingUpdate':{'maxSurge':1,'maxUnavailable':0}},"
              "'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},'spec':{"
              "'schedulerName':'default-scheduler','containers':[{'name':'main','image':'v1'}]}}}}");
  cluster.pass(10s);
  ASSERT_EQ(status(Kind::kDaemonSet, "numberAvailable"), 2);
  cluster.change(Kind::kDaemonSet, "web", kNewImage);
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) {
    cluster.pass(200ms);
    most = std::max(most, of_image("v1") + of_image("v2"));
    EXPECT_EQ(status(Kind::kDaemonSet, "numberAvailable"), 2);
  }
  EXPECT_EQ(of_image("v2"), 2U);
  EXPECT_EQ(of_image("v1"), 0U);
  // The old one of the first node may still stop while the new one of the second starts.
  EXPECT_GE(most, 3U);
  EXPECT_LE(most, 4U);
}

TEST_F(AppsTest, ABudgetTellsHowManyMayGo) {
  cluster.add(Kind::kPodDisruptionBudget,
              "{'metadata':{'name':'web'},'spec':{'minAvailable':2,'selector':{'matchLabels':{'app':'web'}}}}");
  add(Kind::kReplicaSet, "'replicas':3");
  cluster.run_pods();
  EXPECT_EQ(status(Kind::kPodDisruptionBudget, "expectedPods"), 3);
  EXPECT_EQ(status(Kind::kPodDisruptionBudget, "currentHealthy"), 3);
  EXPECT_EQ(status(Kind::kPodDisruptionBudget, "disruptionsAllowed"), 1);
}

// Whoever has a say in the deletion may still be asked: nobody else may go on the same account meanwhile.
TEST_F(AppsTest, ABudgetCountsAPodWhoseEvictionIsUnderWayAsGoneForTwoMinutes) {
  cluster.add(Kind::kPodDisruptionBudget,
              "{'metadata':{'name':'web'},'spec':{'minAvailable':2,'selector':{'matchLabels':{'app':'web'}}}}");
  add(Kind::kReplicaSet, "'replicas':3");
  cluster.run_pods();
  const std::string pod = cluster.names(Kind::kPod).front();
  cluster.change(
      Kind::kPodDisruptionBudget, "web",
      "{'status':{'disruptionsAllowed':0,'disruptedPods':{'" + pod + "':'" + rfc3339(cluster.now()) + "'}}}");
  cluster.pass(60s);
  EXPECT_EQ(status(Kind::kPodDisruptionBudget, "currentHealthy"), 2);
  EXPECT_EQ(status(Kind::kPodDisruptionBudget, "disruptionsAllowed"), 0);
  cluster.pass(61s);
  EXPECT_EQ(status(Kind::kPodDisruptionBudget, "currentHealthy"), 3);
  EXPECT_EQ(status(Kind::kPodDisruptionBudget, "disruptionsAllowed"), 1);
  EXPECT_TRUE(object_at(cluster.get(Kind::kPodDisruptionBudget, "web"), {"status", "disruptedPods"})->empty());
}

TEST_F(AppsTest, ACronJobMakesAJobEachTime) {
  cluster.add(
      Kind::kCronJob,
      "{'metadata':{'name':'web'},'spec':{'schedule':'*/5 * * * *','jobTemplate':{'spec':{'template':{'metadata':"
      "{'annotations':{'gantree.dev/run-for':'10s'}},'spec':{'restartPolicy':'Never','containers':[{'name':'m',"
      "'image':'i'}]}}}}}}");
  cluster.pass(301s);
  EXPECT_THAT(cluster.names(Kind::kJob), SizeIs(1));
  EXPECT_EQ(array_at(cluster.get(Kind::kCronJob, "web"), {"status", "active"})->size(), 1U);
  cluster.pass(300s);
  EXPECT_THAT(cluster.names(Kind::kJob), SizeIs(2));
}

}  // namespace
}  // namespace gantree::controllers

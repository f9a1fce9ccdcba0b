// Which pods of a gang of KAI that runs are above its minimum, and in which order they go.
#include <gtest/gtest.h>

#include "unit/dialects/kai_manifests.h"

namespace gantree {
namespace {

// "a b | c": parts by themselves, the first to go first. "no minimum" where it lacks pods.
std::string spare_in(const World& world) {
  EXPECT_EQ(world.error(), "");
  const RunningGang& gang = world.cluster.running().at(0);
  std::string text;
  for (const SparePods& part : gang.spare) {
    text += text.empty() ? "" : " |";
    int held = 0;
    for (const Holding& holding : part.holdings) {
      held += holding.count;
    }
    EXPECT_EQ(held, static_cast<int>(part.pods.size()));
    for (const std::string& pod : part.pods) {
      text += (text.empty() ? "" : " ") + pod.substr(pod.find('/') + 1);
    }
  }
  return gang.has_minimum ? text : "no minimum";
}

std::string running(const std::string& group, const std::string& subgroup, int pods) {
  std::string text;
  for (int i = 0; i < pods; ++i) {
    text += member((subgroup.empty() ? "p" : subgroup) + "-" + std::to_string(i), group, subgroup, "n1");
  }
  return text;
}

std::string spare(const std::string& spec, const std::string& pods) {
  return spare_in(World(kai_node("n1", "z", "r") + pod_group("g", spec) + pods));
}

TEST(KaiSpare, PodsAboveTheMinimumGoFromTheLastOn) {
  EXPECT_EQ(spare("{minMember: 8}", running("g", "", 11)), "p-10 | p-9 | p-8");
  EXPECT_EQ(spare("{}", running("g", "", 2)), "p-1") << "one is the minimum where none is given";
  EXPECT_EQ(spare("{minMember: 0}", running("g", "", 2)), "p-1 | p-0");
  EXPECT_EQ(spare("{minMember: 2}", running("g", "", 2)), "");
  EXPECT_EQ(spare("{minMember: 3}", running("g", "", 2)), "no minimum");
}

TEST(KaiSpare, OfEachSubgroupWhatIsAboveItsOwnMinimum) {
  const std::string groups = "{subGroups: [{name: a, minMember: 1}, {name: b, minMember: 2}]}";
  EXPECT_EQ(spare(groups, running("g", "a", 2) + running("g", "b", 3)), "a-1 | b-2");
  EXPECT_EQ(spare(groups, running("g", "a", 2) + running("g", "b", 1)), "no minimum");
}

TEST(KaiSpare, SubgroupsAboveTheMinimumOfSubgroupsGoEachAsAWhole) {
  const std::string groups =
      "{minSubGroup: 1, subGroups: [{name: a, minMember: 2}, {name: b, minMember: 2}, {name: c, minMember: 2}]}";
  EXPECT_EQ(spare(groups, running("g", "a", 3) + running("g", "b", 2) + running("g", "c", 2)),
            "a-2 | c-0 c-1 | b-0 b-1");
  EXPECT_EQ(spare(groups, running("g", "a", 1) + running("g", "c", 2)), "a-0") << "one that is not whole is not needed";
}

TEST(KaiSpare, TheMasterStaysAsLongAsAnybodyDoes) {
  const std::string master = object(
      "v1", "Pod", "z-master", "annotations: {pod-group-name: g}, labels: {training.kubeflow.org/job-role: master}",
      "{schedulerName: kai-scheduler, nodeName: n1, containers: [{name: c}]}");
  EXPECT_EQ(spare("{minMember: 1}", running("g", "", 2) + master), "p-1 | p-0");
  EXPECT_EQ(spare("{minMember: 0}", running("g", "", 2) + master), "p-1 | p-0") << "it goes with what is left";
}

TEST(KaiSpare, AWorkloadOfAPlanHasTheSameAsItsPodGroupOnACluster) {
  const auto pod = [](const std::string& name) {
    return object("v1", "Pod", name,
                  "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]",
                  "{schedulerName: kai-scheduler, nodeName: n1, containers: [{name: c}]}");
  };
  const std::string job = object("batch/v1", "Job", "j", "uid: u, annotations: {kai.scheduler/batch-min-member: '1'}",
                                 "{parallelism: 3, template: " + pod_template() + "}");
  EXPECT_EQ(spare_in(World(kai_node("n1", "z", "r") + job + pod("j-0") + pod("j-1") + pod("j-2"))), "j-2 | j-1");
}

}  // namespace
}  // namespace gantree

#include "kueue/pod_groups.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialects/kueue/names.h"
#include "live/parsed.h"

namespace gantree::kueue {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Pod {
  std::string name;
  std::string group = "ring";
  int total = 3;
  std::string role = "a";
  bool held = true;
  std::string phase = "Pending";
  std::string more = {};  // further annotations
  int created = 0;        // seconds
  bool deleting = false;
};

LiveObject live(const Pod& pod) {
  const std::string group = pod.group.empty() ? "" : fmt::format(R"(,"kueue.x-k8s.io/pod-group-name":"{}")", pod.group);
  const std::string released = pod.held ? "" : R"(,"kueue.x-k8s.io/workload":"ring")";
  const std::string deleting = pod.deleting ? R"(,"deletionTimestamp":"2026-01-01T00:01:00Z")" : "";
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"uid-{0}","creationTimestamp":"2026-01-01T00:00:{1:02}Z"{2},)"
      R"("finalizers":["kueue.x-k8s.io/managed"],)"
      R"("labels":{{"kueue.x-k8s.io/managed":"true","kueue.x-k8s.io/queue-name":"main"{3}}},)"
      R"("annotations":{{"kueue.x-k8s.io/pod-group-total-count":"{4}","kueue.x-k8s.io/role-hash":"{5}"{6}{7}}}}},)"
      R"("spec":{{"schedulingGates":[{8}],"containers":[]}},"status":{{"phase":"{9}"}}}})",
      pod.name, pod.created, deleting, group, pod.total, pod.role, released, pod.more,
      pod.held ? R"({"name":"kueue.x-k8s.io/admission"})" : "", pod.phase);
  return *prune("", "v1", "Pod", text);
}

std::vector<std::string> see(PodGroups& groups, const Pod& pod) {
  const LiveObject object = live(pod);
  const auto parsed = parse(object.text);
  return groups.see(object, parsed->object);
}

std::map<std::string, int> counts(const std::vector<SetSpec>& sets) {
  std::map<std::string, int> counts;
  for (const SetSpec& set : sets) {
    counts[set.name] = set.count;
  }
  return counts;
}

using Counts = std::map<std::string, int>;

TEST(PodGroups, APodNamesItsGroupInAnAnnotationOrInALabel) {
  PodGroups groups;
  EXPECT_THAT(see(groups, {.name = "x", .group = "", .more = R"(,"kueue.x-k8s.io/pod-group-name":"ring")"}),
              ElementsAre("ns/ring"));
  EXPECT_THAT(see(groups, {.name = "y", .group = "ring"}), ElementsAre("ns/ring"));
  EXPECT_EQ(groups.find("ns/ring")->pods.size(), 2U);
  EXPECT_FALSE(groups.find("ns/ring")->single);
  // The annotation counts before the label.
  EXPECT_THAT(see(groups, {.name = "z", .group = "other", .more = R"(,"kueue.x-k8s.io/pod-group-name":"ring")"}),
              ElementsAre("ns/ring"));
}

TEST(PodGroups, AGroupIsCompleteWhenAllItsPodsAreThere) {
  PodGroups groups;
  EXPECT_THAT(see(groups, {.name = "p0"}), ElementsAre("ns/ring"));
  EXPECT_THAT(see(groups, {.name = "p1", .role = "b"}), ElementsAre("ns/ring"));
  EXPECT_FALSE(groups.find("ns/ring")->complete());
  EXPECT_THAT(see(groups, {.name = "p2"}), ElementsAre("ns/ring"));
  ASSERT_TRUE(groups.find("ns/ring")->complete());
  std::vector<json::Document> documents;
  EXPECT_EQ(counts(sets_of(*groups.find("ns/ring"), documents)), (Counts{{"a", 2}, {"b", 1}}));
}

TEST(PodGroups, APodThatGoesOrFailedIsNoMember) {
  PodGroups groups;
  for (const char* name : {"p0", "p1"}) {
    EXPECT_THAT(see(groups, {.name = name}), ElementsAre("ns/ring"));
  }
  EXPECT_THAT(see(groups, {.name = "p2", .deleting = true}), ElementsAre("ns/ring"));
  EXPECT_THAT(see(groups, {.name = "p3", .phase = "Failed"}), ElementsAre("ns/ring"));
  EXPECT_FALSE(groups.find("ns/ring")->complete());
}

TEST(PodGroups, OnePodIsEnoughWhereTheGroupSaysSo) {
  PodGroups groups;
  const std::string fast = R"(,"kueue.x-k8s.io/pod-group-fast-admission":"true")";
  EXPECT_THAT(see(groups, {.name = "p0", .more = fast}), ElementsAre("ns/ring"));
  ASSERT_TRUE(groups.find("ns/ring")->complete());
  std::vector<json::Document> documents;
  EXPECT_EQ(counts(sets_of(*groups.find("ns/ring"), documents)), (Counts{{"a", 3}}));
}

TEST(PodGroups, APodWithoutAGroupStandsForItself) {
  PodGroups groups;
  const auto changed = see(groups, {.name = "alone", .group = ""});
  ASSERT_EQ(changed.size(), 1U);
  const PodGroup& group = *groups.find(changed.front());
  EXPECT_TRUE(group.single && group.complete());
  EXPECT_EQ(group.uid, "uid-alone");
  std::vector<json::Document> documents;
  EXPECT_EQ(counts(sets_of(group, documents)), (Counts{{"main", 1}}));
}

TEST(PodGroups, APodMadeAnewUnderTheSameNameLeavesItsOldGroup) {
  PodGroups groups;
  EXPECT_THAT(see(groups, {.name = "p0"}), ElementsAre("ns/ring"));
  EXPECT_THAT(see(groups, {.name = "p0", .group = "other"}), ElementsAre("ns/ring", "ns/other"));
  EXPECT_THAT(groups.find("ns/ring")->pods, IsEmpty());
  EXPECT_THAT(groups.lose("ns/p0"), ElementsAre("ns/other"));
  EXPECT_THAT(groups.lose("ns/p0"), IsEmpty());
}

TEST(PodGroups, TheYoungestThatWaitAreLeftOver) {
  PodGroups groups;
  for (const Pod& pod : {Pod{.name = "a0", .held = false}, Pod{.name = "a1", .phase = "Succeeded"},
                         Pod{.name = "young", .created = 9}, Pod{.name = "old", .created = 5}}) {
    EXPECT_THAT(see(groups, pod), ElementsAre("ns/ring"));
  }
  EXPECT_THAT(groups.find("ns/ring")->excess({{"a", 3}}), ElementsAre("ns/young"));
  EXPECT_THAT(see(groups, {.name = "b0", .role = "b"}), ElementsAre("ns/ring"));
  EXPECT_THAT(groups.find("ns/ring")->excess({{"a", 4}}), ElementsAre("ns/b0"));
}

TEST(PodGroups, AGroupIsOverWhenAllHaveSucceeded) {
  PodGroups groups;
  for (const char* name : {"p0", "p1"}) {
    EXPECT_THAT(see(groups, {.name = name, .held = false, .phase = "Succeeded"}), ElementsAre("ns/ring"));
  }
  EXPECT_THAT(see(groups, {.name = "p2", .held = false, .phase = "Failed"}), ElementsAre("ns/ring"));
  EXPECT_FALSE(progress_of(*groups.find("ns/ring"), {}).end) << "another may take its place";
  EXPECT_THAT(see(groups, {.name = "p3", .held = false, .phase = "Succeeded"}), ElementsAre("ns/ring"));
  const JobProgress progress = progress_of(*groups.find("ns/ring"), {});
  ASSERT_TRUE(progress.end);
  EXPECT_TRUE(progress.end->success);
}

TEST(PodGroups, SucceededPodsCountAlsoWhenTheyAreGone) {
  PodGroups groups;
  EXPECT_THAT(see(groups, {.name = "p0", .held = false, .phase = "Succeeded"}), ElementsAre("ns/ring"));
  EXPECT_TRUE(progress_of(*groups.find("ns/ring"), {{"a", 3}}).end);
}

TEST(PodGroups, AGroupThatIsNotToBeMendedIsOverWithItsLastPod) {
  PodGroups groups;
  const std::string last = R"(,"kueue.x-k8s.io/retriable-in-group":"false")";
  for (const char* name : {"p0", "p1", "p2"}) {
    EXPECT_THAT(see(groups, {.name = name, .held = false, .phase = "Failed", .more = last}), ElementsAre("ns/ring"));
  }
  const JobProgress progress = progress_of(*groups.find("ns/ring"), {});
  ASSERT_TRUE(progress.end);
  EXPECT_FALSE(progress.end->success);
}

TEST(PodGroups, AServingGroupNeverEndsByItself) {
  PodGroups groups;
  const std::string serving = R"(,"kueue.x-k8s.io/pod-group-serving":"true")";
  for (const char* name : {"p0", "p1", "p2"}) {
    EXPECT_THAT(see(groups, {.name = name, .held = false, .phase = "Succeeded", .more = serving}),
                ElementsAre("ns/ring"));
  }
  EXPECT_FALSE(progress_of(*groups.find("ns/ring"), {}).end);
}

TEST(PodGroups, AGroupThatWasScaledAsksForAnotherNumber) {
  PodGroups groups;
  EXPECT_THAT(see(groups, {.name = "p0"}), ElementsAre("ns/ring"));
  EXPECT_TRUE(groups.find("ns/ring")->asks_for({{"a", 3}}));
  EXPECT_THAT(see(groups, {.name = "p0", .total = 5}), ElementsAre("ns/ring"));
  EXPECT_FALSE(groups.find("ns/ring")->asks_for_total({{"a", 3}}));
}

LiveObject stateful_set(int replicas) {
  return *prune("apps", "v1", "StatefulSet",
                fmt::format(R"({{"metadata":{{"name":"store","namespace":"ns","uid":"set","labels":)"
                            R"({{"kueue.x-k8s.io/queue-name":"main"}}}},"spec":{{"replicas":{}}}}})",
                            replicas));
}

std::vector<std::string> scale(PodGroups& groups, int replicas) {
  const LiveObject object = stateful_set(replicas);
  const auto parsed = parse(object.text);
  return groups.see_stateful(object, parsed->object);
}

LiveObject replica_of_store(const std::string& name) {
  const LiveObject plain = live({.name = name,
                                 .more = R"(,"kueue.x-k8s.io/pod-group-serving":"true")"
                                         R"(,"kueue.x-k8s.io/pod-group-fast-admission":"true")"});
  std::string text = plain.text;
  const std::string at = R"("metadata":{)";
  text.insert(text.find(at) + at.size(),
              R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"store","uid":"set",)"
              R"("controller":true}],)");
  return *prune("", "v1", "Pod", text);
}

TEST(PodGroups, AStatefulSetThatIsScaledAsksForWhatItSaysItselfAndNotForWhatItsPodsSay) {
  PodGroups groups;
  EXPECT_THAT(scale(groups, 6), IsEmpty());
  const LiveObject pod = replica_of_store("store-0");
  const auto parsed = parse(pod.text);
  ASSERT_THAT(groups.see(pod, parsed->object), ElementsAre("ns/ring"));
  ASSERT_TRUE(groups.find("ns/ring")->stateful());
  EXPECT_EQ(groups.find("ns/ring")->total, 6);
  EXPECT_THAT(scale(groups, 6), IsEmpty()) << "nothing has changed";
  EXPECT_THAT(scale(groups, 4), ElementsAre("ns/ring"));
  EXPECT_EQ(groups.find("ns/ring")->total, 4);
  EXPECT_THAT(scale(groups, 0), IsEmpty());
  EXPECT_EQ(groups.find("ns/ring")->total, 4) << "until the last pod is gone";
}

}  // namespace
}  // namespace gantree::kueue

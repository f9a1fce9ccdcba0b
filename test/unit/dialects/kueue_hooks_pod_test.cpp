#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "dialects/kueue/hooks/pod_group.h"
#include "dialects/kueue/hooks/role_hash.h"
#include "hooks.h"
#include "json/read.h"

namespace gantree {
namespace {

constexpr std::string_view kQueue = "kueue.x-k8s.io/queue-name: q";

// Parts are flow YAML without braces.
std::string pod(std::string_view labels, std::string_view annotations = "", std::string_view spec = "",
                std::string_view more = "", std::string_view name = "p") {
  return fmt::format(R"(
apiVersion: v1
kind: Pod
metadata: {{name: {}, labels: {{{}}}, annotations: {{{}}}, {}}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}], {}}}
)",
                     name, labels, annotations, more, spec);
}

bool has(const std::string& text, std::string_view line) {
  return text.find(line) != std::string::npos;
}

std::string group(std::string_view name, std::string_view total) {
  return pod(fmt::format("{}, kueue.x-k8s.io/pod-group-name: {}", kQueue, name),
             fmt::format("kueue.x-k8s.io/pod-group-total-count: '{}'", total));
}

TEST(PodHook, GatesPodsThatNameAQueue) {
  const std::string made = changes(pod(kQueue));
  EXPECT_TRUE(has(made, "/metadata/labels/kueue.x-k8s.io~1managed = \"true\"\n")) << made;
  EXPECT_TRUE(has(made, "/metadata/finalizers = []\n/metadata/finalizers/- = \"kueue.x-k8s.io/managed\"\n")) << made;
  EXPECT_TRUE(has(made, "/spec/schedulingGates/- = {\"name\":\"kueue.x-k8s.io/admission\"}\n")) << made;
  EXPECT_TRUE(has(made, "/metadata/annotations/kueue.x-k8s.io~1role-hash = ")) << made;
  EXPECT_FALSE(has(made, "kueue.x-k8s.io/topology")) << made;
}

TEST(PodHook, GatesPodsThatAskForATopologyTwice) {
  EXPECT_TRUE(has(changes(pod(kQueue, "kueue.x-k8s.io/podset-required-topology: rack")),
                  "/spec/schedulingGates/- = {\"name\":\"kueue.x-k8s.io/topology\"}\n"));
}

TEST(PodHook, ChangesNothingTheSecondTime) {
  const std::string hash = kueue::role_hash(Sent(pod(kQueue)).object().value["spec"]);
  EXPECT_EQ(changes(pod("kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true'",
                        fmt::format("kueue.x-k8s.io/role-hash: '{}'", hash),
                        "schedulingGates: [{name: kueue.x-k8s.io/admission}]", "finalizers: [kueue.x-k8s.io/managed]")),
            "");
}

TEST(PodHook, LeavesOthersAlone) {
  EXPECT_EQ(changes(pod("")), "");
  EXPECT_EQ(changes_on_update(pod(kQueue), pod("")), "");
  EXPECT_EQ(changes(pod(kQueue, "", "",
                        "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]")),
            "");
}

TEST(PodHook, SaysThatABoundPodDoesNotWait) {
  const Mutation mutation = mutated(Sent(pod(kQueue, "", "nodeName: a")));
  EXPECT_TRUE(mutation.patch.empty());
  ASSERT_EQ(mutation.warnings.size(), 1U);
  EXPECT_EQ(mutation.warnings.front(), "spec.nodeName is set, so this Pod does not wait for queue \"q\"");
}

TEST(PodHook, TakesTheRankOfAPodFromTheLabelThatItNames) {
  EXPECT_TRUE(
      has(changes(pod("kueue.x-k8s.io/queue-name: q, rank: '3'", "kueue.x-k8s.io/pod-group-pod-index-label: rank")),
          "/metadata/labels/kueue.x-k8s.io~1pod-group-pod-index = \"3\"\n"));
  EXPECT_FALSE(has(changes(pod(kQueue, "kueue.x-k8s.io/pod-group-pod-index-label: rank")), "pod-index ="));
}

TEST(PodHook, GivesPodsOfAServingWorkloadNoFinalizerAndKeepsTheirRole) {
  const std::string made =
      changes(pod(kQueue, "kueue.x-k8s.io/pod-suspending-parent: deployment, kueue.x-k8s.io/role-hash: main"));
  EXPECT_FALSE(has(made, "finalizers")) << made;
  EXPECT_FALSE(has(made, "role-hash")) << made;
  EXPECT_TRUE(has(made, "kueue.x-k8s.io/admission")) << made;
}

TEST(PodHook, NamesTheGroupOfAStatefulSetThatGotItsNameLate) {
  const std::string made = changes(
      pod(kQueue, "kueue.x-k8s.io/pod-suspending-parent: statefulset", "",
          "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web-x7, uid: u, controller: true}]"));
  EXPECT_TRUE(has(made, "/metadata/labels/kueue.x-k8s.io~1pod-group-name = \"statefulset-web-x7\"\n")) << made;
}

TEST(PodHook, MakesAReplicaOfALeaderWorkerSetOneGroup) {
  const std::string_view annotations =
      "kueue.x-k8s.io/pod-suspending-parent: leaderworkerset.x-k8s.io/leaderworkerset, "
      "leaderworkerset.sigs.k8s.io/size: '4'";
  // The leader's labels before the controller's own webhook was asked.
  const std::string leader =
      changes(pod("kueue.x-k8s.io/queue-name: q, leaderworkerset.sigs.k8s.io/name: serve, "
                  "leaderworkerset.sigs.k8s.io/worker-index: '0'",
                  annotations, "", "", "serve-2"));
  EXPECT_TRUE(has(leader, "pod-group-name = \"leaderworkerset-serve-2\"\n")) << leader;
  EXPECT_TRUE(has(leader, "pod-group-pod-index = \"0\"\n")) << leader;
  EXPECT_TRUE(has(leader, "pod-group-total-count = \"4\"\n")) << leader;
  const std::string worker =
      changes(pod("kueue.x-k8s.io/queue-name: q, leaderworkerset.sigs.k8s.io/name: serve, "
                  "leaderworkerset.sigs.k8s.io/group-index: '2'",
                  annotations, "", "", "serve-2-3"));
  EXPECT_TRUE(has(worker, "pod-group-name = \"leaderworkerset-serve-2\"\n")) << worker;
  EXPECT_TRUE(has(worker, "pod-group-pod-index = \"3\"\n")) << worker;
}

TEST(PodHook, RefusesHalfAGroup) {
  EXPECT_EQ(refusal(group("g", "3")), "");
  EXPECT_EQ(refusal(pod("kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g")),
            "kueue.x-k8s.io/pod-group-name needs kueue.x-k8s.io/pod-group-total-count beside it");
  EXPECT_NE(refusal(pod(kQueue, "kueue.x-k8s.io/pod-group-total-count: '3'")), "");
  EXPECT_NE(refusal(group("G_", "3")), "");
  EXPECT_NE(refusal(group("g", "none")), "");
  EXPECT_NE(refusal(group("g", "0")), "");
  EXPECT_NE(refusal(pod("kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'no'")), "");
  EXPECT_EQ(refusal(pod("kueue.x-k8s.io/pod-group-name: g")), "");
}

TEST(PodHook, KeepsPodsInTheirGroupAndQueue) {
  const std::string gated = "schedulingGates: [{name: kueue.x-k8s.io/admission}]";
  EXPECT_NE(refusal_on_update(group("h", "3"), group("g", "3")), "");
  EXPECT_NE(refusal_on_update(pod(""), pod(kQueue)), "");
  EXPECT_EQ(refusal_on_update(pod("", "", gated), pod(kQueue, "", gated)), "");
}

TEST(PodHook, LetsOnlyTheQueueTakeOffGatesAndMarks) {
  const std::string labels = "kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true'";
  const std::string both =
      "schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: kueue.x-k8s.io/topology}, {name: own}]";
  const std::string kept = "finalizers: [kueue.x-k8s.io/managed]";
  const std::string held = pod(labels, "", both, kept);
  EXPECT_EQ(
      reserved_on_update(pod(labels, "", "", kept), held),
      "the scheduling gate kueue.x-k8s.io/admission cannot be taken off: Pod \"p\" waits in queue \"q\", which takes "
      "it off when the pod is admitted. To start it outside the queue, create it without the label "
      "kueue.x-k8s.io/queue-name");
  const std::string admission = "schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: own}]";
  EXPECT_TRUE(
      has(reserved_on_update(pod(labels, "", admission, kept), held), "gate kueue.x-k8s.io/topology cannot be"));
  EXPECT_TRUE(has(reserved_on_update(pod(kQueue, "", both, kept), held), "label kueue.x-k8s.io/managed cannot be"));
  EXPECT_TRUE(has(reserved_on_update(pod("kueue.x-k8s.io/managed: 'true'", "", both, kept), held),
                  "label kueue.x-k8s.io/queue-name cannot be"));
  EXPECT_TRUE(has(reserved_on_update(pod(labels, "", both), held), "the finalizer kueue.x-k8s.io/managed cannot be"));
}

TEST(PodHook, LeavesAllElseOfAQueuedPodToItsUser) {
  const std::string labels = "kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true'";
  const std::string both = "schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: own}]";
  const std::string ours = "schedulingGates: [{name: kueue.x-k8s.io/admission}]";
  const std::string kept = "finalizers: [kueue.x-k8s.io/managed]";
  const std::string held = pod(labels, "", both, kept);
  EXPECT_EQ(reserved_on_update(pod(labels + ", a: b", "", ours, kept), held), "");
  EXPECT_EQ(
      reserved_on_update(pod("kueue.x-k8s.io/queue-name: other, kueue.x-k8s.io/managed: 'true'", "", both, kept), held),
      "");
  EXPECT_EQ(reserved_on_update(pod(kQueue), pod(kQueue, "", both)), "") << "no queue held it back";
  const std::string of_job = "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]";
  EXPECT_EQ(reserved_on_update(pod(labels, "", "", of_job), pod(labels, "", both, of_job)), "");
}

TEST(PodHook, TakesTheNameOfAGroupFromAnAnnotationToo) {
  const std::string total = "kueue.x-k8s.io/pod-group-total-count: '2'";
  const std::string named = total + ", kueue.x-k8s.io/pod-group-name: g";
  EXPECT_EQ(refusal(pod(kQueue, named)), "");
  EXPECT_NE(refusal(pod(kQueue, total)), "");
  EXPECT_NE(refusal(pod(kQueue, total + ", kueue.x-k8s.io/pod-group-name: G_")), "");
  EXPECT_NE(refusal_on_update(pod(kQueue, total + ", kueue.x-k8s.io/pod-group-name: h"), pod(kQueue, named)), "");
}

TEST(RoleHash, TellsPodsApartByWhatMattersForTheirPlace) {
  const auto hash = [](std::string_view spec) {
    const Sent sent(pod("", "", spec));
    return kueue::role_hash(sent.object().value["spec"]);
  };
  EXPECT_EQ(hash("hostname: a"), hash("hostname: b"));
  EXPECT_EQ(hash("nodeSelector: {a: b, c: d}"), hash("nodeSelector: {c: d, a: b}"));
  EXPECT_NE(hash("nodeSelector: {a: b}"), hash("nodeSelector: {a: c}"));
  EXPECT_NE(hash("nodeSelector: {a: b}"), hash(""));
  EXPECT_EQ(hash("tolerations: [{key: a, operator: Exists}]"), hash("tolerations: [{operator: Exists, key: a}]"));
  EXPECT_NE(hash("initContainers: [{name: i, restartPolicy: Always}]"), hash("initContainers: [{name: i}]"));
}

// Digests of pods as Kueue's own webhook writes them: of two pods of its tests, and of one with all that counts, for
// which they were computed with the types of k8s.io/api in Go.
TEST(RoleHash, IsTheOneThatKueueComputes) {
  const auto hash = [](std::string_view spec) {
    const auto read = json::read_documents("spec", std::string(spec));
    return kueue::role_hash(read->front().root());
  };
  EXPECT_EQ(hash(R"({"containers":[{"name":"c","resources":{"requests":{}}}]})"), "a9f06f3a");
  EXPECT_EQ(hash(R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]})"), "dc85db45");
  EXPECT_EQ(
      hash(
          R"({"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":)"
          R"({"topologyKey":"rack","labelSelector":{"matchExpressions":[{"operator":"In","key":"a","values":["<x>"]}],)"
          R"("matchLabels":{"z":"1","b":"2"}}},"weight":3}]},"nodeAffinity":)"
          R"({"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":)"
          R"([{"key":"k","operator":"Exists"}]}]}}},"containers":[{"name":"c","ports":[{"containerPort":80,)"
          R"("protocol":"TCP","name":"web"}],"resources":{"requests":{"nvidia.com/gpu":"1","cpu":"500m"}}}],)"
          R"("initContainers":[{"name":"i","resources":{"requests":{"cpu":"1"}}}],"nodeSelector":{"b":"x","a":"y"},)"
          R"("priority":5,"tolerations":[{"operator":"Exists","effect":"NoSchedule","key":"gpu"},)"
          R"({"tolerationSeconds":300,"key":"n","operator":"Exists","effect":"NoExecute"}],)"
          R"("topologySpreadConstraints":[{"labelSelector":{"matchLabels":{"a":"b"}},"whenUnsatisfiable":)"
          R"("DoNotSchedule","maxSkew":1,"topologyKey":"zone"}],"runtimeClassName":"kata","overhead":)"
          R"({"memory":"1Gi","cpu":"250m"},"resourceClaims":[{"resourceClaimTemplateName":"t","name":"n"}],)"
          R"("resources":{"requests":{"cpu":"2"}}})"),
      "df808e9b");
}

TEST(PodGroupName, FitsALabel) {
  const std::string name(80, 'x');
  EXPECT_EQ(kueue::stateful_set_group("web"), "statefulset-web");
  EXPECT_LE(kueue::stateful_set_group(name).size(), 63U);
  EXPECT_NE(kueue::replica_group(name, "1"), kueue::replica_group(name, "2"));
}

}  // namespace
}  // namespace gantree

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "hooks.h"

namespace gantree {
namespace {

constexpr std::string_view kQueue = "kueue.x-k8s.io/queue-name: q";
constexpr std::string_view kMarked = "annotations: {kueue.x-k8s.io/pod-suspending-parent: x}";

// Parts are flow YAML without braces.
std::string apps(std::string_view kind, std::string_view labels, std::string_view spec = "",
                 std::string_view template_metadata = "", std::string_view status = "", std::string_view pod = "") {
  return fmt::format(R"(
apiVersion: apps/v1
kind: {}
metadata: {{name: web, labels: {{{}}}}}
spec: {{template: {{metadata: {{{}}}, spec: {{containers: [{{name: c}}], {}}}}}, {}}}
status: {{{}}}
)",
                     kind, labels, template_metadata, pod, spec, status);
}

std::string lws(std::string_view labels, std::string_view group, std::string_view worker_metadata = "",
                std::string_view worker = "") {
  return fmt::format(R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: serve, labels: {{{}}}}}
spec:
  replicas: 2
  leaderWorkerTemplate: {{workerTemplate: {{metadata: {{{}}}, spec: {{containers: [{{name: c}}], {}}}}}, {}}}
)",
                     labels, worker_metadata, worker, group);
}

bool has(const std::string& text, std::string_view line) {
  return text.find(line) != std::string::npos;
}

TEST(ServingHook, PassesTheQueueOnToThePodsOfADeployment) {
  const std::string made =
      changes(apps("Deployment", "kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high"));
  EXPECT_EQ(made,
            "/spec/template/metadata/labels = {}\n"
            "/spec/template/metadata/labels/kueue.x-k8s.io~1queue-name = \"q\"\n"
            "/spec/template/metadata/labels/kueue.x-k8s.io~1priority-class = \"high\"\n"
            "/spec/template/metadata/annotations = {}\n"
            "/spec/template/metadata/annotations/kueue.x-k8s.io~1pod-suspending-parent = \"deployment\"\n");
  EXPECT_TRUE(has(changes(apps("ReplicaSet", kQueue)), "pod-suspending-parent = \"replicaset\""));
  EXPECT_EQ(changes(apps("Deployment", "")), "");
}

TEST(ServingHook, MakesThePodsOfAStatefulSetOneGroup) {
  const std::string made = changes(apps("StatefulSet", kQueue, "replicas: 3"));
  for (const std::string_view line :
       {"labels/kueue.x-k8s.io~1queue-name = \"q\"\n", "labels/kueue.x-k8s.io~1pod-group-name = \"statefulset-web\"\n",
        "annotations/kueue.x-k8s.io~1pod-group-total-count = \"3\"\n",
        "annotations/kueue.x-k8s.io~1pod-group-serving = \"true\"\n",
        "annotations/kueue.x-k8s.io~1pod-group-fast-admission = \"true\"\n",
        "annotations/kueue.x-k8s.io~1pod-group-pod-index-label = \"apps.kubernetes.io/pod-index\"\n",
        "annotations/kueue.x-k8s.io~1role-hash = \"main\"\n"}) {
    EXPECT_TRUE(has(made, line)) << line << made;
  }
  EXPECT_FALSE(has(changes(apps("StatefulSet", kQueue, "replicas: 0")), "total-count"));
}

TEST(ServingHook, LeavesAloneWhatRanBeforeItCame) {
  for (const std::string_view kind : {"Deployment", "StatefulSet"}) {
    EXPECT_EQ(changes_on_update(apps(kind, kQueue), apps(kind, kQueue)), "") << kind;
    EXPECT_NE(changes_on_update(apps(kind, kQueue), apps(kind, "")), "") << kind;
    EXPECT_NE(changes_on_update(apps(kind, kQueue), apps(kind, kQueue, "", kMarked)), "") << kind;
  }
}

TEST(ServingHook, LeavesTheStatefulSetsOfALeaderWorkerSetAlone) {
  EXPECT_EQ(changes(apps("StatefulSet", "kueue.x-k8s.io/queue-name: q, leaderworkerset.sigs.k8s.io/name: serve")), "");
}

TEST(ServingHook, MarksTheTemplatesOfALeaderWorkerSet) {
  const std::string alone = changes(lws(kQueue, "size: 2"));
  EXPECT_FALSE(has(alone, "leaderTemplate")) << alone;
  EXPECT_FALSE(has(alone, "pod-index-offset")) << alone;
  EXPECT_TRUE(has(alone, "/workerTemplate/metadata/annotations/kueue.x-k8s.io~1role-hash = \"main\"\n")) << alone;
  const std::string both = changes(lws(kQueue, "size: 2, leaderTemplate: {spec: {containers: [{name: c}]}}"));
  EXPECT_TRUE(has(both, "/leaderTemplate/metadata/labels/kueue.x-k8s.io~1queue-name = \"q\"\n")) << both;
  EXPECT_TRUE(has(both, "/leaderTemplate/metadata/annotations/kueue.x-k8s.io~1role-hash = \"leader\"\n")) << both;
  EXPECT_TRUE(has(both, "/workerTemplate/metadata/annotations/kueue.x-k8s.io~1role-hash = \"worker\"\n")) << both;
  EXPECT_TRUE(has(both, "/workerTemplate/metadata/annotations/kueue.x-k8s.io~1pod-index-offset = \"1\"\n")) << both;
}

TEST(ServingHook, KeepsTheQueueWhileAPodIsReady) {
  const std::string other = apps("StatefulSet", "kueue.x-k8s.io/queue-name: other");
  EXPECT_NE(refusal_on_update(other, apps("StatefulSet", kQueue, "", "", "readyReplicas: 1")), "");
  EXPECT_EQ(refusal_on_update(other, apps("StatefulSet", kQueue)), "");
  EXPECT_EQ(refusal_on_update(apps("Deployment", ""), apps("Deployment", kQueue)),
            "kueue.x-k8s.io/queue-name \"q\" cannot be taken away, only changed");
}

TEST(ServingHook, LetsAStatefulSetGoToNoneAndBackOnly) {
  const auto sized = [](std::string_view replicas) { return apps("StatefulSet", kQueue, replicas, kMarked); };
  EXPECT_EQ(refusal_on_update(sized("replicas: 4"), sized("replicas: 3")),
            "spec.replicas cannot change from 3 to 4 while it is in queue \"q\", only to 0 and from there");
  EXPECT_EQ(refusal_on_update(sized("replicas: 0"), sized("replicas: 3")), "");
  EXPECT_EQ(refusal_on_update(sized("replicas: 5"), sized("replicas: 0")), "");
  // It is not held back, so it is as free as ever.
  EXPECT_EQ(refusal_on_update(apps("StatefulSet", kQueue, "replicas: 4"), apps("StatefulSet", kQueue, "replicas: 3")),
            "");
}

TEST(ServingHook, KeepsWhatTheQuotaWasCountedBy) {
  const std::string old = apps("StatefulSet", kQueue, "", kMarked);
  EXPECT_NE(refusal_on_update(apps("StatefulSet", kQueue, "", kMarked, "", "nodeSelector: {a: b}"), old), "");
  EXPECT_EQ(refusal_on_update(apps("StatefulSet", kQueue, "", kMarked, "", "hostname: x"), old), "");
  EXPECT_NE(refusal_on_update(lws(kQueue, "size: 3", kMarked), lws(kQueue, "size: 2", kMarked)), "");
  EXPECT_NE(refusal_on_update(lws(kQueue, "size: 2", kMarked, "nodeSelector: {a: b}"), lws(kQueue, "size: 2", kMarked)),
            "");
  EXPECT_EQ(refusal_on_update(lws(kQueue, "size: 2, x: y", kMarked), lws(kQueue, "size: 2", kMarked)), "");
}

TEST(ServingHook, RefusesTemplatesThatContradictThemselves) {
  const std::string_view wrong = "annotations: {kueue.x-k8s.io/podset-slice-size: '2'}";
  EXPECT_NE(refusal(apps("Deployment", kQueue, "", wrong)), "");
  EXPECT_NE(refusal(lws(kQueue, "size: 2", wrong)), "");
  EXPECT_EQ(refusal(apps("Deployment", "", "", wrong)), "");
}

}  // namespace
}  // namespace gantree

// Objects that Go programs read, and write back in Protobuf.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "apiserver/protobuf.h"
#include "unit/apiserver/protobuf_writer.h"
#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// Every field of every kind, as Kubernetes' own tests have them.
TEST(ProtobufObjects, AreReadAsKubernetesItselfShowsThem) {
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GANTREE_PROTOBUF_SAMPLES)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".pb") {
      continue;
    }
    const auto object = read_protobuf(content_of(path));
    if (!object) {
      // Answers and kinds of groups that are not served here.
      EXPECT_NE(object.error().message.find("is not known"), std::string::npos) << path << object.error().message;
      continue;
    }
    ++read;
    std::filesystem::path shown = path;
    const auto wanted = parse_json(content_of(shown.replace_extension(".json")));
    ASSERT_TRUE(wanted) << path;
    EXPECT_TRUE(same(*object, *wanted)) << path << "\n" << to_json(*object) << "\n" << to_json(*wanted);
  }
  EXPECT_GT(read, 60U);
}

struct Sample {
  std::string path;  // of the collection
  std::string message;
  std::string body;
};

std::string rich_pod() {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"l":""},"annotations":{"n":"1"},
    "finalizers":["example.com/f"]},"spec":{"hostNetwork":false,"hostPID":false,"serviceAccountName":"default",
    "subdomain":"","terminationGracePeriodSeconds":0,"activeDeadlineSeconds":600,"priority":0,"nodeName":"",
    "automountServiceAccountToken":false,"enableServiceLinks":false,"shareProcessNamespace":false,
    "securityContext":{"runAsUser":0,"fsGroup":0,"supplementalGroups":[0,1],"sysctls":[{"name":"a","value":""}]},
    "schedulingGates":[{"name":"example.com/gate"}],
    "nodeSelector":{"disk":""},"imagePullSecrets":[{"name":"s"}],
    "tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":0},{"operator":"Exists"}],
    "affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":
      {"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}}]},"podAntiAffinity":
      {"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname",
      "labelSelector":{"matchLabels":{"a":"b"}}}]}},
    "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{}}],
    "initContainers":[{"name":"i","image":"i","restartPolicy":"Always"}],
    "containers":[{"name":"c","image":"i","tty":false,"command":["sh"],"args":["-c",""],"workingDir":"",
      "env":[{"name":"A","value":""},{"name":"B","value":"b"},{"name":"C","valueFrom":{"resourceFieldRef":
        {"resource":"limits.cpu"}}},{"name":"D","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
        {"name":"E","valueFrom":{"configMapKeyRef":{"name":"m","key":"k","optional":false}}}],
      "envFrom":[{"prefix":"","secretRef":{"name":"s","optional":true}}],
      "ports":[{"containerPort":80,"hostPort":0,"name":"http"}],
      "resources":{"limits":{"cpu":"1000m","memory":"1024Mi","nvidia.com/gpu":"1"},"requests":{"cpu":"0"}},
      "volumeMounts":[{"name":"v","mountPath":"/v","readOnly":false,"subPath":""}],
      "readinessProbe":{"httpGet":{"path":"","port":"http"},"initialDelaySeconds":0},
      "livenessProbe":{"tcpSocket":{"port":80},"terminationGracePeriodSeconds":1},
      "startupProbe":{"grpc":{"port":80}},
      "lifecycle":{"preStop":{"exec":{"command":["true"]}}},
      "securityContext":{"privileged":false,"runAsNonRoot":false,"capabilities":{"drop":["ALL"]}},"stdin":false}],
    "volumes":[{"name":"v","emptyDir":{}},{"name":"w","emptyDir":{"medium":"","sizeLimit":"1Gi"}},
      {"name":"x","configMap":{"name":"m","optional":false,"items":[{"key":"k","path":"p","mode":0}]}},
      {"name":"y","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"downwardAPI":{"items":[{"path":"l",
        "fieldRef":{"fieldPath":"metadata.labels"}}]}}]}},{"name":"z","hostPath":{"path":"/z"}},
      {"name":"u","persistentVolumeClaim":{"claimName":"c","readOnly":false}},{"name":"s","secret":{"secretName":"s"}}]}})";
}

std::string workload(const std::string& version, const std::string& kind, const std::string& extra) {
  return R"({"apiVersion":")" + version + R"(","kind":")" + kind + R"(","metadata":{"name":"a"},"spec":{)" + extra +
         R"("selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[
         {"name":"c","image":"i","env":[{"name":"A","value":""}],"ports":[{"containerPort":80}]}],"hostNetwork":false}}}})";
}

std::vector<Sample> samples() {
  const std::string core = "/api/v1/namespaces/default/";
  const std::string apps = "/apis/apps/v1/namespaces/default/";
  const std::string times = R"("conditions":[{"type":"Ready","status":"True"}])";
  return {
      {core + "pods", "k8s.io.api.core.v1.Pod", rich_pod()},
      {"/api/v1/nodes", "k8s.io.api.core.v1.Node",
       R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"spec":{"unschedulable":false,"taints":[{"key":"k",
       "value":"","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"},)" +
           times + R"(,"nodeInfo":{"machineID":""},"images":[{"names":["x"],"sizeBytes":0}]}})"},
      {core + "configmaps", "k8s.io.api.core.v1.ConfigMap",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"","y":"z"},"binaryData":{"b":"AAE="},
       "immutable":false})"},
      {core + "secrets", "k8s.io.api.core.v1.Secret",
       R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"x":"y"},"data":{"e":""}})"},
      {core + "services", "k8s.io.api.core.v1.Service",
       R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"selector":{"a":"b"},
       "publishNotReadyAddresses":false,"ports":[{"name":"h","port":80},{"name":"i","port":81,"targetPort":"x"}]}})"},
      {core + "events", "k8s.io.api.core.v1.Event",
       R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"a","namespace":"default"},"involvedObject":
       {"kind":"Pod","namespace":"default","name":"p"},"reason":"r","type":"Normal","count":0,
       "lastTimestamp":"2026-01-02T03:04:05Z"})"},
      {core + "serviceaccounts", "k8s.io.api.core.v1.ServiceAccount",
       R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"},"automountServiceAccountToken":false})"},
      {core + "persistentvolumeclaims", "k8s.io.api.core.v1.PersistentVolumeClaim",
       R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],
       "storageClassName":"","resources":{"requests":{"storage":"1Gi"}}}})"},
      {core + "resourcequotas", "k8s.io.api.core.v1.ResourceQuota",
       R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"a"},"spec":{"hard":{"secrets":"100"}}})"},
      {apps + "deployments", "k8s.io.api.apps.v1.Deployment",
       workload("apps/v1", "Deployment", R"("replicas":0,"paused":false,"minReadySeconds":0,)")},
      {apps + "replicasets", "k8s.io.api.apps.v1.ReplicaSet", workload("apps/v1", "ReplicaSet", R"("replicas":0,)")},
      {apps + "statefulsets", "k8s.io.api.apps.v1.StatefulSet",
       workload("apps/v1", "StatefulSet", R"("replicas":0,"serviceName":"s","updateStrategy":{"rollingUpdate":
       {"partition":0}},"volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"],
       "resources":{"requests":{"storage":"1"}}}}],)")},
      {apps + "daemonsets", "k8s.io.api.apps.v1.DaemonSet", workload("apps/v1", "DaemonSet", "")},
      {"/apis/batch/v1/namespaces/default/jobs", "k8s.io.api.batch.v1.Job",
       R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"suspend":true,"parallelism":0,
       "backoffLimit":0,"ttlSecondsAfterFinished":0,"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":
       [{"type":"DisruptionTarget"}]}]},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})"},
      {"/apis/batch/v1/namespaces/default/cronjobs", "k8s.io.api.batch.v1.CronJob",
       R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"a"},"spec":{"schedule":"0 0 1 1 *","suspend":false,
       "jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}})"},
      {"/apis/coordination.k8s.io/v1/namespaces/default/leases", "k8s.io.api.coordination.v1.Lease",
       R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"},"spec":{"holderIdentity":"",
       "leaseDurationSeconds":15,"leaseTransitions":0,"renewTime":"2026-01-02T03:04:05.123456Z"}})"},
      {"/apis/policy/v1/namespaces/default/poddisruptionbudgets", "k8s.io.api.policy.v1.PodDisruptionBudget",
       R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"a"},"spec":{"maxUnavailable":0,
       "selector":{}}})"},
      {"/apis/rbac.authorization.k8s.io/v1/clusterroles", "k8s.io.api.rbac.v1.ClusterRole",
       R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"a"},"rules":[{"apiGroups":[""],
       "resources":["pods"],"verbs":["get"]}]})"},
      {"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
       "k8s.io.api.admissionregistration.v1.ValidatingWebhookConfiguration",
       R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"a"},
       "webhooks":[{"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":
       {"service":{"namespace":"default","name":"s"}},"rules":[{"apiGroups":["example.com"],"apiVersions":["*"],
       "operations":["CREATE"],"resources":["things"]}]}]})"},
      {"/apis/scheduling.k8s.io/v1/priorityclasses", "k8s.io.api.scheduling.v1.PriorityClass",
       R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"a"},"value":0,
       "globalDefault":false})"},
      {"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "k8s.io.api.discovery.v1.EndpointSlice",
       R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"a"},"addressType":"IPv4","endpoints":[
       {"addresses":["10.0.0.1"],"conditions":{"ready":false}}],"ports":[{"name":"","port":80}]})"},
  };
}

TEST(ProtobufObjects, ThatAreWrittenBackAsTheyWereReadStayAsTheyAre) {
  World world;
  for (const Sample& sample : samples()) {
    const Answer created = world.post(sample.path, sample.body);
    ASSERT_EQ(created.status, 201) << sample.message << created.text();
    const std::string path = sample.path + "/a";
    const Answer read = world.get(path);
    const std::string bytes = ProtobufWriter::write(body_of(read), sample.message);
    // What a Go program holds of it is what was read, but for the kinds of a StatefulSet's claims: Protobuf has none.
    const auto held = read_protobuf(bytes);
    ASSERT_TRUE(held) << sample.message;
    EXPECT_TRUE(sample.message.ends_with("StatefulSet") || same(*held, body_of(read))) << to_json(*held) << "\n"
                                                                                       << read.text();
    const Answer written = world.send("PUT", path, bytes, "application/vnd.kubernetes.protobuf");
    EXPECT_EQ(written.status, 200) << sample.message << written.text();
    EXPECT_EQ(version_in(written), version_in(read)) << sample.message << written.text() << "\n" << read.text();
  }
}

TEST(ProtobufObjects, AreMadeAsFromJson) {
  World world;
  for (const Sample& sample : samples()) {
    const auto wish = parse_json(sample.body);
    ASSERT_TRUE(wish) << sample.body;
    const Answer by_json = world.post(sample.path + "?dryRun=All", sample.body);
    const Answer by_protobuf =
        world.send("POST", sample.path + "?dryRun=All", ProtobufWriter::write(*wish, sample.message),
                   "application/vnd.kubernetes.protobuf");
    ASSERT_EQ(by_json.status, 201) << by_json.text();
    ASSERT_EQ(by_protobuf.status, 201) << sample.message << by_protobuf.text();
    Value one = body_of(by_json);
    Value other = body_of(by_protobuf);
    for (Value* value : {&one, &other}) {
      value->get_object().erase("metadata");  // times and uids
      if (Object* spec =
              value->get_object().if_contains("spec") != nullptr ? (*value).at("spec").if_object() : nullptr) {
        spec->erase("clusterIP");
        spec->erase("clusterIPs");
        spec->erase("selector");  // of a Job: its uid
        if (sample.message.ends_with(".Job")) {
          spec->erase("template");
        }
      }
    }
    EXPECT_TRUE(same(one, other)) << sample.message << "\n" << to_json(one) << "\n" << to_json(other);
  }
}

TEST(ProtobufObjects, PodsTakeLabelsAndGatesFromAGoOperator) {
  World world;
  const std::string path = "/api/v1/namespaces/default/pods";
  ASSERT_EQ(world.post(path, rich_pod()).status, 201);
  Value pod = body_of(world.get(path + "/a"));
  object_in(pod.get_object()["metadata"].get_object(), "labels")["new"] = "1";
  pod.get_object()["spec"].get_object().erase("schedulingGates");
  const Answer written = world.send("PUT", path + "/a", ProtobufWriter::write(pod, "k8s.io.api.core.v1.Pod"),
                                    "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(written.status, 200) << written.text();
  EXPECT_EQ(text_in(written, {"metadata", "labels", "new"}), "1");
  EXPECT_EQ(text_in(written, {"spec", "schedulingGates"}), "");
  const Answer status = world.send(
      "PUT", path + "/a/status",
      [&] {
        Value now = body_of(written);
        now.get_object()["status"] = *parse_json(R"({"phase":"Running","containerStatuses":[{"name":"c","ready":false,
          "restartCount":0,"image":"i","imageID":"","state":{"running":{"startedAt":null}}}]})");
        return ProtobufWriter::write(now, "k8s.io.api.core.v1.Pod");
      }(),
      "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(status.status, 200) << status.text();
  const Value shown = body_of(status);
  const Array* containers = array_at(shown, {"status", "containerStatuses"});
  ASSERT_NE(containers, nullptr) << status.text();
  EXPECT_NE(find((*containers)[0], {"ready"}), nullptr) << status.text();
  EXPECT_NE(find((*containers)[0], {"restartCount"}), nullptr) << status.text();
}

TEST(GoForm, ZerosThatGoLeavesOutAreNotKept) {
  World world;
  ASSERT_EQ(world.post("/api/v1/namespaces/default/pods", rich_pod()).status, 201);
  const Value pod = body_of(world.get("/api/v1/namespaces/default/pods/a"));
  const Value& container = (*array_at(pod, {"spec", "containers"}))[0];
  EXPECT_EQ(find(pod, {"spec", "hostNetwork"}), nullptr);
  EXPECT_EQ(find((*array_at(container, {"env"}))[0], {"value"}), nullptr);
  EXPECT_NE(find(pod, {"spec", "terminationGracePeriodSeconds"}), nullptr) << "behind a pointer";
  EXPECT_NE(find(container, {"securityContext", "privileged"}), nullptr) << "behind a pointer";
  EXPECT_EQ(text_at((*array_at(container, {"env"}))[2], {"valueFrom", "resourceFieldRef", "divisor"}), "0");
}

TEST(GoForm, TimesOfEventsThatNobodySetAreNull) {
  World world;
  const Answer made = world.post("/api/v1/namespaces/default/events", R"({"apiVersion":"v1","kind":"Event","metadata":
    {"name":"e","namespace":"default"},"involvedObject":{"kind":"Pod","namespace":"default","name":"p"}})");
  ASSERT_EQ(made.status, 201) << made.text();
  for (const std::string_view time : {"firstTimestamp", "lastTimestamp", "eventTime"}) {
    const Value body = body_of(made);
    const Value* shown = find(body, {time});
    ASSERT_NE(shown, nullptr) << time;
    EXPECT_TRUE(shown->is_null()) << time;
  }
  // Also by the other group, after a patch, and in the owners of fields, who have none of them.
  const Answer patched = world.merge("/api/v1/namespaces/default/events/e", R"({"lastTimestamp":null,"count":2})");
  EXPECT_EQ(patched.status, 200) << patched.text();
  EXPECT_EQ(text_in(patched, {"lastTimestamp"}), "null");
  EXPECT_EQ(text_in(patched, {"metadata", "managedFields"}).find("imestamp\":{}"), std::string::npos) << patched.text();
  EXPECT_EQ(text_in(world.get("/apis/events.k8s.io/v1/namespaces/default/events/e"), {"deprecatedLastTimestamp"}),
            "null");
}

}  // namespace
}  // namespace gantree::apiserver

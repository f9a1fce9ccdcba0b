// The kinds of Kubeflow and Ray on their way into the API.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "hooks.h"

namespace gantree {
namespace {

using testing::HasSubstr;

std::string mpi_job(bool both, std::string_view annotations = "") {
  return fmt::format(R"(
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: train, labels: {{kueue.x-k8s.io/queue-name: q}}}}
spec:
  runLauncherAsWorker: {}
  mpiReplicaSpecs:
    Launcher: {{template: {{spec: {{containers: [{{name: c}}]}}}}}}
    Worker: {{replicas: 3, template: {{metadata: {{annotations: {{{}}}}}, spec: {{containers: [{{name: c}}]}}}}}}
)",
                     both, annotations);
}

std::string ray_job(std::string_view spec, std::string_view cluster = "") {
  return fmt::format(R"(
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: train, labels: {{kueue.x-k8s.io/queue-name: q}}}}
spec: {{{}, rayClusterSpec: {{{} headGroupSpec: {{template: {{spec: {{containers: [{{name: c}}]}}}}}}}}}}
)",
                     spec, cluster);
}

TEST(RoleHook, SuspendsATrainingJobByItsRunPolicyAlsoWhereItHasNone) {
  EXPECT_EQ(changes(mpi_job(false)), "/spec/runPolicy = {}\n/spec/runPolicy/suspend = true\n");
}

TEST(RoleHook, RanksOfWorkersBeginAtOneWhereTheLauncherIsOneOfThem) {
  EXPECT_THAT(
      changes(mpi_job(true)),
      HasSubstr(
          "/spec/mpiReplicaSpecs/Worker/template/metadata/annotations/kueue.x-k8s.io~1pod-index-offset = \"1\"\n"));
  EXPECT_EQ(changes(mpi_job(true, "kueue.x-k8s.io/pod-index-offset: '0'")),
            "/spec/runPolicy = {}\n/spec/runPolicy/suspend = true\n");
}

TEST(RoleHook, RefusesARoleThatTheOperatorDoesNotKnow) {
  EXPECT_THAT(refusal(R"(
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {pytorchReplicaSpecs: {Workers: {template: {spec: {containers: [{name: c}]}}}}}
)"),
              HasSubstr("a PyTorchJob has no such role"));
}

TEST(RoleHook, SuspendsARayJobThatClearsUpAfterItself) {
  const std::string good = ray_job("shutdownAfterJobFinishes: true");
  EXPECT_EQ(changes(good), "/spec/suspend = true\n");
  EXPECT_EQ(refusal(good), "");
  EXPECT_THAT(refusal(ray_job("entrypoint: a")), HasSubstr("shutdownAfterJobFinishes must be true"));
  EXPECT_THAT(refusal(ray_job("shutdownAfterJobFinishes: true", "enableInTreeAutoscaling: true,")),
              HasSubstr("enableInTreeAutoscaling cannot be true"));
}

TEST(RoleHook, ARayJobInAClusterThatIsThereDoesNotWait) {
  const Sent sent(R"(
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {clusterSelector: {ray.io/cluster: shared}}
)");
  const Mutation mutation = change(sent.mutator(), sent.named(), nullptr);
  EXPECT_EQ(changes(mutation), "");
  EXPECT_EQ(mutation.refusal.value_or(""), "");
  ASSERT_EQ(mutation.warnings.size(), 1U);
  EXPECT_THAT(mutation.warnings.front(), HasSubstr("runs in a cluster that is there"));
}

TEST(RoleHook, TheQueueOfATrainingJobChangesOnlyWhileItIsSuspended) {
  const std::string runs = R"(
apiVersion: kubeflow.org/v1
kind: JAXJob
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: QUEUE}}
spec: {runPolicy: {suspend: FLAG}, jaxReplicaSpecs: {Worker: {template: {spec: {containers: [{name: c}]}}}}}
)";
  const auto with = [&](std::string queue, std::string flag) {
    std::string text = runs;
    text.replace(text.find("QUEUE"), 5, queue);
    return text.replace(text.find("FLAG"), 4, flag);
  };
  EXPECT_EQ(refusal_on_update(with("b", "true"), with("a", "true")), "");
  EXPECT_THAT(refusal_on_update(with("b", "false"), with("a", "false")), HasSubstr("while the JAXJob runs"));
}

TEST(RoleHook, LetsNobodyStartAJobThatWaitsInItsQueue) {
  const auto of = [](std::string_view api, std::string_view kind, std::string_view spec) {
    return fmt::format(
        "apiVersion: {}\nkind: {}\nmetadata: {{name: j, labels: {{kueue.x-k8s.io/queue-name: q}}}}\nspec: {{{}}}", api,
        kind, spec);
  };
  for (const std::string_view kind : {"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"}) {
    const std::string_view api = kind == "MPIJob" ? "kubeflow.org/v2beta1" : "kubeflow.org/v1";
    EXPECT_THAT(
        reserved_on_update(of(api, kind, "runPolicy: {suspend: false}"), of(api, kind, "runPolicy: {suspend: true}")),
        HasSubstr("spec.runPolicy.suspend cannot be set to false"))
        << kind;
  }
  EXPECT_NE(reserved_on_update(of("ray.io/v1", "RayCluster", ""), of("ray.io/v1", "RayCluster", "suspend: true")), "");
  EXPECT_NE(reserved_on_update(of("ray.io/v1", "RayJob", "rayClusterSpec: {}"),
                               of("ray.io/v1", "RayJob", "rayClusterSpec: {}, suspend: true")),
            "");
}

TEST(RoleHook, RefusesMorePodsThanCanBeMeantByTheFieldThatSaysThem) {
  const std::string_view pod = "template: {spec: {containers: [{name: c}]}}";
  const auto of = [&](std::string_view api, std::string_view kind, std::string_view spec) {
    return fmt::format(
        "apiVersion: {}\nkind: {}\nmetadata: {{name: j, labels: {{kueue.x-k8s.io/queue-name: q}}}}\nspec: {{{}}}", api,
        kind, spec);
  };
  const auto job = [&](int parallelism) {
    return of("batch/v1", "Job", fmt::format("parallelism: {}, {}", parallelism, pod));
  };
  EXPECT_EQ(refusal(job(1'000'000)), "");
  EXPECT_EQ(refusal(job(1'000'001)), "parallelism of \"main\" would be 1000001 pods; at most 1000000 are allowed");
  EXPECT_EQ(refusal(of("batch/v1", "Job", fmt::format("parallelism: 2, completions: 2000000000, {}", pod))), "")
      << "one after the other";
  EXPECT_EQ(
      refusal(of(
          "jobset.x-k8s.io/v1alpha2", "JobSet",
          fmt::format("replicatedJobs: [{{name: r0, replicas: 30000, template: {{spec: {{parallelism: 80000, {}}}}}}}]",
                      pod))),
      "replicas times parallelism of \"r0\" would be 2400000000 pods; at most 1000000 are allowed");
  EXPECT_EQ(refusal(of("jobset.x-k8s.io/v1alpha2", "JobSet",
                       fmt::format("replicatedJobs: [{{name: a, replicas: 600000, template: {{spec: {{{0}}}}}}}, "
                                   "{{name: b, replicas: 600000, template: {{spec: {{{0}}}}}}}]",
                                   pod))),
            "all templates together ask for 1200000 pods; at most 1000000 are allowed");
  for (const std::string_view kind : {"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"}) {
    const std::string_view api = kind == "MPIJob" ? "kubeflow.org/v2beta1" : "kubeflow.org/v1";
    const std::string member = kind == "PyTorchJob"   ? "pytorch"
                               : kind == "TFJob"      ? "tf"
                               : kind == "XGBoostJob" ? "xgb"
                               : kind == "PaddleJob"  ? "paddle"
                               : kind == "JAXJob"     ? "jax"
                                                      : "mpi";
    EXPECT_EQ(
        refusal(of(api, kind, fmt::format("{}ReplicaSpecs: {{Worker: {{replicas: 2147483647, {}}}}}", member, pod))),
        "replicas of \"worker\" would be 2147483647 pods; at most 1000000 are allowed")
        << kind;
  }
  EXPECT_EQ(refusal(of("ray.io/v1", "RayCluster",
                       fmt::format("headGroupSpec: {{{0}}}, workerGroupSpecs: [{{groupName: w, replicas: 2147483647, "
                                   "numOfHosts: 2147483647, {0}}}]",
                                   pod))),
            "replicas times numOfHosts of \"w\" would be 4611686014132420609 pods; at most 1000000 are allowed");
  for (const std::string_view kind : {"Deployment", "ReplicaSet", "StatefulSet"}) {
    EXPECT_EQ(refusal(of("apps/v1", kind, fmt::format("replicas: 1000001, {}", pod))),
              "replicas of \"main\" would be 1000001 pods; at most 1000000 are allowed")
        << kind;
  }
  EXPECT_EQ(
      refusal(
          of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
             "replicas: 1000, leaderWorkerTemplate: {size: 2000, workerTemplate: {spec: {containers: [{name: c}]}}}")),
      "replicas times leaderWorkerTemplate.size of \"workers\" would be 1999000 pods; at most 1000000 are allowed");
  EXPECT_THAT(
      refusal("apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {kueue.x-k8s.io/queue-name: q, "
              "kueue.x-k8s.io/pod-group-name: g}, annotations: {kueue.x-k8s.io/pod-group-total-count: '2000000'}}\n"
              "spec: {containers: [{name: c}]}"),
      HasSubstr("kueue.x-k8s.io/pod-group-total-count must be the number of pods of group \"g\", at most 1000000"));
}

TEST(RoleHook, RefusesMoreReplicatedJobsThanCanBeMeant) {
  std::string jobs;
  for (int i = 0; i < 1'001; ++i) {
    jobs += fmt::format("{{name: r{}, template: {{spec: {{template: {{spec: {{containers: []}}}}}}}}}},", i);
  }
  EXPECT_EQ(refusal("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j, labels: "
                    "{kueue.x-k8s.io/queue-name: q}}\nspec: {replicatedJobs: [" +
                    jobs + "]}"),
            "replicatedJobs has 1001 entries; at most 1000 are allowed");
}

TEST(RoleHook, RefusesPodsThatCouldNotBeMadeOrAreNotCounted) {
  const auto job_set = [](std::string_view pod) {
    return fmt::format(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: j, labels: {{kueue.x-k8s.io/queue-name: "
        "q}}}}\n"
        "spec: {{replicatedJobs: [{{name: w, template: {{spec: {{template: {{spec: {{{}}}}}}}}}}}]}}",
        pod);
  };
  EXPECT_EQ(refusal(job_set("containers: [{name: c, resources: {requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 1}}}]")),
            "container \"c\" requests 2 of cpu, above its limit of 1");
  EXPECT_EQ(refusal(job_set(
                "containers: [], initContainers: [{name: i, resources: {requests: {cpu: 1001m}, limits: {cpu: 1}}}]")),
            "container \"i\" requests 1001m of cpu, above its limit of 1");
  EXPECT_EQ(refusal(job_set("containers: [], resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}")),
            "the pod requests 2Gi of memory, above its limit of 1Gi");
  EXPECT_EQ(refusal(job_set("containers: [{name: c, resources: {requests: {cpu: 1}, limits: {cpu: 1000m}}}]")), "");
  EXPECT_EQ(refusal(job_set("containers: [{name: c, resources: {limits: {cpu: 1}}}]")), "");
  EXPECT_EQ(
      refusal(job_set("containers: [{name: c}], resourceClaims: [{name: gpu, resourceClaimTemplateName: t}]")),
      "spec.resourceClaims: resource claims are not counted against quota, so pods with claims cannot wait in a queue");
  EXPECT_EQ(refusal(job_set("containers: [{name: c}], resourceClaims: []")), "");
  EXPECT_EQ(
      refusal(
          "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}\n"
          "spec: {pytorchReplicaSpecs: {Master: {template: {spec: {containers: []}}}, Worker: {template: {spec: "
          "{containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]}}}}}"),
      "\"worker\": container \"c\" requests 2 of cpu, above its limit of 1");
}

}  // namespace
}  // namespace gantree

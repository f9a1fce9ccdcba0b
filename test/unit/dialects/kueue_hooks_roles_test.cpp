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

}  // namespace
}  // namespace gantree

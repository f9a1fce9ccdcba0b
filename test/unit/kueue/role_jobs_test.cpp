// Jobs with a template for each role: of Kubeflow, and of Ray.
#include <gmock/gmock.h>

#include "job_world.h"

namespace gantree::kueue {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

struct RoleJobState {
  bool suspended = true;
  std::string status = "{}";
  std::string marks = "";  // annotations of the job
};

const char* const kTemplate =
    R"({"metadata":{"annotations":{"kueue.x-k8s.io/podset-required-topology":"rack"}},"spec":{"containers":[)"
    R"({"name":"c","resources":{"requests":{"nvidia.com/gpu":"1"}}}]}})";

// One master, three workers, as an object of Kubeflow has them. Each time it has another version.
void training_job(JobWorld& world, const std::string& kind, const std::string& member, const std::string& first,
                  const RoleJobState& state) {
  world.send(
      "kubeflow.org", kind == "MPIJob" ? "v2beta1" : "v1", kind,
      fmt::format(R"({{"metadata":{{"namespace":"default","name":"train","uid":"j-train","resourceVersion":"{0}",)"
                  R"("labels":{{"kueue.x-k8s.io/queue-name":"main"}},"annotations":{{{6}}}}},)"
                  R"("spec":{{"runPolicy":{{"suspend":{1}}},"{2}":{{"{3}":{{"replicas":1,"template":{4}}},)"
                  R"("Worker":{{"replicas":3,"template":{4}}}}}}},"status":{5}}})",
                  ++world.version, state.suspended, member, first, kTemplate, state.status, state.marks));
}

void py_torch_job(JobWorld& world, const RoleJobState& state) {
  training_job(world, "PyTorchJob", "pytorchReplicaSpecs", "Master", state);
}

// The Workload of a job that waits, after it was admitted; and the order that starts the job.
std::pair<std::string, Order> admitted(JobWorld& world, const std::string& kind) {
  const Order create = world.only("Workload");
  EXPECT_EQ(create.write.verb, WriteVerb::kCreate);
  world.carry_out(create);
  world.carry_out(world.only("Workload"));
  return {create.write.object.name, world.only(kind)};
}

TEST(RoleJob, HasAPodSetForEachRoleWhosePodsAreRankedByTheirReplicaIndex) {
  for (const auto& [kind, member, first] : {std::tuple{"PyTorchJob", "pytorchReplicaSpecs", "Master"},
                                            {"TFJob", "tfReplicaSpecs", "Chief"},
                                            {"XGBoostJob", "xgbReplicaSpecs", "Master"},
                                            {"PaddleJob", "paddleReplicaSpecs", "Master"},
                                            {"MPIJob", "mpiReplicaSpecs", "Launcher"}}) {
    JobWorld world(1, 1, 8);
    training_job(world, kind, member, first, {});
    const std::string body = world.only("Workload").write.body;
    std::string role = first;
    role.front() = static_cast<char>(std::tolower(role.front()));
    EXPECT_THAT(body, HasSubstr(fmt::format(R"("podSets":[{{"name":"{}","count":1)", role))) << kind;
    EXPECT_THAT(body, HasSubstr(R"({"name":"worker","count":3)")) << kind;
    EXPECT_THAT(body, HasSubstr(R"("podIndexLabel":"training.kubeflow.org/replica-index")")) << kind;
    EXPECT_THAT(body, HasSubstr(fmt::format(R"("kind":"{}","name":"train","uid":"j-train")", kind)));
  }
}

TEST(RoleJob, IsStartedByItsRunPolicyWithGatesInEachTemplate) {
  JobWorld world(1, 1, 8);
  py_torch_job(world, {});
  const auto [workload, start] = admitted(world, "PyTorchJob");
  EXPECT_THAT(start.write.body, HasSubstr(R"("path":"/spec/runPolicy/suspend","value":false)"));
  for (const char* role : {"Master", "Worker"}) {
    EXPECT_THAT(start.write.body, HasSubstr(fmt::format(R"("path":"/spec/pytorchReplicaSpecs/{}/template")", role)));
  }
  EXPECT_THAT(start.write.body,
              AllOf(HasSubstr(R"("schedulingGates":[{"name":"kueue.x-k8s.io/topology"}])"),
                    HasSubstr(R"("nodeSelector":{"pool":"a"})"), HasSubstr(R"("kueue.x-k8s.io/podset":"worker")")));
}

TEST(RoleJob, IsReadyWhenItsOperatorSaysSoAndOverByItsConditions) {
  JobWorld world(1, 1, 8);
  py_torch_job(world, {});
  const auto [workload, start] = admitted(world, "PyTorchJob");
  world.done(start);
  const std::string mark = R"("gantree.dev/started-for":"w-)" + workload + "\"";
  py_torch_job(world, {.suspended = false, .status = R"({"replicaStatuses":{"Worker":{"active":3}}})", .marks = mark});
  world.settle();
  EXPECT_THAT(world.status(workload, "conditions"), HasSubstr(R"("type":"PodsReady","status":"False")"));
  py_torch_job(world,
               {.suspended = false, .status = R"({"conditions":[{"type":"Running","status":"True"}]})", .marks = mark});
  world.settle();
  EXPECT_THAT(world.status(workload, "conditions"), HasSubstr(R"("type":"PodsReady","status":"True")"));
  py_torch_job(world, {.suspended = false,
                       .status = R"({"conditions":[{"type":"Succeeded","status":"True","message":"done"}]})",
                       .marks = mark});
  world.settle();
  EXPECT_THAT(world.status(workload, "conditions"),
              HasSubstr(R"("type":"Finished","status":"True","reason":"Succeeded")"));
}

TEST(RoleJob, IsStoppedByItsRunPolicyAndGivesBackWhatItHasOnceItsPodsAreGone) {
  JobWorld world(1, 1, 8);
  py_torch_job(world, {});
  const auto [workload, start] = admitted(world, "PyTorchJob");
  world.done(start);
  const std::string mark = R"("gantree.dev/started-for":"w-)" + workload + "\"";
  const std::string active = R"({"replicaStatuses":{"Worker":{"active":3}}})";
  py_torch_job(world, {.suspended = false, .status = active, .marks = mark});
  world.settle();
  world.to_jobs.clear();
  world.set(workload, "active", "false");
  world.settle();
  ASSERT_EQ(world.to_jobs.size(), 1U);
  EXPECT_THAT(world.to_jobs.front().write.body, HasSubstr(R"("path":"/spec/runPolicy/suspend","value":true)"));
  py_torch_job(world, {.suspended = true, .status = active});
  world.settle();
  EXPECT_NE(world.status(workload, "admission"), "");
  py_torch_job(world, {.suspended = true});
  world.settle();
  EXPECT_EQ(world.status(workload, "admission"), "");
}

TEST(RoleJob, RanksOfWorkersBeginAtTheOffset) {
  JobWorld world(1, 2, 8);
  training_job(world, "MPIJob", "mpiReplicaSpecs", "Launcher", {});
  const auto [workload, start] = admitted(world, "MPIJob");
  world.done(start);
  const std::string mark = R"("gantree.dev/started-for":"w-)" + workload + "\"";
  training_job(world, "MPIJob", "mpiReplicaSpecs", "Launcher", {.suspended = false, .marks = mark});
  // Rank 3 is the last of three that begin at 1.
  for (int rank = 1; rank <= 3; ++rank) {
    world.send(
        "", "v1", "Pod",
        fmt::format(R"({{"metadata":{{"namespace":"default","name":"train-worker-{0}","uid":"p-{0}","labels":{{)"
                    R"("kueue.x-k8s.io/podset":"worker","training.kubeflow.org/replica-index":"{0}"}},)"
                    R"("annotations":{{"kueue.x-k8s.io/workload":"{1}","kueue.x-k8s.io/pod-index-offset":"1"}}}},)"
                    R"("spec":{{"schedulingGates":[{{"name":"kueue.x-k8s.io/topology"}}],"containers":[)"
                    R"({{"name":"c","resources":{{"requests":{{"nvidia.com/gpu":"1"}}}}}}]}}}})",
                    rank, workload));
  }
  int ungated = 0;
  for (const Order& order : world.step()) {
    ungated += order.write.object.kind == "Pod" ? 1 : 0;
  }
  EXPECT_EQ(ungated, 3);
}

// A head and two groups of workers; `spec`: beside the cluster's own.
std::string ray_cluster(bool suspended) {
  return fmt::format(R"({{"suspend":{0},"headGroupSpec":{{"template":{1}}},"workerGroupSpecs":[)"
                     R"({{"groupName":"small","replicas":2,"template":{1}}},)"
                     R"({{"groupName":"large","replicas":1,"numOfHosts":2,"template":{1}}}]}})",
                     suspended, kTemplate);
}

void ray(JobWorld& world, const std::string& kind, const std::string& spec, const std::string& status,
         const std::string& marks = "") {
  world.send(
      "ray.io", "v1", kind,
      fmt::format(R"({{"metadata":{{"namespace":"default","name":"ray","uid":"j-ray","resourceVersion":"{}",)"
                  R"("labels":{{"kueue.x-k8s.io/queue-name":"main"}},"annotations":{{{}}}}},"spec":{},"status":{}}})",
                  ++world.version, marks, spec, status));
}

std::string ray_job(bool suspended) {
  return fmt::format(R"({{"suspend":{},"rayClusterSpec":{}}})", suspended, ray_cluster(false));
}

TEST(RayKinds, HaveAPodSetForTheHeadAndOneForEachGroup) {
  JobWorld world(1, 1, 8);
  ray(world, "RayCluster", ray_cluster(true), "{}");
  const Order create = world.only("Workload");
  for (const char* set : {R"("name":"head","count":1)", R"("name":"small","count":2)", R"("name":"large","count":2)"}) {
    EXPECT_THAT(create.write.body, HasSubstr(set));
  }
  world.carry_out(create);
  world.carry_out(world.only("Workload"));
  const std::string start = world.only("RayCluster").write.body;
  EXPECT_THAT(start, HasSubstr(R"("path":"/spec/headGroupSpec/template")"));
  EXPECT_THAT(start, HasSubstr(R"("path":"/spec/workerGroupSpecs/1/template")"));
  EXPECT_THAT(start, HasSubstr(R"("path":"/spec/suspend","value":false)"));
}

TEST(RayKinds, AJobIsStartedWithItsClusterAndOverWhenItIsDeployedNoMore) {
  JobWorld world(1, 1, 8);
  ray(world, "RayJob", ray_job(true), "{}");
  const auto [workload, start] = admitted(world, "RayJob");
  EXPECT_THAT(start.write.body, HasSubstr(R"("path":"/spec/rayClusterSpec/workerGroupSpecs/0/template")"));
  world.done(start);
  const std::string mark = R"("gantree.dev/started-for":"w-)" + workload + "\"";
  ray(world, "RayJob", ray_job(false), R"({"jobDeploymentStatus":"Running","rayClusterStatus":{"state":"ready"}})",
      mark);
  world.settle();
  EXPECT_THAT(world.status(workload, "conditions"), HasSubstr(R"("type":"PodsReady","status":"True")"));
  ray(world, "RayJob", ray_job(false), R"({"jobDeploymentStatus":"Failed","jobStatus":"FAILED"})", mark);
  world.settle();
  EXPECT_THAT(world.status(workload, "conditions"),
              HasSubstr(R"("type":"Finished","status":"True","reason":"Failed")"));
}

TEST(RayKinds, TheClusterOfAJobIsTheJobs) {
  JobWorld world(1, 1, 8);
  world.send(
      "ray.io", "v1", "RayCluster",
      fmt::format(R"({{"metadata":{{"namespace":"default","name":"ray-x","uid":"j-x","resourceVersion":"3",)"
                  R"("labels":{{"kueue.x-k8s.io/queue-name":"main"}},"ownerReferences":[{{"apiVersion":"ray.io/v1",)"
                  R"("kind":"RayJob","name":"ray","uid":"j-ray","controller":true}}]}},"spec":{}}})",
                  ray_cluster(false)));
  for (const Order& order : world.step()) {
    EXPECT_THAT(order.write.object.kind, AnyOf("ClusterQueue", "LocalQueue")) << "what queues say of themselves";
  }
}

}  // namespace
}  // namespace gantree::kueue

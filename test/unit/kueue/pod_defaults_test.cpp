// What pods get from the API server counts before they are there.
#include <gmock/gmock.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

using testing::HasSubstr;

// A Job "j" of two pods with these fields in their spec.
void put_job(SmallCluster& cluster, const std::string& pods) {
  cluster.put("batch", "v1", "Job",
              fmt::format("{{'metadata':{{'name':'j','namespace':'ns','labels':{{'kueue.x-k8s.io/queue-name':'q'}}}},"
                          "'spec':{{'suspend':true,'parallelism':2,'completions':2,'template':{{'spec':{{{}}}}}}}}}",
                          pods));
}

// The pod of the first pod set of the Workload of "j", and its containers.
Tree pod(const SmallCluster& cluster) {
  const Tree workload = cluster.workload("j");
  return *workload.find({"spec", "podSets"})->items.front().find({"template", "spec"});
}

std::string containers(const SmallCluster& cluster) {
  return pod(cluster).find({"containers"})->to_json();
}

void put_limit_range(SmallCluster& cluster, const std::string& limits) {
  cluster.put(
      "", "v1", "LimitRange",
      fmt::format("{{'metadata':{{'name':'l','namespace':'ns'}},'spec':{{'limits':[{{'type':'Container',{}}}]}}}}",
                  limits));
}

TEST(PodDefaults, AreInTheWorkloadWhereTheJobSaysNothingItself) {
  SmallCluster cluster;
  put_limit_range(cluster, "'defaultRequest':{'memory':'1Gi','nvidia.com/gpu':'3'},'default':{'cpu':'2'}");
  put_job(cluster, "'containers':[{'name':'c','resources':{'requests':{'nvidia.com/gpu':'1'}}}]");
  cluster.settle();
  EXPECT_EQ(
      containers(cluster),
      R"([{"name":"c","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"2","memory":"1Gi","nvidia.com/gpu":"1"}}}])");
}

// As the API server fills in pods: their own fields first, then the defaults of LimitRanges.
TEST(PodDefaults, OfContainersDoNotCountWhereThePodAsAWholeHasALimit) {
  SmallCluster cluster;
  put_limit_range(cluster, "'defaultRequest':{'cpu':'3'}");
  put_job(cluster, "'resources':{'limits':{'cpu':'4'}},'containers':[{'name':'c'}]");
  cluster.settle();
  EXPECT_EQ(pod(cluster).str({"resources", "requests", "cpu"}), "4");
}

TEST(PodDefaults, LeaveAPodAsAWholeAloneWhoseContainersAskForSomething) {
  SmallCluster cluster;
  put_limit_range(cluster, "'defaultRequest':{'memory':'1Gi'}");
  put_job(cluster,
          "'resources':{'limits':{'cpu':'4'}},'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]");
  cluster.settle();
  EXPECT_EQ(pod(cluster).find({"resources", "requests"}), nullptr);
}

TEST(PodDefaults, OfANamespaceDecideWhetherAJobFits) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_limit_range(cluster, "'defaultRequest':{'nvidia.com/gpu':'3'}");
  put_job(cluster, "'containers':[{'name':'c'}]");
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j")) << "six GPUs in all, and no host has more than four";
  put_limit_range(cluster, "'defaultRequest':{'nvidia.com/gpu':'2'}");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_FALSE(cluster.suspended("j"));
  EXPECT_EQ(cluster.server.find(FakeServer::key("Job", "ns", "j"))
                ->tree.find({"spec", "template", "spec", "containers"})
                ->to_json(),
            R"([{"name":"c"}])")
      << "the job itself stays as it is";
}

TEST(LimitBounds, KeepAJobWaitingWhosePodsWouldBeRefusedUntilTheyAreChanged) {
  SmallCluster cluster;
  cluster.node("a", 8);
  put_limit_range(cluster, "'max':{'nvidia.com/gpu':'2'}");
  put_job(
      cluster,
      "'containers':[{'name':'c','resources':{'limits':{'nvidia.com/gpu':'3'},'requests':{'nvidia.com/gpu':'3'}}}]");
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  EXPECT_THAT(
      cluster.workload("j").to_json(),
      HasSubstr("LimitRange \\\"l\\\": container \\\"c\\\" asks for 3 of nvidia.com/gpu, and at most 2 is allowed"));
  put_limit_range(cluster, "'max':{'nvidia.com/gpu':'4'}");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(LimitBounds, KeepAJobWaitingAlsoWhereTheyAreTheLimitsOfContainersThatSetNone) {
  SmallCluster cluster;
  cluster.node("a", 8);
  // As the API server keeps one that has a maximum and nothing else.
  put_limit_range(cluster, "'max':{'nvidia.com/gpu':'2'},'default':{'nvidia.com/gpu':'2'}");
  put_job(cluster, "'containers':[{'name':'c','resources':{'requests':{'nvidia.com/gpu':'3'}}}]");
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  EXPECT_THAT(cluster.workload("j").to_json(), HasSubstr(R"("reason":"Misconfigured")"));
  EXPECT_NE(cluster.workload("j").str({"spec", "active"}), "false") << "it is not its user's mistake alone";
  put_limit_range(cluster, "'default':{'nvidia.com/gpu':'2'}");
  cluster.settle();
  EXPECT_THAT(cluster.workload("j").to_json(), HasSubstr(R"("reason":"Misconfigured")")) << "a default alone does, too";
  EXPECT_NE(cluster.workload("j").str({"spec", "active"}), "false");
  put_limit_range(cluster, "'max':{'nvidia.com/gpu':'4'},'default':{'nvidia.com/gpu':'4'}");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(LimitBounds, AreToldAsPeopleWriteThem) {
  SmallCluster cluster;
  cluster.node("a", 8);
  put_limit_range(cluster, "'max':{'nvidia.com/gpu':'2Gi'}");
  put_job(cluster, "'containers':[{'name':'c','resources':{'limits':{'nvidia.com/gpu':'3Gi'}}}]");
  cluster.settle();
  EXPECT_THAT(cluster.workload("j").to_json(), HasSubstr("asks for 3Gi of nvidia.com/gpu, and at most 2Gi is allowed"));
}

constexpr char kOneGpu[] = "'containers':[{'name':'c','resources':{'requests':{'nvidia.com/gpu':'1'}}}]";

TEST(LimitBounds, HoldForTheLeastToo) {
  SmallCluster cluster;
  cluster.node("a", 8);
  put_limit_range(cluster, "'min':{'nvidia.com/gpu':'2'}");
  put_job(cluster, kOneGpu);
  cluster.settle();
  EXPECT_THAT(cluster.workload("j").to_json(), HasSubstr("requests 1 of nvidia.com/gpu, and at least 2 is asked"));
}

TEST(LimitBounds, HoldForWholePodsToo) {
  SmallCluster cluster;
  cluster.node("a", 8);
  const auto put_pod_bounds = [&](const std::string& limits) {
    cluster.put("", "v1", "LimitRange",
                fmt::format("{{'metadata':{{'name':'l','namespace':'ns'}},'spec':{{'limits':[{}]}}}}", limits));
  };
  put_pod_bounds("{'type':'Pod','max':{'nvidia.com/gpu':'1'}}");
  put_job(cluster, kOneGpu);
  cluster.settle();
  EXPECT_THAT(cluster.workload("j").to_json(),
              HasSubstr("a pod has no limit of nvidia.com/gpu, and at most 1 is allowed"));
  put_pod_bounds("");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
}

TEST(LimitBounds, CountSidecarsBesideTheContainersOfAPod) {
  SmallCluster cluster;
  cluster.node("a", 8);
  cluster.put(
      "", "v1", "LimitRange",
      "{'metadata':{'name':'l','namespace':'ns'},'spec':{'limits':[{'type':'Pod','max':{'nvidia.com/gpu':'3'}}]}}");
  constexpr char kTwo[] = "'resources':{'limits':{'nvidia.com/gpu':'2'},'requests':{'nvidia.com/gpu':'2'}}";
  const auto put = [&](const std::string& more) {
    put_job(cluster,
            fmt::format("'containers':[{{'name':'c',{0}}}],'initContainers':[{{'name':'i',{0}{1}}}]", kTwo, more));
    cluster.settle();
  };
  put(",'restartPolicy':'Always'");
  EXPECT_THAT(cluster.workload("j").to_json(),
              HasSubstr("a pod asks for 4 of nvidia.com/gpu, and at most 3 is allowed"));
  put("");
  EXPECT_TRUE(cluster.admitted("j")) << "one after the other they take 2";
}

TEST(PodDefaults, IncludeTheOverheadOfARuntime) {
  SmallCluster cluster;
  cluster.put("node.k8s.io", "v1", "RuntimeClass",
              "{'metadata':{'name':'kata'},'handler':'k','overhead':{'podFixed':{'memory':'160Mi'}}}");
  put_job(cluster, "'runtimeClassName':'kata','containers':[{'name':'c'}]");
  cluster.settle();
  EXPECT_THAT(cluster.workload("j").to_json(), HasSubstr(R"("overhead":{"memory":"160Mi"})"));
}

}  // namespace
}  // namespace gantree::test

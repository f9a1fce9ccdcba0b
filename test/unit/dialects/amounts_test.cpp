#include "dialects/core/amounts.h"

#include <gtest/gtest.h>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

class PodRequests : public testing::Test {
 protected:
  // "cpu=1500 memory=1024 pods=1" of a pod spec.
  std::string of(const std::string& spec) {
    const Manifests manifests(spec);
    json::Reader read("test.yaml", manifests.root(), "");
    const Amounts amounts = read_pod_requests(read, manifests.root(), names_);
    if (!read.ok()) {
      return read.error().value().message;
    }
    std::string text;
    for (const auto& [id, amount] : amounts.entries()) {
      text += (text.empty() ? "" : " ") + std::string(names_.name(id)) + "=" + std::to_string(amount);
    }
    return text;
  }

  ResourceNames names_;
};

TEST_F(PodRequests, AreTheSumOfTheContainers) {
  EXPECT_EQ(of("containers: [{resources: {requests: {cpu: 100m, memory: 1Ki}}}, {resources: {requests: {cpu: 1.4}}}]"),
            "cpu=1500 memory=1024 pods=1");
}

TEST_F(PodRequests, AreOnePodWhereNothingIsAskedFor) {
  EXPECT_EQ(of("containers: [{name: c}]"), "pods=1");
}

TEST_F(PodRequests, RoundUp) {
  EXPECT_EQ(of("containers: [{resources: {requests: {cpu: 0.1m, memory: 1.5}}}]"), "cpu=1 memory=2 pods=1");
}

TEST_F(PodRequests, TakeLimitsWhereThereAreNoRequests) {
  EXPECT_EQ(of("containers: [{resources: {requests: {cpu: 1}, limits: {cpu: 4, nvidia.com/gpu: 8}}}]"),
            "cpu=1000 pods=1 nvidia.com/gpu=8");
}

TEST_F(PodRequests, KeepARequestOfZeroBesideALimit) {
  EXPECT_EQ(of("containers: [{resources: {requests: {cpu: 0}, limits: {cpu: 4}}}]"), "pods=1");
}

TEST_F(PodRequests, CoverTheLargestInitContainer) {
  EXPECT_EQ(of("{initContainers: [{resources: {requests: {cpu: 3}}}, {resources: {requests: {cpu: 2, memory: 9}}}],"
               " containers: [{resources: {requests: {cpu: 1, memory: 5}}}]}"),
            "cpu=3000 memory=9 pods=1");
}

TEST_F(PodRequests, AddSidecarsToTheContainers) {
  EXPECT_EQ(of("{initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}],"
               " containers: [{resources: {requests: {cpu: 2}}}]}"),
            "cpu=3000 pods=1");
}

TEST_F(PodRequests, AddTheSidecarsStartedBeforeToAnInitContainer) {
  // At its worst the pod runs both sidecars before it and the init container: 1 + 2 + 5.
  EXPECT_EQ(of("{initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}},"
               " {restartPolicy: Always, resources: {requests: {cpu: 2}}},"
               " {resources: {requests: {cpu: 5}}},"
               " {restartPolicy: Always, resources: {requests: {cpu: 1}}}],"
               " containers: [{resources: {requests: {cpu: 3}}}]}"),
            "cpu=8000 pods=1");
  EXPECT_EQ(of("{initContainers: [{resources: {requests: {cpu: 5}}},"
               " {restartPolicy: Always, resources: {requests: {cpu: 1}}}],"
               " containers: [{resources: {requests: {cpu: 3}}}]}"),
            "cpu=5000 pods=1")
      << "a sidecar that starts after the init container does not run beside it";
}

TEST_F(PodRequests, AddOverhead) {
  EXPECT_EQ(of("{overhead: {cpu: 250m, memory: 7}, containers: [{resources: {requests: {cpu: 1}}}]}"),
            "cpu=1250 memory=7 pods=1");
}

TEST_F(PodRequests, TakePodLevelRequestsForTheResourcesTheyName) {
  EXPECT_EQ(of("{resources: {requests: {cpu: 8}}, overhead: {cpu: 1},"
               " containers: [{resources: {requests: {cpu: 1, nvidia.com/gpu: 2}}}]}"),
            "cpu=9000 pods=1 nvidia.com/gpu=2");
}

TEST_F(PodRequests, TakePodLevelLimitsOnlyWhereNobodyRequests) {
  EXPECT_EQ(of("{resources: {limits: {cpu: 8, memory: 10}}, containers: [{resources: {requests: {cpu: 1}}}]}"),
            "cpu=1000 memory=10 pods=1");
  EXPECT_EQ(of("{resources: {requests: {cpu: 2}, limits: {cpu: 8}}, containers: [{name: c}]}"), "cpu=2000 pods=1");
}

TEST_F(PodRequests, MayNotBeNegativeHoweverSmall) {
  EXPECT_EQ(of("containers:\n- resources:\n    requests: {cpu: -1}"),
            "test.yaml:3: containers[0].resources.requests.cpu must be at least 0, not -1");
  EXPECT_NE(of("containers: [{resources: {requests: {memory: -0.5}}}]").find("must be at least 0"), std::string::npos);
  EXPECT_NE(of("containers: [{resources: {limits: {memory: -100m}}}]").find("must be at least 0"), std::string::npos);
}

TEST_F(PodRequests, AreWholeDevices) {
  EXPECT_EQ(of("containers: [{resources: {requests: {nvidia.com/gpu: 1.5}}}]"),
            "test.yaml:1: nvidia.com/gpu must be a whole number, not 1.5");
  EXPECT_NE(of("containers: [{resources: {limits: {nvidia.com/gpu: 500m}}}]").find("must be a whole number"),
            std::string::npos);
  EXPECT_EQ(of("containers: [{resources: {requests: {nvidia.com/gpu: 2.0, cpu: 1.5}}}]"),
            "cpu=1500 pods=1 nvidia.com/gpu=2");
}

TEST_F(PodRequests, DoNotOverflow) {
  EXPECT_EQ(of("containers: [{resources: {requests: {memory: 9223372036854775807}}},"
               " {resources: {requests: {memory: 9223372036854775807}}}]"),
            "memory=9223372036854775807 pods=1");
}

// Otherwise who names ever new ones makes every cycle longer.
TEST_F(PodRequests, OfNamesBeyondThoseThatAreKeptAddUpToOneThatNoNodeHas) {
  names_.limit_asked(1);
  EXPECT_EQ(of("containers: [{resources: {requests: {x.io/a: 1}}}]"), "pods=1 x.io/a=1");
  EXPECT_EQ(of("containers: [{resources: {requests: {x.io/a: 1, x.io/b: 2, x.io/c: 0}, limits: {x.io/d: 3}}}]"),
            "pods=1 x.io/a=1 (one of too many names)=5");
  EXPECT_EQ(of("{containers: [{name: c}], resources: {requests: {x.io/b: 2, x.io/c: 1}}}"),
            "pods=1 (one of too many names)=3");
  names_.intern("x.io/b");
  EXPECT_EQ(of("containers: [{resources: {requests: {x.io/b: 2}}}]"), "pods=1 x.io/b=2") << "a node has it now";
  EXPECT_EQ(names_.size(), 6U);
}

}  // namespace
}  // namespace gantree

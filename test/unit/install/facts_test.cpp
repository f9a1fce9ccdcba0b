#include "install/facts.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

TEST(Facts, ReadsNodesPageByPage) {
  std::vector<NodeFact> nodes;
  ASSERT_TRUE(read_nodes(R"({"items":[{"metadata":{"name":"a","labels":{"rack":"r1"}},
    "status":{"conditions":[{"type":"Ready","status":"True"}]}}]})",
                         nodes));
  ASSERT_TRUE(read_nodes(R"({"items":[{"metadata":{"name":"b"},"spec":{"unschedulable":true}}]})", nodes));
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_TRUE(nodes[0].ready && nodes[0].schedulable);
  EXPECT_EQ(nodes[0].node.labels.at("rack"), "r1");
  EXPECT_FALSE(nodes[1].ready || nodes[1].schedulable);
}

TEST(Facts, ReadsWhyAPodWaits) {
  std::vector<WaitingPod> pods;
  ASSERT_TRUE(read_waiting_pods(
      R"({"items":[{"metadata":{"namespace":"x","name":"p","creationTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"schedulerName":"gantree"},"status":{"conditions":[{"type":"PodScheduled","status":"False","message":"no room"}]}}]})",
      pods));
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods[0].message, "no room");
  EXPECT_EQ(pods[0].scheduler, "gantree");
  EXPECT_EQ(pods[0].created_seconds, 1767225600);
}

TEST(Facts, ReadsWhatIsServed) {
  const auto served =
      read_served(R"({"resources":[{"name":"podgroups"},{"name":"podgroups/status"},{"name":"others"}]})");
  ASSERT_TRUE(served);
  ASSERT_EQ(served->size(), 2U);
  EXPECT_TRUE(served->at(0).status);
  EXPECT_FALSE(served->at(1).status);
}

TEST(Facts, ReadsTheRest) {
  EXPECT_EQ(read_version(R"({"gitVersion":"v1.36.3"})").value(), "v1.36.3");
  EXPECT_TRUE(read_allowed(R"({"status":{"allowed":true}})").value());
  EXPECT_FALSE(read_allowed(R"({"status":{"denied":true}})").value());
  const auto lease = read_lease_fact(
      R"({"spec":{"holderIdentity":"me","leaseDurationSeconds":10,"renewTime":"2026-01-01T00:00:00.000000Z"}})");
  EXPECT_EQ(lease->holder, "me");
  EXPECT_EQ(lease->renewed_seconds, 1767225600);
  EXPECT_EQ(read_webhooks(R"({"webhooks":[{"name":"w","clientConfig":{"caBundle":"YWI="}}]})")->front().bundle, "ab");
  std::vector<DeploymentFact> deployments;
  ASSERT_TRUE(read_deployments(
      R"({"items":[{"metadata":{"namespace":"n","name":"d"},"spec":{"replicas":3,"template":{"spec":{"containers":[{"command":["a"],"args":["b"]}]}}},"status":{"availableReplicas":1}}]})",
      deployments));
  EXPECT_EQ(deployments.front().wanted, 3);
  EXPECT_EQ(deployments.front().available, 1);
  EXPECT_EQ(deployments.front().arguments, (std::vector<std::string>{"a", "b"}));
  std::size_t ready = 0;
  ASSERT_TRUE(read_ready_endpoints(
      R"({"items":[{"endpoints":[{"conditions":{"ready":true}},{},{"conditions":{"ready":false}}]}]})", ready));
  EXPECT_EQ(ready, 2U);
  EXPECT_EQ(continue_token(R"({"metadata":{"continue":"next"}})"), "next");
}

TEST(Facts, RefusesWhatIsSomethingElse) {
  std::vector<NodeFact> nodes;
  for (const char* text : {"", "[]", "oops", R"({"items":{}})", R"({"items":[7]})"}) {
    EXPECT_FALSE(read_nodes(text, nodes)) << text;
  }
  EXPECT_FALSE(read_version("{}"));
  EXPECT_EQ(continue_token("nonsense"), "");
}

}  // namespace
}  // namespace gantree

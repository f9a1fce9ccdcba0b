// What pods demand that no scheduler here looks at is refused in plans as on a cluster.
#include <gtest/gtest.h>

#include "unit/dialects/koordinator_manifests.h"

namespace gantree {
namespace {

constexpr char kApart[] =
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack}]}}";

// Whether the first submission is rejected for that.
void expect_refused(const std::string& manifests, const std::string& why) {
  const World world(koordinator_nodes() + manifests);
  ASSERT_TRUE(world.reading) << world.error();
  ASSERT_EQ(world.reading->queue.size(), 1U) << manifests;
  const auto& rejection = world.reading->queue.front().rejection;
  ASSERT_TRUE(rejection) << manifests;
  EXPECT_EQ(rejection->reason, Reason::kInvalidRequest);
  EXPECT_FALSE(rejection->waits);
  EXPECT_NE(rejection->message.find(why), std::string::npos) << rejection->message;
}

TEST(NotLookedAt, RefusesAGangByWhatOneOfItsPodsDemands) {
  const auto gang_with = [](const std::string& spec) {
    return pod_group("g", 2) + koord_pod("a", in_group("g")) + koord_pod("b", in_group("g"), 1, spec);
  };
  expect_refused(gang_with(kApart),
                 "Pod \"default/b\" asks for required anti-affinity to pods "
                 "(spec.affinity.podAntiAffinity), which this scheduler does not look at");
  expect_refused(gang_with("topologySpreadConstraints: [{whenUnsatisfiable: DoNotSchedule}]"),
                 "topologySpreadConstraints");
  expect_refused(gang_with("initContainers: [{name: i, ports: [{hostPort: 80}]}]"), "a host port");
  expect_refused(gang_with("resourceClaims: [{name: gpu}]"), "spec.resourceClaims");
}

TEST(NotLookedAt, RefusesWorkloadsByTheirTemplates) {
  expect_refused(std::string("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: default}\nspec: "
                             "{template: {spec: {schedulerName: koord-scheduler, ") +
                     kApart + ", containers: [{name: c}]}}}\n",
                 "Job \"default/j\": its pods ask for required anti-affinity");
}

TEST(NotLookedAt, RefusesPodsOfNoFamilyThatAreOurs) {
  const auto pod = [](const std::string& scheduler) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec: {schedulerName: " +
           scheduler + ", " + kApart + ", containers: [{name: c}]}\n";
  };
  expect_refused(pod("gantree"), "its pods ask for required anti-affinity to pods");
  const World others(koordinator_nodes() + pod("kai-scheduler"));
  ASSERT_EQ(others.reading->queue.size(), 1U);
  EXPECT_FALSE(others.reading->queue.front().rejection) << "KAI-Scheduler looks at it";
}

TEST(NotLookedAt, LeavesAloneWhatIsOnlyPreferred) {
  const World world(koordinator_nodes() + pod_group("g", 1) +
                    koord_pod("a", in_group("g"), 1,
                              "affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: "
                              "1}]}}, topologySpreadConstraints: [{whenUnsatisfiable: ScheduleAnyway}]"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_FALSE(world.reading->queue.front().rejection);
}

TEST(NotLookedAt, LeavesAloneWhatRuns) {
  const World world(koordinator_nodes() + pod_group("g", 1) +
                    koord_pod("a", in_group("g"), 1, std::string(kApart) + ", nodeName: node-1"));
  ASSERT_TRUE(world.reading) << world.error();
  EXPECT_TRUE(world.reading->queue.empty());
}

}  // namespace
}  // namespace gantree

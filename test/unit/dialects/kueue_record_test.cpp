// What Workloads say of jobs that are planned.
#include <gtest/gtest.h>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

std::string workload(const std::string& spec, const std::string& status, const std::string& owner = "Job, name: a") {
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w, namespace: default, "
         "ownerReferences: [{kind: " +
         owner + ", controller: true}]}\nspec: {queueName: queue, podSets: [{name: main, count: 4}]" + spec +
         "}\nstatus: {" + status + "}\n";
}

std::string evicted(const std::string& reason) {
  return "conditions: [{type: Evicted, status: 'True', reason: " + reason + ", message: because}]";
}

Rejection rejection(const World& world) {
  const auto& found = world.job("a").rejection;
  EXPECT_TRUE(found);
  return found.value_or(Rejection{});
}

TEST(KueueRecords, AJobThatIsDeactivatedIsSaidToBeThatAndHoldsUpNobody) {
  const World world(kSetup + job("a", 4) + workload(", active: false", evicted("Deactivated")));
  EXPECT_EQ(rejection(world).reason, Reason::kDeactivated);
  EXPECT_TRUE(rejection(world).waits);
  EXPECT_NE(rejection(world).message.find("because"), std::string::npos);
  EXPECT_FALSE(is_in_line(world.job("a")));
}

TEST(KueueRecords, TheMessageOfADeactivatedJobBeginsWithTheCause) {
  const World world(kSetup + job("a", 4) + workload(", active: false", evicted("Deactivated")));
  EXPECT_EQ(rejection(world).message, "because (spec.active of Workload \"default/w\" is false)");
}

TEST(KueueRecords, AJobThatIsDeactivatedSinceItIsInvalidIsRejectedForThat) {
  const World world(kSetup + job("a", 4, required("net/row")) + workload(", active: false", evicted("Deactivated")));
  EXPECT_EQ(rejection(world).reason, Reason::kInvalidRequest);
  EXPECT_FALSE(rejection(world).waits);
  EXPECT_NE(rejection(world).message.find("has no level \"net/row\""), std::string::npos) << rejection(world).message;
}

TEST(KueueRecords, AJobThatItsUserSuspendedIsSaidToBeThat) {
  const World world(kSetup + job("a", 4) + workload("", evicted("Suspended")));
  EXPECT_EQ(rejection(world).reason, Reason::kSuspended);
}

TEST(KueueRecords, AJobThatWaitsIsPlannedAsEver) {
  const World world(kSetup + job("a", 4) + workload("", evicted("Preempted")));
  EXPECT_FALSE(world.job("a").rejection);
}

std::string late(const std::string& requeued) {
  return "conditions: [{type: Evicted, status: 'True', reason: PodsReadyTimeout, lastTransitionTime: "
         "'2026-01-01T00:00:00Z'}, {type: Requeued, status: '" +
         requeued + "', reason: PodsReadyTimeout, message: later}]";
}

TEST(KueueRecords, AJobWhosePodsWereNotReadyInTimePausesAndHoldsUpNobody) {
  const World world(kSetup + job("a", 4) + workload("", late("False")));
  EXPECT_EQ(rejection(world).reason, Reason::kEvicted);
  EXPECT_NE(rejection(world).message.find("later"), std::string::npos);
  EXPECT_FALSE(is_in_line(world.job("a")));
}

TEST(KueueRecords, AJobWhosePauseIsOverStandsWhereItsEvictionPutsIt) {
  const World world(kSetup + job("a", 4) + workload("", late("True")));
  EXPECT_FALSE(world.job("a").rejection);
  EXPECT_EQ(world.job("a").created_seconds, 1'767'225'600);
}

TEST(KueueRecords, AWorkloadThatIsNobodysOrCannotBeReadIsPassedOver) {
  EXPECT_FALSE(World(kSetup + job("a", 4) + workload(", active: false", "", "Job, name: b")).job("a").rejection);
  EXPECT_FALSE(World(kSetup + job("a", 4) + workload("", "conditions: 5, admission: none")).job("a").rejection);
}

TEST(KueueRecords, SayWhatWasGivenAndSinceWhen) {
  const World world(
      kSetup + job("a", 4) +
      workload("",
               "admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 2, flavors: {cpu: f}}]}, "
               "conditions: [{type: Admitted, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]"));
  const GangRecord& record = world.reading->records.at({"default", "a", "Job"});
  EXPECT_EQ(record.standing, Standing::kAdmitted);
  EXPECT_EQ(record.cluster_queue, "cq");
  EXPECT_EQ(record.flavors, "f");
  EXPECT_EQ(record.since, "2026-01-01T00:00:00Z");
  EXPECT_EQ(record.admitted, 2);
  EXPECT_EQ(record.asked, 4);
}

}  // namespace
}  // namespace gantree

// What the objects of a cluster say of its gangs, and nothing that was decided anew.
#include "view/present.h"

#include <gtest/gtest.h>

#include "unit/dialects/koordinator_manifests.h"
#include "unit/dialects/manifests.h"
#include "view/present_json.h"
#include "view/present_text.h"

namespace gantree::view {
namespace {

// Two racks of two hosts of eight gpus.
std::string nodes() {
  std::string yaml;
  for (const std::string rack : {"r1", "r2"}) {
    for (const std::string host : {"a", "b"}) {
      yaml += "---\n{apiVersion: v1, kind: Node, metadata: {name: " + rack + host +
              ", labels: {pool: tas, net/block: b1, net/rack: " + rack + ", kubernetes.io/hostname: " + rack + host +
              "}}, status: {allocatable: {cpu: 64, pods: 110, nvidia.com/gpu: 8}}}\n";
    }
  }
  return yaml;
}

// The Workload of a Job of a cluster; `spec` and `status` are flow maps without their braces, `spec` begins with a
// comma.
std::string workload(const std::string& job, const std::string& status, const std::string& spec = "") {
  return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: job-" + job +
         "-1, namespace: default, uid: w, ownerReferences: [{kind: Job, name: " + job +
         ", controller: true}]}, spec: {queueName: queue, podSets: [{name: main, count: 2}]" + spec + "}, status: {" +
         status + "}}\n";
}

const std::string kStored = "uid: u, creationTimestamp: '2026-01-01T00:00:00Z'";
const std::string kOnBothOfR2 =
    "admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 2, flavors: {nvidia.com/gpu: tas}, "
    "topologyAssignment: {levels: [kubernetes.io/hostname], slices: [{domainCount: 2, valuesPerLevel: [{individual: "
    "{prefix: r2, roots: [a, b]}}], podCounts: {universal: 1}}]}}]}";

std::string condition(const std::string& type, const std::string& status, const std::string& reason,
                      const std::string& message) {
  return "{type: " + type + ", status: '" + status + "', reason: " + reason + ", message: '" + message +
         "', lastTransitionTime: '2026-01-02T00:00:00Z'}";
}

std::string pod(const std::string& name, const std::string& metadata, const std::string& spec,
                const std::string& status) {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: default, uid: " + name +
         (metadata.empty() ? "" : ", " + metadata) +
         "}, spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]" +
         (spec.empty() ? "" : ", " + spec) + "}, status: {" + status + "}}\n";
}

std::string of_job(const std::string& name) {
  return "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: " + name + ", controller: true}]";
}

struct Seen {
  explicit Seen(const std::string& yaml, Source source = Source::kFiles) : world(kSetup + nodes() + yaml) {
    EXPECT_TRUE(world.reading) << world.error();
    present = what_is(world.cluster, world.quota, std::move(*world.reading), source);
  }

  [[nodiscard]] const PresentGang& gang(const std::string& name) const {
    for (const PresentGang& gang : present.gangs) {
      if (gang.key.name == name) {
        return gang;
      }
    }
    ADD_FAILURE() << "nothing is said of " << name;
    static const PresentGang kNone;
    return kNone;
  }
  // "Waiting: QuotaExceeded: sentence"
  [[nodiscard]] std::string told(const std::string& name) const {
    const PresentGang& found = gang(name);
    std::string text = to_string(found.state);
    text += found.why.reason.empty() ? "" : ": " + found.why.reason;
    return text + (found.why.message.empty() ? "" : ": " + found.why.message);
  }
  // "r2a:1 r2b:1"
  [[nodiscard]] std::string hosts(const std::string& name) {
    std::string text;
    for (const PodSetDecision& set : gang(name).pod_sets) {
      for (const HostShare& share : set.hosts) {
        text += (text.empty() ? "" : " ") + world.cluster.inventory().node(share.node).name + ":" +
                std::to_string(share.count);
      }
    }
    return text;
  }

  World world;
  Present present;
};

TEST(WhatIs, AnAdmittedJobWithoutPodsIsWhereItsWorkloadSays) {
  Seen seen(job("a", 2, required("net/rack"), "", kStored) +
            workload("a", kOnBothOfR2 + ", conditions: [" + condition("Admitted", "True", "Admitted", "ok") + "]"));
  EXPECT_EQ(seen.told("a"), "Admitted");
  EXPECT_EQ(seen.hosts("a"), "r2a:1 r2b:1");
  EXPECT_TRUE(seen.present.planned.decisions.empty());
}

TEST(WhatIs, AJobAdmittedToRacksIsSaidToBeInThem) {
  Seen seen(
      job("a", 2, required("net/rack"), "", kStored) +
      workload("a",
               "admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 2, topologyAssignment: {levels: "
               "[net/block, net/rack], domains: [{values: [b1, r2], count: 2}]}}]}"));
  EXPECT_EQ(seen.told("a"), "Admitted");
  const std::string json = present_to_json(seen.present, seen.world.cluster).to_json(false);
  EXPECT_NE(json.find(R"("domains":[{"values":["b1","r2"],"count":2}])"), std::string::npos) << json;
  EXPECT_EQ(place_of(seen.gang("a"), true), "b1/r2");
}

TEST(WhatIs, AJobThatWaitsSaysWhatItsQueueSaid) {
  Seen seen(job("a", 2, required("net/rack"), "", kStored) +
            workload("a", "conditions: [" +
                              condition("QuotaReserved", "False", "WaitingForQuota", "QuotaExceeded: 4 are needed") +
                              "]"));
  EXPECT_EQ(seen.told("a"), "Waiting: QuotaExceeded: 4 are needed");
  EXPECT_EQ(seen.gang("a").why.since, "2026-01-02T00:00:00Z");
  EXPECT_EQ(seen.hosts("a"), "");
}

TEST(WhatIs, WhatHasItsQuotaAndMayNotStartYetWaits) {
  Seen seen(job("a", 2, "", "", kStored) +
            workload("a", kOnBothOfR2 + ", conditions: [" +
                              condition("Admitted", "False", "UnsatisfiedChecks", "a check is not ready") + "]"));
  EXPECT_EQ(seen.told("a"), "Waiting: UnsatisfiedChecks: a check is not ready");
}

TEST(WhatIs, WhatNobodyLookedAtYetWaits) {
  Seen seen(job("a", 2, required("net/rack"), "", kStored));
  EXPECT_EQ(seen.told("a"), "Waiting: NotLookedAtYet: the scheduler has not looked at it yet");
}

TEST(WhatIs, WhatIsEvictedIsNotGoneYet) {
  Seen seen(job("a", 1, "", "", kStored) +
            workload("a", kOnBothOfR2 + ", conditions: [" + condition("Evicted", "True", "Preempted", "for b") + "]") +
            pod("a-0", of_job("a"), "nodeName: r1a", "phase: Running"));
  EXPECT_EQ(seen.told("a"), "Evicting: Preempted: for b");
  EXPECT_EQ(seen.hosts("a"), "r1a:1");
}

TEST(WhatIs, AGangAllOfWhosePodsAreBeingDeletedIsOnItsWayOut) {
  Seen seen(pod_group("g", 1) + pod("g-0", in_group("g") + ", deletionTimestamp: '2026-01-02T00:00:00Z'",
                                    "nodeName: r1a",
                                    "phase: Running, conditions: [" +
                                        condition("DisruptionTarget", "True", "PreemptionByScheduler", "for h") + "]"));
  EXPECT_EQ(seen.told("g"), "Evicting: PreemptionByScheduler: for h");
}

TEST(WhatIs, AGangWithPodsThatRunRuns) {
  Seen seen(job("a", 1, "", "", kStored) + pod("a-0", of_job("a"), "nodeName: r1b", "phase: Running"));
  EXPECT_EQ(seen.told("a"), "Running");
  EXPECT_EQ(seen.hosts("a"), "r1b:1");
}

TEST(WhatIs, AGangWhosePodsAreBoundAndHaveNotBegunIsAdmitted) {
  Seen seen(job("a", 1, "", "", kStored) + pod("a-0", of_job("a"), "nodeName: r1b", "phase: Pending"));
  EXPECT_EQ(seen.told("a"), "Admitted");
}

TEST(WhatIs, APodGroupThatWaitsSaysWhatItsPodsWereTold) {
  const std::string why = "phase: Pending, conditions: [" +
                          condition("PodScheduled", "False", "Unschedulable", "TopologyBusy: no rack") + "]";
  Seen seen(pod_group("g", 2) + pod("g-0", in_group("g"), "schedulerName: koord-scheduler", why) +
            pod("g-1", in_group("g"), "schedulerName: koord-scheduler", why));
  EXPECT_EQ(seen.told("g"), "Waiting: TopologyBusy: no rack");
}

TEST(WhatIs, APodGroupWithoutPodsSaysWhatItsOwnConditionSays) {
  Seen seen(
      "---\n{apiVersion: scheduling.sigs.k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g, namespace: default, "
      "uid: u}, spec: {minMember: 2}, status: {conditions: [" +
      condition("Scheduled", "False", "GangIncomplete", "it has 0 of 2 pods") + "]}}\n");
  EXPECT_EQ(seen.told("g"), "Waiting: GangIncomplete: it has 0 of 2 pods");
}

TEST(WhatIs, ALeaderWorkerSetWhosePodsAreRefusedWaitsForTheReasonTheyWereGiven) {
  const auto member = [](int index) {
    return pod("s-0-" + std::to_string(index),
               "labels: {leaderworkerset.sigs.k8s.io/name: s, leaderworkerset.sigs.k8s.io/group-index: '0', "
               "leaderworkerset.sigs.k8s.io/worker-index: '" +
                   std::to_string(index) + "'}, ownerReferences: [{kind: LeaderWorkerSet, name: s, controller: true}]",
               "schedulerName: gantree",
               "conditions: [" +
                   condition("PodScheduled", "False", "Unschedulable",
                             "InvalidRequest: exclusive-topology is honoured in plans only") +
                   "]");
  };
  Seen seen(
      "---\n{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: s, namespace: default, "
      "uid: u, annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: net/rack}}, spec: {replicas: 1, "
      "leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: c, resources: {requests: "
      "{nvidia.com/gpu: 1}}}]}}}}}\n" +
      member(0) + member(1));
  EXPECT_EQ(seen.told("s-0"), "Waiting: InvalidRequest: exclusive-topology is honoured in plans only");
  EXPECT_EQ(seen.hosts("s-0"), "");
}

std::string train_job(const std::string& labels) {
  return "---\n{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: t, namespace: default, "
         "uid: u" +
         labels +
         "}, spec: {runtimeRef: {name: torch}, trainer: {numNodes: 2, resourcesPerNode: {requests: "
         "{nvidia.com/gpu: 1}}}}}\n";
}

TEST(WhatIs, ATrainJobThatNobodyStartsWaits) {
  const Seen seen(train_job(""));
  EXPECT_TRUE(seen.told("t").starts_with("Waiting: UnknownOwner: nothing here starts it: ")) << seen.told("t");
  EXPECT_TRUE(seen.present.planned.decisions.empty());
}

TEST(WhatIs, ATrainJobInAQueueThatNobodyTakesItOutOfWaits) {
  const Seen seen(train_job(", labels: {kueue.x-k8s.io/queue-name: queue}"));
  EXPECT_EQ(seen.told("t"), "Waiting: UnknownOwner: nothing here starts it: Gantree takes no TrainJob out of a queue");
}

TEST(WhatIs, ADeactivatedJobIsInactiveAndAnInvalidOneRejected) {
  const auto inactive = [](const std::string& message) {
    return job("a", 2, "", "", kStored) +
           workload("a", "conditions: [" + condition("Evicted", "True", "Deactivated", message) + "]",
                    ", active: false");
  };
  EXPECT_EQ(Seen(inactive("by somebody")).told("a"), "Inactive: Deactivated: by somebody");
  EXPECT_EQ(Seen(inactive("InvalidRequest: no such level")).told("a"), "Rejected: InvalidRequest: no such level");
}

TEST(WhatIs, WhatIsInManifestsAloneIsPlannedAndSaidToBeThat) {
  Seen seen(job("a", 2, required("net/rack")));
  EXPECT_TRUE(seen.present.gangs.empty());
  ASSERT_EQ(seen.present.planned.decisions.size(), 1U);
  EXPECT_EQ(seen.present.planned.decisions.front().state, GangState::kPlaced);
  const std::string json = present_to_json(seen.present, seen.world.cluster).to_json(false);
  EXPECT_NE(json.find(R"("planned":true)"), std::string::npos) << json;
  const std::string text = present_to_text(seen.world.cluster, seen.present, {});
  EXPECT_NE(text.find("Would be placed"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nPlaced"), std::string::npos) << text;
}

TEST(WhatIs, NothingOfAClusterIsPlanned) {
  Seen seen(job("a", 2, required("net/rack")), Source::kCluster);
  EXPECT_TRUE(seen.present.planned.decisions.empty());
  EXPECT_EQ(seen.told("a"), "Waiting: NotLookedAtYet: the scheduler has not looked at it yet");
}

TEST(WhatIs, ThePictureHasTheLettersOfTheTable) {
  Seen seen(job("a", 1, "", "", kStored) + pod("a-0", of_job("a"), "nodeName: r1b", "phase: Running") +
            job("b", 2, required("net/rack"), "", kStored) +
            workload("b", kOnBothOfR2 + ", conditions: [" + condition("Admitted", "True", "Admitted", "ok") + "]"));
  TextOptions options;
  options.present = true;
  const std::string text = present_to_text(seen.world.cluster, seen.present, options);
  EXPECT_NE(text.find("\nA  default/a"), std::string::npos) << text;
  EXPECT_NE(text.find("\nB  default/b"), std::string::npos) << text;
  EXPECT_NE(text.find("1 running, 1 admitted, 0 waiting"), std::string::npos) << text;
}

}  // namespace
}  // namespace gantree::view

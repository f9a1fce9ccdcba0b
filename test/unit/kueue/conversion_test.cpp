#include "kueue/conversion.h"

#include <gtest/gtest.h>

#include <string>

#include "json/equal.h"
#include "json/read.h"

namespace gantree::kueue {
namespace {

constexpr std::string_view kOld = "kueue.x-k8s.io/v1beta1";
constexpr std::string_view kNew = "kueue.x-k8s.io/v1beta2";

json::Document document(const std::string& yaml) {
  auto documents = json::read_documents("test.yaml", yaml);
  EXPECT_TRUE(documents && documents->size() == 1) << yaml;
  return documents->front();
}

std::string object(std::string_view api_version, const std::string& kind, const std::string& rest) {
  return "apiVersion: " + std::string(api_version) + "\nkind: " + kind +
         "\nmetadata: {name: x, namespace: ns, uid: u-1, resourceVersion: \"7\", labels: {a: b}}\n" + rest;
}

// What is wrong with turning one into the other; "" where it becomes just that.
std::string becomes(const std::string& from, const std::string& to) {
  const json::Document wanted = document(to);
  const auto converted = convert(document(from).root(), wanted.root()["apiVersion"].text());
  if (!converted) {
    return converted.error().message;
  }
  const json::Document made = document(converted->to_json(false));
  return json::equal(made.root(), wanted.root()) ? "" : converted->to_yaml();
}

// Both ways.
void expect_same(const std::string& kind, const std::string& old_rest, const std::string& new_rest) {
  EXPECT_EQ(becomes(object(kOld, kind, old_rest), object(kNew, kind, new_rest)), "");
  EXPECT_EQ(becomes(object(kNew, kind, new_rest), object(kOld, kind, old_rest)), "");
}

TEST(Conversion, LeavesWhatIsTheSameInBothVersions) {
  expect_same("Topology", "spec: {levels: [{nodeLabel: a}]}", "spec: {levels: [{nodeLabel: a}]}");
  expect_same("ResourceFlavor", "spec: {nodeLabels: {a: b}, topologyName: t}",
              "spec: {nodeLabels: {a: b}, topologyName: t}");
  expect_same("WorkloadPriorityClass", "value: 5\ndescription: d", "value: 5\ndescription: d");
  expect_same("Cohort", "spec: {parentName: up}\nstatus: {fairSharing: {weightedShare: 3}}",
              "spec: {parentName: up}\nstatus: {fairSharing: {weightedShare: 3}}");
}

TEST(Conversion, RenamesTheCohortOfAQueue) {
  expect_same("ClusterQueue", "spec: {cohort: c, stopPolicy: Hold}\nstatus: {pendingWorkloads: 2}",
              "spec: {cohortName: c, stopPolicy: Hold}\nstatus: {pendingWorkloads: 2}");
}

TEST(Conversion, TakesBothOldWordsOfFungibilityForOne) {
  EXPECT_EQ(becomes(object(kOld, "ClusterQueue",
                           "spec: {flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}}"),
                    object(kNew, "ClusterQueue",
                           "spec: {flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}}")),
            "");
  expect_same("ClusterQueue",
              "spec: {flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch}}",
              "spec: {flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch}}");
}

TEST(Conversion, MakesAStrategyOfAPlainListOfChecks) {
  const std::string strategy = "admissionChecksStrategy: {admissionChecks: [{name: a}, {name: b}]}";
  EXPECT_EQ(becomes(object(kOld, "ClusterQueue", "spec: {admissionChecks: [a, b]}"),
                    object(kNew, "ClusterQueue", "spec: {" + strategy + "}")),
            "");
  expect_same("ClusterQueue", "spec: {" + strategy + "}", "spec: {" + strategy + "}");
  EXPECT_EQ(becomes(object(kOld, "ClusterQueue", "spec: {admissionChecks: [], admissionChecksStrategy: {}}"),
                    object(kNew, "ClusterQueue", "spec: {}")),
            "");
}

TEST(Conversion, LeavesOutWhatTheOtherVersionHasNoFieldFor) {
  EXPECT_EQ(becomes(object(kNew, "ClusterQueue",
                           "spec: {concurrentAdmissionPolicy: {migration: {mode: RetainFirstAdmission}}}"),
                    object(kOld, "ClusterQueue", "spec: {}")),
            "");
  EXPECT_EQ(becomes(object(kOld, "ClusterQueue",
                           "status: {pendingWorkloadsStatus: {lastChangeTime: x}, fairSharing: {weightedShare: 1, "
                           "admissionFairSharingStatus: {}}}"),
                    object(kNew, "ClusterQueue", "status: {fairSharing: {weightedShare: 1}}")),
            "");
  EXPECT_EQ(
      becomes(object(kNew, "Workload",
                     "spec: {preemptionGates: [{name: g}], podSets: [{name: a, topologyRequest: {required: r, "
                     "podsetSliceRequiredTopologyConstraints: [{topology: t, size: 2}]}}]}\n"
                     "status: {preemptionGates: [{name: g}]}"),
              object(kOld, "Workload", "spec: {podSets: [{name: a, topologyRequest: {required: r}}]}\nstatus: {}")),
      "");
}

TEST(Conversion, RenamesTheUsageOfALocalQueue) {
  const std::string usage = "[{name: f, resources: [{name: cpu, total: \"3\"}]}]";
  expect_same("LocalQueue",
              "spec: {clusterQueue: q}\nstatus: {flavorUsage: " + usage +
                  ", flavorsReservation: [], fairSharing: {weightedShare: 1, admissionFairSharingStatus: {a: b}}}",
              "spec: {clusterQueue: q}\nstatus: {flavorsUsage: " + usage +
                  ", flavorsReservation: [], fairSharing: {weightedShare: 1, admissionFairSharingStatus: {a: b}}}");
  EXPECT_EQ(
      becomes(object(kOld, "LocalQueue", "status: {flavors: [{name: f}]}"), object(kNew, "LocalQueue", "status: {}")),
      "");
}

TEST(Conversion, RefersToClassesOfPriorityByKind) {
  expect_same(
      "Workload",
      "spec: {priority: 5, priorityClassName: high, priorityClassSource: kueue.x-k8s.io/workloadpriorityclass}",
      "spec: {priority: 5, priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: high}}");
  expect_same("Workload",
              "spec: {priority: 5, priorityClassName: high, priorityClassSource: scheduling.k8s.io/priorityclass}",
              "spec: {priority: 5, priorityClassRef: {group: scheduling.k8s.io, kind: PriorityClass, name: high}}");
  EXPECT_EQ(becomes(object(kOld, "Workload", "spec: {priority: 5, priorityClassName: high, priorityClassSource: \"\"}"),
                    object(kNew, "Workload", "spec: {priority: 5}")),
            "");
}

TEST(Conversion, SpellsTheTimeRight) {
  expect_same("Workload", "status: {accumulatedPastExexcutionTimeSeconds: 9}",
              "status: {accumulatedPastExecutionTimeSeconds: 9}");
}

std::string admission(const std::string& assignment) {
  return "status: {conditions: [], admission: {clusterQueue: q, podSetAssignments: [{name: main, count: 5, "
         "flavors: {cpu: f}, resourceUsage: {cpu: \"5\"}, topologyAssignment: " +
         assignment + "}]}}";
}

TEST(Conversion, WritesAssignmentsInTheFormOfTheVersion) {
  const std::string flat =
      "{levels: [block, rack], domains: [{values: [b1, r1], count: 2}, {values: [b1, r2], count: 2}, "
      "{values: [b2, r1], count: 1}]}";
  EXPECT_EQ(becomes(object(kNew, "Workload",
                           admission("{levels: [block, rack], slices: [{domainCount: 2, valuesPerLevel: [{universal: "
                                     "b1}, {individual: {prefix: r, roots: [\"1\", \"2\"]}}], podCounts: {universal: "
                                     "2}}, {domainCount: 1, valuesPerLevel: [{universal: b2}, {universal: r1}], "
                                     "podCounts: {individual: [1]}}]}")),
                    object(kOld, "Workload", admission(flat))),
            "");
  // Which compact form it takes is the writer's to choose; there and back is what counts.
  const auto compact = convert(document(object(kOld, "Workload", admission(flat))).root(), kNew);
  ASSERT_TRUE(compact) << compact.error().message;
  EXPECT_EQ(compact->to_json(false).find("domains\""), std::string::npos);
  EXPECT_EQ(becomes(compact->to_json(false), object(kOld, "Workload", admission(flat))), "");
}

TEST(Conversion, CopiesWhatIsOfTheVersionAlready) {
  EXPECT_EQ(becomes(object(kNew, "Workload", "spec: {preemptionGates: []}"),
                    object(kNew, "Workload", "spec: {preemptionGates: []}")),
            "");
}

TEST(Conversion, SaysWhyItCannot) {
  const auto error = [](const std::string& yaml, std::string_view to) {
    const auto converted = convert(document(yaml).root(), to);
    return converted ? std::string() : converted.error().message;
  };
  EXPECT_EQ(error(object("kueue.x-k8s.io/v9", "Workload", ""), kNew),
            "Workload \"ns/x\": there is no version \"kueue.x-k8s.io/v9\" to convert from or to");
  EXPECT_EQ(error(object(kOld, "Workload", ""), "batch/v1"),
            "Workload \"ns/x\": there is no version \"batch/v1\" to convert from or to");
  EXPECT_EQ(error(object(kOld, "AdmissionCheck", ""), kNew),
            "AdmissionCheck \"ns/x\": objects of this kind are not converted here");
  EXPECT_NE(error("metadata: {}", kNew), "");
  EXPECT_NE(error(object(kOld, "Workload", admission("{levels: [a, b], domains: [{values: [x], count: 1}]}")), kNew),
            "");
}

TEST(Conversion, DoesNotBelieveFewWordsThatStandForTooMuch) {
  const auto error = [](const std::string& assignment) {
    const auto converted = convert(document(object(kNew, "Workload", admission(assignment))).root(), kOld);
    return converted ? std::string() : converted.error().message;
  };
  const std::string slice = "{domainCount: 150000, valuesPerLevel: [{universal: a}], podCounts: {universal: 1}}";
  EXPECT_EQ(error("{levels: [host], slices: [" + slice + "]}"), "");
  EXPECT_NE(error("{levels: [host], slices: [" + slice + ", " + slice + "]}").find("more than 200000 domains"),
            std::string::npos);
  EXPECT_NE(error("{levels: [a1,a2,a3,a4,a5,a6,a7,a8,b1,b2,b3,b4,b5,b6,b7,b8,c1], slices: []}")
                .find("17 levels; 16 are allowed"),
            std::string::npos);
}

TEST(Conversion, LeavesValuesOfTheWrongKindToTheSchema) {
  for (const char* rest : {"spec: 3", "spec: [a]", "spec: {podSets: 3}", "spec: {podSets: [null, 3]}",
                           "status: {admission: x}", "status: {admission: {podSetAssignments: {}}}", "spec: null"}) {
    EXPECT_EQ(becomes(object(kOld, "Workload", rest), object(kNew, "Workload", rest)), "") << rest;
  }
}

}  // namespace
}  // namespace gantree::kueue

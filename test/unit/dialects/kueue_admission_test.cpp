// What administrators' objects are refused for when they are stored.
#include "dialects/kueue/admission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dialects/kueue/neighbour.h"
#include "dialects/mutation.h"
#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

const Validator& validator_of(std::string_view kind) {
  const auto validators = all_validators();
  const auto it = std::find_if(validators.begin(), validators.end(), [&](const Validator& validator) {
    return validator.kind.kind == kind && validator.kind.group == "kueue.x-k8s.io";
  });
  EXPECT_NE(it, validators.end()) << kind;
  return *it;
}

Object object_of(std::string_view kind, const Manifests& manifest) {
  return {.file = "request", .group = "kueue.x-k8s.io", .version = "v1beta2", .kind = kind, .value = manifest.root()};
}

Admission admitted(std::string_view kind, const std::string& body, const std::string& old_body = "") {
  const Manifests manifest("metadata: {name: x}\n" + body);
  const Object object = object_of(kind, manifest);
  const Validator& validator = validator_of(kind);
  const NamedObject named{object, validator.kind.namespaced ? "ns" : "", "x"};
  if (old_body.empty()) {
    return admit(validator, named, nullptr);
  }
  const Manifests old_manifest("metadata: {name: x}\n" + old_body);
  const Object old = object_of(kind, old_manifest);
  return admit(validator, named, &old);
}

std::string refusal(std::string_view kind, const std::string& body, const std::string& old_body = "") {
  return admitted(kind, body, old_body).refusal.value_or("");
}

std::string queue_with(const std::string& resource, const std::string& more = "") {
  return "spec: {namespaceSelector: {}, " + more +
         "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [" + resource + "]}]}]}";
}

TEST(KueueAdmission, LetsGoodObjectsPassWithoutAWord) {
  const std::pair<const char*, std::string> kGood[] = {
      {"Topology", "spec: {levels: [{nodeLabel: net/rack}, {nodeLabel: kubernetes.io/hostname}]}"},
      {"ResourceFlavor", "{}"},
      {"ResourceFlavor",
       "spec: {nodeLabels: {pool: gpu}, topologyName: t, nodeTaints: [{key: a, effect: NoSchedule}]}"},
      {"ClusterQueue", queue_with("{name: cpu, nominalQuota: 4}")},
      {"ClusterQueue", queue_with("{name: cpu, nominalQuota: 4, borrowingLimit: 1}", "cohortName: c, ")},
      {"Cohort", "spec: {}"},
      {"Cohort",
       "spec: {parentName: up, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: "
       "[{name: cpu, nominalQuota: 1, lendingLimit: 9}]}]}]}"},
      {"LocalQueue", "spec: {clusterQueue: q, stopPolicy: Hold}"},
      {"WorkloadPriorityClass", "value: -5"},
      {"Workload",
       "spec: {podSets: [{name: main, count: 2, minCount: 1, template: {spec: {containers: [{name: a, "
       "resources: {requests: {cpu: 1}}}]}}}]}"},
  };
  for (const auto& [kind, body] : kGood) {
    const Admission admission = admitted(kind, body == "{}" ? "" : body);
    EXPECT_EQ(admission.refusal.value_or(""), "") << kind << " " << body;
    EXPECT_TRUE(admission.warnings.empty()) << kind << " " << body << ": " << admission.warnings.front();
  }
}

TEST(KueueAdmission, NamesTheFieldThatIsWrong) {
  const std::tuple<const char*, std::string, const char*> kWrong[] = {
      {"Topology", "spec: {levels: [{nodeLabel: a}, {nodeLabel: a}]}", R"(topology "x" has level "a" twice)"},
      {"ResourceFlavor", "spec: {nodeLabels: {-bad-: a}}",
       R"(ResourceFlavor "x": spec.nodeLabels: "-bad-" is not a label key)"},
      {"ResourceFlavor", "spec: {nodeLabels: {a: b c}}",
       R"(ResourceFlavor "x": spec.nodeLabels: "b c" is not a label value)"},
      {"ResourceFlavor", "spec: {nodeTaints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}",
       R"(ResourceFlavor "x": spec.nodeTaints[1]: taint "a" is there twice with the same effect)"},
      {"ResourceFlavor", "spec: {topologyName: t}",
       R"(ResourceFlavor "x": spec.topologyName needs at least one of nodeLabels)"},
      {"ClusterQueue", queue_with("{name: memory, nominalQuota: 4}"),
       "ClusterQueue \"x\": spec.resourceGroups[0].flavors[0].resources[0]: flavor \"f\" has quota for memory, which "
       "is "
       "not in coveredResources"},
      {"ClusterQueue", queue_with("{name: cpu, nominalQuota: 4, lendingLimit: 5}", "cohortName: c, "),
       "ClusterQueue \"x\": spec.resourceGroups[0].flavors[0].resources[0].lendingLimit is more than nominalQuota"},
      {"ClusterQueue", queue_with("{name: cpu, nominalQuota: 4, borrowingLimit: 5}"),
       "ClusterQueue \"x\": spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit makes sense in a cohort "
       "only, "
       "and there is none"},
      {"ClusterQueue", queue_with("{name: cpu, nominalQuota: -4}"),
       "ClusterQueue \"x\": spec.resourceGroups[0].flavors[0].resources[0].nominalQuota must be at least 0, not -4"},
      {"Cohort", "spec: {parentName: x}", R"(Cohort "x" is its own ancestor)"},
      {"Cohort", "spec: {fairSharing: {weight: -1}}",
       "Cohort \"x\": spec.fairSharing.weight must be at least 0, not -1"},
      {"Cohort", "spec: {fairSharing: {weight: 1n}}",
       "Cohort \"x\": spec.fairSharing.weight must be 0, or 0.001 at least, not 1n"},
      {"LocalQueue", "spec: {stopPolicy: Never}", R"(LocalQueue "ns/x": spec.clusterQueue is missing)"},
      {"Workload", "spec: {podSets: [{template: {}}]}", R"(Workload "ns/x": spec.podSets[0].template.spec is missing)"},
      {"Workload", "spec: {podSets: [{template: {spec: {containers: [{name: a, resources: {limits: {pods: 1}}}]}}}]}",
       "Workload \"ns/x\": spec.podSets[0].template.spec.containers[0].resources.limits.pods: every pod counts as "
       "one "
       "by itself"},
      {"Workload", "spec: {podSets: [{template: {spec: {containers: [{name: a, resources: {requests: {pods: 1}}}]}}}]}",
       "Workload \"ns/x\": spec.podSets[0].template.spec.containers[0].resources.requests.pods: every pod counts as "
       "one "
       "by itself"},
      {"Workload",
       "spec: {podSets: [{name: a, minCount: 1, template: {spec: {}}}, {name: b, minCount: 1, template: {spec: {}}}]}",
       R"(Workload "ns/x": spec.podSets: only one of them can have a minCount)"},
  };
  for (const auto& [kind, body, sentence] : kWrong) {
    EXPECT_EQ(refusal(kind, body), sentence) << body;
  }
}

TEST(KueueAdmission, WarnsOfChecksThatAreNotRun) {
  const Admission admission = admitted(
      "ClusterQueue", queue_with("{name: cpu, nominalQuota: 4}",
                                 "admissionChecksStrategy: {admissionChecks: [{name: c, onFlavors: [f, g]}]}, "));
  EXPECT_FALSE(admission.refusal);
  EXPECT_EQ(admission.warnings,
            (std::vector<std::string>{"ClusterQueue \"x\": nobody runs admission checks: it admits "
                                      "nothing, unless Gantree is to ignore them",
                                      "ClusterQueue \"x\": "
                                      "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1] is \"g\", which "
                                      "is no flavor of the queue"}));
}

TEST(KueueAdmission, WarnsOfAQueueThatNobodyMayUse) {
  const Admission admission =
      admitted("ClusterQueue", "spec: {concurrentAdmissionPolicy: {migration: {mode: TryPreferredFlavors}}}");
  EXPECT_FALSE(admission.refusal);
  EXPECT_EQ(admission.warnings,
            (std::vector<std::string>{
                "ClusterQueue \"x\" has no spec.namespaceSelector, so no namespace may use it; {} is for all",
                "spec.concurrentAdmissionPolicy of ClusterQueue \"x\" has no effect"}));
}

std::string workload(const std::string& image, bool reserved) {
  return fmt::format(
      "spec: {{podSets: [{{name: main, count: 1, template: {{spec: {{containers: [{{name: a, image: {}}}]}}}}}}]}}\n"
      "status: {{conditions: [{{type: QuotaReserved, status: \"{}\"}}]}}\n",
      image, reserved ? "True" : "False");
}

TEST(KueueAdmission, KeepsPodSetsAsTheyAreWhileQuotaIsReserved) {
  EXPECT_EQ(refusal("Workload", workload("new", true), workload("old", true)),
            R"(Workload "ns/x": spec.podSets cannot be changed while quota is reserved)");
  EXPECT_EQ(refusal("Workload", workload("old", true), workload("old", true)), "");
  EXPECT_EQ(refusal("Workload", workload("new", true), workload("old", false)), "");
}

TEST(KueueAdmission, LetsGoWhatIsOnItsWayOut) {
  const Manifests manifest("metadata: {name: x, deletionTimestamp: \"2026-01-01T00:00:00Z\"}\n" +
                           workload("new", true));
  const Manifests before("metadata: {name: x}\n" + workload("old", true));
  const Object object = object_of("Workload", manifest);
  const Object old = object_of("Workload", before);
  EXPECT_FALSE(admit(validator_of("Workload"), {object, "ns", "x"}, &old).refusal);
}

std::string configuration(const std::string& client) {
  return "webhooks: [{name: other.example.com, clientConfig: {service: {path: /validate}}}, {name: w, clientConfig: " +
         client + "}]";
}

TEST(KueueNeighbour, IsKnownByThePathsOfItsWebhooksWhateverItIsCalled) {
  kueue::Neighbour neighbour;
  const Manifests ours(configuration("{service: {name: gantree-webhook, path: /validate/clusterqueues}}"));
  neighbour.see("gantree-webhook", ours.root());
  EXPECT_FALSE(neighbour.kueue_runs());
  const Manifests theirs(configuration("{service: {name: any, path: /validate-kueue-x-k8s-io-v1beta2-clusterqueue}}"));
  neighbour.see("team-kueue", theirs.root());
  EXPECT_EQ(neighbour.kueue_runs().value_or(""),
            "Kueue is installed in this cluster (ValidatingWebhookConfiguration \"team-kueue\"), so its kinds are left "
            "to it");
  neighbour.see("team-kueue", ours.root());
  EXPECT_FALSE(neighbour.kueue_runs());
  neighbour.see(
      "team-kueue",
      Manifests(configuration("{url: \"https://127.0.0.1:9443/validate-kueue-x-k8s-io-v1beta1-workload\"}")).root());
  EXPECT_TRUE(neighbour.kueue_runs());
  neighbour.lose("team-kueue");
  EXPECT_FALSE(neighbour.kueue_runs());
}

TEST(KueueNeighbour, TakesWhateverComesForAConfiguration) {
  for (const char* text : {"{}", "webhooks: 3", "webhooks: [3, null, {clientConfig: []}]", "[]"}) {
    EXPECT_FALSE(kueue::is_of_kueue(Manifests(text).root())) << text;
  }
}

// Why only those who administer queues may store this Workload; "" where others may.
std::string reserved(const std::string& body, const std::string& old_body = "") {
  const Manifests manifest(body);
  const Object object = object_of("Workload", manifest);
  const NamedObject named{object, "ns", "x"};
  if (old_body.empty()) {
    return validator_of("Workload").reserved(named, nullptr).value_or("");
  }
  const Manifests old_manifest(old_body);
  const Object old = object_of("Workload", old_manifest);
  return validator_of("Workload").reserved(named, &old).value_or("");
}

TEST(KueueAdmission, KeepsWorkloadsToThoseWhoAdministerQueues) {
  EXPECT_EQ(
      reserved("metadata: {name: x}\nspec: {queueName: q, priority: 5}"),
      "Workload \"ns/x\": a Workload of its own is made only by those who may update ClusterQueues; a job that names "
      "a queue (label kueue.x-k8s.io/queue-name) gets its Workload by itself");
  const std::string before =
      "metadata: {name: x, ownerReferences: [{uid: a}]}\nspec: {active: true, priority: 5, queueName: q, podSets: "
      "[{name: m, count: 1}]}";
  EXPECT_EQ(reserved(before, before), "");
  const std::pair<const char*, const char*> kChanges[] = {
      {"priority: 5", "priority: 6"},
      {"queueName: q", "queueName: r"},
      {"count: 1", "count: 2"},
      {"priority: 5", "priority: 5, priorityClassRef: {name: high}"},
      {"priority: 5", "priority: 5, maximumExecutionTimeSeconds: 7"},
  };
  for (const auto& [from, to] : kChanges) {
    std::string after = before;
    after.replace(after.find(from), std::string_view(from).size(), to);
    EXPECT_NE(reserved(after, before), "") << to;
    EXPECT_NE(reserved(before, after), "") << to;
  }
  EXPECT_EQ(
      reserved("metadata: {name: x}\nspec: {active: true, priority: 5, queueName: q, podSets: [{name: m, count: 1}]}",
               before),
      "Workload \"ns/x\": metadata.ownerReferences can be changed only by those who may update ClusterQueues");
}

TEST(KueueAdmission, LetsOthersSwitchWorkloadsOffAndTakeThemAway) {
  const std::string before = "metadata: {name: x}\nspec: {active: true, priority: 5}";
  EXPECT_EQ(reserved("metadata: {name: x, labels: {a: b}}\nspec: {active: false, priority: 5}", before), "");
  EXPECT_EQ(reserved("metadata: {name: x, deletionTimestamp: \"2026-01-01T00:00:00Z\"}\nspec: {priority: 9}", before),
            "");
}

constexpr const char* kReserved = "conditions: [{type: QuotaReserved, status: \"True\"}], ";
constexpr const char* kGiven =
    "admission: {clusterQueue: team, podSetAssignments: [{name: a, count: 3, flavors: {cpu: f}, resourceUsage: {cpu: "
    "1500m}}]}, ";

// Why this status cannot take the place of the other in a Workload of a pod set "a" of three; "" where it can.
std::string wrong_status(const std::string& status, const std::string& before) {
  const std::string head =
      "metadata: {name: x}\nspec: {podSets: [{name: a, count: 3, template: {spec: {}}}]}\nstatus: ";
  const Manifests manifest(head + "{" + status + "}");
  const Manifests old_manifest(head + "{" + before + "}");
  const Object object = object_of("Workload", manifest);
  const Object old = object_of("Workload", old_manifest);
  return validator_of("Workload").wrong_status({object, "ns", "x"}, old).value_or("");
}

std::string updated(const std::string& update, const std::string& state = "Ready") {
  return fmt::format("admissionChecks: [{{name: check, state: {}, podSetUpdates: [{}]}}], ", state, update);
}

TEST(KueueAdmission, TakesAStatusThatMakesSense) {
  const std::string given = std::string(kReserved) + kGiven;
  EXPECT_EQ(wrong_status(given, ""), "");
  EXPECT_EQ(wrong_status("", given), "");
  EXPECT_EQ(wrong_status(kReserved, kReserved), "") << "wrong before, and unchanged";
  EXPECT_EQ(
      wrong_status(given + "reclaimablePods: [{name: a, count: 3}]", given + "reclaimablePods: [{name: a, count: 1}]"),
      "");
  EXPECT_EQ(wrong_status("reclaimablePods: [{name: a, count: 0}]", given + "reclaimablePods: [{name: a, count: 1}]"),
            "");
  EXPECT_EQ(wrong_status(updated("{name: a, labels: {x: \"1\"}}"), updated("{name: a}", "Pending")), "");
  EXPECT_EQ(wrong_status(std::string(kReserved) +
                             "admission: {clusterQueue: team, podSetAssignments: [{name: a, count: 3, flavors: {cpu: "
                             "f}, resourceUsage: {cpu: \"1.5\"}, topologyAssignment: {levels: [x]}}]}",
                         given),
            "")
      << "the same, with a place";
}

TEST(KueueAdmission, RefusesAStatusThatReservesQuotaForNothingOrForOthers) {
  EXPECT_EQ(wrong_status(kReserved, ""), R"(Workload "ns/x": status.admission is missing: quota is reserved by it)");
  EXPECT_EQ(
      wrong_status(std::string(kReserved) + "admission: {clusterQueue: team, podSetAssignments: [{name: b}]}", ""),
      R"(Workload "ns/x": status.admission.podSetAssignments[0].name: there is no pod set "b")");
  EXPECT_EQ(wrong_status(std::string(kReserved) +
                             "admission: {clusterQueue: team, podSetAssignments: [{name: a, count: 3, resourceUsage: "
                             "{cpu: 1}}]}",
                         ""),
            "Workload \"ns/x\": status.admission.podSetAssignments[0].resourceUsage.cpu cannot be shared out evenly "
            "among 3 pods");
}

TEST(KueueAdmission, KeepsWhatWasGivenAsItIs) {
  const std::string given = std::string(kReserved) + kGiven;
  const std::string sentence = R"(Workload "ns/x": status.admission cannot be changed, only taken away and given anew)";
  EXPECT_EQ(wrong_status(std::string(kReserved) +
                             "admission: {clusterQueue: other, podSetAssignments: [{name: a, count: 3, flavors: {cpu: "
                             "f}, resourceUsage: {cpu: 1500m}}]}",
                         given),
            sentence);
  EXPECT_EQ(wrong_status(std::string(kReserved) +
                             "admission: {clusterQueue: team, podSetAssignments: [{name: a, count: 3, flavors: {cpu: "
                             "f}, resourceUsage: {cpu: 3}}]}",
                         given),
            sentence);
}

TEST(KueueAdmission, RefusesReclaimablePodsThatAreNotThereOrComeBack) {
  const std::string given = std::string(kReserved) + kGiven;
  EXPECT_EQ(wrong_status("reclaimablePods: [{name: b, count: 1}]", ""),
            R"(Workload "ns/x": status.reclaimablePods[0].name: there is no pod set "b")");
  EXPECT_EQ(wrong_status("reclaimablePods: [{name: a, count: 4}]", ""),
            R"(Workload "ns/x": status.reclaimablePods[0].count can be at most 3, the count of pod set "a")");
  const std::string sentence =
      R"(Workload "ns/x": status.reclaimablePods of pod set "a" cannot go below 2 while quota is reserved)";
  EXPECT_EQ(
      wrong_status(given + "reclaimablePods: [{name: a, count: 1}]", given + "reclaimablePods: [{name: a, count: 2}]"),
      sentence);
  EXPECT_EQ(wrong_status(given, given + "reclaimablePods: [{name: a, count: 2}]"), sentence);
}

TEST(KueueAdmission, RefusesUpdatesOfPodsThatNoPodCouldTake) {
  EXPECT_EQ(wrong_status(updated("{name: b}"), ""),
            R"(Workload "ns/x": status.admissionChecks[0].podSetUpdates[0].name: there is no pod set "b")");
  EXPECT_EQ(wrong_status(updated("{name: a, labels: {\"@x\": v}}"), ""),
            R"(Workload "ns/x": status.admissionChecks[0].podSetUpdates[0].labels: "@x" is not a label key)");
  EXPECT_EQ(wrong_status(updated("{name: a, nodeSelector: {x: \"@v\"}}"), ""),
            R"(Workload "ns/x": status.admissionChecks[0].podSetUpdates[0].nodeSelector: "@v" is not a label value)");
  EXPECT_EQ(
      wrong_status(updated("{name: a, annotations: {\"@x\": v}}"), ""),
      R"(Workload "ns/x": status.admissionChecks[0].podSetUpdates[0].annotations: "@x" is no name of an annotation)");
  EXPECT_EQ(
      wrong_status(updated("{name: a, tolerations: [{key: \"@x\"}]}"), ""),
      R"(Workload "ns/x": status.admissionChecks[0].podSetUpdates[0].tolerations[0].key: "@x" is not a label key)");
  EXPECT_EQ(wrong_status(updated("{name: a, labels: {x: \"1\"}}"), updated("{name: a, labels: {x: \"2\"}}")),
            R"(Workload "ns/x": status.admissionChecks[0].podSetUpdates cannot be changed while the check is ready)");
}

TEST(KueueAdmission, RefusesAClusterThatWasNotNominated) {
  EXPECT_EQ(wrong_status("clusterName: b", "nominatedClusterNames: [a, b]"), "");
  EXPECT_EQ(wrong_status("clusterName: b", "clusterName: b"), "");
  const std::string sentence = R"(Workload "ns/x": status.clusterName: "c" was not among status.nominatedClusterNames)";
  EXPECT_EQ(wrong_status("clusterName: c", "nominatedClusterNames: [a, b]"), sentence);
  EXPECT_EQ(wrong_status("clusterName: c", ""), sentence);
}

TEST(KueueAdmission, MarksWhatMayBeInUseWhenItIsMade) {
  const auto marked = [](std::string_view kind, const std::string& metadata) {
    const Manifests manifest("metadata: {name: x" + metadata + "}\nspec: {}\n");
    const Object object = object_of(kind, manifest);
    return json::Out(validator_of(kind).made({object, "", "x"}).patch).to_json(false);
  };
  for (const char* kind : {"ClusterQueue", "ResourceFlavor", "Topology"}) {
    EXPECT_EQ(marked(kind, ""),
              R"([{"op":"add","path":"/metadata/finalizers","value":[]},)"
              R"({"op":"add","path":"/metadata/finalizers/-","value":"kueue.x-k8s.io/resource-in-use"}])")
        << kind;
  }
  EXPECT_EQ(marked("Topology", ", finalizers: [a/b]"),
            R"([{"op":"add","path":"/metadata/finalizers/-","value":"kueue.x-k8s.io/resource-in-use"}])");
  EXPECT_EQ(marked("Topology", ", finalizers: [kueue.x-k8s.io/resource-in-use]"), "[]");
  EXPECT_EQ(validator_of("Cohort").made, nullptr);
}

TEST(KueueAdmission, RefusesWorkloadsOfMorePodsThanCanBeMeant) {
  const std::string set = "template: {spec: {containers: []}}";
  EXPECT_EQ(refusal("Workload", "spec: {podSets: [{name: a, count: 1000000, " + set + "}]}"), "");
  EXPECT_NE(
      refusal("Workload", "spec: {podSets: [{name: a, count: 1000000, " + set + "}, {name: b, count: 1, " + set + "}]}")
          .find("spec.podSets: the counts of all are 1000001 pods together; at most 1000000 are allowed"),
      std::string::npos);
}

TEST(KueueAdmission, RefusesWorkloadsWhosePodsCouldNotBeMadeOrAreNotCounted) {
  const auto of = [](const std::string& spec) {
    return refusal("Workload", "spec: {podSets: [{name: a, count: 1, template: {spec: {" + spec + "}}}]}");
  };
  EXPECT_NE(
      of("containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]").find("above its limit of 1"),
      std::string::npos);
  EXPECT_NE(of("containers: [], resourceClaims: [{name: gpu}]").find("resource claims are not counted"),
            std::string::npos);
}

TEST(KueueAdmission, RefusesANamespaceSelectorThatMakesNoSense) {
  const auto of = [](const std::string& selector) {
    return refusal("ClusterQueue", "spec: {namespaceSelector: " + selector + ", resourceGroups: []}");
  };
  EXPECT_EQ(of("{matchLabels: {team: a, example.com/b: ''}, matchExpressions: [{key: k, operator: In, values: [x, z]}, "
               "{key: l, operator: DoesNotExist}, {key: m, operator: Exists, values: []}]}"),
            "");
  const std::pair<const char*, const char*> kWrong[] = {
      {"{matchExpressions: [{key: k, operator: Near, values: [x]}]}", "operator \"Near\" is not known"},
      {"{matchExpressions: [{key: k, operator: In}]}", "values must not be empty with operator In"},
      {"{matchExpressions: [{key: k, operator: NotIn, values: []}]}", "values must not be empty with operator NotIn"},
      {"{matchExpressions: [{key: k, operator: Exists, values: [x]}]}", "values must be empty with operator Exists"},
      {"{matchExpressions: [{key: k, operator: DoesNotExist, values: [x]}]}",
       "must be empty with operator DoesNotExist"},
      {"{matchExpressions: [{key: 'a b', operator: Exists}]}", "\"a b\" is not a label key"},
      {"{matchExpressions: [{key: k, operator: In, values: ['x/y']}]}", "\"x/y\" is not a label value"},
      {"{matchLabels: {'a b': c}}", "\"a b\" is not a label key"},
      {"{matchLabels: {a: '-c'}}", "\"-c\" is not a label value"},
  };
  for (const auto& [selector, why] : kWrong) {
    EXPECT_NE(of(selector).find(why), std::string::npos) << selector << ": " << of(selector);
  }
}

}  // namespace
}  // namespace gantree

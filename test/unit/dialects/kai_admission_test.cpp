// What PodGroups, Queues and Topologies of KAI are refused for when they are stored.
#include "dialects/kai/admission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "dialects/mutation.h"
#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

const Validator& validator_of(std::string_view kind) {
  const auto validators = all_validators();
  const auto it = std::find_if(validators.begin(), validators.end(), [&](const Validator& validator) {
    return validator.kind.kind == kind && validator.route().starts_with("kai-");
  });
  EXPECT_NE(it, validators.end()) << kind;
  return *it;
}

Admission admitted(std::string_view kind, const std::string& body, const std::string& old_body = "") {
  const Validator& validator = validator_of(kind);
  const auto object_of = [&](const Manifests& manifest) {
    return Object{.file = "request",
                  .group = validator.kind.group,
                  .version = validator.kind.versions.front(),
                  .kind = kind,
                  .value = manifest.root()};
  };
  const Manifests manifest("metadata: {name: x}\n" + body);
  const Object object = object_of(manifest);
  const NamedObject named{object, validator.kind.namespaced ? "ns" : "", "x"};
  if (old_body.empty()) {
    return admit(validator, named, nullptr);
  }
  const Manifests old_manifest("metadata: {name: x}\n" + old_body);
  const Object old = object_of(old_manifest);
  return admit(validator, named, &old);
}

std::string refusal(std::string_view kind, const std::string& body) {
  return admitted(kind, body).refusal.value_or("");
}

TEST(KaiAdmission, LetsGoodObjectsPassWithoutAWord) {
  const std::pair<const char*, std::string> kGood[] = {
      {"PodGroup", "spec: {}"},
      {"PodGroup", "spec: {minMember: 0, queue: q, preemptibility: non-preemptible, schedulingBackoff: -1}"},
      {"PodGroup", "spec: {minMember: null, preemptionDelay: 90s, stalenessGracePeriod: -1s}"},
      {"PodGroup", "spec: {topologyConstraint: {topology: t, requiredTopologyLevel: rack}}"},
      {"PodGroup", "spec: {minMember: 2, subGroups: [{name: a, minMember: 2}]}"},
      {"PodGroup",
       "spec: {minSubGroup: 1, subGroups: [{name: a, minSubGroup: 2}, {name: b, parent: a, minMember: 1}, "
       "{name: c, parent: a, minMember: 0}]}"},
      {"Queue", "spec: {resources: {}}"},
      {"Queue",
       "spec: {parentQueue: p, priority: 10, preemptMinRuntime: 1h, reclaimMinRuntime: 10m, resources: "
       "{gpu: {quota: 0.5, limit: -1, overQuotaWeight: 1}, cpu: {quota: -1}, memory: {quota: 3}}}"},
      {"Topology", "spec: {levels: [{nodeLabel: net/rack, alias: rack}, {nodeLabel: kubernetes.io/hostname}]}"}};
  for (const auto& [kind, body] : kGood) {
    const Admission admission = admitted(kind, body);
    EXPECT_EQ(admission.refusal.value_or(""), "") << body;
    EXPECT_TRUE(admission.warnings.empty()) << body << admission.warnings.front();
  }
}

TEST(KaiAdmission, RefusesPodGroupsThatContradictThemselves) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"spec: {minMember: 1, minSubGroup: 1}", "minMember and minSubGroup exclude each other"},
      {"spec: {minMember: -1}", "minMember is -1, but must not be negative"},
      {"spec: {minMember: 2147483647}", "minMember is 2147483647; at most"},
      {"spec: {minMember: 2147483648}", "minMember"},
      {"spec: {preemptibility: sometimes}", "preemptibility \"sometimes\" is neither"},
      {"spec: {preemptionDelay: soon}", "spec.preemptionDelay must be a duration, as in 90s or 1h30m, not \"soon\""},
      {"spec: {stalenessGracePeriod: late}", "spec.stalenessGracePeriod must be a duration"},
      {"spec: {subGroups: [{name: a, minMember: 1}, {name: a, minMember: 1}]}", "the name \"a\" twice"},
      {"spec: {subGroups: [{name: a, parent: b, minMember: 1}]}", "there is no subgroup \"b\""},
      {"spec: {subGroups: [{name: a, parent: b}, {name: b, parent: a}]}", "is above itself"},
      {"spec: {subGroups: [{name: a}]}", "subgroup \"a\" needs minMember"},
      {"spec: {subGroups: [{name: a, minSubGroup: 1}]}", "has minSubGroup, but no subgroups"},
      {"spec: {subGroups: [{name: a, minMember: 1}, {name: b, parent: a, minMember: 1}]}", "has minMember, but"},
      {"spec: [1]", "spec"}};
  for (const auto& [body, words] : kWrong) {
    EXPECT_NE(refusal("PodGroup", body).find(words), std::string::npos) << body << "\n" << refusal("PodGroup", body);
    EXPECT_EQ(refusal("PodGroup", body).find("request:"), std::string::npos) << "users have no file";
  }
}

TEST(KaiAdmission, RefusesMoreSubgroupsThanArePlacedTogether) {
  std::string many = "spec: {subGroups: [";
  for (int i = 0; i < 3000; ++i) {
    many += fmt::format("{{name: g{}, minMember: 1}},", i);
  }
  EXPECT_NE(refusal("PodGroup", many + "]}").find("subGroups has 3000 entries"), std::string::npos);
}

TEST(KaiAdmission, WarnsOfWhatHasNoEffect) {
  const std::pair<const char*, const char*> kOdd[] = {
      {"spec: {minSubGroup: 3, subGroups: [{name: a, minMember: 1}]}", "minSubGroup of the PodGroup is 3, but 1"},
      {"spec: {subGroups: [{name: a, minSubGroup: 2}, {name: b, parent: a, minMember: 1}]}",
       "minSubGroup of subgroup \"a\" is 2, but 1"},
      {"spec: {schedulingBackoff: 4}", "spec.schedulingBackoff is 4, but only -1 and 1 have a meaning"},
      {"spec: {topologyConstraint: {topology: t}}", "names a topology, but no level"}};
  for (const auto& [body, words] : kOdd) {
    const Admission admission = admitted("PodGroup", body);
    EXPECT_EQ(admission.refusal.value_or(""), "") << body;
    ASSERT_EQ(admission.warnings.size(), 1U) << body;
    EXPECT_NE(admission.warnings.front().find(words), std::string::npos) << admission.warnings.front();
  }
}

TEST(KaiAdmission, LetsWhatWasWrongBeforeBeChangedOtherwise) {
  const std::string before = "spec: {subGroups: [{name: a, minMember: 1}, {name: b, parent: a, minMember: 1}]}";
  const std::string after =
      "spec: {queue: q, subGroups: [{name: a, minMember: 1}, {name: b, parent: a, minMember: 1}]}";
  EXPECT_EQ(admitted("PodGroup", after, before).refusal.value_or(""), "");
  EXPECT_EQ(admitted("PodGroup", after, before).warnings.size(), 1U);
}

TEST(KaiAdmission, RefusesQueuesThatCannotBe) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"spec: {}", "Queue \"x\": spec.resources must be given"},
      {"spec: {resources: null}", "spec.resources must be given"},
      {"other: 1", "spec.resources must be given"},
      {"spec: {resources: {gpu: {quota: -2}}}", "spec.resources.gpu.quota is -2; only -1, which is unlimited"},
      {"spec: {resources: {memory: {limit: -5}}}", "spec.resources.memory.limit is -5"},
      {"spec: {resources: {cpu: {quota: many}}}", "quota"},
      {"spec: {parentQueue: x, resources: {}}", "spec.parentQueue: Queue \"x\" cannot be above itself"},
      {"spec: {preemptMinRuntime: long, resources: {}}", "spec.preemptMinRuntime must be a duration"},
      {"spec: {reclaimMinRuntime: -1s, resources: {}}", "spec.reclaimMinRuntime must be a duration from 0s to 8784h"},
      {"spec: {reclaimMinRuntime: 8785h, resources: {}}", "not \"8785h\""}};
  for (const auto& [body, words] : kWrong) {
    EXPECT_NE(refusal("Queue", body).find(words), std::string::npos) << body << "\n" << refusal("Queue", body);
  }
}

// What nobody can give is said when it is applied, not when it waits.
TEST(KaiAdmission, RefusesPartsOfGpus) {
  const auto refused = [](const std::string& kind, const std::string& api, const std::string& spec,
                          const std::string& annotations, bool serves_kai) {
    const Manifests manifest(
        fmt::format("apiVersion: {}\nkind: {}\nmetadata: {{name: x, annotations: {{{}}}}}\nspec: {}\n", api, kind,
                    kind == "Pod" ? annotations : "", spec));
    const std::size_t slash = api.find('/');
    const Object object{
        .file = "request",
        .group = slash == std::string::npos ? std::string_view() : std::string_view(api).substr(0, slash),
        .version = "v1",
        .kind = kind,
        .value = manifest.root()};
    const auto mutators = all_mutators();
    const auto it = std::find_if(mutators.begin(), mutators.end(),
                                 [&](const Mutator& mutator) { return mutator.kind.kind == kind; });
    return enqueue(*it, {object, "ns", "x"}, {.serves_kai = serves_kai}).refusal.value_or("");
  };
  const auto job = [&](const std::string& scheduler, const std::string& annotation, bool serves_kai) {
    return refused(
        "Job", "batch/v1",
        fmt::format("{{template: {{metadata: {{annotations: {{{}}}}}, spec: {{schedulerName: {}, containers: "
                    "[{{name: c}}]}}}}}}",
                    annotation, scheduler),
        "", serves_kai);
  };
  const std::string sentence =
      " asks for a part of a GPU; only whole GPUs are given, by resources such as nvidia.com/gpu";
  EXPECT_EQ(job("gantree", "gpu-fraction: '0.5'", false), "annotation gpu-fraction" + sentence);
  EXPECT_EQ(job("kai-scheduler", "gpu-memory: '2000'", true), "annotation gpu-memory" + sentence);
  EXPECT_EQ(job("kai-scheduler", "gpu-fraction: '0.5'", false), "") << "those are somebody else's";
  EXPECT_EQ(job("default-scheduler", "gpu-fraction: '0.5'", true), "");
  EXPECT_EQ(job("gantree", "other: '0.5'", true), "");
  EXPECT_EQ(
      refused("Pod", "v1", "{schedulerName: kai-scheduler, containers: [{name: c}]}", "gpu-fraction: '0.5'", true),
      "annotation gpu-fraction" + sentence);
}

TEST(KaiAdmission, KeepsQueuesThatHaveOthersBelowThem) {
  const auto needed = [](const std::string& body) {
    const Manifests manifest("metadata: {name: x}\n" + body);
    const Object object{
        .file = "request", .group = "scheduling.run.ai", .version = "v2", .kind = "Queue", .value = manifest.root()};
    return kai::queue_is_needed({object, "", "x"}).value_or("");
  };
  EXPECT_EQ(needed("spec: {}"), "");
  EXPECT_EQ(needed("status: {childQueues: []}"), "");
  EXPECT_EQ(needed("status: {childQueues: 3}"), "");
  EXPECT_EQ(needed("status: {childQueues: [a]}"), "Queue \"x\" cannot be deleted while other queues are below it: a");
  EXPECT_EQ(needed("status: {childQueues: [a, b, c]}"),
            "Queue \"x\" cannot be deleted while other queues are below it: a and 2 more");
}

TEST(KaiAdmission, RefusesTopologiesWhoseLevelsCannotBe) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"spec: {levels: []}", "level"},
      {"spec: {levels: [{alias: a}]}", "nodeLabel"},
      {"spec: {levels: [{nodeLabel: a}, {nodeLabel: a}]}", "a"},
      {"spec: {levels: [{nodeLabel: kubernetes.io/hostname}, {nodeLabel: a}]}", "hostname"},
      {"spec: {levels: [{nodeLabel: a, alias: x}, {nodeLabel: b, alias: x}]}", "is given to two levels"},
      {"spec: {levels: [{nodeLabel: a}, {nodeLabel: b, alias: a}]}", "is the nodeLabel of a level"}};
  for (const auto& [body, words] : kWrong) {
    EXPECT_NE(refusal("Topology", body).find(words), std::string::npos) << body << refusal("Topology", body);
  }
}

}  // namespace
}  // namespace gantree

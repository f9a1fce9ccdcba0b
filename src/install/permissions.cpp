#include "install/permissions.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "dialects/admission.h"
#include "dialects/kai/names.h"
#include "dialects/kueue/names.h"
#include "dialects/mutation.h"
#include "kueue/conversion.h"
#include "kueue/job.h"

namespace gantree {

namespace {

constexpr std::string_view kSee = "it would not know of them";

// Beside those that may be in queues of Kueue.
constexpr std::pair<std::string_view, std::string_view> kMakersOfPods[] = {{"apps", "deployments"},
                                                                           {"apps", "replicasets"},
                                                                           {"batch", "cronjobs"},
                                                                           {"ray.io", "rayservices"},
                                                                           {"trainer.kubeflow.org", "trainjobs"}};

class List {
 public:
  void add(std::string_view group, std::string_view resource, std::initializer_list<std::string_view> verbs,
           std::string_view reason) {
    const std::size_t slash = resource.find('/');
    for (const std::string_view verb : verbs) {
      permissions_.push_back(
          {.group = std::string(group),
           .resource = std::string(resource.substr(0, slash)),
           .subresource = slash == std::string_view::npos ? std::string() : std::string(resource.substr(slash + 1)),
           .verb = std::string(verb),
           .name = name_,
           .own = own_,
           .certificate = certificate_,
           .reason = std::string(reason)});
    }
  }
  void within(bool own, std::string name, bool certificate = false) {
    own_ = own;
    name_ = std::move(name);
    certificate_ = certificate;
  }
  std::vector<Permission> take() { return std::move(permissions_); }

 private:
  std::vector<Permission> permissions_;
  bool own_ = false;
  std::string name_;
  bool certificate_ = false;
};

// That the API server trusts the webhook.
void add_trust(List& list, const Installation& installation) {
  list.within(false, installation.webhook(), true);
  for (const std::string_view configurations : {"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}) {
    list.add("admissionregistration.k8s.io", configurations, {"get", "patch"},
             "the API server would not trust the webhook");
  }
  for (const std::string_view definition : kueue::converted_definitions()) {
    list.within(false, std::string(definition), true);
    list.add("apiextensions.k8s.io", "customresourcedefinitions", {"get", "patch"},
             "the API server would not trust who converts objects from one version to another");
  }
}

}  // namespace

std::string Permission::title() const {
  std::string text = fmt::format("{} {}{}{}", verb, resource, subresource.empty() ? "" : "/", subresource);
  if (!name.empty()) {
    text += fmt::format(" \"{}\"", name);
  }
  return group.empty() ? text : fmt::format("{} in {}", text, group);
}

std::vector<Permission> run_permissions(const Installation& installation) {
  List list;
  list.add("", "nodes", {"list", "watch"}, kSee);
  list.add("", "pods", {"list", "watch"}, kSee);
  list.add("", "persistentvolumeclaims", {"list", "watch"}, kSee);
  list.add("", "persistentvolumes", {"list", "watch"}, kSee);
  list.add("apps", "statefulsets", {"list", "watch"}, "it would not know how many pods they are to have");
  list.add("apps", "daemonsets", {"list", "watch"}, "room for their pods on new nodes would not be kept");
  list.add("policy", "poddisruptionbudgets", {"list", "watch"}, kSee);
  list.add("scheduling.k8s.io", "priorityclasses", {"list", "watch"}, kSee);
  for (const Validator& validator : all_validators()) {
    list.add(validator.kind.group, validator.plural, {"list", "watch"}, kSee);
    if (validator.has_status) {
      list.add(validator.kind.group, fmt::format("{}/status", validator.plural), {"patch"},
               "their status would not be kept");
    }
  }
  list.add("", "namespaces", {"list", "watch"}, kSee);
  list.add("", "limitranges", {"list", "watch"}, "what pods get by default would not be counted");
  list.add("node.k8s.io", "runtimeclasses", {"list", "watch"}, "the overhead of pods would not be counted");
  list.add("batch", "jobs/status", {"patch"}, "jobs that were stopped would not start again");
  for (const Mutator& job : all_mutators()) {
    if (kueue::job_kind(job.kind.group, job.kind.kind) != nullptr) {
      list.add(job.kind.group, job.plural, {"list", "patch", "watch"}, "jobs that name a queue would not start");
    }
  }
  list.add(kueue::kReplicatedGroup, "leaderworkersets", {"list", "watch"}, kSee);
  for (const auto& [group, plural] : kMakersOfPods) {
    list.add(group, plural, {"list", "watch"}, "gangs of KAI-Scheduler would not know who made their pods");
  }
  list.add(kai::kSchedulingGroup, "podgroups", {"create", "patch"}, "pods of KAI-Scheduler would not become gangs");
  list.add("", "pods", {"delete", "patch"}, "pods of jobs would not be told where to go");
  list.add(kueue::kGroup, "workloads", {"create", "delete", "patch", "update"},
           "jobs that name a queue would not start");
  for (const std::string_view held : {"clusterqueues", "resourceflavors", "topologies"}) {
    list.add(kueue::kGroup, held, {"patch"}, "those that Kueue held back could not be deleted");
  }
  list.add("admissionregistration.k8s.io", "validatingwebhookconfigurations", {"list", "watch"},
           "it would not know whether Kueue or KAI-Scheduler itself runs");
  list.add("", "pods/binding", {"create"}, "no pod would start");
  list.add("", "pods/eviction", {"create"}, "nobody could be evicted for a gang of higher priority");
  list.add("", "pods/status", {"patch"}, "pods that wait would not say why");
  list.add("events.k8s.io", "events", {"create"}, "there would be no events");
  list.add("authorization.k8s.io", "subjectaccessreviews", {"create"},
           "the webhook would refuse everybody's changes to Workloads");
  add_trust(list, installation);
  list.within(true, "");
  list.add("coordination.k8s.io", "leases", {"create"}, "no replica could lead");
  list.within(true, installation.name);
  list.add("coordination.k8s.io", "leases", {"get", "update"}, "no replica could lead");
  list.within(true, installation.webhook(), true);
  list.add("", "secrets", {"get", "patch"}, "the webhook would have no certificate");
  std::vector<Permission> permissions = list.take();
  std::sort(permissions.begin(), permissions.end(), [](const Permission& a, const Permission& b) {
    return std::tie(a.group, a.resource, a.subresource, a.verb) < std::tie(b.group, b.resource, b.subresource, b.verb);
  });
  return permissions;
}

}  // namespace gantree

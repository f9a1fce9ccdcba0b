// Plain pods: alone, in groups, and those that a StatefulSet, a LeaderWorkerSet or a Deployment makes.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/whole_number.h"
#include "dialects/kueue/hooks/hooks.h"
#include "dialects/kueue/hooks/job_object.h"
#include "dialects/kueue/hooks/pod_group.h"
#include "dialects/kueue/hooks/role_hash.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/waiting_job.h"
#include "dialects/lws/names.h"
#include "dialects/pod_count.h"
#include "json/patch.h"

namespace gantree::kueue {

namespace {

json::Value list_in(json::Value parent, std::string_view key) {
  const json::Value list = parent ? parent[key] : json::Value();
  return list && list.kind() == json::Kind::kArray ? list : json::Value();
}

bool has_gate(const Object& pod, std::string_view name) {
  const json::Value gates = list_in(pod.value["spec"], "schedulingGates");
  return gates && std::any_of(gates.items().begin(), gates.items().end(), [&](const json::NodeData& item) {
           const json::Value gate = json::Value(&item)["name"];
           return gate && gate.kind() == json::Kind::kString && gate.text() == name;
         });
}

bool has_finalizer(const Object& pod, std::string_view name) {
  const json::Value finalizers = list_in(pod.metadata(), "finalizers");
  return finalizers &&
         std::any_of(finalizers.items().begin(), finalizers.items().end(), [&](const json::NodeData& item) {
           return item.kind == json::Kind::kString && json::Value(&item).text() == name;
         });
}

bool is_bound(const Object& pod) {
  const json::Value node = pod.value["spec"]["nodeName"];
  return node && node.kind() == json::Kind::kString && !node.text().empty();
}

bool asks_for_topology(const Object& pod) {
  return std::any_of(std::begin(kPodSetAnnotations), std::end(kPodSetAnnotations),
                     [&](std::string_view key) { return !annotation_of(pod, key).empty(); });
}

void add_gate(json::Patch& patch, const Object& pod, std::string_view name) {
  if (!has_gate(pod, name)) {
    patch.append({"spec", "schedulingGates"}, json::Out::object().add("name", name));
  }
}

// The number that a StatefulSet puts at the end of its pods' names.
std::optional<int> ordinal_of(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  return dash == std::string_view::npos ? std::nullopt : whole_number(name.substr(dash + 1), 0);
}

// A replica of a LeaderWorkerSet is one group. Its controller numbers the pods in a webhook of its own, which may come
// after this one, so what is missing is told by the pod's name.
void join_replica(json::Patch& patch, const NamedObject& pod) {
  const std::string_view set = label_of(pod.object, lws::kName);
  const std::string_view size = annotation_of(pod.object, lws::kSize);
  const auto ordinal = ordinal_of(pod.name);
  const bool leads = label_of(pod.object, lws::kWorkerIndex) == "0";
  std::string group(label_of(pod.object, lws::kGroupIndex));
  if (group.empty() && leads && ordinal) {
    group = std::to_string(*ordinal);
  }
  if (group.empty() || size.empty() || !ordinal) {
    return;  // not made by that controller
  }
  patch.set({"metadata", "labels", kPodGroup}, replica_group(set, group));
  patch.set({"metadata", "labels", kPodGroupIndex}, leads ? "0" : std::to_string(*ordinal));
  patch.set({"metadata", "annotations", kPodGroupTotal}, size);
}

void join_group(json::Patch& patch, const NamedObject& pod, std::string_view parent) {
  if (parent == kOfLeaderWorkerSet) {
    join_replica(patch, pod);
    return;
  }
  if (parent == kOfStatefulSet && pod_group_of(pod.object).empty()) {
    // The set got its name from the API server after its template was looked at.
    patch.set({"metadata", "labels", kPodGroup}, stateful_set_group(controller_of(pod.object).name));
  }
  if (const std::string_view source = annotation_of(pod.object, kPodGroupIndexLabel); !source.empty()) {
    if (const std::string_view index = label_of(pod.object, source); !index.empty()) {
      patch.set({"metadata", "labels", kPodGroupIndex}, index);
    }
  }
}

std::optional<std::string> wrong_group(const Object& pod) {
  const std::string_view group = pod_group_of(pod);
  const std::string_view total = annotation_of(pod, kPodGroupTotal);
  // The group of a pod that a serving workload makes may be named only when the pod is created.
  if (group.empty() != total.empty() && annotation_of(pod, kSuspendingParent).empty()) {
    return fmt::format("{} needs {} beside it", group.empty() ? kPodGroupTotal : kPodGroup,
                       group.empty() ? kPodGroup : kPodGroupTotal);
  }
  if (!group.empty() && !is_object_name(group)) {
    return fmt::format("{} \"{}\" must be a name of small letters, digits, dashes and dots", kPodGroup, group);
  }
  if (const auto pods = whole_number(total, 1); !total.empty() && (!pods || *pods > kMostPods)) {
    return fmt::format("{} must be the number of pods of group \"{}\", at most {}, not \"{}\"", kPodGroupTotal, group,
                       kMostPods, total);
  }
  if (const std::string_view managed = label_of(pod, kManaged); !managed.empty() && managed != "true") {
    return fmt::format("{} can only be \"true\", not \"{}\"", kManaged, managed);
  }
  return std::nullopt;
}

}  // namespace

Mutation gate_pod(const NamedObject& named, const Object* old) {
  const Object& pod = named.object;
  if (old != nullptr || queue_of(pod).empty() || is_part_of_job(pod)) {
    return {};
  }
  if (!prebuilt_of(pod).empty()) {
    return {.warnings = {prebuilt_warning(pod)}};
  }
  if (is_bound(pod)) {
    return {
        .warnings = {fmt::format("spec.nodeName is set, so this Pod does not wait for queue \"{}\"", queue_of(pod))}};
  }
  const std::string_view parent = annotation_of(pod, kSuspendingParent);
  json::Patch patch(pod.value);
  patch.set({"metadata", "labels", kManaged}, "true");
  join_group(patch, named, parent);
  const bool role_is_known = !parent.empty() && !annotation_of(pod, kRoleHash).empty();
  if (!role_is_known) {
    patch.set({"metadata", "annotations", kRoleHash}, role_hash(pod.value["spec"]));
  }
  // Whoever makes the pod anew under the same name must not have to wait for the old one to be accounted for.
  if (parent.empty() && !has_finalizer(pod, kManaged)) {
    patch.append({"metadata", "finalizers"}, kManaged);
  }
  add_gate(patch, pod, kAdmissionGate);
  if (asks_for_topology(pod)) {
    add_gate(patch, pod, kTopologyGate);
  }
  return {.patch = patch.take()};
}

Admission validate_pod(const NamedObject& named) {
  const Object& pod = named.object;
  if (queue_of(pod).empty() || !prebuilt_of(pod).empty() || is_part_of_job(pod)) {
    return {};
  }
  if (auto wrong = wrong_group(pod)) {
    return {.refusal = std::move(wrong), .warnings = {}};
  }
  return validate_job(named);
}

std::optional<std::string> forbid_pod_change(const NamedObject& named, const Object& old) {
  const Object& pod = named.object;
  if (is_part_of_job(pod)) {
    return std::nullopt;
  }
  if (auto refusal = forbid_common_change(pod, old, !has_gate(pod, kAdmissionGate))) {
    return refusal;
  }
  const std::string_view group = pod_group_of(old);
  if (!group.empty() && pod_group_of(pod) != group) {
    return fmt::format("{} \"{}\" cannot change: a pod stays in its group", kPodGroup, group);
  }
  if (!group.empty() && annotation_of(old, kRetriable) == "false" && annotation_of(pod, kRetriable) != "false") {
    return fmt::format("{} cannot change back from \"false\"", kRetriable);
  }
  return std::nullopt;
}

std::optional<std::string> forbid_release(const NamedObject& named, const Object& old) {
  const Object& pod = named.object;
  if (is_part_of_job(old) || label_of(old, kManaged) != "true" || queue_of(old).empty()) {
    return std::nullopt;
  }
  for (const std::string_view gate : {kAdmissionGate, kTopologyGate}) {
    if (has_gate(old, gate) && !has_gate(pod, gate)) {
      return fmt::format(
          "the scheduling gate {} cannot be taken off: Pod \"{}\" waits in queue \"{}\", which takes it off when the "
          "pod "
          "is admitted. To start it outside the queue, create it without the label {}",
          gate, named.name, queue_of(old), kQueueName);
    }
  }
  for (const std::string_view label : {kQueueName, kManaged}) {
    if (label_of(pod, label).empty() || (label == kManaged && label_of(pod, label) != "true")) {
      return fmt::format(
          "the label {} cannot be taken off: by it queue \"{}\" knows Pod \"{}\". To start it outside the queue, "
          "create "
          "it without the label {}",
          label, queue_of(old), named.name, kQueueName);
    }
  }
  if (has_finalizer(old, kManaged) && !has_finalizer(pod, kManaged)) {
    return fmt::format(
        "the finalizer {} cannot be taken off: queue \"{}\" takes it off when the pod is over, or is being deleted",
        kManaged, queue_of(old));
  }
  return std::nullopt;
}

}  // namespace gantree::kueue

// What makes pods and keeps them running: Deployment, ReplicaSet, StatefulSet, LeaderWorkerSet. Their pods are held
// back one by one as they are created (pod.cpp), by what is written into the templates here.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/whole_number.h"
#include "dialects/kueue/hooks/hooks.h"
#include "dialects/kueue/hooks/job_object.h"
#include "dialects/kueue/hooks/pod_group.h"
#include "dialects/kueue/hooks/role_hash.h"
#include "dialects/kueue/names.h"
#include "dialects/lws/names.h"
#include "json/patch.h"

namespace gantree::kueue {

namespace {

using Path = json::Patch::Path;

constexpr std::string_view kPodIndex = "apps.kubernetes.io/pod-index";
const Path kTemplate = {"spec", "template"};
const Path kLeaderTemplate = {"spec", "leaderWorkerTemplate", "leaderTemplate"};
const Path kWorkerTemplate = {"spec", "leaderWorkerTemplate", "workerTemplate"};

json::Value at(const Object& object, const Path& path) {
  json::Value value = object.value;
  for (const std::string_view name : path) {
    value = value ? value[name] : json::Value();
  }
  return value && value.kind() == json::Kind::kObject ? value : json::Value();
}

Path below(Path path, std::string_view map, std::string_view key) {
  path.insert(path.end(), {"metadata", map, key});
  return path;
}

bool is_marked(const Object& object, const Path& where) {
  const json::Value pods = at(object, where);
  const json::Value annotations = map_at(pods ? pods["metadata"] : json::Value(), "annotations");
  return annotations && annotations[kSuspendingParent];
}

int number_at(json::Value parent, std::string_view key, int fallback) {
  const json::Value value = parent ? parent[key] : json::Value();
  return value && value.kind() == json::Kind::kNumber ? whole_number(value.text(), 0).value_or(fallback) : fallback;
}

int replicas_of(const Object& object) {
  return number_at(at(object, {"spec"}), "replicas", 1);
}

bool has_ready_pods(const Object& object) {
  return number_at(at(object, {"status"}), "readyReplicas", 0) > 0;
}

// Whether the templates are ours to write: those of a new object, of one that was put into a queue now, and of one
// that was written before. Others ran before Gantree came, and writing to their template would start all pods anew.
bool is_ours(const Object& object, const Object* old, const Path& where) {
  return !queue_of(object).empty() && (old == nullptr || queue_of(*old).empty() || is_marked(*old, where));
}

// What every pod needs to be held back, and to find its queue.
void mark(json::Patch& patch, const Object& object, const Path& where, std::string_view parent) {
  patch.set(below(where, "labels", kQueueName), queue_of(object));
  if (const std::string_view priority = label_of(object, kPriorityClass); !priority.empty()) {
    patch.set(below(where, "labels", kPriorityClass), priority);
  }
  patch.set(below(where, "annotations", kSuspendingParent), parent);
}

// What makes them one group, whose first pod is enough to ask for all.
void mark_group(json::Patch& patch, const Path& where, std::string_view role, std::string_view index_label) {
  patch.set(below(where, "annotations", kPodGroupServing), "true");
  patch.set(below(where, "annotations", kPodGroupFast), "true");
  patch.set(below(where, "annotations", kPodGroupIndexLabel), index_label);
  patch.set(below(where, "annotations", kRoleHash), role);
}

bool is_made_by_other(const Object& object) {
  const Owner owner = controller_of(object);
  return owner.kind == "Deployment" || owner.kind == lws::kKind || !label_of(object, lws::kName).empty();
}

// The answer where the template at `where` is not to be written to.
std::optional<Mutation> left_alone(const Object& object, const Object* old, const Path& where) {
  if (queue_of(object).empty() || is_made_by_other(object)) {
    return Mutation{};
  }
  if (!prebuilt_of(object).empty()) {
    return Mutation{.warnings = {prebuilt_warning(object)}};
  }
  return is_ours(object, old, where) ? std::nullopt : std::optional(Mutation{});
}

bool same_pods(const Object& object, const Object& old, const Path& where) {
  const json::Value now = at(object, where);
  const json::Value before = at(old, where);
  if (!now || !before) {
    return now.present() == before.present();
  }
  return same_place_and_size(now["spec"], before["spec"]);
}

std::optional<std::string> forbid_other_pods(const Object& object, const Object& old, const Path& where) {
  if (!is_marked(old, where) || same_pods(object, old, where)) {
    return std::nullopt;
  }
  return fmt::format("{} cannot change in what its pods take or where they may go while it is in queue \"{}\"",
                     fmt::join(where, "."), queue_of(old));
}

}  // namespace

Mutation pass_queue_on(const NamedObject& named, const Object* old) {
  const Object& object = named.object;
  if (auto other = left_alone(object, old, kTemplate)) {
    return std::move(*other);
  }
  json::Patch patch(object.value);
  mark(patch, object, kTemplate, object.kind == "Deployment" ? kOfDeployment : kOfReplicaSet);
  return {.patch = patch.take()};
}

Mutation group_stateful_set(const NamedObject& named, const Object* old) {
  const Object& object = named.object;
  if (auto other = left_alone(object, old, kTemplate)) {
    return std::move(*other);
  }
  json::Patch patch(object.value);
  mark(patch, object, kTemplate, kOfStatefulSet);
  mark_group(patch, kTemplate, "main", kPodIndex);
  if (object.metadata()["name"]) {
    patch.set(below(kTemplate, "labels", kPodGroup), stateful_set_group(named.name));
  }
  // Without pods there is nothing to count, and another revision of the template would serve nobody.
  if (const int replicas = replicas_of(object); replicas > 0) {
    patch.set(below(kTemplate, "annotations", kPodGroupTotal), std::to_string(replicas));
  }
  return {.patch = patch.take()};
}

Mutation group_leader_worker_set(const NamedObject& named, const Object* old) {
  const Object& object = named.object;
  if (auto other = left_alone(object, old, kWorkerTemplate)) {
    return std::move(*other);
  }
  json::Patch patch(object.value);
  const bool leader = at(object, kLeaderTemplate).present();
  if (leader) {
    mark(patch, object, kLeaderTemplate, kOfLeaderWorkerSet);
    mark_group(patch, kLeaderTemplate, "leader", lws::kWorkerIndex);
  }
  mark(patch, object, kWorkerTemplate, kOfLeaderWorkerSet);
  mark_group(patch, kWorkerTemplate, leader ? "worker" : "main", lws::kWorkerIndex);
  // Workers are numbered from 1. Where leader and workers are placed as one group, the leader takes the first slot.
  const json::Value workers = map_at(at(object, kWorkerTemplate)["metadata"], "annotations");
  if (leader && !(workers && workers[kGroupName])) {
    patch.set(below(kWorkerTemplate, "annotations", kIndexOffset), "1");
  }
  return {.patch = patch.take()};
}

std::optional<std::string> forbid_serving_change(const NamedObject& named, const Object& old) {
  const Object& object = named.object;
  if (is_made_by_other(object)) {
    return std::nullopt;
  }
  if (queue_of(object).empty() && !queue_of(old).empty()) {
    return fmt::format("{} \"{}\" cannot be taken away, only changed", kQueueName, queue_of(old));
  }
  return forbid_common_change(object, old, has_ready_pods(old));
}

std::optional<std::string> forbid_stateful_set_change(const NamedObject& named, const Object& old) {
  if (auto refusal = forbid_serving_change(named, old)) {
    return refusal;
  }
  const int before = replicas_of(old);
  const int after = replicas_of(named.object);
  if (is_marked(old, kTemplate) && before != after && before != 0 && after != 0) {
    return fmt::format(
        "spec.replicas cannot change from {} to {} while it is in queue \"{}\", only to 0 and from there", before,
        after, queue_of(old));
  }
  return forbid_other_pods(named.object, old, kTemplate);
}

std::optional<std::string> forbid_leader_worker_set_change(const NamedObject& named, const Object& old) {
  if (auto refusal = forbid_serving_change(named, old)) {
    return refusal;
  }
  const Path group = {"spec", "leaderWorkerTemplate"};
  const int before = number_at(at(old, group), "size", 1);
  const int after = number_at(at(named.object, group), "size", 1);
  if (is_marked(old, kWorkerTemplate) && before != after) {
    return fmt::format("spec.leaderWorkerTemplate.size cannot change from {} to {} while it is in queue \"{}\"", before,
                       after, queue_of(old));
  }
  for (const Path& where : {kLeaderTemplate, kWorkerTemplate}) {
    if (auto refusal = forbid_other_pods(named.object, old, where)) {
      return refusal;
    }
  }
  return std::nullopt;
}

}  // namespace gantree::kueue

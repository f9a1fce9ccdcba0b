// Leader pods of LeaderWorkerSets: each has a StatefulSet of workers; a group that lost a member starts anew.
#include <fmt/format.h>

#include "controllers/leader_worker_names.h"
#include "controllers/revision.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

const Item* leader_of(const Item& pod, const Turn& turn) {
  const std::size_t dash = pod.name.rfind('-');
  return dash == std::string::npos ? nullptr : turn.view().find(Kind::kPod, pod.ns, pod.name.substr(0, dash));
}

bool some_pending(const Item& leader, const Item* workers, std::int64_t size, const Turn& turn) {
  std::int64_t there = leader.pod->phase == Phase::kPending ? 0 : 1;
  if (workers != nullptr) {
    for (const Item* pod : turn.view().controlled_by(*workers, Kind::kPod)) {
      there += pod->pod->phase == Phase::kPending ? 0 : 1;
    }
  }
  return there < size;
}

// A member was restarted or deleted: its leader goes, and with it the whole group. True where it does.
bool restart_group(const Item& pod, const Item& set, const Object& root, Turn& turn) {
  const std::string_view policy = text_at(root, {"spec", "leaderWorkerTemplate", "restartPolicy"});
  const bool after_start = policy == "RecreateGroupAfterStart";
  if (!policy.empty() && policy != "RecreateGroupOnPodRestart" && !after_start) {
    return false;
  }
  const bool broken = pod.deleting() || (pod.pod->restarts > 0 && !pod.finished());
  if (!broken) {
    return false;
  }
  const bool leads = pod.label(lws::kWorkerIndex) == "0";
  const Item* leader = leads ? &pod : leader_of(pod, turn);
  if (leader == nullptr || leader->label(lws::kRevisionKey) != pod.label(lws::kRevisionKey)) {
    return false;
  }
  const Item* workers = turn.view().find(Kind::kStatefulSet, pod.ns, leader->name);
  // Workers of an earlier leader on their way out are no reason to end this one.
  if (!leads && (workers == nullptr || pod.owner != workers->uid || workers->owner != leader->uid)) {
    return false;
  }
  const std::int64_t size = whole_at(root, {"spec", "leaderWorkerTemplate", "size"}, 1);
  if (after_start && some_pending(*leader, workers, size, turn)) {
    return false;
  }
  if (!leader->deleting()) {
    turn.remove(*leader, std::nullopt, "Foreground");
    turn.tell(set, "Normal", "RecreateGroup",
              fmt::format("Pod {} failed, deleted leader pod {} to recreate group {}", pod.name, leader->name,
                          leader->label(lws::kGroupIndex)));
  }
  return true;
}

// The template of the revision that the leader belongs to, which is not always the newest.
Object worker_template(const Item& leader, const Item& set, const Object& root, const Turn& turn) {
  const std::string revision(leader.label(lws::kRevisionKey));
  const auto kept = revision_data(set, fmt::format("{}-{}", set.name, revision), turn);
  const Object* found = kept ? object_at(*kept, {"leaderWorkerTemplate", "workerTemplate"})
                             : object_at(root, {"spec", "leaderWorkerTemplate", "workerTemplate"});
  return found == nullptr ? Object() : *found;
}

// The domain that the leader has taken, for its workers. False: not known yet.
bool follow_leader(const Item& leader, std::string_view topology, Object& pod_template, const Turn& turn) {
  const Item* node = leader.pod->node.empty() ? nullptr : turn.view().find(Kind::kNode, "", leader.pod->node);
  if (node == nullptr || node->label(topology).empty()) {
    return false;
  }
  object_in(object_in(pod_template, "spec"), "nodeSelector")[topology] = node->label(topology);
  return true;
}

void annotate_workers(Object& pod_template, const Item& leader, const Object& root) {
  set_annotation(pod_template, lws::kSize, std::to_string(whole_at(root, {"spec", "leaderWorkerTemplate", "size"}, 1)));
  set_annotation(pod_template, lws::kLeaderName, leader.name);
  const std::string_view exclusive = text_at(root, {"metadata", "annotations", lws::kExclusive});
  if (!exclusive.empty()) {
    set_annotation(pod_template, lws::kExclusive, exclusive);
  }
  const std::int64_t subgroup = whole_at(root, {"spec", "leaderWorkerTemplate", "subGroupPolicy", "subGroupSize"});
  if (subgroup > 0) {
    set_annotation(pod_template, lws::kSubgroupSize, std::to_string(subgroup));
    const std::string_view inner = text_at(root, {"metadata", "annotations", lws::kSubgroupExclusive});
    if (!inner.empty()) {
      set_annotation(pod_template, lws::kSubgroupExclusive, inner);
    }
  }
}

void create_workers(const Item& leader, const Item& set, const Object& root, Turn& turn) {
  Object pod_template = worker_template(leader, set, root, turn);
  const Object selector{{lws::kGroupIndex, leader.label(lws::kGroupIndex)},
                        {lws::kName, set.name},
                        {lws::kGroupKey, leader.label(lws::kGroupKey)}};
  Object labels = selector;
  labels[lws::kRevisionKey] = leader.label(lws::kRevisionKey);
  for (const auto& [key, value] : labels) {
    set_label(pod_template, key, text_of(value));
  }
  annotate_workers(pod_template, leader, root);
  const std::string_view exclusive = text_at(root, {"metadata", "annotations", lws::kExclusive});
  if (!exclusive.empty() && !follow_leader(leader, exclusive, pod_template, turn)) {
    return;
  }
  const bool own_service = text_at(root, {"spec", "networkConfig", "subdomainPolicy"}) == "UniquePerReplica";
  Object metadata{{"name", leader.name}, {"namespace", leader.ns}};
  metadata["labels"] = std::move(labels);
  metadata["ownerReferences"] = Array{owner_reference(leader)};
  Object spec{{"serviceName", own_service ? leader.name : set.name},
              {"replicas", whole_at(root, {"spec", "leaderWorkerTemplate", "size"}, 1) - 1},
              {"podManagementPolicy", "Parallel"}};
  spec["ordinals"] = Object{{"start", 1}};
  spec["selector"] = Object{{"matchLabels", selector}};
  spec["template"] = std::move(pod_template);
  const bool made = turn.create(leader, Kind::kStatefulSet,
                                Object{{"apiVersion", "apps/v1"},
                                       {"kind", "StatefulSet"},
                                       {"metadata", std::move(metadata)},
                                       {"spec", std::move(spec)}});
  if (!made) {
    return;
  }
  turn.tell(set, "Normal", "GroupsProgressing",
            fmt::format("Created worker statefulset for leader pod {}", leader.name));
}

}  // namespace

void sync_leader(const Item& pod, Turn& turn) {
  const std::string name(pod.label(lws::kName));
  const Item* set = name.empty() ? nullptr : turn.view().find(Kind::kLeaderWorkerSet, pod.ns, name);
  if (set == nullptr) {
    return;
  }
  const Object root = set->value();
  if (restart_group(pod, *set, root, turn) || pod.deleting() || pod.label(lws::kWorkerIndex) != "0") {
    return;
  }
  const bool waits = text_at(root, {"spec", "startupPolicy"}) == "LeaderReady" && !pod.pod->ready;
  if (whole_at(root, {"spec", "leaderWorkerTemplate", "size"}, 1) <= 1 || waits) {
    return;
  }
  const Item* workers = turn.view().find(Kind::kStatefulSet, pod.ns, pod.name);
  if (workers == nullptr) {
    create_workers(pod, *set, root, turn);
  } else if (workers->owner != pod.uid) {
    // Those of the leader that was here before are still on their way out.
    turn.again(turn.now() + std::chrono::milliseconds(200));
  }
}

}  // namespace gantree::controllers

// LeaderWorkerSets: a StatefulSet of leaders; each leader pod owns a StatefulSet of its workers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "controllers/leader_worker_names.h"
#include "controllers/revision.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

struct Replica {
  bool ready = false;
  bool updated = false;
};

struct GroupSet {
  const Item& set;
  Object root;
  std::string revision;
  std::int64_t replicas = 1;
  std::int64_t size = 1;
  std::int64_t surge = 0;
  std::int64_t unavailable = 1;
  std::int64_t partition = 0;  // as asked for
};

// Groups without a leader that are looked at one by one.
constexpr std::int64_t kMostMissing = 1000;

std::int64_t number_in(std::string_view text) {
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// What a revision keeps: all that, changed, makes new groups.
Value revision_of(const Object& root) {
  Object kept;
  for (const std::string_view key : {"leaderWorkerTemplate", "networkConfig"}) {
    if (const Value* part = find(root, {"spec", key})) {
      kept[key] = *part;
    }
  }
  return kept;
}

GroupSet read_set(const Item& set, Turn& turn) {
  GroupSet state{set, set.value(), {}};
  const Object& root = state.root;
  state.replicas = whole_at(root, {"spec", "replicas"}, 1);
  state.size = whole_at(root, {"spec", "leaderWorkerTemplate", "size"}, 1);
  const auto configured = [&](std::string_view key, bool up, std::int64_t otherwise) {
    return share_at(root, {"spec", "rolloutStrategy", "rollingUpdateConfiguration", key}, state.replicas, up,
                    otherwise);
  };
  state.surge = std::min(configured("maxSurge", true, 0), state.replicas);
  state.unavailable = configured("maxUnavailable", false, 1);
  state.partition = configured("partition", false, 0);
  const Value data = revision_of(root);
  state.revision = short_hash(data);
  if (!set.deleting()) {
    const KeptRevision kept =
        keep_revision(set, data, Object{{lws::kName, set.name}, {lws::kRevisionKey, state.revision}}, 0, turn);
    state.revision = kept.name.substr(set.name.size() + 1);
  }
  return state;
}

bool set_ready(const Item& stateful_set) {
  const Object root = stateful_set.value();
  const std::int64_t wanted = whole_at(root, {"spec", "replicas"}, 1);
  return whole_at(root, {"status", "readyReplicas"}) == wanted && whole_at(root, {"status", "replicas"}) == wanted &&
         whole_at(root, {"status", "observedGeneration"}) >= stateful_set.generation;
}

Replica read_replica(const GroupSet& state, std::int64_t index, Turn& turn) {
  const std::string name = fmt::format("{}-{}", state.set.name, index);
  const Item* leader = turn.view().find(Kind::kPod, state.set.ns, name);
  turn.looked_at(1);
  if (leader == nullptr || leader->label(lws::kName) != state.set.name) {
    return {};
  }
  Replica replica{.ready = leader->active() && leader->pod->ready,
                  .updated = leader->label(lws::kRevisionKey) == state.revision};
  if (state.size > 1) {
    const Item* workers = turn.view().find(Kind::kStatefulSet, state.set.ns, name);
    replica.ready = replica.ready && workers != nullptr && set_ready(*workers);
    replica.updated = replica.updated && workers != nullptr && workers->label(lws::kRevisionKey) == state.revision;
  }
  return replica;
}

Object template_of(const GroupSet& state, bool leader) {
  const Object* own = object_at(state.root, {"spec", "leaderWorkerTemplate", "leaderTemplate"});
  const Object* workers = object_at(state.root, {"spec", "leaderWorkerTemplate", "workerTemplate"});
  const Object* chosen = leader && own != nullptr ? own : workers;
  return chosen == nullptr ? Object() : *chosen;
}

void annotate(Object& pod_template, const Object& set, std::int64_t size, bool leader) {
  set_annotation(pod_template, lws::kSize, std::to_string(size));
  const std::string_view exclusive = text_at(set, {"metadata", "annotations", lws::kExclusive});
  if (!exclusive.empty()) {
    set_annotation(pod_template, lws::kExclusive, exclusive);
  }
  if (object_at(set, {"spec", "leaderWorkerTemplate", "subGroupPolicy"}) != nullptr) {
    const auto policy = [&](std::string_view key) {
      return text_at(set, {"spec", "leaderWorkerTemplate", "subGroupPolicy", key});
    };
    if (leader) {
      const std::string_view type = policy("subGroupPolicyType");
      set_annotation(pod_template, lws::kSubgroupPolicy, type.empty() ? "LeaderWorker" : type);
    }
    set_annotation(
        pod_template, lws::kSubgroupSize,
        std::to_string(whole_at(set, {"spec", "leaderWorkerTemplate", "subGroupPolicy", "subGroupSize"}, 1)));
    const std::string_view inner = text_at(set, {"metadata", "annotations", lws::kSubgroupExclusive});
    if (!inner.empty()) {
      set_annotation(pod_template, lws::kSubgroupExclusive, inner);
    }
  }
  if (leader && text_at(set, {"spec", "networkConfig", "subdomainPolicy"}) == "UniquePerReplica") {
    set_annotation(pod_template, lws::kSubdomainPolicy, "UniquePerReplica");
  }
}

struct Step {
  std::int64_t partition = 0;
  std::int64_t replicas = 0;
};

// How many groups there should be while some are not as they should be.
std::int64_t with_surge(const GroupSet& state, std::int64_t unready) {
  const std::int64_t more =
      unready > state.surge ? state.surge : std::max<std::int64_t>(unready - state.unavailable, 0);
  return std::min<std::int64_t>(state.replicas + more, std::numeric_limits<std::int32_t>::max());
}

// From this one on no group has a leader: of a set of 2^31 only those that are there are looked at.
std::int64_t groups_there(const Item& leaders, Turn& turn) {
  std::int64_t count = 0;
  for (const Item* pod : turn.view().controlled_by(leaders, Kind::kPod)) {
    const std::size_t dash = pod->name.rfind('-');
    count =
        std::max(count, dash == std::string::npos ? 0 : number_in(std::string_view(pod->name).substr(dash + 1)) + 1);
  }
  return count;
}

// From where on leaders may be replaced: as many as may be missing, from the last one down.
std::int64_t next_partition(const std::vector<Replica>& groups, std::int64_t step, std::int64_t now) {
  const auto count = static_cast<std::int64_t>(groups.size());
  std::int64_t done = 0;
  while (done < count && groups[static_cast<std::size_t>(count - 1 - done)].ready &&
         groups[static_cast<std::size_t>(count - 1 - done)].updated) {
    ++done;
  }
  const std::int64_t lowest = std::max<std::int64_t>(count - done - step, 0);
  std::int64_t partition = lowest;
  for (std::int64_t i = 0; i < lowest; ++i) {
    partition += groups[static_cast<std::size_t>(i)].ready ? 0 : 1;
  }
  for (std::int64_t i = std::min(partition, count - 1); i >= lowest; --i) {
    const Replica& group = groups[static_cast<std::size_t>(i)];
    if (group.ready && !group.updated) {
      break;
    }
    partition = i;
  }
  return std::min(partition, now);
}

Step rollout_step(const GroupSet& state, const Item* leaders, Turn& turn) {
  if (leaders == nullptr) {
    return {state.partition, state.replicas};
  }
  const Object root = leaders->value();
  const std::int64_t has = whole_at(root, {"spec", "replicas"}, 1);
  const std::int64_t partition = whole_at(root, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  const auto at_least = [&](std::int64_t value) { return std::max(value, state.partition); };
  if (leaders->label(lws::kRevisionKey) != state.revision) {
    // A new rollout: sizes first, then one group after the other.
    const std::int64_t replicas = has < state.replicas ? state.replicas : with_surge(state, state.replicas);
    return {at_least(std::min(state.replicas, has)), replicas};
  }
  if (partition == 0 && has == state.replicas) {
    return {at_least(0), state.replicas};
  }
  if (has < state.replicas || number_in(text_at(root, {"metadata", "annotations", lws::kReplicas})) != state.replicas) {
    const std::int64_t replicas = partition == 0 ? state.replicas : std::max(has, state.replicas);
    return {at_least(std::min(partition, state.replicas + state.surge)),
            has < state.replicas ? state.replicas : replicas};
  }
  std::vector<Replica> groups;
  std::int64_t unready = 0;
  const std::int64_t looked_at = std::min(has, groups_there(*leaders, turn) + kMostMissing);
  for (std::int64_t i = 0; i < looked_at; ++i) {
    groups.push_back(read_replica(state, i, turn));
    unready += i < state.replicas && !(groups.back().ready && groups.back().updated) ? 1 : 0;
  }
  if (looked_at < has) {
    // So many are still to be made that nothing is replaced before.
    unready += std::max<std::int64_t>(std::min(has, state.replicas) - looked_at, 0);
    return {at_least(partition), with_surge(state, unready)};
  }
  const std::int64_t step = state.unavailable + state.surge - (state.replicas + state.surge - has);
  return {at_least(next_partition(groups, step, partition)), with_surge(state, unready)};
}

Object leader_set_spec(const GroupSet& state, const Step& step) {
  Object pod_template = template_of(state, true);
  set_label(pod_template, lws::kWorkerIndex, "0");
  set_label(pod_template, lws::kName, state.set.name);
  set_label(pod_template, lws::kRevisionKey, state.revision);
  annotate(pod_template, state.root, state.size, true);
  Object spec{{"serviceName", state.set.name}, {"replicas", step.replicas}, {"podManagementPolicy", "Parallel"}};
  Object rolling{{"maxUnavailable", std::max<std::int64_t>(state.unavailable + state.surge, 1)},
                 {"partition", step.partition}};
  spec["updateStrategy"] = Object{{"type", "RollingUpdate"}, {"rollingUpdate", std::move(rolling)}};
  spec["selector"] = Object{{"matchLabels", Object{{lws::kName, state.set.name}, {lws::kWorkerIndex, "0"}}}};
  spec["template"] = std::move(pod_template);
  return spec;
}

void keep_leaders(const GroupSet& state, const Item* leaders, Turn& turn) {
  const Step step = rollout_step(state, leaders, turn);
  Object labels{{lws::kName, state.set.name}, {lws::kRevisionKey, state.revision}};
  Object annotations{{lws::kReplicas, std::to_string(state.replicas)}};
  if (leaders == nullptr) {
    Object metadata{{"name", state.set.name}, {"namespace", state.set.ns}};
    metadata["labels"] = std::move(labels);
    metadata["annotations"] = std::move(annotations);
    metadata["ownerReferences"] = Array{owner_reference(state.set)};
    const bool made = turn.create(state.set, Kind::kStatefulSet,
                                  Object{{"apiVersion", "apps/v1"},
                                         {"kind", "StatefulSet"},
                                         {"metadata", std::move(metadata)},
                                         {"spec", leader_set_spec(state, step)}});
    if (!made) {
      return;
    }
    turn.create(state.set, Kind::kService,
                headless_service(state.set, state.set.name, Object{{lws::kName, state.set.name}}));
    turn.tell(state.set, "Normal", "GroupsProgressing", fmt::format("Created leader statefulset {}", state.set.name));
    return;
  }
  const Object root = leaders->value();
  const bool same = leaders->label(lws::kRevisionKey) == state.revision &&
                    whole_at(root, {"spec", "replicas"}, 1) == step.replicas &&
                    whole_at(root, {"spec", "updateStrategy", "rollingUpdate", "partition"}) == step.partition &&
                    text_at(root, {"metadata", "annotations", lws::kReplicas}) == std::to_string(state.replicas);
  if (!same) {
    Object spec = leader_set_spec(state, step);
    for (const std::string_view fixed : {"serviceName", "podManagementPolicy", "selector"}) {
      spec.erase(fixed);
    }
    turn.patch(*leaders,
               Object{{"metadata", Object{{"labels", std::move(labels)}, {"annotations", std::move(annotations)}}},
                      {"spec", std::move(spec)}});
  }
}

void note_conditions(const GroupSet& state, bool updating, bool all_ready, Array& conditions, Turn& turn) {
  const auto set = [&](std::string_view type, std::string_view reason, std::string_view message, bool holds) {
    const bool known = std::any_of(conditions.begin(), conditions.end(),
                                   [&](const Value& one) { return text_at(one, {"type"}) == type; });
    if (holds || known) {
      set_condition(conditions, {type, holds ? "True" : "False", reason, message, state.set.generation}, turn.now());
    }
  };
  set("Available", "AllGroupsReady", "All replicas are ready", all_ready && !updating);
  set("Progressing", "GroupsProgressing", "Replicas are progressing", updating || !all_ready);
  set("UpdateInProgress", "GroupsUpdating", "Rolling Upgrade is in progress", updating);
}

void tell_status(const GroupSet& state, const Item* leaders, Turn& turn) {
  if (leaders == nullptr) {
    return;
  }
  const Object root = leaders->value();
  const std::int64_t has = whole_at(root, {"spec", "replicas"}, 1);
  std::int64_t ready = 0;
  std::int64_t updated = 0;
  std::int64_t ready_wanted = 0;
  bool updating = false;
  const std::int64_t there = std::min(std::max(has, state.replicas), groups_there(*leaders, turn));
  for (std::int64_t i = 0; i < there; ++i) {
    const Replica replica = read_replica(state, i, turn);
    ready += replica.ready ? 1 : 0;
    updated += replica.updated ? 1 : 0;
    ready_wanted += replica.ready && i < state.replicas ? 1 : 0;
    const Item* leader = turn.view().find(Kind::kPod, state.set.ns, fmt::format("{}-{}", state.set.name, i));
    updating = updating || (leader != nullptr && i >= state.partition && i < state.replicas &&
                            leader->label(lws::kRevisionKey) != state.revision);
  }
  Object status;
  status["observedGeneration"] = state.set.generation;
  status["replicas"] = whole_at(root, {"status", "replicas"});
  status["readyReplicas"] = ready;
  status["updatedReplicas"] = updated;
  status["hpaPodSelector"] = fmt::format("{}={},{}=0", lws::kName, state.set.name, lws::kWorkerIndex);
  Array conditions = conditions_of(state.root);
  note_conditions(state, updating, ready_wanted == state.replicas, conditions, turn);
  status["conditions"] = std::move(conditions);
  turn.patch_status(state.set, std::move(status));
}

}  // namespace

void sync_leader_worker_set(const Item& set, Turn& turn) {
  if (set.deleting()) {
    return;
  }
  const GroupSet state = read_set(set, turn);
  const Item* leaders = turn.view().find(Kind::kStatefulSet, set.ns, set.name);
  if (leaders != nullptr && (leaders->owner != set.uid || leaders->deleting())) {
    turn.again(turn.now() + std::chrono::seconds(1));
    return;
  }
  keep_leaders(state, leaders, turn);
  tell_status(state, leaders, turn);
}

}  // namespace gantree::controllers

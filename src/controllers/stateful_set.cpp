// StatefulSets: one pod for each ordinal, made and replaced in order, or all at once where the policy is Parallel.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "controllers/family.h"
#include "controllers/leader_worker_names.h"
#include "controllers/names.h"
#include "controllers/replica_set.h"
#include "controllers/revision.h"
#include "controllers/set_claims.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

struct SetState {
  const Item& set;
  Object root;
  std::int64_t first = 0;  // ordinal
  std::int64_t replicas = 1;
  bool parallel = false;
  bool on_delete = false;
  std::int64_t partition = 0;
  std::int64_t max_unavailable = 1;
  std::string current = {};  // revisions, by name
  std::string updated = {};
  std::int64_t collisions = 0;
  std::map<std::int64_t, const Item*> pods = {};  // by ordinal, of those wanted
  std::vector<const Item*> condemned = {};        // highest ordinal first
};

std::optional<std::int64_t> ordinal_of(const std::string& set, const std::string& pod) {
  if (!pod.starts_with(set + "-")) {
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(pod).substr(set.size() + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return error == std::errc() && end == rest.data() + rest.size() && number >= 0 ? std::optional(number) : std::nullopt;
}

void read_pods(SetState& state, const std::vector<const Item*>& pods) {
  std::map<std::int64_t, const Item*, std::greater<>> outside;
  for (const Item* pod : pods) {
    const auto ordinal = ordinal_of(state.set.name, pod->name);
    if (!ordinal) {
      continue;
    }
    const bool wanted = *ordinal >= state.first && *ordinal < state.first + state.replicas;
    if (wanted) {
      state.pods[*ordinal] = pod;
    } else {
      outside[*ordinal] = pod;
    }
  }
  for (const auto& [ordinal, pod] : outside) {
    state.condemned.push_back(pod);
  }
}

Value template_data(const Object& root) {
  const Value* pod_template = find(root, {"spec", "template"});
  Object kept = pod_template != nullptr && pod_template->is_object() ? pod_template->get_object() : Object();
  kept["$patch"] = "replace";
  return Object{{"spec", Object{{"template", std::move(kept)}}}};
}

SetState read_state(const Item& set, Object set_root, const std::vector<const Item*>& pods, Turn& turn) {
  SetState state{set, std::move(set_root), 0};
  const Object& root = state.root;
  state.first = whole_at(root, {"spec", "ordinals", "start"});
  state.replicas = std::max<std::int64_t>(whole_at(root, {"spec", "replicas"}, 1), 0);
  state.parallel = text_at(root, {"spec", "podManagementPolicy"}) == "Parallel";
  state.on_delete = text_at(root, {"spec", "updateStrategy", "type"}) == "OnDelete";
  state.partition = whole_at(root, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  state.max_unavailable = std::max<std::int64_t>(
      share_at(root, {"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"}, state.replicas, false, 1), 1);
  const Object* labels = object_at(root, {"spec", "template", "metadata", "labels"});
  const KeptRevision revision = keep_revision(set, template_data(root), labels == nullptr ? Object() : *labels,
                                              whole_at(root, {"status", "collisionCount"}), turn);
  state.updated = revision.name;
  state.collisions = revision.collisions;
  state.current = text_at(root, {"status", "currentRevision"});
  if (state.current.empty()) {
    state.current = state.updated;
  }
  read_pods(state, pods);
  return state;
}

bool healthy(const Item& pod) {
  return !pod.deleting() && pod.pod->phase == Phase::kRunning && pod.pod->ready;
}

std::string_view revision_of(const Item& pod) {
  return pod.label(kRevisionHash);
}

// Pods that the rollout has not reached yet come back as they were.
const std::string& revision_for(const SetState& state, std::int64_t ordinal) {
  if (state.current == state.updated) {
    return state.updated;
  }
  const std::int64_t not_reached =
      state.partition > 0 ? state.partition : whole_at(state.root, {"status", "currentReplicas"});
  return ordinal - state.first < not_reached ? state.current : state.updated;
}

// False where there is no room for more.
bool create_pod(const SetState& state, std::int64_t ordinal, Turn& turn) {
  std::string revision = revision_for(state, ordinal);
  Object pod_template =
      object_at(state.root, {"spec", "template"}) == nullptr ? Object() : *object_at(state.root, {"spec", "template"});
  if (revision != state.updated) {
    if (const auto data = revision_data(state.set, revision, turn)) {
      if (const Object* old = object_at(*data, {"spec", "template"})) {
        pod_template = *old;
      }
    } else {
      revision = state.updated;
    }
  }
  Object pod = pod_from_template(pod_template, state.set);
  const std::string name = fmt::format("{}-{}", state.set.name, ordinal);
  object_in(pod, "metadata")["name"] = name;
  set_label(pod, kStatefulPodName, name);
  set_label(pod, kPodIndex, std::to_string(ordinal));
  set_label(pod, kRevisionHash, revision);
  Object& spec = object_in(pod, "spec");
  spec["hostname"] = name;
  if (const std::string_view service = text_at(state.root, {"spec", "serviceName"}); !service.empty()) {
    spec["subdomain"] = service;
  }
  mount_claims(spec, state.root, name);
  lws::dress_member(pod, ordinal);
  make_claims(state.set, state.root, name, turn);
  if (!turn.create(state.set, Kind::kPod, pod)) {
    return false;
  }
  const std::string deed = fmt::format("create Pod {} in StatefulSet {}", name, state.set.name);
  turn.tell_when_done(state.set, {"SuccessfulCreate", deed + " successful", "FailedCreate", deed + " failed error: "});
  return true;
}

void delete_pod(const SetState& state, const Item& pod, Turn& turn) {
  turn.remove(pod);
  const std::string deed = fmt::format("delete Pod {} in StatefulSet {}", pod.name, state.set.name);
  turn.tell_when_done(state.set, {"SuccessfulDelete", deed + " successful"});
}

// Makes what is missing. True where all are there and healthy, or need not be waited for.
bool fill(const SetState& state, Turn& turn) {
  for (std::int64_t ordinal = state.first; ordinal < state.first + state.replicas; ++ordinal) {
    const auto at = state.pods.find(ordinal);
    if (at == state.pods.end()) {
      if (!create_pod(state, ordinal, turn) || !state.parallel) {
        return false;
      }
    } else if (at->second->finished() && !at->second->deleting()) {
      delete_pod(state, *at->second, turn);
      if (!state.parallel) {
        return false;
      }
    } else if (!healthy(*at->second) && !state.parallel) {
      return false;
    }
    if (turn.writes().size() > kMostPodsAtATime) {
      return false;  // the rest follows when these are answered
    }
  }
  return true;
}

bool shrink(const SetState& state, Turn& turn) {
  for (const Item* pod : state.condemned) {
    if (!pod->deleting()) {
      delete_pod(state, *pod, turn);
    }
    if (!state.parallel) {
      return false;
    }
  }
  return true;
}

void roll(const SetState& state, Turn& turn) {
  if (state.on_delete) {
    return;
  }
  std::int64_t unhealthy = state.replicas - static_cast<std::int64_t>(state.pods.size());
  for (const auto& [ordinal, pod] : state.pods) {
    unhealthy += healthy(*pod) ? 0 : 1;
  }
  for (auto at = state.pods.rbegin(); at != state.pods.rend(); ++at) {
    const auto& [ordinal, pod] = *at;
    if (ordinal - state.first < state.partition) {
      return;
    }
    if (revision_of(*pod) == state.updated || pod->deleting()) {
      continue;
    }
    // One that is of no use goes at once; others only as far as some may be missing.
    if (healthy(*pod) && ++unhealthy > state.max_unavailable) {
      return;
    }
    delete_pod(state, *pod, turn);
  }
}

void tell_status(const SetState& state, Turn& turn) {
  const std::int64_t min_ready = whole_at(state.root, {"spec", "minReadySeconds"});
  std::int64_t all = 0;
  std::int64_t ready = 0;
  std::int64_t now_available = 0;
  std::int64_t current = 0;
  std::int64_t updated = 0;
  std::vector<const Item*> pods = state.condemned;
  for (const auto& [ordinal, pod] : state.pods) {
    pods.push_back(pod);
  }
  for (const Item* pod : pods) {
    ++all;
    if (!pod->deleting() && !pod->finished()) {
      ready += healthy(*pod) ? 1 : 0;
      now_available += healthy(*pod) && available(*pod, min_ready, turn) ? 1 : 0;
      current += revision_of(*pod) == state.current ? 1 : 0;
      updated += revision_of(*pod) == state.updated ? 1 : 0;
    }
  }
  std::string now_current = state.current;
  if (updated == all && all == state.replicas && ready == all) {
    now_current = state.updated;
    current = updated;
  }
  const auto or_nothing = [](std::int64_t count) { return count == 0 ? Value() : Value(count); };
  Object status;
  status["observedGeneration"] = state.set.generation;
  status["replicas"] = all;
  status["readyReplicas"] = or_nothing(ready);
  status["availableReplicas"] = now_available;
  status["currentReplicas"] = or_nothing(current);
  status["updatedReplicas"] = or_nothing(updated);
  status["currentRevision"] = now_current;
  status["updateRevision"] = state.updated;
  status["collisionCount"] = state.collisions;
  turn.patch_status(state.set, std::move(status));
  drop_revisions(state.set, {now_current, state.updated}, whole_at(state.root, {"spec", "revisionHistoryLimit"}, 10),
                 turn);
}

}  // namespace

void sync_stateful_set(const Item& set, Turn& turn) {
  if (set.deleting()) {
    return;
  }
  Object root = set.value();
  const auto is_member = [&](const Item& pod) { return ordinal_of(set.name, pod.name).has_value(); };
  const Family revisions = claim(set, root, {Kind::kControllerRevision}, turn);
  const Family family = claim(set, root, {Kind::kPod, {}, is_member}, turn);
  if (!revisions.settled || !family.settled) {
    return;
  }
  const SetState state = read_state(set, std::move(root), family.members, turn);
  for (const auto& [ordinal, pod] : state.pods) {
    hand_over_claims(set, state.root, *pod, false, turn);
  }
  for (const Item* pod : state.condemned) {
    hand_over_claims(set, state.root, *pod, true, turn);
  }
  if (fill(state, turn) && shrink(state, turn)) {
    roll(state, turn);
  }
  tell_status(state, turn);
}

}  // namespace gantree::controllers

// DaemonSets: a pod for each node that its template wants. The pods name their node by affinity; a scheduler binds
// them.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "controllers/family.h"
#include "controllers/names.h"
#include "controllers/replica_set.h"
#include "controllers/revision.h"
#include "controllers/tasks.h"
#include "controllers/tolerations.h"

namespace gantree::controllers {

namespace {

// What every pod of a DaemonSet tolerates.
constexpr std::pair<std::string_view, std::string_view> kTolerated[] = {
    {"node.kubernetes.io/not-ready", "NoExecute"},      {"node.kubernetes.io/unreachable", "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"}, {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},  {"node.kubernetes.io/unschedulable", "NoSchedule"},
};

// The pods of one node while newer ones may start beside older ones.
struct Pair {
  std::string node;
  const Item* old = nullptr;
  const Item* fresh = nullptr;
};

struct Daemons {
  const Item& set;
  Object root;
  Object pod_template;
  std::string revision;
  std::unordered_map<std::string, std::vector<const Item*>> pods;  // by node
  std::int64_t desired = 0;
  std::int64_t current = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t updated = 0;
  std::int64_t misscheduled = 0;
  std::int64_t collisions = 0;
  std::shared_ptr<Notice> notice = nullptr;
  std::vector<const Item*> deleted = {};
  bool surges = false;           // new pods start before the old ones go
  std::vector<Pair> pairs = {};  // of nodes that have an old one, where it surges
};

void delete_pod(Daemons& state, const Item& pod, Turn& turn) {
  turn.remove(pod);
  state.deleted.push_back(&pod);
}

void add_tolerations(Object& pod_template) {
  Value& tolerations = object_in(pod_template, "spec")["tolerations"];
  if (!tolerations.is_array()) {
    tolerations = Array();
  }
  for (const auto& [key, effect] : kTolerated) {
    tolerations.get_array().push_back(Object{{"key", key}, {"operator", "Exists"}, {"effect", effect}});
  }
}

// The node for which a pod was made, whether it is bound or not.
std::string node_of(const Item& pod) {
  if (!pod.pod->node.empty()) {
    return pod.pod->node;
  }
  const Object root = pod.value();
  const Array* terms = array_at(root, {"spec", "affinity", "nodeAffinity",
                                       "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  for (std::size_t i = 0; terms != nullptr && i < terms->size(); ++i) {
    const Array* fields = array_at((*terms)[i], {"matchFields"});
    const Array* values = fields == nullptr || fields->empty() ? nullptr : array_at((*fields)[0], {"values"});
    if (values != nullptr && !values->empty()) {
      return std::string(text_of((*values)[0]));
    }
  }
  return {};
}

// Every term of the affinity is narrowed to the node: any of them will do.
void aim_at(Object& pod, const std::string& node) {
  Object field{{"key", "metadata.name"}, {"operator", "In"}};
  field["values"] = Array{Value(node)};
  Array fields;
  fields.push_back(std::move(field));
  Object& affinity = object_in(object_in(object_in(pod, "spec"), "affinity"), "nodeAffinity");
  Value& terms = object_in(affinity, "requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"];
  Array aimed;
  aimed.push_back(Object{{"matchFields", std::move(fields)}});
  terms = std::move(aimed);
}

Daemons read_daemons(const Item& set, Object root, const std::vector<const Item*>& pods, Turn& turn) {
  Daemons state{set, std::move(root), {}, {}, {}};
  if (const Object* found = object_at(state.root, {"spec", "template"})) {
    state.pod_template = *found;
  }
  Object kept = state.pod_template;
  kept["$patch"] = "replace";
  const Object* labels = object_at(state.pod_template, {"metadata", "labels"});
  const KeptRevision revision =
      keep_revision(set, Object{{"spec", Object{{"template", std::move(kept)}}}},
                    labels == nullptr ? Object() : *labels, whole_at(state.root, {"status", "collisionCount"}), turn);
  state.revision = revision.name.substr(set.name.size() + 1);
  state.collisions = revision.collisions;
  state.surges = text_at(state.root, {"spec", "updateStrategy", "type"}) != "OnDelete" &&
                 share_at(state.root, {"spec", "updateStrategy", "rollingUpdate", "maxSurge"}, 100, true, 0) > 0;
  state.notice = turn.will_tell(set, "Created pod: ");
  add_tolerations(state.pod_template);
  for (const Item* pod : pods) {
    state.pods[node_of(*pod)].push_back(pod);
  }
  return state;
}

void create_pod(const Daemons& state, const std::string& node, Turn& turn) {
  Object pod = pod_from_template(state.pod_template, state.set);
  object_in(pod, "metadata")["generateName"] = state.set.name + "-";
  set_label(pod, kRevisionHash, state.revision);
  set_label(pod, "pod-template-generation", std::to_string(state.set.generation));
  aim_at(pod, node);
  turn.create(state.set, Kind::kPod, pod, state.notice);
}

void look_at_node(Daemons& state, const Item& node, std::size_t& made, Turn& turn) {
  const auto at = state.pods.find(node.name);
  const Object* spec = object_at(state.pod_template, {"spec"});
  const Array* tolerations = spec == nullptr ? nullptr : array_at(*spec, {"tolerations"});
  const bool matches = spec != nullptr && wants_node(*spec, node);
  const bool may_start = matches && tolerates_all(tolerations, node.node->taints, {"NoSchedule", "NoExecute"});
  const bool may_stay = matches && tolerates_all(tolerations, node.node->taints, {"NoExecute"});
  if (at == state.pods.end()) {
    state.desired += may_start ? 1 : 0;
    if (may_start && made < kMostPodsAtATime) {
      ++made;
      create_pod(state, node.name, turn);
    }
    return;
  }
  Pair pair{.node = node.name};
  for (const Item* pod : at->second) {
    const bool fresh = pod->label(kRevisionHash) == state.revision;
    const Item*& place = fresh ? pair.fresh : pair.old;
    const bool taken = place != nullptr || (!state.surges && (pair.fresh != nullptr || pair.old != nullptr));
    const bool superfluous = taken || pod->finished() || !may_stay;
    if (superfluous && !pod->deleting()) {
      delete_pod(state, *pod, turn);
    }
    place = superfluous || pod->deleting() ? place : pod;
  }
  state.desired += may_stay ? 1 : 0;
  const Item* kept = pair.old != nullptr ? pair.old : pair.fresh;
  if (kept == nullptr) {
    return;
  }
  if (state.surges && may_start && pair.old != nullptr) {
    state.pairs.push_back(pair);
  }
  state.current += 1;
  state.misscheduled += may_start || may_stay ? 0 : 1;
  state.ready += kept->pod->ready ? 1 : 0;
  state.available += available(*kept, whole_at(state.root, {"spec", "minReadySeconds"}), turn) ? 1 : 0;
  state.updated += kept->label(kRevisionHash) == state.revision ? 1 : 0;
}

// New pods start beside the old ones, so many at a time; an old one goes when the new one is available. One that is of
// no use is no reason to wait.
void roll_by_surge(Daemons& state, Turn& turn) {
  const std::int64_t min_ready = whole_at(state.root, {"spec", "minReadySeconds"});
  std::int64_t left =
      share_at(state.root, {"spec", "updateStrategy", "rollingUpdate", "maxSurge"}, state.desired, true, 0);
  std::vector<const Pair*> waiting;
  for (const Pair& pair : state.pairs) {
    if (pair.fresh == nullptr) {
      waiting.push_back(&pair);
    } else if (available(*pair.fresh, min_ready, turn)) {
      delete_pod(state, *pair.old, turn);
    } else {
      --left;
    }
  }
  std::size_t made = 0;
  for (const Pair* pair : waiting) {
    const bool useless = !available(*pair->old, min_ready, turn);
    if ((useless || left > 0) && made < kMostPodsAtATime) {
      left -= useless ? 0 : 1;
      ++made;
      create_pod(state, pair->node, turn);
    }
  }
}

void roll(Daemons& state, Turn& turn) {
  if (text_at(state.root, {"spec", "updateStrategy", "type"}) == "OnDelete" || state.updated == state.current) {
    return;
  }
  if (state.surges) {
    roll_by_surge(state, turn);
    return;
  }
  const std::int64_t may_miss = std::max<std::int64_t>(
      share_at(state.root, {"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"}, state.desired, true, 1), 1);
  std::int64_t missing = state.desired - state.available;
  std::vector<const Item*> old;
  for (const auto& [node, pods] : state.pods) {
    for (const Item* pod : pods) {
      if (pod->active() && pod->label(kRevisionHash) != state.revision) {
        old.push_back(pod);
      }
    }
  }
  std::sort(old.begin(), old.end(), [](const Item* a, const Item* b) {
    return std::tie(a->pod->ready, a->name) < std::tie(b->pod->ready, b->name);
  });
  for (const Item* pod : old) {
    if (pod->pod->ready && ++missing > may_miss) {
      return;
    }
    delete_pod(state, *pod, turn);
  }
}

}  // namespace

void sync_daemon_set(const Item& set, Turn& turn) {
  if (set.deleting()) {
    return;
  }
  Object root = set.value();
  const Family revisions = claim(set, root, {Kind::kControllerRevision}, turn);
  const Family family = claim(set, root, {Kind::kPod}, turn);
  if (!revisions.settled || !family.settled) {
    return;
  }
  Daemons state = read_daemons(set, std::move(root), family.members, turn);
  std::size_t made = 0;
  for (const Item* node : turn.view().all(Kind::kNode)) {
    look_at_node(state, *node, made, turn);
  }
  turn.looked_at(turn.view().count(Kind::kNode));
  roll(state, turn);
  turn.tell_deleted(set, state.deleted, "Deleted pod: ");
  const auto or_nothing = [](std::int64_t count) { return count == 0 ? Value() : Value(count); };
  Object status;
  status["currentNumberScheduled"] = state.current;
  status["numberMisscheduled"] = state.misscheduled;
  status["desiredNumberScheduled"] = state.desired;
  status["numberReady"] = state.ready;
  status["observedGeneration"] = set.generation;
  status["updatedNumberScheduled"] = or_nothing(state.updated);
  status["numberAvailable"] = or_nothing(state.available);
  status["numberUnavailable"] = or_nothing(state.desired - state.available);
  if (state.collisions > 0) {
    status["collisionCount"] = state.collisions;
  }
  turn.patch_status(set, std::move(status));
}

}  // namespace gantree::controllers

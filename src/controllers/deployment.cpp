// Deployments: a ReplicaSet for each template there was, the newest of which gets the pods.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "controllers/names.h"
#include "controllers/replica_set.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr std::chrono::milliseconds kGlance{300};

struct Revision {
  const Item* item = nullptr;
  Object root;
  std::int64_t number = 0;
  std::int64_t wanted = 0;    // spec.replicas
  std::int64_t replicas = 0;  // status
  std::int64_t ready = 0;
  std::int64_t available = 0;
};

struct Rollout {
  const Item& deployment;
  Object root;
  std::string hash = {};
  std::int64_t replicas = 1;
  std::int64_t surge = 0;
  std::int64_t unavailable = 0;
  bool recreate = false;
  bool paused = false;
  std::vector<Revision> old = {};  // oldest first
  std::optional<Revision> current = {};
};

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Revision read_revision(const Item& item) {
  Revision revision;
  revision.item = &item;
  revision.root = item.value();
  revision.number = number_in(text_at(revision.root, {"metadata", "annotations", kRevision}));
  revision.wanted = whole_at(revision.root, {"spec", "replicas"}, 1);
  revision.replicas = whole_at(revision.root, {"status", "replicas"});
  revision.ready = whole_at(revision.root, {"status", "readyReplicas"});
  revision.available = whole_at(revision.root, {"status", "availableReplicas"});
  return revision;
}

Rollout read_rollout(const Item& deployment, Turn& turn) {
  Rollout rollout{deployment, deployment.value(), {}};
  const Object& root = rollout.root;
  const Value* pod_template = find(root, {"spec", "template"});
  rollout.hash = short_hash(pod_template == nullptr ? Value() : *pod_template);
  rollout.replicas = whole_at(root, {"spec", "replicas"}, 1);
  rollout.recreate = text_at(root, {"spec", "strategy", "type"}) == "Recreate";
  rollout.paused = flag_at(root, {"spec", "paused"});
  if (!rollout.recreate) {
    const auto quarter = [&](bool up) { return (rollout.replicas * 25 + (up ? 99 : 0)) / 100; };
    rollout.surge =
        share_at(root, {"spec", "strategy", "rollingUpdate", "maxSurge"}, rollout.replicas, true, quarter(true));
    rollout.unavailable = share_at(root, {"spec", "strategy", "rollingUpdate", "maxUnavailable"}, rollout.replicas,
                                   false, quarter(false));
    // Neither more nor fewer would be no rollout at all.
    if (rollout.surge == 0 && rollout.unavailable == 0) {
      rollout.unavailable = 1;
    }
  }
  for (const Item* item : turn.view().controlled_by(deployment, Kind::kReplicaSet)) {
    Revision revision = read_revision(*item);
    if (item->label(kTemplateHash) == rollout.hash && !item->deleting()) {
      rollout.current = std::move(revision);
    } else {
      rollout.old.push_back(std::move(revision));
    }
  }
  std::sort(rollout.old.begin(), rollout.old.end(),
            [](const Revision& a, const Revision& b) { return a.number < b.number; });
  return rollout;
}

std::int64_t total_wanted(const Rollout& rollout) {
  std::int64_t total = rollout.current ? rollout.current->wanted : 0;
  for (const Revision& revision : rollout.old) {
    total += revision.wanted;
  }
  return total;
}

// How many pods the newest ReplicaSet may have now.
std::int64_t wanted_of_current(const Rollout& rollout) {
  const std::int64_t has = rollout.current ? rollout.current->wanted : 0;
  if (rollout.recreate) {
    return rollout.replicas;
  }
  if (has >= rollout.replicas) {
    return rollout.replicas;
  }
  const std::int64_t room = rollout.replicas + rollout.surge - total_wanted(rollout);
  return has + std::clamp<std::int64_t>(room, 0, rollout.replicas - has);
}

bool old_pods_run(const Rollout& rollout, Turn& turn) {
  return std::any_of(rollout.old.begin(), rollout.old.end(), [&](const Revision& revision) {
    const auto pods = turn.view().controlled_by(*revision.item, Kind::kPod);
    return std::any_of(pods.begin(), pods.end(), [](const Item* pod) { return !pod->finished(); });
  });
}

void set_scale(const Rollout& rollout, const Revision& revision, std::int64_t wanted, Turn& turn) {
  Object annotations;
  annotations[kDesiredReplicas] = std::to_string(rollout.replicas);
  annotations[kMaxReplicas] = std::to_string(rollout.replicas + rollout.surge);
  turn.patch(*revision.item, Object{{"metadata", Object{{"annotations", std::move(annotations)}}},
                                    {"spec", Object{{"replicas", wanted}}}});
  if (wanted != revision.wanted) {
    turn.tell(rollout.deployment, "Normal", "ScalingReplicaSet",
              fmt::format("Scaled {} replica set {} from {} to {}", wanted > revision.wanted ? "up" : "down",
                          revision.item->name, revision.wanted, wanted));
  }
}

std::int64_t next_number(const Rollout& rollout) {
  return rollout.old.empty() ? 1 : rollout.old.back().number + 1;
}

void create_current(const Rollout& rollout, Turn& turn) {
  const Item& deployment = rollout.deployment;
  Object pod_template = object_at(rollout.root, {"spec", "template"}) == nullptr
                            ? Object()
                            : *object_at(rollout.root, {"spec", "template"});
  set_label(pod_template, kTemplateHash, rollout.hash);
  Object selector = object_at(rollout.root, {"spec", "selector"}) == nullptr
                        ? Object()
                        : *object_at(rollout.root, {"spec", "selector"});
  object_in(selector, "matchLabels")[kTemplateHash] = rollout.hash;
  Object annotations;
  if (const Object* all = object_at(rollout.root, {"metadata", "annotations"})) {
    for (const auto& [key, value] : *all) {
      if (key != kRevision && key != "kubectl.kubernetes.io/last-applied-configuration") {
        annotations[key] = value;
      }
    }
  }
  annotations[kRevision] = std::to_string(next_number(rollout));
  annotations[kDesiredReplicas] = std::to_string(rollout.replicas);
  annotations[kMaxReplicas] = std::to_string(rollout.replicas + rollout.surge);
  Object metadata{{"name", fmt::format("{}-{}", deployment.name, rollout.hash)}, {"namespace", deployment.ns}};
  metadata["labels"] = *find(pod_template, {"metadata", "labels"});
  metadata["annotations"] = std::move(annotations);
  metadata["ownerReferences"] = Array{owner_reference(deployment)};
  const std::int64_t wanted = rollout.paused ? 0 : wanted_of_current(rollout);
  Object spec{{"replicas", wanted}};
  spec["minReadySeconds"] = whole_at(rollout.root, {"spec", "minReadySeconds"});
  spec["selector"] = std::move(selector);
  spec["template"] = std::move(pod_template);
  turn.create(Kind::kReplicaSet, deployment.ns,
              Object{{"apiVersion", "apps/v1"},
                     {"kind", "ReplicaSet"},
                     {"metadata", std::move(metadata)},
                     {"spec", std::move(spec)}});
  turn.tell(deployment, "Normal", "ScalingReplicaSet",
            fmt::format("Scaled up replica set {}-{} from 0 to {}", deployment.name, rollout.hash, wanted));
}

// Takes pods from old ReplicaSets: those that are no use first, then as many as may be missing.
void scale_down_old(const Rollout& rollout, Turn& turn) {
  const Revision& current = *rollout.current;
  std::int64_t all = current.wanted;
  std::int64_t all_available = current.available;
  for (const Revision& revision : rollout.old) {
    all += revision.wanted;
    all_available += revision.available;
  }
  const std::int64_t least = rollout.replicas - rollout.unavailable;
  std::int64_t may_go = all - least - (current.wanted - current.available);
  std::int64_t may_go_available = all_available - least;
  for (const Revision& revision : rollout.old) {
    if (revision.wanted == 0 || may_go <= 0) {
      continue;
    }
    const std::int64_t useless = std::min(std::max<std::int64_t>(revision.wanted - revision.available, 0), may_go);
    const std::int64_t useful =
        std::clamp<std::int64_t>(std::min(may_go - useless, may_go_available), 0, revision.wanted - useless);
    if (useless + useful > 0) {
      may_go -= useless + useful;
      may_go_available -= useful;
      set_scale(rollout, revision, revision.wanted - useless - useful, turn);
    }
  }
}

// Moves one step.
void roll(const Rollout& rollout, Turn& turn) {
  if (rollout.recreate) {
    for (const Revision& revision : rollout.old) {
      if (revision.wanted > 0) {
        set_scale(rollout, revision, 0, turn);
      }
    }
    if (old_pods_run(rollout, turn)) {
      // Nothing but the pods themselves tells when they are gone.
      turn.again(turn.now() + kGlance);
      return;
    }
  }
  if (!rollout.current) {
    create_current(rollout, turn);
    return;
  }
  if (!rollout.old.empty() && rollout.current->number <= rollout.old.back().number) {
    // An earlier template came back: it is the newest now.
    Object annotations;
    annotations[kRevision] = std::to_string(next_number(rollout));
    turn.patch(*rollout.current->item, Object{{"metadata", Object{{"annotations", std::move(annotations)}}}});
  }
  const std::int64_t wanted = wanted_of_current(rollout);
  if (wanted != rollout.current->wanted) {
    set_scale(rollout, *rollout.current, wanted, turn);
  } else if (!rollout.recreate) {
    scale_down_old(rollout, turn);
  }
}

// Only the size may change.
void resize_paused(const Rollout& rollout, Turn& turn) {
  const Revision* only = rollout.current ? &*rollout.current : nullptr;
  for (const Revision& revision : rollout.old) {
    if (revision.wanted > 0) {
      only = only == nullptr || only->wanted == 0 ? &revision : nullptr;
    }
  }
  if (only != nullptr && only->wanted != rollout.replicas && only->wanted > 0) {
    set_scale(rollout, *only, rollout.replicas, turn);
  }
}

void drop_history(const Rollout& rollout, Turn& turn) {
  const auto kept =
      static_cast<std::size_t>(std::max<std::int64_t>(whole_at(rollout.root, {"spec", "revisionHistoryLimit"}, 10), 0));
  for (std::size_t i = 0; i + kept < rollout.old.size(); ++i) {
    const Revision& revision = rollout.old[i];
    if (revision.wanted == 0 && revision.replicas == 0 && !revision.item->deleting()) {
      turn.remove(*revision.item);
    }
  }
}

bool done(const Rollout& rollout, std::int64_t total) {
  return rollout.current && rollout.current->replicas == rollout.replicas && total == rollout.replicas &&
         rollout.current->available >= rollout.replicas;
}

void note_progress(const Rollout& rollout, std::int64_t total, Array& conditions, Turn& turn) {
  const std::string name =
      rollout.current ? rollout.current->item->name : fmt::format("{}-{}", rollout.deployment.name, rollout.hash);
  if (done(rollout, total)) {
    set_condition(conditions,
                  {"Progressing",
                   "True",
                   "NewReplicaSetAvailable",
                   fmt::format("ReplicaSet \"{}\" has successfully progressed.", name),
                   {},
                   "lastUpdateTime"},
                  turn.now());
    return;
  }
  const Value* before = find_condition(rollout.root, "Progressing");
  const auto deadline = std::chrono::seconds(whole_at(rollout.root, {"spec", "progressDeadlineSeconds"}, 600));
  const bool same = before != nullptr && text_at(*before, {"reason"}) != "NewReplicaSetAvailable" &&
                    text_at(*before, {"message"}).find(name) != std::string_view::npos;
  const Time end = turn.after(same ? time_at(*before, {"lastUpdateTime"}) : turn.seconds(), deadline);
  if (same && end <= turn.now()) {
    set_condition(conditions,
                  {"Progressing",
                   "False",
                   "ProgressDeadlineExceeded",
                   fmt::format("ReplicaSet \"{}\" has timed out progressing.", name),
                   {},
                   "lastUpdateTime"},
                  turn.now());
    return;
  }
  turn.again(end);
  set_condition(conditions,
                {"Progressing",
                 "True",
                 "ReplicaSetUpdated",
                 fmt::format("ReplicaSet \"{}\" is progressing.", name),
                 {},
                 "lastUpdateTime"},
                turn.now());
}

void tell_status(const Rollout& rollout, Turn& turn) {
  std::int64_t total = rollout.current ? rollout.current->replicas : 0;
  std::int64_t ready = rollout.current ? rollout.current->ready : 0;
  std::int64_t now_available = rollout.current ? rollout.current->available : 0;
  for (const Revision& revision : rollout.old) {
    total += revision.replicas;
    ready += revision.ready;
    now_available += revision.available;
  }
  const auto or_nothing = [](std::int64_t count) { return count <= 0 ? Value() : Value(count); };
  Object status;
  status["observedGeneration"] = rollout.deployment.generation;
  status["replicas"] = or_nothing(total);
  status["updatedReplicas"] = or_nothing(rollout.current ? rollout.current->replicas : 0);
  status["readyReplicas"] = or_nothing(ready);
  status["availableReplicas"] = or_nothing(now_available);
  status["unavailableReplicas"] = or_nothing(std::max(total, total_wanted(rollout)) - now_available);
  Array conditions = conditions_of(rollout.root);
  const bool enough = now_available >= rollout.replicas - rollout.unavailable;
  set_condition(conditions,
                {"Available",
                 enough ? "True" : "False",
                 enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                 enough ? "Deployment has minimum availability." : "Deployment does not have minimum availability.",
                 {},
                 "lastUpdateTime"},
                turn.now());
  note_progress(rollout, total, conditions, turn);
  status["conditions"] = std::move(conditions);
  turn.patch_status(rollout.deployment, std::move(status));
}

}  // namespace

void sync_deployment(const Item& deployment, Turn& turn) {
  const Rollout rollout = read_rollout(deployment, turn);
  turn.looked_at(rollout.old.size() + 1);
  if (deployment.deleting()) {
    return;
  }
  if (rollout.paused && (rollout.current || !rollout.old.empty())) {
    resize_paused(rollout, turn);
  } else {
    roll(rollout, turn);
    drop_history(rollout, turn);
  }
  if (rollout.current) {
    const std::string number = std::to_string(rollout.current->number);
    if (text_at(rollout.root, {"metadata", "annotations", kRevision}) != number && rollout.current->number > 0) {
      Object annotations;
      annotations[kRevision] = number;
      turn.patch(deployment, Object{{"metadata", Object{{"annotations", std::move(annotations)}}}});
      return;  // the status is told of the version that this makes
    }
  }
  tell_status(rollout, turn);
}

}  // namespace gantree::controllers

// Deployments: a ReplicaSet for each template there was, the newest of which gets the pods.
#include <fmt/format.h>

#include <algorithm>

#include "controllers/deployment_state.h"
#include "controllers/family.h"
#include "controllers/names.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr std::chrono::milliseconds kGlance{300};

// How many pods the newest ReplicaSet may have now.
std::int64_t wanted_of_current(const Rollout& rollout) {
  const std::int64_t has = rollout.current ? rollout.current->wanted : 0;
  if (rollout.recreate) {
    return rollout.replicas;
  }
  if (has >= rollout.replicas) {
    return rollout.replicas;
  }
  const std::int64_t room = rollout.most() - rollout.total_wanted();
  return has + std::clamp<std::int64_t>(room, 0, rollout.replicas - has);
}

bool old_pods_run(const Rollout& rollout, Turn& turn) {
  return std::any_of(rollout.old.begin(), rollout.old.end(), [&](const Revision& revision) {
    const auto pods = turn.view().controlled_by(*revision.item, Kind::kPod);
    return std::any_of(pods.begin(), pods.end(), [](const Item* pod) { return !pod->finished(); });
  });
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
  annotations[kMaxReplicas] = std::to_string(rollout.most());
  Object metadata{{"name", rollout.current_name()}, {"namespace", deployment.ns}};
  metadata["labels"] = *find(pod_template, {"metadata", "labels"});
  metadata["annotations"] = std::move(annotations);
  metadata["ownerReferences"] = Array{owner_reference(deployment)};
  const std::int64_t wanted = wanted_of_current(rollout);
  Object spec{{"replicas", wanted}};
  spec["minReadySeconds"] = whole_at(rollout.root, {"spec", "minReadySeconds"});
  spec["selector"] = std::move(selector);
  spec["template"] = std::move(pod_template);
  const bool made = turn.create(deployment, Kind::kReplicaSet,
                                Object{{"apiVersion", "apps/v1"},
                                       {"kind", "ReplicaSet"},
                                       {"metadata", std::move(metadata)},
                                       {"spec", std::move(spec)}});
  if (!made) {
    return;
  }
  turn.tell(deployment, "Normal", "ScalingReplicaSet",
            fmt::format("Scaled up replica set {} from 0 to {}", rollout.current_name(), wanted));
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
  if (rollout.current->number < next_number(rollout)) {
    // An earlier template came back, or one without a number was taken in: it is the newest now.
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

}  // namespace

void sync_deployment(const Item& deployment, Turn& turn) {
  if (deployment.deleting()) {
    return;
  }
  Object root = deployment.value();
  const Family family = claim(deployment, root, {Kind::kReplicaSet}, turn);
  if (!family.settled) {
    return;
  }
  const Rollout rollout(deployment, std::move(root), family.members, turn);
  if (rollout.paused) {
    share_new_size(rollout, turn);
  } else if (!resized(rollout) || !share_new_size(rollout, turn)) {
    roll(rollout, turn);
    drop_history(rollout, turn);
  }
  if (rollout.current) {
    const std::string number = std::to_string(rollout.current->number);
    if (text_at(rollout.root, {"metadata", "annotations", kRevision}) != number && rollout.current->number > 0) {
      Object annotations;
      annotations[kRevision] = number;
      turn.annotate(deployment, std::move(annotations));
      return;  // the status is told of the version that this makes
    }
  }
  tell_deployment_status(rollout, turn);
}

}  // namespace gantree::controllers

#include "controllers/deployment_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "controllers/names.h"

namespace gantree::controllers {

namespace {

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

Revision read_revision(const Item& item) {
  Revision revision;
  revision.item = &item;
  revision.root = item.value();
  const auto noted = [&](std::string_view key) {
    return number_in(text_at(revision.root, {"metadata", "annotations", key}));
  };
  revision.number = noted(kRevision).value_or(0);
  revision.desired = noted(kDesiredReplicas);
  revision.most = noted(kMaxReplicas).value_or(0);
  revision.wanted = whole_at(revision.root, {"spec", "replicas"}, 1);
  revision.replicas = whole_at(revision.root, {"status", "replicas"});
  revision.ready = whole_at(revision.root, {"status", "readyReplicas"});
  revision.available = whole_at(revision.root, {"status", "availableReplicas"});
  return revision;
}

// Is the ReplicaSet's template the Deployment's, but for the hash that was added?
bool same_template(const Revision& revision, const Object& pod_template) {
  const Object* found = object_at(revision.root, {"spec", "template"});
  if (found == nullptr) {
    return false;
  }
  Object other = *found;
  if (Value* labels = find(other, {"metadata", "labels"}); labels != nullptr && labels->is_object()) {
    labels->get_object().erase(kTemplateHash);
  }
  return apiserver::same(other, pod_template);
}

void read_strategy(Rollout& rollout) {
  const Object& root = rollout.root;
  rollout.recreate = text_at(root, {"spec", "strategy", "type"}) == "Recreate";
  if (rollout.recreate) {
    return;
  }
  const auto quarter = [&](bool up) { return (rollout.replicas * 25 + (up ? 99 : 0)) / 100; };
  rollout.surge =
      share_at(root, {"spec", "strategy", "rollingUpdate", "maxSurge"}, rollout.replicas, true, quarter(true));
  rollout.unavailable =
      share_at(root, {"spec", "strategy", "rollingUpdate", "maxUnavailable"}, rollout.replicas, false, quarter(false));
  // Neither more nor fewer would be no rollout at all.
  if (rollout.surge == 0 && rollout.unavailable == 0) {
    rollout.unavailable = 1;
  }
}

}  // namespace

Rollout::Rollout(const Item& the_deployment, Object the_root, const std::vector<const Item*>& replica_sets,
                 const Turn& turn)
    : deployment(the_deployment), root(std::move(the_root)) {
  const Object* found = object_at(root, {"spec", "template"});
  const Object pod_template = found == nullptr ? Object() : *found;
  replicas = whole_at(root, {"spec", "replicas"}, 1);
  paused = flag_at(root, {"spec", "paused"});
  collisions = whole_at(root, {"status", "collisionCount"});
  hash = short_hash(pod_template, collisions);
  read_strategy(*this);
  for (const Item* item : replica_sets) {
    Revision revision = read_revision(*item);
    const bool fits =
        !item->deleting() && (item->label(kTemplateHash) == hash || same_template(revision, pod_template));
    // Of several the oldest: the others are its copies.
    if (fits && (!current || item->created < current->item->created)) {
      std::swap(revision, current ? *current : current.emplace());
    }
    if (revision.item != nullptr) {
      old.push_back(std::move(revision));
    }
  }
  std::stable_sort(old.begin(), old.end(), [](const Revision& a, const Revision& b) { return a.number < b.number; });
  const auto taken = [&] {
    const Item* other = turn.view().find(Kind::kReplicaSet, deployment.ns, current_name());
    return other != nullptr && other->owner != deployment.uid;
  };
  while (!current && taken()) {
    hash = short_hash(pod_template, ++collisions);
  }
}

std::int64_t Rollout::total_wanted() const {
  std::int64_t total = current ? current->wanted : 0;
  for (const Revision& revision : old) {
    total += revision.wanted;
  }
  return total;
}

std::string Rollout::current_name() const {
  return current ? current->item->name : fmt::format("{}-{}", deployment.name, hash);
}

void set_scale(const Rollout& rollout, const Revision& revision, std::int64_t wanted, Turn& turn) {
  Object annotations;
  annotations[kDesiredReplicas] = std::to_string(rollout.replicas);
  annotations[kMaxReplicas] = std::to_string(rollout.most());
  turn.patch(*revision.item, Object{{"metadata", Object{{"annotations", std::move(annotations)}}},
                                    {"spec", Object{{"replicas", wanted}}}});
  if (wanted != revision.wanted) {
    turn.tell(rollout.deployment, "Normal", "ScalingReplicaSet",
              fmt::format("Scaled {} replica set {} from {} to {}", wanted > revision.wanted ? "up" : "down",
                          revision.item->name, revision.wanted, wanted));
  }
}

}  // namespace gantree::controllers

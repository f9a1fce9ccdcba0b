#include "controllers/set_claims.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree::controllers {

namespace {

std::string claim_name(const Value& claim, std::string_view pod) {
  return fmt::format("{}-{}", text_at(claim, {"metadata", "name"}), pod);
}

// Who is to own the claims of a pod; nullptr: nobody.
const Item* owner_of_claims(const Item& set, const Object& root, const Item* pod, bool goes) {
  const auto deletes = [&](std::string_view when) {
    return text_at(root, {"spec", "persistentVolumeClaimRetentionPolicy", when}) == "Delete";
  };
  if (goes && deletes("whenScaled")) {
    return pod;
  }
  return deletes("whenDeleted") ? &set : nullptr;
}

bool is_family(const Value& reference, const Item& set, const Item& pod) {
  const std::string_view uid = text_at(reference, {"uid"});
  const std::string_view kind = text_at(reference, {"kind"});
  return uid == set.uid || uid == pod.uid || (kind == "Pod" && text_at(reference, {"name"}) == pod.name);
}

}  // namespace

void mount_claims(Object& pod_spec, const Object& set_root, std::string_view pod) {
  const Array* claims = array_at(set_root, {"spec", "volumeClaimTemplates"});
  for (std::size_t i = 0; claims != nullptr && i < claims->size(); ++i) {
    const std::string_view name = text_at((*claims)[i], {"metadata", "name"});
    Value& list = pod_spec["volumes"];
    Array& volumes = list.is_array() ? list.get_array() : list.emplace_array();
    volumes.erase(std::remove_if(volumes.begin(), volumes.end(),
                                 [&](const Value& volume) { return text_at(volume, {"name"}) == name; }),
                  volumes.end());
    volumes.push_back(
        Object{{"name", name}, {"persistentVolumeClaim", Object{{"claimName", claim_name((*claims)[i], pod)}}}});
  }
}

void make_claims(const Item& set, const Object& set_root, const std::string& pod, Turn& turn) {
  const Array* claims = array_at(set_root, {"spec", "volumeClaimTemplates"});
  for (std::size_t i = 0; claims != nullptr && i < claims->size(); ++i) {
    const Value& claim = (*claims)[i];
    const std::string name = claim_name(claim, pod);
    if (turn.view().find(Kind::kPersistentVolumeClaim, set.ns, name) != nullptr) {
      continue;
    }
    Object metadata{{"name", name}, {"namespace", set.ns}};
    for (const std::string_view key : {"labels", "annotations"}) {
      if (const Object* part = object_at(claim, {"metadata", key})) {
        metadata[key] = *part;
      }
    }
    if (const Object* labels = object_at(set_root, {"spec", "selector", "matchLabels"})) {
      Object& all = object_in(metadata, "labels");
      for (const auto& [key, value] : *labels) {
        all[key] = value;
      }
    }
    if (const Item* owner = owner_of_claims(set, set_root, nullptr, false)) {
      metadata["ownerReferences"] = Array{owner_reference(*owner)};
    }
    const Value* spec = find(claim, {"spec"});
    const bool made = turn.create(set, Kind::kPersistentVolumeClaim,
                                  Object{{"apiVersion", "v1"},
                                         {"kind", "PersistentVolumeClaim"},
                                         {"metadata", std::move(metadata)},
                                         {"spec", spec == nullptr ? Value(Object()) : *spec}});
    if (!made) {
      return;
    }
    turn.tell(set, "Normal", "SuccessfulCreate",
              fmt::format("create Claim {} Pod {} in StatefulSet {} success", name, pod, set.name));
  }
}

void hand_over_claims(const Item& set, const Object& set_root, const Item& pod, bool goes, Turn& turn) {
  const Array* claims = array_at(set_root, {"spec", "volumeClaimTemplates"});
  const Item* owner = owner_of_claims(set, set_root, &pod, goes);
  for (std::size_t i = 0; claims != nullptr && i < claims->size(); ++i) {
    const Item* claim = turn.view().find(Kind::kPersistentVolumeClaim, set.ns, claim_name((*claims)[i], pod.name));
    if (claim == nullptr || claim->deleting() || claim->owner == (owner == nullptr ? "" : owner->uid)) {
      continue;
    }
    const Object root = claim->value();
    Array owners;
    if (const Array* all = array_at(root, {"metadata", "ownerReferences"})) {
      std::copy_if(all->begin(), all->end(), std::back_inserter(owners),
                   [&](const Value& one) { return !is_family(one, set, pod); });
    }
    const bool others =
        std::any_of(owners.begin(), owners.end(), [](const Value& one) { return flag_at(one, {"controller"}); });
    if (others) {
      continue;
    }
    if (owner != nullptr) {
      owners.push_back(owner_reference(*owner));
    }
    Object metadata{{"resourceVersion", std::to_string(claim->version)}};
    metadata["ownerReferences"] = owners.empty() ? Value() : Value(std::move(owners));
    turn.patch(*claim, Object{{"metadata", std::move(metadata)}});
  }
}

}  // namespace gantree::controllers

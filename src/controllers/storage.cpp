// Storage, made up: a PersistentVolume for each claim at once, whatever its class's provisioner; and the phases of
// volumes. Nothing is ever stored anywhere.
#include <fmt/format.h>

#include <algorithm>

#include "controllers/amounts.h"
#include "controllers/names.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

const Item* default_class(const Turn& turn) {
  const Item* found = nullptr;
  for (const Item* one : turn.view().all(Kind::kStorageClass)) {
    const Object root = one->value();
    // Of several the newest.
    if (text_at(root, {"metadata", "annotations", kDefaultClass}) == "true" &&
        (found == nullptr || one->created > found->created)) {
      found = one;
    }
  }
  return found;
}

Object claim_reference(const Item& claim) {
  return Object{{"apiVersion", "v1"},
                {"kind", "PersistentVolumeClaim"},
                {"namespace", claim.ns},
                {"name", claim.name},
                {"uid", claim.uid}};
}

void provision(const Item& claim, const Object& root, const Item& storage_class, Turn& turn) {
  const Object about = storage_class.value();
  const std::string_view provisioner = text_at(about, {"provisioner"});
  const std::string name = "pvc-" + claim.uid;
  Object metadata{{"name", name}};
  metadata["annotations"] = Object{{kProvisionedBy, provisioner}};
  Object spec;
  const Object* requests = object_at(root, {"spec", "resources", "requests"});
  spec["capacity"] = requests == nullptr ? Object() : *requests;
  for (const std::string_view key : {"accessModes", "volumeMode"}) {
    if (const Value* part = find(root, {"spec", key})) {
      spec[key] = *part;
    }
  }
  const std::string_view reclaim = text_at(about, {"reclaimPolicy"});
  spec["persistentVolumeReclaimPolicy"] = reclaim.empty() ? "Delete" : reclaim;
  spec["storageClassName"] = storage_class.name;
  spec["claimRef"] = claim_reference(claim);
  spec["csi"] = Object{{"driver", provisioner}, {"volumeHandle", name}};
  turn.create(claim, Kind::kPersistentVolume,
              Object{{"apiVersion", "v1"},
                     {"kind", "PersistentVolume"},
                     {"metadata", std::move(metadata)},
                     {"spec", std::move(spec)}});
  turn.tell(claim, "Normal", "ProvisioningSucceeded", fmt::format("Successfully provisioned volume {}", name));
}

bool has_all_modes(const Object& claim, const Object& volume) {
  const Array* wanted = array_at(claim, {"spec", "accessModes"});
  const Array* has = array_at(volume, {"spec", "accessModes"});
  return wanted == nullptr || (has != nullptr && std::all_of(wanted->begin(), wanted->end(), [&](const Value& mode) {
                                 return std::any_of(has->begin(), has->end(),
                                                    [&](const Value& one) { return text_of(one) == text_of(mode); });
                               }));
}

// In thousandths of bytes.
std::int64_t storage_in(const Object* quantities) {
  for (const auto& [name, amount] : amounts_in(quantities)) {
    if (name == "storage") {
      return amount;
    }
  }
  return 0;
}

// The smallest volume that somebody made by hand, is free, and will do.
const Item* free_volume(const Item& claim, const Object& root, Turn& turn) {
  const std::int64_t wanted = storage_in(object_at(root, {"spec", "resources", "requests"}));
  const std::string_view named = text_at(root, {"spec", "volumeName"});
  const Item* best = nullptr;
  std::int64_t best_size = 0;
  for (const Item* volume : turn.view().all(Kind::kPersistentVolume)) {
    turn.looked_at(1);
    if (volume->deleting() || (!named.empty() && volume->name != named)) {
      continue;
    }
    const Object value = volume->value();
    const Object* holder = object_at(value, {"spec", "claimRef"});
    const bool reserved = holder != nullptr && text_at(*holder, {"name"}) == claim.name &&
                          text_at(*holder, {"namespace"}) == claim.ns &&
                          (text_at(*holder, {"uid"}).empty() || text_at(*holder, {"uid"}) == claim.uid);
    const std::int64_t size = storage_in(object_at(value, {"spec", "capacity"}));
    const bool fits = text_at(value, {"spec", "storageClassName"}) == text_at(root, {"spec", "storageClassName"}) &&
                      has_all_modes(root, value) && size >= wanted &&
                      selects(object_at(root, {"spec", "selector"}), volume->labels);
    if ((holder == nullptr || reserved) && fits && (best == nullptr || size < best_size)) {
      best = volume;
      best_size = size;
    }
  }
  return best;
}

// Both name each other; the claim's status follows once its own spec says so.
void join(const Item& claim, const Object& root, const Item& volume, Turn& turn) {
  const Object value = volume.value();
  if (text_at(value, {"spec", "claimRef", "uid"}) != claim.uid) {
    turn.patch(volume, Object{{"spec", Object{{"claimRef", claim_reference(claim)}}}});
  }
  if (text_at(root, {"spec", "volumeName"}) != volume.name ||
      text_at(root, {"metadata", "annotations", kBindCompleted}) != "yes") {
    Object annotations{{kBindCompleted, "yes"}, {kBoundByController, "yes"}};
    turn.patch(claim, Object{{"metadata", Object{{"annotations", std::move(annotations)}}},
                             {"spec", Object{{"volumeName", volume.name}}}});
    return;
  }
  Object status{{"phase", "Bound"}};
  for (const auto& [key, from] : {std::pair("accessModes", "accessModes"), std::pair("capacity", "capacity")}) {
    if (const Value* part = find(value, {"spec", from})) {
      status[key] = *part;
    }
  }
  turn.patch_status(claim, std::move(status));
}

// The class of a claim that names none is the default one. True where that has to be written first.
bool name_class(const Item& claim, const Object& root, Turn& turn) {
  if (find(root, {"spec", "storageClassName"}) != nullptr) {
    return false;
  }
  const Item* usual = default_class(turn);
  if (usual == nullptr) {
    return false;
  }
  turn.patch(claim, Object{{"spec", Object{{"storageClassName", usual->name}}}});
  return true;
}

}  // namespace

void sync_claim(const Item& claim, Turn& turn) {
  if (claim.deleting()) {
    return;
  }
  const Object root = claim.value();
  const std::string named(text_at(root, {"spec", "volumeName"}));
  if (text_at(root, {"status", "phase"}) == "Bound") {
    if (turn.view().find(Kind::kPersistentVolume, "", named) == nullptr) {
      turn.patch_status(claim, Object{{"phase", "Lost"}});
      turn.tell(claim, "Warning", "ClaimLost",
                "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    }
    return;
  }
  if (text_at(root, {"status", "phase"}) == "Lost" || name_class(claim, root, turn)) {
    return;
  }
  const Item* made = turn.view().find(Kind::kPersistentVolume, "", "pvc-" + claim.uid);
  if (const Item* volume = made != nullptr ? made : free_volume(claim, root, turn)) {
    join(claim, root, *volume, turn);
    return;
  }
  const std::string class_name(text_at(root, {"spec", "storageClassName"}));
  if (!named.empty() || class_name.empty()) {
    return;  // until somebody makes that volume
  }
  const Item* storage_class = turn.view().find(Kind::kStorageClass, "", class_name);
  if (storage_class == nullptr) {
    turn.tell(claim, "Warning", "ProvisioningFailed",
              fmt::format("storageclass.storage.k8s.io \"{}\" not found", class_name));
  } else if (text_at(storage_class->value(), {"provisioner"}) != kNoProvisioner) {
    provision(claim, root, *storage_class, turn);
  }
}

void sync_volume(const Item& volume, Turn& turn) {
  if (volume.deleting()) {
    return;
  }
  const Object root = volume.value();
  const std::string uid(text_at(root, {"spec", "claimRef", "uid"}));
  if (uid.empty()) {
    turn.patch_status(volume, Object{{"phase", "Available"}});
    return;
  }
  const Item* claim = turn.view().find_uid(uid);
  if (claim != nullptr) {
    turn.patch_status(volume, Object{{"phase", "Bound"}});
  } else if (text_at(root, {"spec", "persistentVolumeReclaimPolicy"}) == "Delete") {
    turn.remove(volume);
  } else {
    turn.patch_status(volume, Object{{"phase", "Released"}});
  }
}

}  // namespace gantree::controllers

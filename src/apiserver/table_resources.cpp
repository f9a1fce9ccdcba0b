// Tables of volumes, quotas, scaling, and of what leads to pods.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "apiserver/table_cells.h"

namespace gantree::apiserver {

namespace {

constexpr std::size_t kMostShown = 3;

std::string access_modes(const Array* modes) {
  // In the order in which the real one lists them.
  static constexpr auto kShort = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}});
  std::vector<std::string_view> shown;
  for (const auto& known : kShort) {
    const auto is_it = [&](const Value& mode) { return text_of(mode) == known.first; };
    if (modes != nullptr && std::any_of(modes->begin(), modes->end(), is_it)) {
      shown.push_back(known.second);
    }
  }
  return fmt::format("{}", fmt::join(shown, ","));
}

std::string or_unset(std::string_view text) {
  return text.empty() ? "<unset>" : std::string(text);
}

bool flag(const Value& object, std::initializer_list<std::string_view> keys) {
  const Value* value = find(object, keys);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// "a,b,c + 2 more..."
std::string first_of(const std::vector<std::string>& all) {
  if (all.size() <= kMostShown) {
    return fmt::format("{}", fmt::join(all, ","));
  }
  return fmt::format("{},{},{} + {} more...", all[0], all[1], all[2], all.size() - kMostShown);
}

void claim_cells(const Value& claim, std::int64_t now, Array& cells) {
  const bool bound = !text_at(claim, {"spec", "volumeName"}).empty();
  const bool deleting = !text_at(claim, {"metadata", "deletionTimestamp"}).empty();
  cells.push_back(Value(name_of(claim)));
  cells.push_back(Value(deleting ? std::string_view("Terminating") : text_at(claim, {"status", "phase"})));
  cells.push_back(Value(text_at(claim, {"spec", "volumeName"})));
  cells.push_back(Value(bound ? text_at(claim, {"status", "capacity", "storage"}) : std::string_view()));
  cells.push_back(Value(bound ? access_modes(array_at(claim, {"status", "accessModes"})) : std::string()));
  cells.push_back(Value(text_at(claim, {"spec", "storageClassName"})));
  cells.push_back(Value(or_unset(text_at(claim, {"spec", "volumeAttributesClassName"}))));
  cells.push_back(Value(age_of(claim, now)));
  cells.push_back(Value(or_unset(text_at(claim, {"spec", "volumeMode"}))));
}

void volume_cells(const Value& volume, std::int64_t now, Array& cells) {
  const std::string_view claim = text_at(volume, {"spec", "claimRef", "name"});
  const bool deleting = !text_at(volume, {"metadata", "deletionTimestamp"}).empty();
  cells.push_back(Value(name_of(volume)));
  cells.push_back(Value(text_at(volume, {"spec", "capacity", "storage"})));
  cells.push_back(Value(access_modes(array_at(volume, {"spec", "accessModes"}))));
  cells.push_back(Value(text_at(volume, {"spec", "persistentVolumeReclaimPolicy"})));
  cells.push_back(Value(deleting ? std::string_view("Terminating") : text_at(volume, {"status", "phase"})));
  cells.push_back(Value(
      claim.empty() ? std::string() : fmt::format("{}/{}", text_at(volume, {"spec", "claimRef", "namespace"}), claim)));
  cells.push_back(Value(text_at(volume, {"spec", "storageClassName"})));
  cells.push_back(Value(or_unset(text_at(volume, {"spec", "volumeAttributesClassName"}))));
  cells.push_back(Value(text_at(volume, {"status", "reason"})));
  cells.push_back(Value(age_of(volume, now)));
  cells.push_back(Value(or_unset(text_at(volume, {"spec", "volumeMode"}))));
}

void quota_cells(const Value& quota, std::int64_t now, Array& cells) {
  std::map<std::string_view, std::string_view> hard;
  if (const Object* all = object_at(quota, {"status", "hard"})) {
    for (const auto& member : *all) {
      hard.emplace(member.key(), text_of(member.value()));
    }
  }
  std::vector<std::string> requests;
  std::vector<std::string> limits;
  for (const auto& [resource, most] : hard) {
    const std::string_view used = text_at(quota, {"status", "used", resource});
    (resource.starts_with("limits") ? limits : requests)
        .push_back(fmt::format("{}: {}/{}", resource, used.empty() ? "0" : used, most));
  }
  cells.push_back(Value(name_of(quota)));
  cells.push_back(Value(fmt::format("{}", fmt::join(requests, ", "))));
  cells.push_back(Value(fmt::format("{}", fmt::join(limits, ", "))));
  cells.push_back(Value(age_of(quota, now)));
}

void ingress_cells(const Value& ingress, std::int64_t now, Array& cells) {
  std::vector<std::string> hosts;
  const Array* rules = array_at(ingress, {"spec", "rules"});
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    if (const std::string_view host = text_at((*rules)[i], {"host"}); !host.empty()) {
      hosts.emplace_back(host);
    }
  }
  std::vector<std::string> addresses;
  const Array* reached = array_at(ingress, {"status", "loadBalancer", "ingress"});
  for (std::size_t i = 0; reached != nullptr && i < reached->size(); ++i) {
    const std::string_view ip = text_at((*reached)[i], {"ip"});
    addresses.emplace_back(ip.empty() ? text_at((*reached)[i], {"hostname"}) : ip);
  }
  const Array* tls = array_at(ingress, {"spec", "tls"});
  cells.push_back(Value(name_of(ingress)));
  cells.push_back(Value(or_none(text_at(ingress, {"spec", "ingressClassName"}))));
  cells.push_back(Value(hosts.empty() ? std::string("*") : first_of(hosts)));
  cells.push_back(Value(fmt::format("{}", fmt::join(addresses, ","))));
  cells.push_back(Value(tls != nullptr && !tls->empty() ? "80, 443" : "80"));
  cells.push_back(Value(age_of(ingress, now)));
}

// "cpu: <unknown>/50%": nobody measures simulated pods.
std::string target_of(const Value& metric) {
  const std::string_view type = text_at(metric, {"type"});
  std::string_view member = "resource";
  for (const auto& [name, known] :
       {std::pair("Pods", "pods"), std::pair("Object", "object"), std::pair("External", "external"),
        std::pair("ContainerResource", "containerResource")}) {
    member = type == name ? std::string_view(known) : member;
  }
  std::string_view name = text_at(metric, {member, "name"});
  name = name.empty() ? text_at(metric, {member, "metric", "name"}) : name;
  const Value* share = find(metric, {member, "target", "averageUtilization"});
  std::string target = share != nullptr && share->is_int64() ? fmt::format("{}%", share->get_int64()) : std::string();
  for (const std::string_view key : {"averageValue", "value"}) {
    target = target.empty() ? std::string(text_at(metric, {member, "target", key})) : target;
  }
  const bool resource = member == "resource" || member == "containerResource";
  return resource ? fmt::format("{}: <unknown>/{}", name, target) : fmt::format("<unknown>/{}", target);
}

void autoscaler_cells(const Value& scaler, std::int64_t now, Array& cells) {
  std::vector<std::string> targets;
  const Array* metrics = array_at(scaler, {"spec", "metrics"});
  for (std::size_t i = 0; metrics != nullptr && i < metrics->size(); ++i) {
    if (targets.size() < 2) {
      targets.push_back(target_of((*metrics)[i]));
    }
  }
  const std::size_t more = metrics == nullptr || metrics->size() <= 2 ? 0 : metrics->size() - 2;
  const Value* least = find(scaler, {"spec", "minReplicas"});
  cells.push_back(Value(name_of(scaler)));
  cells.push_back(Value(fmt::format("{}/{}", text_at(scaler, {"spec", "scaleTargetRef", "kind"}),
                                    text_at(scaler, {"spec", "scaleTargetRef", "name"}))));
  cells.push_back(Value(targets.empty() ? std::string("<none>")
                                        : fmt::format("{}{}", fmt::join(targets, ", "),
                                                      more > 0 ? fmt::format(" + {} more...", more) : "")));
  cells.push_back(Value(least != nullptr && least->is_int64() ? std::to_string(least->get_int64()) : "<unset>"));
  cells.push_back(Value(number_at(scaler, {"spec", "maxReplicas"})));
  cells.push_back(Value(number_at(scaler, {"status", "currentReplicas"})));
  cells.push_back(Value(age_of(scaler, now)));
}

void endpoints_cells(const Value& endpoints, std::int64_t now, Array& cells) {
  std::vector<std::string> all;
  const Array* subsets = array_at(endpoints, {"subsets"});
  for (std::size_t i = 0; subsets != nullptr && i < subsets->size(); ++i) {
    const Array* addresses = array_at((*subsets)[i], {"addresses"});
    const Array* ports = array_at((*subsets)[i], {"ports"});
    for (std::size_t j = 0; addresses != nullptr && j < addresses->size(); ++j) {
      const std::string_view ip = text_at((*addresses)[j], {"ip"});
      if (ports == nullptr || ports->empty()) {
        all.emplace_back(ip);
      }
      for (std::size_t k = 0; ports != nullptr && k < ports->size(); ++k) {
        all.push_back(fmt::format("{}:{}", ip, number_at((*ports)[k], {"port"})));
      }
    }
  }
  cells.push_back(Value(name_of(endpoints)));
  cells.push_back(Value(all.empty() ? std::string("<none>") : first_of(all)));
  cells.push_back(Value(age_of(endpoints, now)));
}

void slice_cells(const Value& slice, std::int64_t now, Array& cells) {
  std::vector<std::string> ports;
  const Array* all_ports = array_at(slice, {"ports"});
  for (std::size_t i = 0; all_ports != nullptr && i < all_ports->size(); ++i) {
    ports.push_back(std::to_string(number_at((*all_ports)[i], {"port"})));
  }
  std::vector<std::string> addresses;
  const Array* endpoints = array_at(slice, {"endpoints"});
  for (std::size_t i = 0; endpoints != nullptr && i < endpoints->size(); ++i) {
    const Array* some = array_at((*endpoints)[i], {"addresses"});
    for (std::size_t j = 0; some != nullptr && j < some->size(); ++j) {
      addresses.emplace_back(text_of((*some)[j]));
    }
  }
  cells.push_back(Value(name_of(slice)));
  cells.push_back(Value(text_at(slice, {"addressType"})));
  cells.push_back(Value(ports.empty() ? std::string("<unset>") : first_of(ports)));
  cells.push_back(Value(addresses.empty() ? std::string("<unset>") : first_of(addresses)));
  cells.push_back(Value(age_of(slice, now)));
}

void storage_class_cells(const Value& object, std::int64_t now, Array& cells) {
  const bool usual =
      text_at(object, {"metadata", "annotations", "storageclass.kubernetes.io/is-default-class"}) == "true";
  const std::string_view policy = text_at(object, {"reclaimPolicy"});
  const std::string_view mode = text_at(object, {"volumeBindingMode"});
  cells.push_back(Value(fmt::format("{}{}", name_of(object), usual ? " (default)" : "")));
  cells.push_back(Value(text_at(object, {"provisioner"})));
  cells.push_back(Value(policy.empty() ? std::string_view("Delete") : policy));
  cells.push_back(Value(mode.empty() ? std::string_view("Immediate") : mode));
  cells.push_back(Value(flag(object, {"allowVolumeExpansion"})));
  cells.push_back(Value(age_of(object, now)));
}

void runtime_class_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(text_at(object, {"handler"})));
  cells.push_back(Value(age_of(object, now)));
}

void network_policy_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(text_of_selector(find(object, {"spec", "podSelector"}))));
  cells.push_back(Value(age_of(object, now)));
}

constexpr auto kClaim = std::to_array<TableColumn>({kName,
                                                    {"Status", "string", 0, "Whether it has a volume."},
                                                    {"Volume", "string", 0, "The volume that it has."},
                                                    {"Capacity", "string", 0, "How large that is."},
                                                    {"Access Modes", "string", 0, "How it may be mounted."},
                                                    {"StorageClass", "string", 0, "Its class of storage."},
                                                    {"VolumeAttributesClass", "string", 0, "Its class of attributes."},
                                                    kAge,
                                                    {"VolumeMode", "string", 1, "File system or block device."}});
constexpr auto kVolume = std::to_array<TableColumn>({kName,
                                                     {"Capacity", "string", 0, "How large it is."},
                                                     {"Access Modes", "string", 0, "How it may be mounted."},
                                                     {"Reclaim Policy", "string", 0, "What becomes of it."},
                                                     {"Status", "string", 0, "Whether a claim has it."},
                                                     {"Claim", "string", 0, "The claim that has it."},
                                                     {"StorageClass", "string", 0, "Its class of storage."},
                                                     {"VolumeAttributesClass", "string", 0, "Its class of attributes."},
                                                     {"Reason", "string", 0, "Why it is in that state."},
                                                     kAge,
                                                     {"VolumeMode", "string", 1, "File system or block device."}});
constexpr auto kQuota = std::to_array<TableColumn>({kName,
                                                    {"Request", "string", 0, "Requests: in use, and the most."},
                                                    {"Limit", "string", 0, "Limits: in use, and the most."},
                                                    kAge});
constexpr auto kIngress = std::to_array<TableColumn>({kName,
                                                      {"Class", "string", 0, "Who serves it."},
                                                      {"Hosts", "string", 0, "The names that it is for."},
                                                      {"Address", "string", 0, "Where it is reached."},
                                                      {"Ports", "string", 0, "Its ports."},
                                                      kAge});
constexpr auto kAutoscaler = std::to_array<TableColumn>({kName,
                                                         {"Reference", "string", 0, "What it scales."},
                                                         {"Targets", "string", 0, "What it is and should be."},
                                                         {"MinPods", "string", 0, "The fewest pods."},
                                                         {"MaxPods", "string", 0, "The most pods."},
                                                         {"Replicas", "string", 0, "Pods now."},
                                                         kAge});
constexpr auto kEndpoints =
    std::to_array<TableColumn>({kName, {"Endpoints", "string", 0, "Where the Service leads to."}, kAge});
constexpr auto kSlice = std::to_array<TableColumn>({kName,
                                                    {"AddressType", "string", 0, "What kind of addresses they are."},
                                                    {"Ports", "string", 0, "Their ports."},
                                                    {"Endpoints", "string", 0, "Where the Service leads to."},
                                                    kAge});
constexpr auto kStorageClass =
    std::to_array<TableColumn>({kName,
                                {"Provisioner", "string", 0, "Who makes the volumes."},
                                {"ReclaimPolicy", "string", 0, "What becomes of them."},
                                {"VolumeBindingMode", "string", 0, "When claims get them."},
                                {"AllowVolumeExpansion", "string", 0, "Whether they may grow."},
                                kAge});
constexpr auto kRuntimeClass =
    std::to_array<TableColumn>({kName, {"Handler", "string", 0, "Who runs the containers."}, kAge});
constexpr auto kNetworkPolicy =
    std::to_array<TableColumn>({kName, {"Pod-Selector", "string", 0, "Labels that choose the pods."}, kAge});

constexpr auto kResourceTables = std::to_array<KindTable>({
    {"", "PersistentVolumeClaim", kClaim, claim_cells},
    {"", "PersistentVolume", kVolume, volume_cells},
    {"", "ResourceQuota", kQuota, quota_cells},
    {"", "Endpoints", kEndpoints, endpoints_cells},
    {"discovery.k8s.io", "EndpointSlice", kSlice, slice_cells},
    {"networking.k8s.io", "Ingress", kIngress, ingress_cells},
    {"networking.k8s.io", "NetworkPolicy", kNetworkPolicy, network_policy_cells},
    {"autoscaling", "HorizontalPodAutoscaler", kAutoscaler, autoscaler_cells},
    {"storage.k8s.io", "StorageClass", kStorageClass, storage_class_cells},
    {"node.k8s.io", "RuntimeClass", kRuntimeClass, runtime_class_cells},
});

}  // namespace

std::span<const KindTable> resource_tables() {
  return kResourceTables;
}

}  // namespace gantree::apiserver

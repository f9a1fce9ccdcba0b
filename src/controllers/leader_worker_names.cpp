#include "controllers/leader_worker_names.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "controllers/objects.h"

namespace gantree::controllers::lws {

namespace {

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Object requirement(std::string_view key, std::string_view op, std::string_view value) {
  Object made{{"key", key}, {"operator", op}};
  if (!value.empty()) {
    made["values"] = Array{Value(value)};
  }
  return made;
}

Array& terms_of(Object& pod, std::string_view kind) {
  Value& terms =
      object_in(object_in(object_in(pod, "spec"), "affinity"), kind)["requiredDuringSchedulingIgnoredDuringExecution"];
  if (!terms.is_array()) {
    terms = Array();
  }
  return terms.get_array();
}

// The pods of a group together in one domain, and no other group's with them.
void add_exclusive_affinities(Object& pod, std::string_view label, std::string_view key, std::string_view topology) {
  Array own;
  own.push_back(requirement(label, "In", key));
  Array others;
  others.push_back(requirement(label, "Exists", ""));
  others.push_back(requirement(label, "NotIn", key));
  Object near{{"labelSelector", Object{{"matchExpressions", std::move(own)}}}};
  near["topologyKey"] = topology;
  Object far{{"labelSelector", Object{{"matchExpressions", std::move(others)}}}};
  far["topologyKey"] = topology;
  terms_of(pod, "podAffinity").push_back(std::move(near));
  terms_of(pod, "podAntiAffinity").push_back(std::move(far));
}

std::string subgroup_of(std::int64_t size, std::int64_t subgroup, std::int64_t worker) {
  // A leader that is one too many counts to the first.
  const bool leader_extra = (size - 1) % subgroup == 0 && size % subgroup != 0;
  return std::to_string((leader_extra ? worker - 1 : worker) / subgroup);
}

void set_subgroup(Object& pod, const std::string& leader, const std::string& index) {
  const std::string key = digest(fmt::format("{}/{}", leader, index));
  set_label(pod, kSubgroupIndex, index);
  set_label(pod, kSubgroupKey, key);
  if (const std::string topology(text_at(pod, {"metadata", "annotations", kSubgroupExclusive})); !topology.empty()) {
    add_exclusive_affinities(pod, kSubgroupKey, key, topology);
  }
}

void dress_leader(Object& pod, std::int64_t ordinal) {
  const std::string name(text_at(pod, {"metadata", "name"}));
  const std::string key = digest(fmt::format("{}/{}", text_at(pod, {"metadata", "namespace"}), name));
  set_label(pod, kGroupIndex, std::to_string(ordinal));
  set_label(pod, kGroupKey, key);
  if (text_at(pod, {"metadata", "annotations", kSubdomainPolicy}) == "UniquePerReplica") {
    object_in(pod, "spec")["subdomain"] = name;
  }
  if (const std::string topology(text_at(pod, {"metadata", "annotations", kExclusive})); !topology.empty()) {
    add_exclusive_affinities(pod, kGroupKey, key, topology);
  }
  const bool excluded = text_at(pod, {"metadata", "annotations", kSubgroupPolicy}) == "LeaderExcluded";
  if (!text_at(pod, {"metadata", "annotations", kSubgroupSize}).empty() && !excluded) {
    set_subgroup(pod, name, "0");
  }
}

void dress_worker(Object& pod, std::int64_t ordinal) {
  set_label(pod, kWorkerIndex, std::to_string(ordinal));
  const std::int64_t subgroup = number_in(text_at(pod, {"metadata", "annotations", kSubgroupSize}));
  if (subgroup > 0) {
    const std::string leader(text_at(pod, {"metadata", "annotations", kLeaderName}));
    const std::int64_t size = number_in(text_at(pod, {"metadata", "annotations", kSize}));
    set_subgroup(pod, leader, subgroup_of(size, subgroup, ordinal));
  }
}

}  // namespace

std::string digest(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_sha1(), nullptr);
  std::string out;
  for (unsigned int i = 0; i < size; ++i) {
    out += fmt::format("{:02x}", bytes[i]);
  }
  return out;
}

void dress_member(Object& pod, std::int64_t ordinal) {
  const std::string set(text_at(pod, {"metadata", "labels", kName}));
  if (set.empty() || text_at(pod, {"metadata", "annotations", kSize}).empty()) {
    return;
  }
  if (text_at(pod, {"metadata", "labels", kWorkerIndex}) == "0") {
    dress_leader(pod, ordinal);
  } else {
    dress_worker(pod, ordinal);
  }
  const std::string address = fmt::format("{}-{}.{}.{}", set, text_at(pod, {"metadata", "labels", kGroupIndex}),
                                          text_at(pod, {"spec", "subdomain"}), text_at(pod, {"metadata", "namespace"}));
  const std::string index(text_at(pod, {"metadata", "labels", kWorkerIndex}));
  const std::string size(text_at(pod, {"metadata", "annotations", kSize}));
  Object& spec = object_in(pod, "spec");
  add_environment(spec, "LWS_WORKER_INDEX", Object{{"value", index}});
  add_environment(spec, "LWS_GROUP_SIZE", Object{{"value", size}});
  add_environment(spec, "LWS_LEADER_ADDRESS", Object{{"value", address}});
}

}  // namespace gantree::controllers::lws

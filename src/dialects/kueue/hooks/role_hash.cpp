#include "dialects/kueue/hooks/role_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dialects/kueue/names.h"

namespace gantree::kueue {

namespace {

// In alphabetical order.
constexpr std::string_view kOfSpec[] = {
    "affinity",       "hostNetwork", "nodeSelector",     "overhead",      "priority",    "priorityClassName",
    "resourceClaims", "resources",   "runtimeClassName", "schedulerName", "tolerations", "topologySpreadConstraints"};
constexpr std::string_view kOfContainer[] = {"ports", "resources", "restartPolicy"};

// FNV-1a: nobody gains by two pods of one group that collide, and it never changes.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    // An end mark, so that "ab" "c" is not "a" "bc".
    value_ = (value_ ^ 0xffU) * 0x100000001b3ULL;
  }
  void add(json::Value value);
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

void Hash::add(json::Value value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return add("null");
    case json::Kind::kBool:
    case json::Kind::kNumber:
      return add(value.text());
    case json::Kind::kString:
      add("text");
      return add(value.text());
    case json::Kind::kArray:
      add("list");
      for (const json::NodeData& item : value.items()) {
        add(json::Value(&item));
      }
      return add("end");
    case json::Kind::kObject:
      break;
  }
  std::vector<const json::MemberData*> members;
  for (const json::MemberData& member : value.members()) {
    members.push_back(&member);
  }
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  add("object");
  for (const json::MemberData* member : members) {
    add(member->key);
    add(json::Value(&member->value));
  }
  add("end");
}

void add_members(Hash& hash, json::Value object, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const json::Value member = object[key]) {
      hash.add(key);
      hash.add(member);
    }
  }
}

}  // namespace

std::string role_hash(json::Value spec, json::Value annotations) {
  Hash hash;
  if (spec) {
    add_members(hash, spec, kOfSpec);
    for (const std::string_view list : {"initContainers", "containers"}) {
      const json::Value containers = spec[list];
      hash.add(list);
      if (containers && containers.kind() == json::Kind::kArray) {
        for (const json::NodeData& item : containers.items()) {
          hash.add("container");
          add_members(hash, json::Value(&item), kOfContainer);
        }
      }
    }
  }
  if (annotations) {
    add_members(hash, annotations, kPodSetAnnotations);
  }
  return hash.text();
}

}  // namespace gantree::kueue

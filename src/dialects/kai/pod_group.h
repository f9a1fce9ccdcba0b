// PodGroups that somebody wrote: gangs of pods that join by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dialects/kai/levels.h"
#include "dialects/kai/names.h"
#include "dialects/kai/remarks.h"
#include "dialects/object.h"
#include "model/gang.h"

namespace gantree::kai {

// Koordinator has PodGroups too.
[[nodiscard]] inline GangKey pod_group_key(std::string_view ns, std::string_view name) {
  return {.ns = std::string(ns), .name = std::string(name), .kind = "PodGroup", .family = std::string(kFamily)};
}

struct SubGroup {
  std::string name;
  json::Value at;
  std::optional<std::size_t> parent;  // none: the PodGroup itself
  std::optional<int> min_member;
  std::optional<int> min_groups;
  LevelRequest levels;
  std::vector<std::size_t> children;
};

struct PodGroup {
  GangKey key;
  Object object;
  std::int64_t created_seconds = 0;
  bool over = false;   // being deleted
  bool owned = false;  // something made it, say the pod grouper for a workload
  std::optional<int> min_member;
  std::optional<int> min_groups;
  LevelRequest levels;
  std::vector<SubGroup> subgroups;
  std::vector<std::size_t> children;  // subgroups without a parent
  json::Value queue;
  json::Value priority_class;
  json::Value preemptibility;
  json::Value placement;
  std::optional<std::string> staleness_grace;  // a duration, as written
  std::int64_t evicts_from_seconds = 0;        // Unix time: nobody is evicted for it before
  std::optional<std::string> objection;        // well-formed, but wrong: with file:line and field

  // The subgroup of that name; nothing where there is none.
  [[nodiscard]] std::optional<std::size_t> subgroup(std::string_view name) const;
};

// Fails where it is malformed. Names that occur twice, parents that are not there or go round in circles, and
// minima in the wrong place are the group's objection.
[[nodiscard]] Result<PodGroup> read_pod_group(const NamedObject& named, Remarks& remarks);

}  // namespace gantree::kai

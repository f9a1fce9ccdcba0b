// A PodGroup as the grouper wants it, and what of one that is there has to change for that. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/kai/group_spec.h"
#include "kai/makers.h"

namespace gantree::kai {

// Levels by name; "" where they are not asked for.
struct LevelNames {
  std::string topology = {};
  std::string required = {};
  std::string preferred = {};

  [[nodiscard]] bool empty() const { return topology.empty() && required.empty() && preferred.empty(); }
  friend bool operator==(const LevelNames&, const LevelNames&) = default;
};

struct WantedSubGroup {
  std::string name;
  std::string parent = {};
  std::optional<int> min_member = {};
  std::optional<int> min_groups = {};
  LevelNames levels = {};
  friend bool operator==(const WantedSubGroup&, const WantedSubGroup&) = default;
};

struct WantedGroup {
  std::string ns;
  std::string name;
  OwnerRef owner;
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  std::string queue = {};
  std::string priority_class = {};
  std::string preemptibility = {};    // "" where nothing says
  std::string preemption_delay = {};  // the same
  std::string staleness_grace = {};   // the same
  std::optional<int> min_member = {};
  std::optional<int> min_groups = {};
  LevelNames levels = {};
  std::vector<WantedSubGroup> subgroups = {};
  std::vector<std::string> remarks = {};  // what was passed over, one sentence each
};

// Where the fields of a group come from.
struct GroupSource {
  std::string ns;
  std::string name;
  OwnerRef owner;
  std::vector<json::Value> owners = {};  // metadata of those that are known, the topmost first
  json::Value pod = {};                  // one of its pods
  std::string_view default_class = {};
  bool ray = false;
  std::function<bool(std::string_view)> has_class = {};  // whether there is such a PriorityClass
};

// Fails with one sentence where something is too large to be a PodGroup.
[[nodiscard]] Result<WantedGroup> want_group(const GroupSource& source, const GroupSpec& spec);

// All of it, to be created.
[[nodiscard]] std::string create_body(const WantedGroup& wanted);
// A merge patch for the PodGroup that is there; "" where it is as it should be. Fields that KAI's grouper preserves
// stay as they are: queue, markUnschedulable, schedulingBackoff, the labels of queue and node pool, and a topology
// constraint where no owner names one.
[[nodiscard]] std::string patch_body(const WantedGroup& wanted, json::Value there, std::string_view uid);

// Whether a grouper made it, this one or KAI's.
[[nodiscard]] bool is_grouper_made(json::Value metadata);

}  // namespace gantree::kai

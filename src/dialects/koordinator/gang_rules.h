// What is asked of one gang: by a PodGroup, or by the annotations of its pods.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/koordinator/gather.h"
#include "dialects/object.h"
#include "json/decode.h"

namespace gantree::koordinator {

// "namespace/name", as the groups annotation writes it.
using GangId = std::string;
[[nodiscard]] GangId gang_id(std::string_view ns, std::string_view name);

// What one gang may list in its groups annotation: more names, or a longer text, and it is rejected. The length has
// room for so many of the longest names there are. Whoever keeps the text may cut it one byte beyond.
inline constexpr std::size_t kMostGroups = 100;
inline constexpr std::size_t kLongestGroups = 32 * 1024;

// Which members count towards the minimum.
enum class MatchPolicy : std::uint8_t {
  kOnlyWaiting,        // those that start now
  kWaitingAndRunning,  // and those that run
  kOnceSatisfied,      // once it has started, the rest comes as it may
};

struct GangRules {
  std::string ns;
  std::string name;
  bool by_pod_group = false;  // else by its pods
  json::Place place;
  std::int64_t created_seconds = 0;
  int min = 0;  // 0: every pod for itself
  bool over = false;
  bool satisfied = false;  // by its status it had its minimum once
  // The same as kept for good: false where it is on record that it never had it since its first pod got a node; nothing
  // where nobody kept record.
  std::optional<bool> once_whole = {};
  int succeeded = 0;  // by its status, members that have ended well: they had their place
  MatchPolicy policy = MatchPolicy::kOnceSatisfied;
  bool strict = true;
  std::vector<GangId> group;  // sorted; itself alone where no annotation says otherwise
  json::Value group_at;       // absent where no annotation says
  GatherSpec gather;
  std::optional<std::string> objection;  // well-formed, but wrong

  [[nodiscard]] GangId id() const { return gang_id(ns, name); }
  // As messages name it.
  [[nodiscard]] std::string title() const;
};

// Settings that have no effect in a plan; how often they were seen.
struct Unused {
  int timeouts = 0;
  int totals = 0;
  int min_resources = 0;
  int non_strict = 0;
  int other = 0;
  std::string other_name;  // the first annotation of the family that is not known

  [[nodiscard]] std::vector<std::string> notes() const;
};

// The gang of a pod or a template, by its labels and annotations; "" where it has none.
[[nodiscard]] std::string_view gang_name(json::Value labels, json::Value annotations);
// Whether the labels or annotations themselves say how large the gang is.
[[nodiscard]] bool has_rules(json::Value labels, json::Value annotations);

// Fails where it is malformed.
[[nodiscard]] Result<GangRules> read_pod_group(const NamedObject& named, Unused& unused);

// By the metadata of a pod or a template of it. Requires has_rules().
[[nodiscard]] GangRules read_pod_rules(std::string_view ns, std::string_view file, json::Value metadata,
                                       Unused& unused);

// Whether two pods of one gang say the same of it.
[[nodiscard]] bool agree(const GangRules& a, const GangRules& b);

}  // namespace gantree::koordinator

// Who belongs to which gang: pods that exist, and pods that workloads will make.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/intake.h"
#include "dialects/koordinator/gang_rules.h"
#include "model/gang.h"

namespace gantree::koordinator {

// A pod spec and where it was read.
struct SpecSource {
  std::string_view file;
  json::Value spec;
  json::Value labels;  // may be absent
};

// Pods of one shape that want a place.
struct MemberSet {
  std::string label;  // role, workload or first pod: what tells it from others of its gang
  PodShape shape;
  int count = 0;
  std::vector<std::string> pods;  // in rank order, where all of them exist
  std::vector<SpecSource> specs;  // of its template, or of each pod
};

struct Roster {
  std::vector<MemberSet> asking;
  std::vector<NodeId> nodes;  // of the bound ones, as far as the nodes are in the input
  int bound = 0;              // members that have a place; those being deleted have none any more
  bool elsewhere = false;     // a workload that another dialect speaks for names it too
  std::int64_t created_seconds = 0;
  std::vector<std::int64_t> members_created = {};  // of pods that exist, in seconds
  // When the first of the bound ones was started by its node; nothing where none was as yet.
  std::optional<std::int64_t> first_start = {};
  std::optional<std::string> objection;  // of a workload or a pod, with file:line

  [[nodiscard]] std::int64_t pending() const;
};

struct Rosters {
  std::map<GangId, Roster> gangs;
  std::map<const Workload*, Roster> alone;  // pods of no gang, by what makes them
};

// Reads the members of all gangs. A pod whose workload is in the input is counted with that, once.
// Fails where a pod or a template is malformed.
[[nodiscard]] Result<Rosters> call_roll(Intake& intake);

// Natural order: runs of digits count as numbers, so w-2 comes before w-10.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

}  // namespace gantree::koordinator

// Placing pods of several shapes together, exactly.
//
// For every domain a table says which combinations "up to so many pods of each
// part" fit there, and with how few domains. Tables are combined from the hosts
// up. The answer is the optimum, or a proof that there is none,
// or that the budget was too small for either.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/budget.h"
#include "engine/pack.h"

namespace gantree {

// Pods of one shape; slices are those of the counts.
struct JointPart {
  const SlotCounts* counts = nullptr;
  int count = 0;
};

// In a domain of that level there are whole groups: of one group, all pods of
// these parts or none; of several alike, equal numbers of them of every part.
struct JointRule {
  int level = 0;
  std::vector<std::size_t> parts;
  // Also one group alone there: not in an occupied domain, and with no group of
  // another rule that is exclusive on that level or below, unless one contains the other.
  bool exclusive = false;
  const std::vector<bool>* occupied = nullptr;
  int groups = 1;
};

// By level and domain, where there are pods already that stay where they are. Empty: nowhere.
using UsedDomains = std::vector<std::vector<bool>>;

// Parts that want to be close together: their domains are counted as one.
// Units of depth 0 are compared first, then those of depth 1, and so on.
struct JointUnit {
  std::vector<std::size_t> parts;
  int depth = 0;
  int groups = 1;         // alike: the domains of each are counted, as far as they can be distinguished
  UsedDomains used = {};  // by other parts of the unit: these cost nothing more
};

struct JointProblem {
  const Inventory* inventory = nullptr;
  Domain within = kWholeTree;
  std::vector<JointPart> parts;  // all of one tree and one Fill
  std::vector<JointRule> rules;
  std::vector<JointUnit> units;
  UsedDomains used = {};  // by other parts of the gang
  bool any = false;       // any answer will do: what it costs is not asked, which is much less to work out
};

enum class JointVerdict : std::uint8_t { kFound, kNone, kGaveUp };

struct JointAnswer {
  JointVerdict verdict = JointVerdict::kNone;
  std::vector<Shares> shares;  // by part, where found
  // What it costs: less is better, compared in order. Answers to one problem
  // within different domains of one level may be compared.
  std::vector<std::uint64_t> cost;
};

[[nodiscard]] JointAnswer place_jointly(const JointProblem& problem, Budget& budget);

}  // namespace gantree

#include "dialects/kueue/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace gantree::kueue {

namespace {

// Which of some words a field holds; the first where it is absent.
std::size_t read_choice(json::Reader& read, json::Value parent, std::string_view key,
                        std::initializer_list<std::string_view> words) {
  const auto text = read.text(parent, key);
  if (!text || text->empty()) {
    return 0;
  }
  const auto it = std::find(words.begin(), words.end(), *text);
  if (it == words.end()) {
    read.complain(parent[key], fmt::format("{} is \"{}\", which is none of {}", read.path(parent[key]), *text,
                                           fmt::join(words, ", ")));
    return 0;
  }
  return static_cast<std::size_t>(it - words.begin());
}

void read_preemption(json::Reader& read, json::Value preemption, QueueRules& rules) {
  constexpr WithinRule kWithin[] = {WithinRule::kNever, WithinRule::kLowerPriority,
                                    WithinRule::kLowerOrNewerEqualPriority};
  constexpr ReclaimRule kReclaim[] = {ReclaimRule::kNever, ReclaimRule::kLowerPriority, ReclaimRule::kAny};
  rules.within = kWithin[read_choice(read, preemption, "withinClusterQueue",
                                     {"Never", "LowerPriority", "LowerOrNewerEqualPriority"})];
  rules.reclaim = kReclaim[read_choice(read, preemption, "reclaimWithinCohort", {"Never", "LowerPriority", "Any"})];
  const json::Value borrow = read.object(preemption, "borrowWithinCohort");
  rules.evicts_to_borrow = read_choice(read, borrow, "policy", {"Never", "LowerPriority"}) == 1;
  rules.evicts_to_borrow_up_to = read.integer(borrow, "maxPriorityThreshold", std::numeric_limits<std::int32_t>::min(),
                                              std::numeric_limits<std::int32_t>::max());
  if (rules.evicts_to_borrow && rules.reclaim == ReclaimRule::kNever) {
    read.complain(borrow, "borrowWithinCohort needs a reclaimWithinCohort that is not Never");
  }
}

}  // namespace

std::int64_t read_weight(json::Reader& read, json::Value spec) {
  constexpr std::int64_t kOne = 1000;
  const json::Value sharing = read.object(spec, "fairSharing");
  const std::int64_t weight = read.quantity(sharing, "weight", Unit::kMilli, Round::kDown, 0).value_or(kOne);
  // Whoever has a weight of 0 gets only what nobody else wants: nothing else may become that.
  if (weight == 0 && read.quantity(sharing, "weight", Unit::kMilli, Round::kUp, 0).value_or(0) > 0) {
    const json::Value at = sharing["weight"];
    read.complain(at, fmt::format("{} must be 0, or 0.001 at least, not {}", read.path(at), at.text()));
  }
  return weight;
}

QueuePolicy read_policy(json::Reader& read, json::Value spec) {
  QueuePolicy policy;
  policy.rules.strict = read_choice(read, spec, "queueingStrategy", {"BestEffortFIFO", "StrictFIFO"}) == 1;
  policy.rules.knows_shares = true;
  policy.rules.takes_back_for_parents = true;
  policy.rules.weight = read_weight(read, spec);
  read_preemption(read, read.object(spec, "preemption"), policy.rules);
  // MayStopSearch is what the newer version calls both Borrow and Preempt.
  const json::Value fungibility = read.object(spec, "flavorFungibility");
  policy.own_quota_first =
      read_choice(read, fungibility, "whenCanBorrow", {"Borrow", "MayStopSearch", "TryNextFlavor"}) == 2;
  policy.evicts_before_next =
      read_choice(read, fungibility, "whenCanPreempt", {"TryNextFlavor", "Preempt", "MayStopSearch"}) != 0;
  policy.evicts_before_borrowing =
      read_choice(read, fungibility, "preference", {"BorrowingOverPreemption", "PreemptionOverBorrowing"}) == 1;
  if (fungibility["preference"] && (!policy.own_quota_first || policy.evicts_before_next)) {
    read.complain(fungibility["preference"],
                  "preference needs a whenCanBorrow and a whenCanPreempt that are TryNextFlavor");
  }
  return policy;
}

}  // namespace gantree::kueue

// Who may be evicted for whom: docs/decisions/0007-one-order.md has the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/decision.h"
#include "model/running.h"
#include "queue/own_quota.h"
#include "queue/quota.h"
#include "queue/submission.h"

namespace gantree {

struct VictimCandidate {
  std::size_t position = 0;  // among the running gangs
  EvictionReason reason = EvictionReason::kPreempted;
  bool to_borrow = false;  // as Eviction has it
  // Of its spare pods only these, ascending; empty: the whole gang.
  std::vector<std::size_t> spare = {};
};

// Which gangs of a queue that borrows are offered.
enum class Offer : std::uint8_t {
  kLowestFirst,  // the lowest and youngest that bring it back to its quota: any subset of them may go. By share: as
                 // many as may go one after the other
  kAll,          // all: together they may be too much, see one_too_many()
};

// What the submission's queue ends with once the victims are gone.
enum class Ending : std::uint8_t {
  kAnyhow,       // those that may go whether it borrows then or not
  kWithinQuota,  // also those that may go only where it does not, since others of its own queue go with them
};

struct VictimOffer {
  std::vector<VictimCandidate> candidates;  // by ascending position
  std::vector<OwnPart> within;              // what has to stay within quota once the chosen ones are gone
};

// The running gangs that may be evicted so that a submission starts with that demand on quota. The strategy counts
// where the submission's queue evicts by share. With kWithinQuota nothing where nobody may go that may not go anyhow.
//
// Quota that is there needs no eviction: whether a queue borrows is asked only of what is short. Where nothing is, room
// on hosts is, and all of the demand counts.
[[nodiscard]] VictimOffer victim_offer(const Quota& quota, const Submission& submission, const QuotaDemand& demand,
                                       std::span<const RunningGang> running, Offer offer, Ending ending,
                                       ShareStrategy strategy = ShareStrategy::kInitialShare);

// Unix time until which a running gang is no victim of that submission, since it has to have run for so long: what the
// queue says, or the lowest above it that does; for another queue the lowest that is not above that one as well. 0:
// nothing keeps it.
[[nodiscard]] std::int64_t kept_until(const Quota& quota, const Submission& submission, const RunningGang& gang);

// All of them, whatever the ending.
[[nodiscard]] std::vector<VictimCandidate> victim_candidates(const Quota& quota, const Submission& submission,
                                                             const QuotaDemand& demand,
                                                             std::span<const RunningGang> running,
                                                             Offer offer = Offer::kLowestFirst,
                                                             ShareStrategy strategy = ShareStrategy::kInitialShare);

// Whether the parts stay within quota as it is now.
[[nodiscard]] bool stay_within(const Quota& quota, const Submission& submission, std::span<const OwnPart> parts);

// Whether one that waits could evict another of its queue, had that started.
[[nodiscard]] bool outranks(const QueueRules& rules, const Submission& waits, const Submission& starts);

// One of these candidates, by its position, that would be taken from a queue which the others bring back to its quota,
// or from which they take all that its share allows.
[[nodiscard]] std::optional<std::size_t> one_too_many(const Quota& quota, const Submission& submission,
                                                      const QuotaDemand& demand, std::span<const RunningGang> running,
                                                      std::span<const VictimCandidate> chosen,
                                                      ShareStrategy strategy = ShareStrategy::kInitialShare);

}  // namespace gantree

// The one order in which the gangs of all queues and families are tried: docs/decisions/0007-one-order.md.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "queue/quota.h"
#include "queue/submission.h"

namespace gantree {

// Gives out submissions one by one. Inside a queue they go by goes_before(). Between the queues, the first of
// each are compared: those that have begun before all others; those that stay within their quota before those that
// borrow; then by priority; among borrowers by the queue's priority and by the smaller share of what it uses beyond its
// quota; then by creation time and names.
//
// Quota may be taken and given between two calls, as long as changed() names every queue whose usage differs.
// A step costs the logarithm of the number of queues.
class QueueOrder {
 public:
  // Both are borrowed, and the submissions stay in place.
  QueueOrder(const Quota& quota, std::span<const Submission> submissions);

  // The position of the next submission; nullopt when all have been given out.
  [[nodiscard]] std::optional<std::size_t> next();
  // What a queue uses is not what it was.
  void changed(QueueId queue);
  // Gives out all that is left of a queue, in order.
  [[nodiscard]] std::vector<std::size_t> rest_of(QueueId queue);
  // The last so many of a queue, given out already, are to be given out once more.
  void put_back(QueueId queue, std::size_t count);

 private:
  // A queue's submissions, or those of no queue: what is left, in order.
  struct Line {
    std::vector<std::size_t> positions;
    std::size_t first = 0;
  };
  // Compared in the order of the members. Priorities are negated: the highest goes first.
  using Key = std::tuple<Begun, bool, std::int64_t, std::int64_t, std::int64_t, std::size_t, std::size_t>;

  [[nodiscard]] Key key_of(std::size_t line) const;
  void enter(std::size_t line);
  void leave(std::size_t line);

  const Quota& quota_;
  std::span<const Submission> submissions_;
  std::vector<std::size_t> ranks_;           // by submission: its place by age and name alone
  std::vector<Line> lines_;                  // by queue; the last: those of no queue
  std::vector<std::optional<Key>> entered_;  // by line
  std::set<Key> heads_;
};

// Texts in order, with numbers in them taken as numbers.
[[nodiscard]] std::strong_ordering natural_order(std::string_view a, std::string_view b);

// The same of names: by namespace, name and kind.
[[nodiscard]] std::strong_ordering name_order(const GangKey& a, const GangKey& b);

// Whether the name that people know a by goes before that of b; where that is the same, its own.
[[nodiscard]] bool named_before(const Submission& a, const Submission& b);

// Whether a submission would stay within the nominal quota of its queue with what it tries first: any of its
// ways where those within quota go first, else the first one.
[[nodiscard]] bool stays_within_quota(const Quota& quota, const Submission& submission);

}  // namespace gantree

// Quota: how much of a resource a queue may use of a flavor, and how much it may borrow.
//
// Cells form trees: a queue's cell may have a parent (a cohort, a department), and that one again. What a cell
// has and does not lend is its own; what it uses beyond that counts at the parent.
//
//   own    = total beyond the lending limit (nothing where there is no such limit)
//   fits   = on the way up: used + needed <= total + borrowing limit in every cell that has such a limit, and
//            used + needed <= total in the root, where a cell passes on only what its own part does not cover
//
// One thread owns it. Amounts saturate at the 64-bit range.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "model/quota_demand.h"
#include "model/resources.h"
#include "queue/queue_rules.h"

namespace gantree {

inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// One cell: (queue, flavor, resource), or (cohort, flavor, resource).
struct QuotaCell {
  std::string queue;  // as messages name it: ClusterQueue "team-a"
  std::string flavor;
  std::string resource;
  Unit unit = Unit::kOne;
  std::int64_t nominal = 0;                          // kUnlimited: no bound
  std::optional<std::int64_t> borrowing_limit = {};  // more than this does not come from the parent; none: no bound
  std::optional<std::int64_t> lending_limit = {};    // of what is its, others get no more than this; none: all
  std::optional<QuotaId> parent = {};                // none: a root
  std::optional<QueueId> owner = {};                 // none: no gang is queued here, it is a parent only
  std::int64_t weight = 1000;                        // thousandths, of a parent's share in what its own parent lends
  bool whole = false;     // nominal is that of all below too; else what these lend comes on top
  std::int64_t used = 0;  // of what reaches this cell
};

// A cell that a demand would exceed.
struct Shortage {
  std::string message;  // one sentence: who has how much left of what, and how much more is needed
  bool ever = true;     // false: it would be too much even if nothing were in use
};

enum class Borrowing : std::uint8_t { kAllowed, kForbidden };

class Quota {
 public:
  QueueId add_queue(QueueRules rules);
  [[nodiscard]] const QueueRules& rules(QueueId id) const { return queues_[id.index()].rules; }
  [[nodiscard]] std::size_t queues() const { return queues_.size(); }

  // Switches eviction by fair shares on, for the queues that know it: strategies in the order in which they are tried;
  // none: off.
  void evict_by_share(std::vector<ShareStrategy> strategies) { strategies_ = std::move(strategies); }
  [[nodiscard]] std::vector<ShareStrategy> share_strategies(QueueId id) const {
    return rules(id).knows_shares ? strategies_ : std::vector<ShareStrategy>();
  }

  // The parent and the owner are added before. An owner has one cell of a flavor and a resource.
  QuotaId add(QuotaCell cell);
  [[nodiscard]] const QuotaCell& cell(QuotaId id) const { return cells_[id.index()].cell; }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  // The cells that a queue owns.
  [[nodiscard]] const std::vector<QuotaId>& cells_of(QueueId id) const { return queues_[id.index()].cells; }
  // Adds queues and cells of another, which nobody uses, behind its own. Their ids are higher by what was there before.
  void append(const Quota& other);
  // Its nominal quota with what comes from below.
  [[nodiscard]] std::int64_t total(QuotaId id) const { return cells_[id.index()].total; }

  // Demands (per pod, times count) by cell, sorted by cell.
  [[nodiscard]] static QuotaDemand sum(const std::vector<QuotaDemand>& demands, const std::vector<int>& counts);

  // Whether all of a sum fits now. Where borrowing is forbidden it also has to stay within the totals on its way.
  [[nodiscard]] bool fits(const QuotaDemand& sum, Borrowing borrowing = Borrowing::kAllowed) const;
  // Whether it would if nothing were in use.
  [[nodiscard]] bool could_fit(const QuotaDemand& sum, Borrowing borrowing = Borrowing::kAllowed) const;
  // The first cell (in order of the cells) that a sum would exceed; nullopt where all fit. A cell that can
  // never hold its part goes first.
  [[nodiscard]] std::optional<Shortage> lacking(const QuotaDemand& sum,
                                                Borrowing borrowing = Borrowing::kAllowed) const;
  [[nodiscard]] std::optional<Shortage> lacking(const std::vector<QuotaDemand>& demands, const std::vector<int>& counts,
                                                Borrowing borrowing = Borrowing::kAllowed) const {
    return lacking(sum(demands, counts), borrowing);
  }

  void take(const QuotaDemand& sum);
  void take(const std::vector<QuotaDemand>& demands, const std::vector<int>& counts) { take(sum(demands, counts)); }
  // Undoes take(), unless amounts were so large that they saturated.
  void give(const QuotaDemand& sum);

  // Whether a cell uses more than is its; and whether one of the queue's does.
  [[nodiscard]] bool borrows(QuotaId id) const { return cell(id).used > total(id); }
  [[nodiscard]] bool borrows(QueueId id) const;
  // The first cell that would use more than is its, had the sum been taken.
  [[nodiscard]] std::optional<QuotaId> would_borrow(const QuotaDemand& sum) const;
  // What the queue uses beyond its quota, of the resource in which that is most: in millionths of all quota
  // in its trees, divided by its weight. Depends on nothing that other queues use.
  [[nodiscard]] std::int64_t share(QueueId id) const;

 private:
  struct Cell {
    QuotaCell cell;
    std::int64_t total = 0;
    std::int64_t below = 0;  // nominal of it and of all cells below, as far as bounded: what shares are measured by
  };
  struct Queue {
    QueueRules rules;
    std::vector<QuotaId> cells;
  };
  // The cell of the way up that does not hold its part of `needed`.
  struct Obstacle {
    QuotaId at;
    std::int64_t needed = 0;
  };

  [[nodiscard]] static std::int64_t own(const Cell& cell);
  [[nodiscard]] static std::int64_t bound(const Cell& cell, Borrowing borrowing);
  [[nodiscard]] std::optional<Obstacle> obstacle(QuotaId id, std::int64_t needed, Borrowing borrowing,
                                                 bool when_empty) const;
  [[nodiscard]] Shortage shortage(QuotaId id, const Obstacle& obstacle, Borrowing borrowing, bool ever) const;
  [[nodiscard]] std::int64_t measure(QuotaId id) const;
  void grow(QuotaId id, std::int64_t lent_before);

  std::vector<Cell> cells_;
  std::vector<Queue> queues_;
  std::vector<ShareStrategy> strategies_;
};

}  // namespace gantree

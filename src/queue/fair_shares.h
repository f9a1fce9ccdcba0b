// Fair sharing: what queues and cohorts use beyond their quota, each measured by what its parent can lend and by its
// weight, while gangs come and go in thought.
//
// A share is that of the resource of which it is largest, over all flavors. Who borrows with weight 0 has more than all
// others who have a weight.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/running.h"
#include "queue/quota.h"

namespace gantree {

struct FairShare {
  bool weightless = false;  // it borrows, and its weight is 0
  std::int64_t amount = 0;  // billionths of what can be lent, by the weight; 0: it stays within its quota
  friend auto operator<=>(const FairShare&, const FairShare&) = default;
};

class FairShares {
 public:
  // A queue, or a cohort: all cells of one name.
  using Holder = std::size_t;

  // Works on a copy: what is taken and given here counts nowhere else.
  explicit FairShares(Quota quota);

  void take(const QuotaDemand& sum) { quota_.take(sum); }
  void give(const QuotaDemand& sum) { quota_.give(sum); }

  // Those whose shares are compared where one queue takes from another: the children, one above each, of the lowest
  // cohort that both belong to. Nothing where they belong to none.
  [[nodiscard]] std::optional<std::pair<Holder, Holder>> sides(QueueId ours, QueueId theirs) const;
  [[nodiscard]] std::optional<Holder> holder(QueueId queue) const;
  // 0 for whoever has no parent.
  [[nodiscard]] FairShare share(Holder holder) const;

 private:
  using Lendable = std::map<std::string_view, std::int64_t>;  // by resource
  struct Node {
    std::int64_t weight = 1000;  // thousandths
    std::optional<Holder> parent = {};
    std::vector<QuotaId> cells = {};
  };

  [[nodiscard]] std::vector<Holder> way_up(Holder from) const;
  [[nodiscard]] std::optional<QuotaId> cell_like(QuotaId cell, Holder holder) const;
  [[nodiscard]] std::int64_t potential(QuotaId id) const;
  [[nodiscard]] Lendable lendable(Holder parent) const;

  Quota quota_;
  std::vector<Node> nodes_;
  std::vector<Holder> of_cell_;
  mutable std::map<Holder, Lendable> lendable_;  // of parents asked for; depends on no usage
};

// A newcomer to one queue, and running gangs of others that may go for it by share.
class ShareContest {
 public:
  ShareContest(const Quota& quota, QueueId queue, const QuotaDemand& demand);

  // Whether a gang of that queue can be fair game at all, once these gangs of the newcomer's own queue are gone.
  [[nodiscard]] bool may_lose(QueueId theirs, std::span<const RunningGang* const> own);
  // One of `by_share` that must not go where all of them and all of `others` do; nullptr where they may.
  [[nodiscard]] const RunningGang* too_much(std::span<const RunningGang* const> by_share,
                                            std::span<const RunningGang* const> others, ShareStrategy strategy);
  // As many as may go one after the other, each from the queue that has the largest share by then. Those to prefer come
  // first.
  [[nodiscard]] std::vector<const RunningGang*> in_turn(std::span<const RunningGang* const> candidates,
                                                        ShareStrategy strategy);

 private:
  [[nodiscard]] bool allows(ShareStrategy strategy, const FairShare& ours, const FairShare& before,
                            const FairShare& after) const;

  QueueId queue_;
  FairShares shares_;  // the newcomer counted in
};

}  // namespace gantree

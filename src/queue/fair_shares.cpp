#include "queue/fair_shares.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "base/saturating.h"

namespace gantree {

namespace {

// What part of a whole that is, divided by a weight of thousandths. Rounded once: equal parts are equal, whatever they
// are parts of. Whoever has something has a billionth at least.
std::int64_t billionths(std::int64_t amount, std::int64_t all, std::int64_t thousandths) {
  __extension__ using Wide = __int128;
  const Wide parts = static_cast<Wide>(amount) * 1'000'000'000'000 / (static_cast<Wide>(all) * thousandths);
  return static_cast<std::int64_t>(std::clamp<Wide>(parts, amount > 0 ? 1 : 0, kUnlimited));
}

// Gangs that are gone for as long as it lives.
class Gone {
 public:
  Gone(FairShares& shares, std::span<const RunningGang* const> gangs) : shares_(shares), gangs_(gangs) {
    for (const RunningGang* gang : gangs_) {
      shares_.give(gang->used);
    }
  }
  ~Gone() {
    for (const RunningGang* gang : gangs_) {
      shares_.take(gang->used);
    }
  }
  Gone(const Gone&) = delete;
  Gone& operator=(const Gone&) = delete;

 private:
  FairShares& shares_;
  std::span<const RunningGang* const> gangs_;
};

// Whom it hurts more to lose: the higher, then the older one.
bool dearer(const RunningGang* a, const RunningGang* b) {
  return std::tuple(a->priority, -a->started_seconds, std::tie(a->key)) >
         std::tuple(b->priority, -b->started_seconds, std::tie(b->key));
}

}  // namespace

FairShares::FairShares(Quota quota) : quota_(std::move(quota)), of_cell_(quota_.size()) {
  std::map<std::string_view, Holder> by_name;
  for (std::size_t i = 0; i < quota_.size(); ++i) {
    const QuotaId id = make_id<QuotaTag>(i);
    const QuotaCell& cell = quota_.cell(id);
    const auto [it, fresh] = by_name.try_emplace(cell.queue, nodes_.size());
    if (fresh) {
      nodes_.push_back({.weight = cell.owner ? quota_.rules(*cell.owner).weight : cell.weight});
    }
    Node& node = nodes_[it->second];
    node.cells.push_back(id);
    of_cell_[i] = it->second;
    if (cell.parent) {
      node.parent = of_cell_[cell.parent->index()];
    }
  }
}

std::optional<FairShares::Holder> FairShares::holder(QueueId queue) const {
  const auto& cells = quota_.cells_of(queue);
  return cells.empty() ? std::nullopt : std::optional(of_cell_[cells.front().index()]);
}

std::vector<FairShares::Holder> FairShares::way_up(Holder from) const {
  std::vector<Holder> way;
  for (std::optional<Holder> at = from; at; at = nodes_[*at].parent) {
    way.push_back(*at);
  }
  return way;
}

std::optional<std::pair<FairShares::Holder, FairShares::Holder>> FairShares::sides(QueueId ours, QueueId theirs) const {
  const auto mine = holder(ours);
  const auto other = holder(theirs);
  if (!mine || !other) {
    return std::nullopt;
  }
  const std::vector<Holder> up = way_up(*mine);
  const std::vector<Holder> down = way_up(*other);
  for (std::size_t i = 1; i < down.size(); ++i) {
    const auto shared = std::find(up.begin(), up.end(), down[i]);
    if (shared != up.end() && shared != up.begin()) {
      return std::pair(*std::prev(shared), down[i - 1]);
    }
  }
  return std::nullopt;
}

std::optional<QuotaId> FairShares::cell_like(QuotaId cell, Holder holder) const {
  const QuotaCell& like = quota_.cell(cell);
  for (const QuotaId id : nodes_[holder].cells) {
    if (quota_.cell(id).flavor == like.flavor && quota_.cell(id).resource == like.resource) {
      return id;
    }
  }
  return std::nullopt;
}

// All that could be used in a cell if nobody else used anything.
std::int64_t FairShares::potential(QuotaId id) const {
  const QuotaCell& cell = quota_.cell(id);
  const std::int64_t total = quota_.total(id);
  if (!cell.parent) {
    return total;
  }
  const std::int64_t own = cell.lending_limit ? std::max<std::int64_t>(0, total - *cell.lending_limit) : 0;
  const std::int64_t most = saturated_sum(own, potential(*cell.parent));
  return cell.borrowing_limit ? std::min(most, saturated_sum(total, *cell.borrowing_limit)) : most;
}

FairShares::Lendable FairShares::lendable(Holder parent) const {
  const std::vector<Holder> above = way_up(parent);
  Lendable sums;
  for (const QuotaId root : nodes_[above.back()].cells) {
    std::int64_t amount = quota_.total(root);
    // A cohort that does not know the flavor passes on what is above it.
    for (const Holder at : above) {
      if (const auto cell = cell_like(root, at)) {
        amount = potential(*cell);
        break;
      }
    }
    std::int64_t& sum = sums[quota_.cell(root).resource];
    sum = saturated_sum(sum, amount);
  }
  return sums;
}

FairShare FairShares::share(Holder holder) const {
  const Node& node = nodes_[holder];
  std::map<std::string_view, std::int64_t> over;
  for (const QuotaId id : node.cells) {
    if (quota_.borrows(id)) {
      std::int64_t& sum = over[quota_.cell(id).resource];
      sum = saturated_sum(sum, quota_.cell(id).used - quota_.total(id));
    }
  }
  if (over.empty() || !node.parent) {
    return {};
  }
  auto known = lendable_.find(*node.parent);
  if (known == lendable_.end()) {
    known = lendable_.emplace(*node.parent, lendable(*node.parent)).first;
  }
  const bool weightless = node.weight <= 0;
  std::int64_t most = 0;
  for (const auto& [resource, amount] : over) {
    const auto all = known->second.find(resource);
    if (all != known->second.end() && all->second > 0) {
      most = std::max(most, billionths(amount, all->second, weightless ? 1000 : node.weight));
    }
  }
  return {.weightless = weightless && most > 0, .amount = most};
}

ShareContest::ShareContest(const Quota& quota, QueueId queue, const QuotaDemand& demand)
    : queue_(queue), shares_(quota) {
  shares_.take(demand);
}

// That the one that takes stays below what the other had keeps two queues from taking turns for ever.
bool ShareContest::allows(ShareStrategy strategy, const FairShare& ours, const FairShare& before,
                          const FairShare& after) const {
  return ours < before && (strategy == ShareStrategy::kInitialShare || ours <= after);
}

bool ShareContest::may_lose(QueueId theirs, std::span<const RunningGang* const> own) {
  const auto sides = shares_.sides(queue_, theirs);
  if (!sides) {
    return false;
  }
  const Gone gone(shares_, own);
  return shares_.share(sides->first) < shares_.share(sides->second);
}

const RunningGang* ShareContest::too_much(std::span<const RunningGang* const> by_share,
                                          std::span<const RunningGang* const> others, ShareStrategy strategy) {
  std::map<FairShares::Holder, std::pair<FairShares::Holder, std::vector<const RunningGang*>>> givers;
  for (const RunningGang* gang : by_share) {
    const auto sides = shares_.sides(queue_, *gang->queue);
    if (!sides) {
      return gang;
    }
    auto& [ours, gangs] = givers[sides->second];
    ours = sides->first;
    gangs.push_back(gang);
  }
  const Gone elsewhere(shares_, others);
  const Gone gone(shares_, by_share);
  for (auto& [giver, entry] : givers) {
    auto& [ours, gangs] = entry;
    const FairShare share = shares_.share(ours);
    const FairShare after = shares_.share(giver);
    // Before the last of them went, whichever that was: else that one could drive out the newcomer, and the others
    // find room again.
    const bool fair = std::all_of(gangs.begin(), gangs.end(), [&](const RunningGang* last) {
      shares_.take(last->used);
      const FairShare before = shares_.share(giver);
      shares_.give(last->used);
      return allows(strategy, share, before, after);
    });
    if (!fair) {
      return *std::min_element(gangs.begin(), gangs.end(), dearer);
    }
  }
  return nullptr;
}

std::vector<const RunningGang*> ShareContest::in_turn(std::span<const RunningGang* const> candidates,
                                                      ShareStrategy strategy) {
  struct Line {
    FairShares::Holder ours = 0;
    FairShares::Holder giver = 0;
    FairShares::Holder own = 0;
    std::vector<const RunningGang*> gangs = {};
    std::size_t next = 0;
  };
  std::map<QueueId, Line> lines;
  for (const RunningGang* gang : candidates) {
    if (const auto sides = shares_.sides(queue_, *gang->queue)) {
      Line& line = lines[*gang->queue];
      std::tie(line.ours, line.giver) = *sides;
      line.own = *shares_.holder(*gang->queue);
      line.gangs.push_back(gang);
    }
  }
  std::vector<const RunningGang*> gone;
  while (true) {
    Line* largest = nullptr;
    std::pair<FairShare, FairShare> most;
    for (auto& [queue, line] : lines) {
      const std::pair shares(shares_.share(line.giver), shares_.share(line.own));
      if (line.next < line.gangs.size() && (largest == nullptr || shares > most)) {
        largest = &line;
        most = shares;
      }
    }
    if (largest == nullptr) {
      break;
    }
    const RunningGang* gang = largest->gangs[largest->next++];
    shares_.give(gang->used);
    if (allows(strategy, shares_.share(largest->ours), most.first, shares_.share(largest->giver))) {
      gone.push_back(gang);
    } else {
      shares_.take(gang->used);
    }
  }
  for (const RunningGang* gang : gone) {
    shares_.take(gang->used);
  }
  return gone;
}

}  // namespace gantree

#include "engine/knapsack.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

// How many pods fit at most, with at most b[i] domains used on level i? That
// is a knapsack over the tree: a domain's table, indexed by the numbers of
// domains used on each level below it, is combined from its children's. The
// fewest domains of a level are found with the levels above already fixed at
// their own minimum, and the levels below it not limited at all.

namespace gantree {

namespace {

constexpr std::int64_t kMaxEntries = std::int64_t{4} * 1024 * 1024;  // of all tables of a run: 16 MiB
constexpr std::int64_t kStepsPerShare = 128;  // what sorting and choosing hosts costs, in steps of the knapsack

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// One run of the knapsack: limits for levels top+1..bottom.
class Knapsack {
 public:
  Knapsack(const SlotCounts& counts, Domain top, int pods, std::vector<int> limits)
      : counts_(counts), top_(top), pods_(pods), limits_(std::move(limits)) {
    strides_.assign(limits_.size() + 1, 1);
    for (std::size_t i = limits_.size(); i-- > 0;) {
      strides_[i] = strides_[i + 1] * (at(limits_[i]) + 1);
    }
  }

  // Upper bound of the steps a run takes.
  [[nodiscard]] std::int64_t cost() const;
  // What its tables hold.
  [[nodiscard]] std::int64_t entries() const;
  // The fewest domains of the last level, or -1 where its limit is too low.
  [[nodiscard]] int fewest();
  // A placement with that many. Requires a successful fewest().
  [[nodiscard]] Shares placement(int last) const;

 private:
  struct Table {
    Domain domain;
    std::vector<int> pods;                  // by state, rounded to whole slices
    std::vector<std::vector<int>> partial;  // by number of children seen: by state
    std::vector<Table> children;
  };

  [[nodiscard]] int bottom() const { return top_.level + static_cast<int>(limits_.size()); }
  // States of a table of a domain at that level: one number a level below it.
  [[nodiscard]] std::size_t states(int level) const { return strides_[at(level - top_.level)]; }
  [[nodiscard]] int limit(int level) const { return limits_[at(level - top_.level - 1)]; }
  // Whether part <= whole on every level, for states of a table at that level.
  [[nodiscard]] bool contains(int level, std::size_t whole, std::size_t part) const;
  [[nodiscard]] Table build(Domain domain) const;
  void add_child(Table& table, const Table& child) const;
  [[nodiscard]] std::vector<std::size_t> useful(const Table& table) const;
  void trace(const Table& table, std::size_t state, int pods, Shares& out) const;

  const SlotCounts& counts_;
  Domain top_;
  int pods_;
  std::vector<int> limits_;
  std::vector<std::size_t> strides_;
  Table root_;
};

std::int64_t Knapsack::cost() const {
  const DomainTree& tree = counts_.tree();
  std::int64_t cost = 0;
  for (int level = top_.level; level < bottom() - 1; ++level) {
    const auto inner = static_cast<std::int64_t>(states(level + 1));
    const auto below = static_cast<std::int64_t>(tree.below(top_, bottom()).size());
    cost += static_cast<std::int64_t>(tree.below(top_, level + 1).size()) * static_cast<std::int64_t>(states(level)) *
            std::min(inner, below + 1);
    if (cost > std::numeric_limits<std::int32_t>::max()) {
      break;
    }
  }
  return cost;
}

std::int64_t Knapsack::entries() const {
  const DomainTree& tree = counts_.tree();
  // The lowest tables have one row each, the others one a child.
  std::int64_t entries = static_cast<std::int64_t>(tree.below(top_, bottom() - 1).size() * states(bottom() - 1));
  for (int level = top_.level; level < bottom() - 1 && entries <= kMaxEntries; ++level) {
    entries += static_cast<std::int64_t>((tree.below(top_, level + 1).size() + 1) * states(level));
  }
  return entries;
}

bool Knapsack::contains(int level, std::size_t whole, std::size_t part) const {
  for (int l = level + 1; l <= bottom(); ++l) {
    const std::size_t stride = states(l);
    const std::size_t size = at(limit(l)) + 1;
    if (part / stride % size > whole / stride % size) {
      return false;
    }
  }
  return true;
}

Knapsack::Table Knapsack::build(Domain domain) const {
  Table table;
  table.domain = domain;
  if (domain.level == bottom() - 1) {
    const auto best = counts_.best(domain);
    table.pods.assign(states(domain.level), 0);
    for (std::size_t k = 1; k < table.pods.size() && !best.empty(); ++k) {
      table.pods[k] = std::min(pods_, counts_.whole(domain.level, best[std::min(k, best.size()) - 1]));
    }
    return table;
  }
  // Smallest children first: tracing back drops the largest where it can.
  const Range range = counts_.tree().children(domain);
  std::vector<Domain> children;
  for (std::uint32_t c = range.begin; c < range.end; ++c) {
    if (counts_.capacity({domain.level + 1, c}) > 0) {
      children.push_back({domain.level + 1, c});
    }
  }
  std::stable_sort(children.begin(), children.end(),
                   [&](const Domain& a, const Domain& b) { return counts_.capacity(a) < counts_.capacity(b); });
  table.partial.emplace_back(states(domain.level), 0);
  for (const Domain& child : children) {
    table.children.push_back(build(child));
    add_child(table, table.children.back());
  }
  table.pods = table.partial.back();
  for (int& pods : table.pods) {
    pods = counts_.whole(domain.level, pods);
  }
  return table;
}

// The states that hold more than any state with fewer domains.
std::vector<std::size_t> Knapsack::useful(const Table& table) const {
  std::vector<std::size_t> found;
  for (std::size_t state = 0; state < table.pods.size(); ++state) {
    if (table.pods[state] == 0) {
      continue;
    }
    bool better = true;
    for (int l = table.domain.level + 1; l <= bottom() && better; ++l) {
      const std::size_t stride = states(l);
      if (state / stride % (at(limit(l)) + 1) > 0) {
        better = table.pods[state - stride] < table.pods[state];
      }
    }
    if (better) {
      found.push_back(state);
    }
  }
  return found;
}

void Knapsack::add_child(Table& table, const Table& child) const {
  const int level = table.domain.level;
  const std::size_t inner = states(level + 1);
  const std::vector<int>& before = table.partial.back();
  std::vector<int> after = before;
  const bool flat = level + 2 == bottom();  // one number a state: no need to compare level by level
  for (const std::size_t part : useful(child)) {
    const int gain = child.pods[part];
    for (std::size_t whole = part; whole < inner; ++whole) {
      if (!flat && !contains(level + 1, whole, part)) {
        continue;
      }
      for (std::size_t k = 1; k <= at(limit(level + 1)); ++k) {
        int& pods = after[k * inner + whole];
        pods = std::max(pods, std::min(pods_, before[(k - 1) * inner + whole - part] + gain));
      }
    }
  }
  table.partial.push_back(std::move(after));
}

int Knapsack::fewest() {
  root_ = build(top_);
  std::size_t state = 0;
  for (std::size_t i = 0; i + 1 < limits_.size(); ++i) {
    state += at(limits_[i]) * strides_[i + 1];
  }
  for (int last = 1; last <= limits_.back(); ++last) {
    if (root_.pods[state + at(last)] >= pods_) {
      return last;
    }
  }
  return -1;
}

Shares Knapsack::placement(int last) const {
  std::size_t state = at(last);
  for (std::size_t i = 0; i + 1 < limits_.size(); ++i) {
    state += at(limits_[i]) * strides_[i + 1];
  }
  Shares shares;
  trace(root_, state, pods_, shares);
  std::sort(shares.begin(), shares.end());
  return shares;
}

void Knapsack::trace(const Table& table, std::size_t state, int pods, Shares& out) const {
  if (table.domain.level == bottom() - 1) {
    pack_greedily(counts_, table.domain, pods, out);
    return;
  }
  const std::size_t inner = states(table.domain.level + 1);
  for (std::size_t i = table.children.size(); i > 0 && pods > 0; --i) {
    const std::vector<int>& before = table.partial[i - 1];
    if (before[state] >= pods) {
      continue;
    }
    const Table& child = table.children[i - 1];
    const std::size_t whole = state % inner;
    GANTREE_CHECK(state >= inner);
    for (const std::size_t part : useful(child)) {
      if (part > whole || !contains(table.domain.level + 1, whole, part)) {
        continue;
      }
      const std::size_t rest = state - inner - part;
      const int share = std::min(pods, child.pods[part]);
      if (before[rest] + share >= pods) {
        trace(child, part, share, out);
        pods -= share;
        state = rest;
        break;
      }
    }
  }
  GANTREE_CHECK(pods == 0);
}

// The largest domain of a level inside a domain.
int largest(const SlotCounts& counts, Domain domain, int level) {
  const Range range = counts.tree().below(domain, level);
  const auto capacities = counts.capacities(level).subspan(range.begin, range.size());
  return capacities.empty() ? 0 : *std::max_element(capacities.begin(), capacities.end());
}

// Whether a placement whose first `exact` numbers are proven minimal here, and
// whose next is at least `bound`, cannot beat the incumbent.
bool beaten(const std::vector<int>& used, std::size_t exact, int bound, const std::vector<int>& incumbent) {
  for (std::size_t i = 0; i < exact; ++i) {
    if (used[i] != incumbent[i]) {
      return used[i] > incumbent[i];
    }
  }
  return exact < incumbent.size() && bound > incumbent[exact];
}

}  // namespace

Shares pack_exactly(const SlotCounts& counts, Domain domain, int pods, const std::vector<int>* incumbent,
                    Budget& budget) {
  const DomainTree& tree = counts.tree();
  Shares shares;
  pack_greedily(counts, domain, pods, shares);
  std::sort(shares.begin(), shares.end());
  budget.spend(kStepsPerShare * static_cast<std::int64_t>(shares.size()));
  std::vector<int> used = domains_used(tree, domain.level, shares);
  // used[0] is minimal: the greedy choice counts children by their best.
  for (std::size_t i = 1; i < used.size(); ++i) {
    const int level = domain.level + 1 + static_cast<int>(i);
    const int most = std::max(1, largest(counts, domain, level));
    const int bound = std::max(used[i - 1], (pods + most - 1) / most);
    if (incumbent != nullptr && beaten(used, i, bound, *incumbent)) {
      return {};
    }
    if (used[i] == bound) {
      continue;
    }
    std::vector<int> limits(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    --limits.back();
    Knapsack knapsack(counts, domain, pods, std::move(limits));
    if (!budget.can_spend(knapsack.cost()) || knapsack.entries() > kMaxEntries) {
      break;
    }
    budget.spend(knapsack.cost());
    if (const int fewest = knapsack.fewest(); fewest > 0) {
      shares = knapsack.placement(fewest);
      used = domains_used(tree, domain.level, shares);
    }
  }
  if (incumbent != nullptr && used > *incumbent) {
    return {};
  }
  return shares;
}

}  // namespace gantree

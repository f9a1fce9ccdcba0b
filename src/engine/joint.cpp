#include "engine/joint.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace gantree {

namespace {

constexpr std::size_t kMaxStates = std::size_t{1} << 20;
constexpr std::size_t kMaxCells = std::size_t{1} << 24;  // states times children, over all tables
constexpr std::uint32_t kMaxHosts = 60000;               // counters of the cost are 16 bits wide
constexpr int kFieldsPerWord = 4;

// A combination: the pods of every part packed into one word, each with a
// spare bit above, so that "a and b together are not too many" is one test.
class Combinations {
 public:
  explicit Combinations(const std::vector<JointPart>& parts) {
    int shift = 0;
    std::size_t states = 1;
    for (const JointPart& part : parts) {
      const int bits = std::bit_width(static_cast<unsigned>(part.count));
      if (shift + bits + 1 > 64) {
        valid_ = false;
        return;
      }
      shifts_.push_back(shift);
      strides_.push_back(states);
      masks_.push_back((std::uint64_t{1} << bits) - 1);
      const std::uint64_t spare = std::uint64_t{1} << bits;
      bias_ += (spare - 1 - static_cast<unsigned>(part.count)) << shift;
      guard_ |= spare << shift;
      full_ += static_cast<std::uint64_t>(part.count) << shift;
      shift += bits + 1;
      states *= static_cast<std::size_t>(part.count) + 1;
      if (states > kMaxStates) {
        valid_ = false;
        return;
      }
    }
    states_ = states;
  }

  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] std::size_t states() const { return states_; }
  [[nodiscard]] std::uint64_t full() const { return full_; }
  [[nodiscard]] bool within(std::uint64_t sum) const { return ((sum + bias_) & guard_) == 0; }
  [[nodiscard]] std::uint64_t one(std::size_t part) const { return std::uint64_t{1} << shifts_[part]; }
  [[nodiscard]] int pods(std::uint64_t combination, std::size_t part) const {
    return static_cast<int>(combination >> shifts_[part] & masks_[part]);
  }
  // A dense number for a combination.
  [[nodiscard]] std::size_t state(std::uint64_t combination) const {
    std::size_t state = 0;
    for (std::size_t p = 0; p < shifts_.size(); ++p) {
      state += strides_[p] * static_cast<std::size_t>(pods(combination, p));
    }
    return state;
  }

 private:
  bool valid_ = true;
  std::size_t states_ = 1;
  std::uint64_t bias_ = 0;
  std::uint64_t guard_ = 0;
  std::uint64_t full_ = 0;
  std::vector<int> shifts_;
  std::vector<std::size_t> strides_;
  std::vector<std::uint64_t> masks_;
};

class Joint {
 public:
  Joint(const JointProblem& problem, Budget& budget)
      : problem_(problem), budget_(budget), tree_(problem.parts.front().counts->tree()), combinations_(problem.parts) {
    int depths = 0;
    for (const JointUnit& unit : problem.units) {
      depths = std::max(depths, unit.depth + 1);
    }
    union_depth_ = depths;
    const int fields = (depths + 1) * tree_.levels();
    words_ = static_cast<std::size_t>((fields + kFieldsPerWord - 1) / kFieldsPerWord) + 1;
  }

  JointAnswer solve();

 private:
  // What fits into a domain: combinations, sorted, with their costs.
  struct Table {
    Domain domain;
    std::vector<std::uint64_t> combination;
    std::vector<std::uint64_t> cost;                 // words_ each
    std::vector<Table> children;                     // those in which anything fits
    std::vector<std::vector<std::uint32_t>> chosen;  // by child, state: entry of the child's table
  };
  // Combinations of some children taken together.
  struct Sum {
    std::vector<std::uint64_t> combination;
    std::vector<std::size_t> state;
    std::vector<std::uint64_t> cost;
  };

  [[nodiscard]] std::int64_t estimate() const;
  [[nodiscard]] bool relevant(Domain domain) const;
  Table build(Domain domain);
  void build_host(Table& table);
  void enumerate(Table& table, std::size_t part, std::uint64_t combination, std::vector<std::int64_t>& free);
  Sum add(const Sum& sum, const Table& child, std::vector<std::uint32_t>& chosen);
  void finish(Table& table);
  [[nodiscard]] bool permitted(Domain domain, std::uint64_t combination) const;
  void charge(Domain domain, std::uint64_t combination, std::uint64_t* cost) const;
  void trace(const Table& table, std::size_t entry, std::vector<Shares>& shares) const;

  const JointProblem& problem_;
  Budget& budget_;
  const DomainTree& tree_;
  Combinations combinations_;
  int union_depth_ = 0;
  std::size_t words_ = 1;
  std::size_t cells_ = 0;
  std::vector<std::uint32_t> slot_of_state_;  // scratch: state to entry of the sum being made
};

bool Joint::relevant(Domain domain) const {
  return std::any_of(problem_.parts.begin(), problem_.parts.end(),
                     [&](const JointPart& part) { return part.counts->capacity(domain) > 0; });
}

void Joint::enumerate(Table& table, std::size_t part, std::uint64_t combination, std::vector<std::int64_t>& free) {
  if (part == problem_.parts.size()) {
    table.combination.push_back(combination);
    return;
  }
  const JointPart& what = problem_.parts[part];
  const auto& requests = what.counts->shape().requests.entries();
  int most = std::min(what.count, what.counts->slots(table.domain.index));
  for (const auto& [resource, amount] : requests) {
    most = std::min<int>(most, static_cast<int>(std::clamp<std::int64_t>(free[resource.index()] / amount, 0, most)));
  }
  for (int pods = 0; pods <= most; ++pods) {
    for (const auto& [resource, amount] : requests) {
      free[resource.index()] -= amount * pods;
    }
    enumerate(table, part + 1, combination + combinations_.one(part) * static_cast<unsigned>(pods), free);
    for (const auto& [resource, amount] : requests) {
      free[resource.index()] += amount * pods;
    }
  }
}

void Joint::build_host(Table& table) {
  const NodeId node = tree_.node(table.domain.index);
  const bool now = problem_.parts.front().counts->fill() == Fill::kNow;
  std::vector<std::int64_t> free(problem_.inventory->resources().size(), 0);
  for (std::size_t r = 0; r < free.size(); ++r) {
    const auto resource = make_id<ResourceTag>(r);
    free[r] = now ? problem_.inventory->free(node, resource) : problem_.inventory->allocatable(node, resource);
  }
  enumerate(table, 0, 0, free);
  budget_.spend(static_cast<std::int64_t>(table.combination.size()));
  table.cost.assign(table.combination.size() * words_, 0);
}

Joint::Sum Joint::add(const Sum& sum, const Table& child, std::vector<std::uint32_t>& chosen) {
  Sum out;
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  slot_of_state_.assign(combinations_.states(), kNone);
  chosen.assign(combinations_.states(), kNone);
  cells_ += combinations_.states();
  std::vector<std::uint64_t> cost(words_);
  std::vector<std::size_t> child_state;  // the state of a sum is the sum of the states
  for (const std::uint64_t combination : child.combination) {
    child_state.push_back(combinations_.state(combination));
  }
  for (std::size_t a = 0; a < sum.combination.size(); ++a) {
    if (!budget_.spend(static_cast<std::int64_t>(child.combination.size()))) {
      return out;
    }
    for (std::size_t b = 0; b < child.combination.size(); ++b) {
      const std::uint64_t both = sum.combination[a] + child.combination[b];
      if (!combinations_.within(both)) {
        continue;
      }
      for (std::size_t w = 0; w < words_; ++w) {
        cost[w] = sum.cost[a * words_ + w] + child.cost[b * words_ + w];
      }
      const std::size_t state = sum.state[a] + child_state[b];
      std::uint32_t& slot = slot_of_state_[state];
      if (slot == kNone) {
        slot = static_cast<std::uint32_t>(out.combination.size());
        out.combination.push_back(both);
        out.state.push_back(state);
        out.cost.insert(out.cost.end(), cost.begin(), cost.end());
      } else {
        const auto old = out.cost.begin() + static_cast<std::ptrdiff_t>(slot * words_);
        if (!std::lexicographical_compare(cost.begin(), cost.end(), old, old + static_cast<std::ptrdiff_t>(words_))) {
          continue;
        }
        std::copy(cost.begin(), cost.end(), old);
      }
      chosen[state] = static_cast<std::uint32_t>(b);
    }
  }
  return out;
}

bool Joint::permitted(Domain domain, std::uint64_t combination) const {
  for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
    if (combinations_.pods(combination, p) % problem_.parts[p].counts->unit(domain.level) != 0) {
      return false;
    }
  }
  int alone = 0;
  for (const JointRule& rule : problem_.rules) {
    if (rule.level != domain.level) {
      continue;
    }
    bool any = false;
    bool all = true;
    for (const std::size_t p : rule.parts) {
      const int pods = combinations_.pods(combination, p);
      any |= pods > 0;
      all &= pods == problem_.parts[p].count;
    }
    if (any && !all) {
      return false;
    }
    if (any && rule.exclusive) {
      if (++alone > 1 || (rule.occupied != nullptr && (*rule.occupied)[domain.index])) {
        return false;
      }
    }
  }
  return true;
}

// Adds what a domain that holds this combination costs at its own level.
void Joint::charge(Domain domain, std::uint64_t combination, std::uint64_t* cost) const {
  const auto count = [&](int depth) {
    const int field = depth * tree_.levels() + domain.level;
    const int shift = 16 * (kFieldsPerWord - 1 - field % kFieldsPerWord);
    cost[field / kFieldsPerWord] += std::uint64_t{1} << shift;
  };
  for (const JointUnit& unit : problem_.units) {
    if (std::any_of(unit.parts.begin(), unit.parts.end(),
                    [&](std::size_t p) { return combinations_.pods(combination, p) > 0; })) {
      count(unit.depth);
    }
  }
  count(union_depth_);
  for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
    if (combinations_.pods(combination, p) > 0) {
      cost[words_ - 1] += static_cast<std::uint64_t>(problem_.parts[p].counts->capacity(domain));
      break;  // the tightest fit, by its first part
    }
  }
}

// Drops what rules forbid and charges the rest.
void Joint::finish(Table& table) {
  if (table.domain.level < 0) {
    return;
  }
  std::size_t kept = 0;
  for (std::size_t e = 0; e < table.combination.size(); ++e) {
    const std::uint64_t combination = table.combination[e];
    if (!permitted(table.domain, combination)) {
      continue;
    }
    table.combination[kept] = combination;
    std::copy_n(table.cost.begin() + static_cast<std::ptrdiff_t>(e * words_), words_,
                table.cost.begin() + static_cast<std::ptrdiff_t>(kept * words_));
    if (combination != 0) {
      charge(table.domain, combination, &table.cost[kept * words_]);
    }
    ++kept;
  }
  table.combination.resize(kept);
  table.cost.resize(kept * words_);
}

Joint::Table Joint::build(Domain domain) {
  Table table;
  table.domain = domain;
  if (domain.level == tree_.host_level()) {
    build_host(table);
    finish(table);
    return table;
  }
  Sum sum{{0}, {0}, std::vector<std::uint64_t>(words_, 0)};
  const Range range = tree_.children(domain);
  for (std::uint32_t c = range.begin; c < range.end && !budget_.exhausted() && cells_ <= kMaxCells; ++c) {
    if (!relevant({domain.level + 1, c})) {
      continue;
    }
    Table child = build({domain.level + 1, c});
    if (child.combination.size() <= 1) {
      continue;  // nothing fits there
    }
    sum = add(sum, child, table.chosen.emplace_back());
    child.cost.clear();
    child.cost.shrink_to_fit();
    table.children.push_back(std::move(child));
  }
  table.combination = std::move(sum.combination);
  table.cost = std::move(sum.cost);
  finish(table);
  return table;
}

void Joint::trace(const Table& table, std::size_t entry, std::vector<Shares>& shares) const {
  std::uint64_t combination = table.combination[entry];
  if (table.domain.level == tree_.host_level()) {
    for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
      if (const int pods = combinations_.pods(combination, p); pods > 0) {
        shares[p].push_back({table.domain.index, pods});
      }
    }
    return;
  }
  for (std::size_t c = table.children.size(); c-- > 0;) {
    const std::uint32_t chosen = table.chosen[c][combinations_.state(combination)];
    trace(table.children[c], chosen, shares);
    combination -= table.children[c].combination[chosen];
  }
  GANTREE_CHECK(combination == 0);
}

// A lower bound of the steps, so that hopeless efforts end before they start.
std::int64_t Joint::estimate() const {
  const Range hosts = tree_.hosts(problem_.within);
  std::int64_t steps = 0;
  std::int64_t used_hosts = 0;
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    std::int64_t combinations = 1;
    for (const JointPart& part : problem_.parts) {
      combinations *= std::min(part.count, part.counts->slots(host)) + 1;
    }
    steps += combinations;
    used_hosts += combinations > 1 ? 1 : 0;
  }
  const auto states = static_cast<std::int64_t>(combinations_.states());
  if (states * used_hosts > static_cast<std::int64_t>(kMaxCells)) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return steps * states / 4;
}

JointAnswer Joint::solve() {
  if (!combinations_.valid() || tree_.size(tree_.host_level()) > kMaxHosts) {
    return {JointVerdict::kGaveUp, {}, {}};
  }
  if (!budget_.can_spend(estimate())) {
    return {JointVerdict::kGaveUp, {}, {}};
  }
  const Table root = build(problem_.within);
  if (budget_.exhausted() || cells_ > kMaxCells) {
    return {JointVerdict::kGaveUp, {}, {}};
  }
  const auto full = std::find(root.combination.begin(), root.combination.end(), combinations_.full());
  if (full == root.combination.end()) {
    return {JointVerdict::kNone, {}, {}};
  }
  const auto entry = static_cast<std::size_t>(full - root.combination.begin());
  const auto cost = root.cost.begin() + static_cast<std::ptrdiff_t>(entry * words_);
  JointAnswer answer{JointVerdict::kFound,
                     std::vector<Shares>(problem_.parts.size()),
                     {cost, cost + static_cast<std::ptrdiff_t>(words_)}};
  trace(root, entry, answer.shares);
  for (Shares& shares : answer.shares) {
    std::sort(shares.begin(), shares.end());
  }
  return answer;
}

}  // namespace

JointAnswer place_jointly(const JointProblem& problem, Budget& budget) {
  GANTREE_CHECK(!problem.parts.empty());
  return Joint(problem, budget).solve();
}

}  // namespace gantree

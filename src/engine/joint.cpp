#include "engine/joint.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <compare>
#include <numeric>

#include "base/check.h"
#include "engine/combinations.h"
#include "engine/joint_limit.h"

// An entry of a table means "up to so many pods of each part fit here, at this cost". Less always fits where more does,
// so only entries that no cheaper one covers are kept: the front. Rounding to whole slices, "all or none" and "alone"
// only ever lower the numbers, so they may be applied to entries too.

namespace gantree {

namespace {

constexpr std::int64_t kMaxCounted = 60000;  // hosts, or pods: counters of the cost are 16 bits wide
constexpr std::int64_t kStepsPerHost = 256;  // to be expected, at the least
constexpr int kDenseBits = 14;  // of combinations: up to which a table of all of them is quicker than a map
constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
constexpr std::size_t kMaxBytes = std::size_t{16} * 1024 * 1024;  // of tables: growing vectors take up to thrice that

class Joint {
 public:
  Joint(const JointProblem& problem, Budget& budget)
      : problem_(problem), budget_(budget), tree_(problem.parts.front().counts->tree()), combinations_(problem.parts) {
    for (const JointUnit& unit : problem.units) {
      union_depth_ = std::max(union_depth_, unit.depth + 1);
      alike_ |= unit.groups > 1;
    }
    exclusive_rules_ = static_cast<int>(std::count_if(problem.rules.begin(), problem.rules.end(),
                                                      [](const JointRule& rule) { return rule.exclusive; }));
    // Where one unit holds every part, its domains are those of all pods together.
    const bool one_unit = std::any_of(problem.units.begin(), problem.units.end(), [&](const JointUnit& unit) {
      return unit.groups == 1 && unit.depth == 0 && unit.parts.size() == problem.parts.size() && unit.used.empty();
    });
    count_union_ = !one_unit || !problem.used.empty() || problem.any;
    const int fields = (union_depth_ + (count_union_ ? 1 : 0)) * tree_.levels();
    words_ = static_cast<std::size_t>((fields + kFieldsPerWord - 1) / kFieldsPerWord) + 1;
    none_.assign(words_, 0);
    if (combinations_.valid() && combinations_.bits() <= kDenseBits) {
      dense_.assign(std::size_t{1} << combinations_.bits(), kUnknown);
    }
  }

  JointAnswer solve();

 private:
  // Entries side by side; costs are words_ words each. `from` and `with`: of which an entry was made (see Table).
  struct Front {
    std::vector<std::uint64_t> combination;
    std::vector<std::uint64_t> cost;
    std::vector<std::uint32_t> from;
    std::vector<std::uint32_t> with;
    [[nodiscard]] std::size_t size() const { return combination.size(); }
    void reserve(std::size_t entries, std::size_t words) {
      combination.reserve(entries);
      cost.reserve(entries * words);
      from.reserve(entries);
      with.reserve(entries);
    }
    void clear() {
      combination.clear();
      cost.clear();
      from.clear();
      with.clear();
    }
  };
  // What is needed of a front to find the way back.
  struct Trail {
    std::vector<std::uint32_t> from;
    std::vector<std::uint32_t> with;
  };
  struct Table {
    Domain domain;
    Front front;                  // from: entry of the last step (a host: unused)
    std::vector<Table> children;  // those in which anything fits; without their costs
    std::vector<Trail> steps;     // by child: from: entry of the step before, with: entry of the child
  };

  // Neither steps nor memory are left: the answer will be that it gave up.
  [[nodiscard]] bool stopped() const { return too_large_ || budget_.exhausted(); }
  [[nodiscard]] std::size_t bytes(const Front& front) const {
    return front.size() * (2 + words_) * sizeof(std::uint64_t);
  }
  // Whether a front may grow on beside what is kept.
  bool room_for(const Front& front) {
    too_large_ |= kept_bytes_ + bytes(front) > kMaxBytes;
    return !too_large_;
  }
  void keep(const Front& sum, Table&& below, Table& table);

  [[nodiscard]] const std::uint64_t* cost(const Front& front, std::size_t entry) const {
    return &front.cost[entry * words_];
  }
  void append(Front& front, std::uint64_t combination, const std::uint64_t* cost, std::size_t from,
              std::size_t with) const;
  [[nodiscard]] std::strong_ordering compare_costs(const std::uint64_t* a, const std::uint64_t* b,
                                                   std::size_t words) const {
    for (std::size_t w = 0; w < words; ++w) {
      if (a[w] != b[w]) {
        return a[w] <=> b[w];
      }
    }
    return std::strong_ordering::equal;
  }
  void sort_by_cost(const Front& front);
  [[nodiscard]] Front best_of(const Front& front);
  // Where in `sums_` a combination is, or its place to be.
  std::uint32_t& place_of(std::uint64_t combination) {
    return dense_.empty() ? sparse_.try_emplace(combination, kUnknown).first->second : dense_[combination];
  }
  void forget_places();
  Table build(Domain domain);
  bool build_child(Domain child, Table& below);
  Table build_root(Domain domain);
  void build_host(Table& table);
  void enumerate(Front& front, std::uint32_t host, std::size_t part, std::uint64_t combination,
                 std::vector<std::int64_t>& free);
  Front add(const Front& sum, const Front& child, const ChildLimit* limit = nullptr);
  void finish(Table& table, const Front& sum);
  [[nodiscard]] std::uint64_t permitted(Domain domain, std::uint64_t combination) const;
  [[nodiscard]] bool alone_above() const;
  void ways_to_be_alone(Domain domain, std::uint64_t combination, std::size_t next,
                        std::vector<std::uint64_t>& ways) const;
  void charge(Domain domain, std::uint64_t combination, std::uint64_t* cost) const;
  // Pods of a part in each of so many groups.
  [[nodiscard]] int each(std::size_t part, int groups) const { return problem_.parts[part].count / groups; }
  void trace(const Table& table, std::size_t entry, std::uint64_t need, std::vector<Shares>& shares) const;

  const JointProblem& problem_;
  Budget& budget_;
  const DomainTree& tree_;
  Combinations combinations_;
  int union_depth_ = 0;
  bool count_union_ = true;
  bool coarse_ = false;  // tightness decides only between entries that are otherwise equal
  std::size_t words_ = 1;
  std::vector<std::uint64_t> none_;  // the cost of nothing
  int exclusive_rules_ = 0;
  bool alike_ = false;  // some units stand for several groups
  std::size_t kept_bytes_ = 0;
  bool too_large_ = false;

  // Space that is used again and again.
  Front sums_;
  Front finished_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> dense_;  // by combination, where these are few
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> sparse_;
};

void Joint::append(Front& front, std::uint64_t combination, const std::uint64_t* cost, std::size_t from,
                   std::size_t with) const {
  front.combination.push_back(combination);
  front.cost.insert(front.cost.end(), cost, cost + words_);
  front.from.push_back(static_cast<std::uint32_t>(from));
  front.with.push_back(static_cast<std::uint32_t>(with));
}

// Without the entries that a cheaper (or equal, earlier) one covers.
Joint::Front Joint::best_of(const Front& front) {
  sort_by_cost(front);
  // The entries to be kept stay at the beginning of the order.
  std::size_t kept = 0;
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::uint64_t combination = front.combination[order_[i]];
    steps += static_cast<std::int64_t>(kept);
    std::size_t other = kept;
    while (other > 0 && !combinations_.covers(front.combination[order_[other - 1]], combination)) {
      --other;
    }
    if (other == 0) {
      order_[kept++] = order_[i];
    }
    if (steps > 1024) {
      if (!budget_.spend(steps / 8)) {
        break;
      }
      steps = 0;
    }
  }
  Front best;
  best.reserve(kept, words_);
  for (std::size_t i = 0; i < kept; ++i) {
    append(best, front.combination[order_[i]], cost(front, order_[i]), front.from[order_[i]], front.with[order_[i]]);
  }
  return best;
}

// The cheapest first; of equal ones the one with more pods, so that it covers those that follow.
void Joint::sort_by_cost(const Front& front) {
  order_.resize(front.size());
  std::iota(order_.begin(), order_.end(), 0U);
  const std::size_t tightness = words_ - 1;
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto by_cost = compare_costs(cost(front, a), cost(front, b), coarse_ ? tightness : words_);
    if (by_cost != 0) {
      return by_cost < 0;
    }
    if (front.combination[a] != front.combination[b]) {
      return front.combination[a] > front.combination[b];
    }
    return std::pair(cost(front, a)[tightness], a) < std::pair(cost(front, b)[tightness], b);
  });
}

void Joint::enumerate(Front& front, std::uint32_t host, std::size_t part, std::uint64_t combination,
                      std::vector<std::int64_t>& free) {
  if (part == problem_.parts.size()) {
    append(front, combination, none_.data(), 0, 0);
    return;
  }
  const JointPart& what = problem_.parts[part];
  const auto& requests = what.counts->shape().requests.entries();
  int most = std::min(what.count, what.counts->slots(host));
  for (const auto& [resource, amount] : requests) {
    most = static_cast<int>(std::clamp<std::int64_t>(free[resource.index()] / amount, 0, most));
  }
  const int unit = what.counts->unit(tree_.host_level());
  const bool last = part + 1 == problem_.parts.size() && !alike_;
  // Of the last part, none or as many as fit: what lies between is covered. (Unless it costs less: where whole groups
  // are cheaper than parts of them.)
  const int stride = last && most > 0 ? std::max(unit, most - most % unit) : unit;
  for (int pods = 0; pods <= most && room_for(front); pods += stride) {
    for (const auto& [resource, amount] : requests) {
      free[resource.index()] -= amount * pods;
    }
    enumerate(front, host, part + 1, combination + combinations_.of(part, pods), free);
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
  sums_.clear();
  enumerate(sums_, table.domain.index, 0, 0, free);
  budget_.spend(static_cast<std::int64_t>(sums_.size()));
  finish(table, sums_);
}

Joint::Front Joint::add(const Front& sum, const Front& child, const ChildLimit* limit) {
  Front& out = sums_;
  out.clear();
  std::vector<std::uint64_t> both(words_);
  for (std::size_t a = 0; a < sum.size(); ++a) {
    if (!budget_.spend(static_cast<std::int64_t>(child.size())) || !room_for(out)) {
      break;
    }
    for (std::size_t b = 0; b < child.size(); ++b) {
      const std::uint64_t combination = combinations_.sum(sum.combination[a], child.combination[b]);
      for (std::size_t w = 0; w < words_; ++w) {
        both[w] = cost(sum, a)[w] + cost(child, b)[w];
      }
      if (limit != nullptr && !limit->allows(combinations_, combination, both.data())) {
        continue;
      }
      std::uint32_t& place = place_of(combination);
      if (place == kUnknown) {
        place = static_cast<std::uint32_t>(out.size());
        append(out, combination, both.data(), a, b);
        continue;
      }
      std::uint64_t* const old = &out.cost[place * words_];
      const auto order = compare_costs(both.data(), old, words_);
      // Of equal ones with groups that are alike, the one that leaves more to the first children.
      if (order < 0 || (alike_ && order == 0 && child.combination[b] < child.combination[out.with[place]])) {
        std::copy(both.begin(), both.end(), old);
        out.from[place] = static_cast<std::uint32_t>(a);
        out.with[place] = static_cast<std::uint32_t>(b);
      }
    }
  }
  forget_places();
  return stopped() ? Front{} : best_of(out);
}

void Joint::forget_places() {
  sparse_.clear();
  if (!dense_.empty()) {
    for (const std::uint64_t combination : sums_.combination) {
      dense_[combination] = kUnknown;
    }
  }
}

// As much of a combination as rules and slices allow in a domain. "Alone" is
// left to finish(), since it leaves a choice.
std::uint64_t Joint::permitted(Domain domain, std::uint64_t combination) const {
  for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
    const int pods = combinations_.pods(combination, p);
    if (const int rest = pods % problem_.parts[p].counts->unit(domain.level); rest != 0) {
      combination = combinations_.without(combination, p) + combinations_.of(p, pods - rest);
    }
  }
  // Dropping a group can leave another one incomplete that contains it.
  for (bool again = true; again;) {
    again = false;
    for (const JointRule& rule : problem_.rules) {
      if (rule.level != domain.level) {
        continue;
      }
      const bool taken = rule.occupied != nullptr && (*rule.occupied)[domain.index];
      int whole = taken ? 0 : rule.exclusive ? 1 : rule.groups;
      for (const std::size_t p : rule.parts) {
        whole = std::min(whole, combinations_.pods(combination, p) / each(p, rule.groups));
      }
      for (const std::size_t p : rule.parts) {
        if (const int most = whole * each(p, rule.groups); combinations_.pods(combination, p) > most) {
          combination = combinations_.without(combination, p) + combinations_.of(p, most);
          again = true;
        }
      }
    }
  }
  return combination;
}

// Adds what a domain that holds this combination costs at its own level.
void Joint::charge(Domain domain, std::uint64_t combination, std::uint64_t* cost) const {
  const auto count = [&](int depth, int groups) {
    const int field = depth * tree_.levels() + domain.level;
    const int shift = 16 * (kFieldsPerWord - 1 - field % kFieldsPerWord);
    cost[field / kFieldsPerWord] += static_cast<std::uint64_t>(groups) << shift;
  };
  const auto here = [&](std::size_t p) { return combinations_.pods(combination, p) > 0; };
  const auto known = [&](const UsedDomains& used) {
    return !used.empty() && used[static_cast<std::size_t>(domain.level)][domain.index];
  };
  for (const JointUnit& unit : problem_.units) {
    if (known(unit.used)) {
      continue;
    }
    // So many groups have pods here, at the least.
    int groups = 0;
    for (const std::size_t p : unit.parts) {
      const int size = each(p, unit.groups);
      groups = std::max(groups, (combinations_.pods(combination, p) + size - 1) / size);
    }
    count(unit.depth, groups);
  }
  if (count_union_ && !known(problem_.used)) {
    count(union_depth_, 1);
  }
  for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
    if (here(p)) {
      cost[words_ - 1] += static_cast<std::uint64_t>(problem_.parts[p].counts->capacity(domain));
      break;  // the tightest fit, by its first part
    }
  }
}

bool related(const JointRule& a, const JointRule& b) {
  const auto holds = [](const JointRule& outer, const JointRule& inner) {
    return std::all_of(inner.parts.begin(), inner.parts.end(), [&](std::size_t p) {
      return std::find(outer.parts.begin(), outer.parts.end(), p) != outer.parts.end();
    });
  };
  return holds(a, b) || holds(b, a);
}

// Whether those that want to be alone in a domain around all of this can be.
bool Joint::alone_above() const {
  return std::none_of(problem_.rules.begin(), problem_.rules.end(), [&](const JointRule& rule) {
    if (!rule.exclusive || rule.level >= problem_.within.level) {
      return false;
    }
    const std::uint32_t domain = tree_.ancestor(problem_.within.level, problem_.within.index, rule.level);
    return rule.groups > 1 || (rule.occupied != nullptr && (*rule.occupied)[domain]) ||
           std::any_of(problem_.rules.begin(), problem_.rules.end(), [&](const JointRule& other) {
             return other.exclusive && other.level >= rule.level && !related(rule, other);
           });
  });
}

// Where groups want to be alone that are not parts of each other, some of them have to stay out: every way to choose,
// from a rule on.
void Joint::ways_to_be_alone(Domain domain, std::uint64_t combination, std::size_t next,
                             std::vector<std::uint64_t>& ways) const {
  const auto drop = [&](std::uint64_t from, const JointRule& rule) {
    for (const std::size_t p : rule.parts) {
      from = combinations_.without(from, p);
    }
    return from;
  };
  for (; next < problem_.rules.size(); ++next) {
    const JointRule& kept = problem_.rules[next];
    if (!kept.exclusive || kept.level != domain.level || drop(combination, kept) == combination) {
      continue;
    }
    std::uint64_t only = combination;
    for (const JointRule& other : problem_.rules) {
      if (other.exclusive && other.level >= domain.level && !related(kept, other)) {
        only = drop(only, other);
      }
    }
    if (only != combination) {
      ways_to_be_alone(domain, only, next + 1, ways);
      ways_to_be_alone(domain, drop(combination, kept), next + 1, ways);
      return;
    }
  }
  ways.push_back(combination);
}

// From what the children hold together to what the domain holds.
void Joint::finish(Table& table, const Front& sum) {
  std::vector<std::uint64_t> own(words_);
  std::vector<std::uint64_t> ways;
  Front& all = finished_;
  all.clear();
  const auto add_entry = [&](std::size_t entry, std::uint64_t combination) {
    std::copy_n(cost(sum, entry), words_, own.begin());
    if (combination != 0 && table.domain.level >= 0 && !problem_.any) {
      charge(table.domain, combination, own.data());
    }
    append(all, combination, own.data(), entry, 0);
  };
  for (std::size_t entry = 0; entry < sum.size() && !stopped(); ++entry) {
    if (table.domain.level < 0) {
      add_entry(entry, sum.combination[entry]);
      continue;
    }
    const std::uint64_t combination = permitted(table.domain, sum.combination[entry]);
    if (exclusive_rules_ < 2) {
      add_entry(entry, combination);
      continue;
    }
    ways.clear();
    ways_to_be_alone(table.domain, combination, 0, ways);
    for (const std::uint64_t way : ways) {
      add_entry(entry, permitted(table.domain, way));
    }
  }
  table.front = best_of(all);
}

Joint::Table Joint::build(Domain domain) {
  Table table;
  table.domain = domain;
  if (domain.level == tree_.host_level()) {
    build_host(table);
    return table;
  }
  Front sum;
  append(sum, 0, none_.data(), 0, 0);
  const Range range = tree_.children(domain);
  for (std::uint32_t c = range.begin; c < range.end && !stopped(); ++c) {
    Table below;
    if (!build_child({domain.level + 1, c}, below)) {
      continue;
    }
    sum = add(sum, below.front);
    keep(sum, std::move(below), table);
  }
  finish(table, sum);
  return table;
}

// False where nothing fits there.
bool Joint::build_child(Domain child, Table& below) {
  if (std::none_of(problem_.parts.begin(), problem_.parts.end(),
                   [&](const JointPart& part) { return part.counts->capacity(child) > 0; })) {
    return false;
  }
  below = build(child);
  return std::any_of(below.front.combination.begin(), below.front.combination.end(),
                     [](std::uint64_t combination) { return combination != 0; });
}

// The domain that all is to be placed in. Where the number of its children is what counts first, the fewest that could
// do are tried first: all that would need more is left away, and mostly that is nearly all.
Joint::Table Joint::build_root(Domain domain) {
  if (count_union_ || domain.level == tree_.host_level() || tree_.children(domain).size() > kMaxLimited) {
    return build(domain);
  }
  const Range range = tree_.children(domain);
  std::vector<Table> children;
  ChildLimit limit(problem_);
  for (std::uint32_t c = range.begin; c < range.end && !stopped(); ++c) {
    Table below;
    if (build_child({domain.level + 1, c}, below)) {
      limit.count_in(below.domain);
      kept_bytes_ += bytes(below.front) + sizeof(Table);
      children.push_back(std::move(below));
    }
  }
  const std::size_t before = kept_bytes_;
  Table table;
  for (const int spare : {0, 1, kAnyNumber}) {
    if (stopped()) {
      break;
    }
    kept_bytes_ = before;
    limit.allow(spare);
    table = {.domain = domain, .front = {}, .children = {}, .steps = {}};
    Front sum;
    append(sum, 0, none_.data(), 0, 0);
    for (const Table& below : children) {
      limit.pass(below.domain);
      sum = add(sum, below.front, &limit);
      kept_bytes_ += sum.size() * 2 * sizeof(std::uint32_t);
      table.steps.push_back({sum.from, sum.with});
    }
    finish(table, sum);
    if (std::find(table.front.combination.begin(), table.front.combination.end(), combinations_.full()) !=
        table.front.combination.end()) {
      break;
    }
  }
  table.children = std::move(children);
  return table;
}

// A child that is in the sum, and how the sum came about.
void Joint::keep(const Front& sum, Table&& below, Table& table) {
  below.front.cost = {};
  below.front.with = {};
  kept_bytes_ += below.front.size() * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) +
                 sum.size() * 2 * sizeof(std::uint32_t) + sizeof(Table);
  table.children.push_back(std::move(below));
  table.steps.push_back({sum.from, sum.with});
}

// Shares out what is needed of an entry: each child as much of it as its own
// entry holds.
void Joint::trace(const Table& table, std::size_t entry, std::uint64_t need, std::vector<Shares>& shares) const {
  if (table.domain.level == tree_.host_level()) {
    for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
      if (const int pods = combinations_.pods(need, p); pods > 0) {
        shares[p].push_back({table.domain.index, pods});
      }
    }
    return;
  }
  std::size_t at = table.front.from[entry];
  for (std::size_t c = table.children.size(); c-- > 0 && need != 0;) {
    const std::size_t with = table.steps[c].with[at];
    const std::uint64_t share = combinations_.least(need, table.children[c].front.combination[with]);
    if (share != 0) {
      trace(table.children[c], with, share, shares);
    }
    need -= share;
    at = table.steps[c].from[at];
  }
  GANTREE_CHECK(need == 0);
}

JointAnswer Joint::solve() {
  const Range hosts = tree_.hosts(problem_.within);
  std::int64_t pods = 0;
  for (const JointPart& part : problem_.parts) {
    pods += part.count;
  }
  if (!combinations_.valid() || pods > kMaxCounted || hosts.size() > kMaxCounted ||
      !budget_.can_spend(kStepsPerHost * hosts.size())) {
    return {JointVerdict::kGaveUp, {}, {}};
  }
  if (!alone_above()) {
    return {JointVerdict::kNone, {}, {}};
  }
  coarse_ = combinations_.number() * static_cast<double>(hosts.size()) > static_cast<double>(budget_.left());
  const Table root = build_root(problem_.within);
  if (stopped()) {
    return {JointVerdict::kGaveUp, {}, {}};
  }
  const auto full = std::find(root.front.combination.begin(), root.front.combination.end(), combinations_.full());
  if (full == root.front.combination.end()) {
    return {JointVerdict::kNone, {}, {}};
  }
  const auto entry = static_cast<std::size_t>(full - root.front.combination.begin());
  JointAnswer answer{JointVerdict::kFound,
                     std::vector<Shares>(problem_.parts.size()),
                     {cost(root.front, entry), cost(root.front, entry) + words_}};
  trace(root, entry, combinations_.full(), answer.shares);
  std::for_each(answer.shares.begin(), answer.shares.end(), [](Shares& one) { std::sort(one.begin(), one.end()); });
  return answer;
}

}  // namespace

JointAnswer place_jointly(const JointProblem& problem, Budget& budget) {
  GANTREE_CHECK(!problem.parts.empty());
  return Joint(problem, budget).solve();
}

}  // namespace gantree

#include "engine/joint.h"

#include <algorithm>

#include "base/check.h"
#include "engine/joint_limit.h"
#include "engine/joint_tables.h"

namespace gantree {

namespace {

constexpr std::int64_t kMaxCounted = 60000;  // hosts, or pods: counters of the cost are 16 bits wide
constexpr std::int64_t kStepsPerHost = 256;  // to be expected, at the least
constexpr int kDenseBits = 14;  // of combinations: up to which a table of all of them is quicker than a map

}  // namespace

Joint::Joint(const JointProblem& problem, Budget& budget)
    : problem_(problem), budget_(budget), tree_(problem.parts.front().counts->tree()), combinations_(problem.parts) {
  for (const JointUnit& unit : problem.units) {
    union_depth_ = std::max(union_depth_, unit.depth + 1);
    alike_ |= unit.groups > 1;
  }
  exclusive_rules_ = static_cast<int>(
      std::count_if(problem.rules.begin(), problem.rules.end(), [](const JointRule& rule) { return rule.exclusive; }));
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

JointAnswer place_jointly(const JointProblem& problem, Budget& budget) {
  GANTREE_CHECK(!problem.parts.empty());
  return Joint(problem, budget).solve();
}

}  // namespace gantree

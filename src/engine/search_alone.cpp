// Groups that differ and each want a domain of one level to themselves.
//
// Whether a group fits into a domain does not depend on where the others are: none of them is there. Who goes where is
// a matching between groups and domains, exact at any number of them. Groups that are alike are one kind.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "engine/matching.h"
#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr std::int64_t kMatchingSteps = std::int64_t{16} * 1024 * 1024;
constexpr std::int64_t kLeastMatching = 65'536;    // however little work is left
constexpr std::int64_t kDomainPackSteps = 16'384;  // to improve on a greedy placement of a group in its domain
constexpr std::int64_t kJointSteps = 65'536;       // to place a group of several parts in a domain

}  // namespace

class EachAlone {
 public:
  EachAlone(Search& search, const PlanNode& family, int together, bool close)
      : search_(search),
        family_(family),
        together_(together),
        close_(close),
        steps_(std::min(kMatchingSteps, std::max(kLeastMatching, search.context_.work->left()))),
        budget_(steps_) {}

  // None where this is no such gang, or there are too many domains and kinds.
  std::optional<SearchAnswer> run();

 private:
  struct Kind {
    const PlanNode* node = nullptr;
    std::vector<std::size_t> parts;
    int required = -1;  // level of which one domain holds a group
    bool joint = false;
  };

  [[nodiscard]] bool read();
  [[nodiscard]] std::optional<Kind> kind_of(const PlanNode& node) const;
  [[nodiscard]] int each(const Kind& kind, std::size_t part) const {
    return search_.plan_.parts[part].count / kind.node->groups;
  }
  void note_allowed(Matching& matching);
  [[nodiscard]] bool room_for(const Kind& kind, Domain inside) const;
  [[nodiscard]] bool may_hold(const Kind& kind, std::uint32_t own) const;
  // Where in the domain that it has to itself a group of one part goes: the tightest domain that holds it.
  [[nodiscard]] Domain inside(const Kind& kind, std::uint32_t own) const;
  [[nodiscard]] std::vector<std::uint32_t> best(const Kind& kind, const std::vector<std::uint32_t>& places,
                                                std::size_t number) const;
  [[nodiscard]] std::uint32_t best_one(const Kind& kind, const std::vector<std::uint32_t>& places) const;
  [[nodiscard]] bool confirms(std::size_t kind, std::uint32_t own);
  [[nodiscard]] bool match(Matching& matching);
  [[nodiscard]] bool match_in_one(Matching& matching, int level);
  [[nodiscard]] bool match_in_few(Matching& matching);
  SearchAnswer found(const Matching& matching);

  Search& search_;
  const PlanNode& family_;
  int together_;        // level of which one domain holds all of them, or -1
  bool close_;          // all of them want to be close together
  std::int64_t steps_;  // that it may take
  Budget budget_;
  int level_ = -1;  // of the domains that they have to themselves
  std::int64_t groups_ = 0;
  std::vector<Kind> kinds_;
  const DomainTree* tree_ = nullptr;
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<Shares>> placed_;  // groups of several parts
  bool gave_up_ = false;
};

// A group of one part is one whatever is around that part, as long as it holds one of them.
std::optional<EachAlone::Kind> EachAlone::kind_of(const PlanNode& node) const {
  Kind kind{.node = &node, .parts = search_.parts_of(node), .required = node.required};
  const PlanNode* inner = &node;
  while (inner->children.size() == 1 && inner->children.front().groups == node.groups &&
         inner->children.front().exclusive < 0) {
    inner = &inner->children.front();
    kind.required = std::max(kind.required, inner->required);
  }
  kind.joint = !inner->leaf();
  kind.required = kind.joint ? node.required : kind.required;
  return kind.joint && !search_.joinable(kind.parts) ? std::nullopt : std::optional(std::move(kind));
}

bool EachAlone::read() {
  level_ = family_.children.front().exclusive;
  const std::vector<std::size_t> all = search_.parts_of(family_);
  if (level_ < 0 || !search_.joinable(all)) {
    return false;
  }
  tree_ = &search_.counts(all.front()).tree();
  for (const PlanNode& child : family_.children) {
    std::optional<Kind> kind = child.exclusive == level_ ? kind_of(child) : std::nullopt;
    if (!kind) {
      return false;
    }
    groups_ += child.groups;
    kinds_.push_back(std::move(*kind));
  }
  return static_cast<std::int64_t>(kinds_.size()) * tree_->size(level_) <= steps_;
}

bool EachAlone::room_for(const Kind& kind, Domain inside) const {
  return std::all_of(kind.parts.begin(), kind.parts.end(),
                     [&](std::size_t part) { return search_.counts_[part]->capacity(inside) >= each(kind, part); });
}

bool EachAlone::may_hold(const Kind& kind, std::uint32_t own) const {
  if (!room_for(kind, {level_, own})) {
    return false;
  }
  const Range range = tree_->below({level_, own}, kind.required);
  for (std::uint32_t d = range.begin; d < range.end; ++d) {
    if (room_for(kind, {kind.required, d})) {
      return true;
    }
  }
  return false;
}

void EachAlone::note_allowed(Matching& matching) {
  const std::size_t first = kinds_.front().parts.front();
  const std::vector<bool>* taken = search_.occupied(family_.children.front(), level_, first);
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    for (const std::size_t part : kinds_[k].parts) {
      (void)search_.counts(part);  // up to date from now on
    }
    const std::int64_t looks = kinds_[k].required == level_ ? 1 : tree_->size(kinds_[k].required) / tree_->size(level_);
    for (std::uint32_t d = 0; d < tree_->size(level_); ++d) {
      if ((taken == nullptr || !(*taken)[d]) && may_hold(kinds_[k], d)) {
        matching.allow(k, d);
      }
    }
    if (!budget_.spend(looks * tree_->size(level_))) {
      return;
    }
  }
}

Domain EachAlone::inside(const Kind& kind, std::uint32_t own) const {
  const SlotCounts& slots = *search_.counts_[kind.parts.front()];
  const Range range = tree_->below({level_, own}, kind.required);
  std::optional<Domain> found;
  for (std::uint32_t d = range.begin; d < range.end; ++d) {
    const Domain domain{kind.required, d};
    if (room_for(kind, domain) && (!found || slots.capacity(domain) < slots.capacity(*found))) {
      found = domain;
    }
  }
  GANTREE_CHECK(found.has_value());
  return *found;
}

// In the fewest children, then the tightest. Most need more children than the best one so far: one look tells.
std::uint32_t EachAlone::best_one(const Kind& kind, const std::vector<std::uint32_t>& places) const {
  const std::size_t part = search_.largest_of(kind.parts);
  const SlotCounts& slots = *search_.counts_[part];
  const int pods = each(kind, part);
  const bool hosts = level_ == tree_->host_level();
  std::uint32_t best = places.front();
  int fewest = kAnyNumber;
  for (const std::uint32_t place : places) {
    const Domain domain{level_, place};
    int children = 1;
    if (!hosts) {
      const auto sums = slots.best(domain);
      if (fewest != kAnyNumber && static_cast<std::size_t>(fewest) <= sums.size() &&
          sums[static_cast<std::size_t>(fewest) - 1] < pods) {
        continue;
      }
      children = children_needed(slots, domain, pods);
    }
    if (std::pair(children, slots.capacity(domain)) < std::pair(fewest, slots.capacity({level_, best})) ||
        fewest == kAnyNumber) {
      best = place;
      fewest = children;
    }
  }
  return best;
}

std::vector<std::uint32_t> EachAlone::best(const Kind& kind, const std::vector<std::uint32_t>& places,
                                           std::size_t number) const {
  if (number == 1) {
    return {best_one(kind, places)};
  }
  const std::size_t part = search_.largest_of(kind.parts);
  const SlotCounts& slots = *search_.counts_[part];
  std::vector<std::tuple<int, int, std::uint32_t>> order;  // (children, capacity, place)
  for (const std::uint32_t place : places) {
    const Domain domain{level_, place};
    const int children = level_ == tree_->host_level() ? 1 : children_needed(slots, domain, each(kind, part));
    order.emplace_back(children, slots.capacity(domain), place);
  }
  const std::size_t taken = std::min(number, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(taken), order.end());
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < taken; ++i) {
    chosen.push_back(std::get<2>(order[i]));
  }
  return chosen;
}

// Counts tell all about a group of one part; one of several has to be placed.
bool EachAlone::confirms(std::size_t kind, std::uint32_t own) {
  const Kind& what = kinds_[kind];
  if (!what.joint || placed_.contains({kind, own})) {
    return true;
  }
  const Range range = tree_->below({level_, own}, what.required);
  for (std::uint32_t d = range.begin; d < range.end; ++d) {
    const Domain domain{what.required, d};
    if (!room_for(what, domain)) {
      continue;
    }
    Budget effort(kJointSteps);
    JointAnswer answer = search_.one_of(*what.node, domain, what.parts, effort);
    budget_.spend(kJointSteps - effort.left());
    if (answer.verdict == JointVerdict::kFound) {
      placed_.emplace(std::pair(kind, own), std::move(answer.shares));
      return true;
    }
    gave_up_ |= answer.verdict == JointVerdict::kGaveUp;
  }
  return false;
}

// All in one domain of a level, the one that has least to spare.
bool EachAlone::match_in_one(Matching& matching, int level) {
  std::vector<std::pair<std::size_t, std::uint32_t>> order;  // (domains that somebody fits into, domain)
  for (std::uint32_t d = 0; d < tree_->size(level); ++d) {
    const Range range = tree_->below({level, d}, level_);
    const std::size_t usable = matching.usable(range.begin, range.end);
    if (static_cast<std::int64_t>(usable) >= groups_) {
      order.emplace_back(usable, d);
    }
  }
  std::sort(order.begin(), order.end());
  return std::any_of(order.begin(), order.end(), [&](const auto& entry) {
    const Range range = tree_->below({level, entry.second}, level_);
    matching.close_all();
    matching.open(range.begin, range.end);
    return matching.complete();
  });
}

// In as few domains of the top level as the roomiest ones allow.
bool EachAlone::match_in_few(Matching& matching) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> order;  // (-domains that somebody fits into, domain)
  for (std::uint32_t d = 0; d < tree_->size(0); ++d) {
    const Range range = tree_->below({0, d}, level_);
    order.emplace_back(-static_cast<std::int64_t>(matching.usable(range.begin, range.end)), d);
  }
  std::sort(order.begin(), order.end());
  matching.close_all();
  std::int64_t offered = 0;
  for (const auto& [negative, d] : order) {
    const Range range = tree_->below({0, d}, level_);
    matching.open(range.begin, range.end);
    offered -= negative;
    if (offered >= groups_ && matching.complete()) {
      return true;
    }
    if (budget_.exhausted()) {
      return false;
    }
  }
  return false;
}

bool EachAlone::match(Matching& matching) {
  if (!close_ || level_ == 0) {
    matching.open(0, tree_->size(level_));
    return together_ < 0 && matching.complete();
  }
  for (int level = level_ - 1; level >= std::max(together_, 0); --level) {
    if (match_in_one(matching, level)) {
      return true;
    }
  }
  return together_ < 0 && match_in_few(matching);
}

SearchAnswer EachAlone::found(const Matching& matching) {
  SearchAnswer answer{.verdict = SearchVerdict::kFound, .shares = {}, .rough = search_.small_};
  if (search_.fill_ == Fill::kEmpty) {
    return answer;
  }
  answer.shares.resize(search_.plan_.parts.size());
  for (std::uint32_t own = 0; own < tree_->size(level_); ++own) {
    if (matching.owner(own) == Matching::kNobody) {
      continue;
    }
    const Kind& kind = kinds_[matching.owner(own)];
    if (kind.joint) {
      const std::vector<Shares>& shares = placed_.at({matching.owner(own), own});
      for (std::size_t p = 0; p < kind.parts.size(); ++p) {
        Shares& all = answer.shares[kind.parts[p]];
        all.insert(all.end(), shares[p].begin(), shares[p].end());
      }
      continue;
    }
    const std::size_t part = kind.parts.front();
    Budget effort(kDomainPackSteps);
    const auto shares = pack(*search_.counts_[part], {.within = inside(kind, own)}, each(kind, part), effort);
    GANTREE_CHECK(shares.has_value());
    answer.shares[part].insert(answer.shares[part].end(), shares->begin(), shares->end());
  }
  for (Shares& shares : answer.shares) {
    std::sort(shares.begin(), shares.end());
  }
  return answer;
}

std::optional<SearchAnswer> EachAlone::run() {
  if (!read()) {
    return std::nullopt;
  }
  std::vector<int> wanted;
  for (const Kind& kind : kinds_) {
    wanted.push_back(kind.node->groups);
  }
  const auto choose = [this](std::size_t kind, const std::vector<std::uint32_t>& places, std::size_t number) {
    return best(kinds_[kind], places, number);
  };
  const auto confirm = [this](std::size_t kind, std::uint32_t own) { return confirms(kind, own); };
  Matching matching(tree_->size(level_), std::move(wanted), {choose, confirm}, budget_);
  note_allowed(matching);
  SearchAnswer answer;
  if (match(matching)) {
    answer = found(matching);
  } else {
    answer.verdict = budget_.exhausted() || gave_up_ ? SearchVerdict::kGaveUp : SearchVerdict::kNone;
  }
  search_.work(steps_ - budget_.left());
  return answer;
}

// One of the groups that a node stands for, inside a domain.
JointAnswer Search::one_of(const PlanNode& node, Domain domain, const std::vector<std::size_t>& parts, Budget& budget) {
  JointProblem problem;
  problem.any = fill_ == Fill::kEmpty;
  problem.inventory = &context_.inventory;
  problem.within = domain;
  for (const std::size_t part : parts) {
    problem.parts.push_back({&counts(part), plan_.parts[part].count / node.groups});
  }
  add_rules(node, parts, problem);
  for (JointRule& rule : problem.rules) {
    rule.groups /= node.groups;
  }
  for (JointUnit& unit : problem.units) {
    unit.groups /= node.groups;
  }
  return place_jointly(problem, budget);
}

std::optional<SearchAnswer> Search::each_alone() {
  const PlanNode* family = &plan_.root;
  int together = -1;
  bool close = false;
  while (true) {
    if (family->leaf() || family->groups > 1 || family->exclusive >= 0) {
      return std::nullopt;
    }
    together = std::max(together, family->required);
    close |= family->unit;
    if (family->children.size() > 1 || family->children.front().groups > 1) {
      break;
    }
    family = &family->children.front();
  }
  if (too_many_alone()) {
    return SearchAnswer{.verdict = SearchVerdict::kNone, .shares = {}};
  }
  return EachAlone(*this, *family, together, close).run();
}

}  // namespace gantree

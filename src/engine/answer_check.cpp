#include "engine/answer_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace gantree {

namespace {

using Fault = std::optional<std::string>;

// A group or pod set that has a domain to itself.
struct Owner {
  std::string_view name;
  std::size_t first = 0;  // the pod sets [first, end) are its own
  std::size_t end = 0;
  TopologyId topology;
  int level = 0;
  std::uint32_t domain = 0;

  [[nodiscard]] bool holds(const Owner& other) const { return first <= other.first && other.end <= end; }
};

class AnswerCheck {
 public:
  AnswerCheck(const AnswerContext& context, const Gang& gang, const std::vector<int>& counts,
              const Placement& placement, AnswerScratch& scratch)
      : context_(context),
        gang_(gang),
        counts_(counts),
        placement_(placement),
        sets_(scratch.sets),
        topologies_(scratch.topologies),
        shares_(scratch.shares) {
    sets_.clear();
    each_pod_set(gang.root, [&](const PodSet& set) { sets_.push_back(&set); });
    topologies_.assign(sets_.size(), gang.topology);
  }

  Fault run() {
    if (counts_.size() != sets_.size() || placement_.pod_sets.size() != sets_.size()) {
      return "it does not answer for every pod set";
    }
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      check_set(set);
    }
    if (!fault_) {
      check_room();
      check_minima(gang_.root, 0, true);
      check_group(gang_.root, gang_.topology, 0);
      check_owners();
    }
    return fault_;
  }

 private:
  // The first fault counts.
  template <class... Args>
  void complain(fmt::format_string<Args...> text, Args&&... args) {
    if (!fault_) {
      fault_ = fmt::format(text, std::forward<Args>(args)...);
    }
  }
  // A constraint of the pod sets [first, end), whose levels are those of one topology.
  struct Subject {
    std::string_view name;
    std::size_t first = 0;
    std::size_t end = 0;
    TopologyId topology;
  };

  using Share = AnswerScratch::Share;

  void check_set(std::size_t set);
  void check_room();
  void check_host(std::span<const Share> shares);
  bool check_minima(const Group& group, std::size_t first, bool must_start);
  std::size_t check_group(const Group& group, TopologyId topology, std::size_t first);
  void check_constraint(const Constraint& constraint, const Subject& subject);
  void check_ranks(const Constraint& constraint, const Subject& subject, const DomainTree& tree);
  void check_pieces(const Constraint& constraint, const Subject& subject, const DomainTree& tree);
  void check_owners();
  [[nodiscard]] std::optional<std::uint32_t> only_domain(const Subject& subject, const DomainTree& tree, int level);
  static std::size_t sets_below(const Group& group);

  const AnswerContext& context_;
  const Gang& gang_;
  const std::vector<int>& counts_;
  const Placement& placement_;
  std::vector<const PodSet*>& sets_;
  std::vector<TopologyId>& topologies_;  // by pod set
  std::vector<Share>& shares_;
  std::vector<Owner> owners_;
  Fault fault_;
};

// Known hosts that its pods may run on, as many pods as are said to be placed.
void AnswerCheck::check_set(std::size_t set) {
  std::int64_t pods = 0;
  for (const HostShare& share : placement_.pod_sets[set]) {
    if (share.node.index() >= context_.inventory.size() || !context_.inventory.alive(share.node)) {
      complain("pods of \"{}\" are on a host that is not there", sets_[set]->name);
      return;
    }
    const Node& node = context_.inventory.node(share.node);
    if (share.count <= 0) {
      complain("{} pods of \"{}\" are on host \"{}\"", share.count, sets_[set]->name, node.name);
    }
    if (const Ineligible why = eligibility(sets_[set]->shape, node, context_.inventory.strings());
        why != Ineligible::kNo) {
      complain("pods of \"{}\" are on host \"{}\", which takes none of them: {}", sets_[set]->name, node.name,
               to_string(why));
    }
    pods += share.count;
  }
  if (pods != counts_[set]) {
    complain("{} pods of \"{}\" have a host, but {} start", pods, sets_[set]->name, counts_[set]);
  }
  if (counts_[set] < 0 || counts_[set] > std::max(0, sets_[set]->count)) {
    complain("{} pods of \"{}\" start, but it has {}", counts_[set], sets_[set]->name, sets_[set]->count);
  }
}

// No host gives more than it has left.
void AnswerCheck::check_room() {
  shares_.clear();
  for (std::uint32_t set = 0; set < sets_.size(); ++set) {
    for (const HostShare& share : placement_.pod_sets[set]) {
      shares_.push_back({share.node, set, share.count});
    }
  }
  const auto before = [](const Share& a, const Share& b) {
    return std::pair(a.node, a.set) < std::pair(b.node, b.set);
  };
  if (!std::is_sorted(shares_.begin(), shares_.end(), before)) {
    std::sort(shares_.begin(), shares_.end(), before);
  }
  for (std::size_t begin = 0, end = 0; begin < shares_.size(); begin = end) {
    while (end < shares_.size() && shares_[end].node == shares_[begin].node) {
      ++end;
    }
    check_host(std::span(shares_).subspan(begin, end - begin));
  }
}

// All that one host gives.
void AnswerCheck::check_host(std::span<const Share> shares) {
  const NodeId node = shares.front().node;
  if (shares.size() == 1 && context_.inventory.room(node, sets_[shares[0].set]->shape.requests) >= shares[0].count) {
    return;
  }
  Amounts wanted;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const PodSet& set = *sets_[shares[i].set];
    if (i > 0 && shares[i - 1].set == shares[i].set) {
      complain("\"{}\" names host \"{}\" twice", set.name, context_.inventory.node(node).name);
    }
    for (const auto& [resource, amount] : set.shape.requests.entries()) {
      std::int64_t all = 0;
      if (__builtin_mul_overflow(amount, shares[i].count, &all)) {
        all = std::numeric_limits<std::int64_t>::max();
      }
      wanted.add(resource, all);
    }
  }
  for (const auto& [resource, amount] : wanted.entries()) {
    if (amount > 0 && amount > context_.inventory.free(node, resource)) {
      complain("host \"{}\" has {} of {} left, but {} are taken", context_.inventory.node(node).name,
               context_.inventory.free(node, resource), context_.inventory.resources().name(resource), amount);
    }
  }
}

std::size_t AnswerCheck::sets_below(const Group& group) {
  std::size_t sets = group.pod_sets.size();
  for (const Group& nested : group.groups) {
    sets += sets_below(nested);
  }
  return sets;
}

// Whether a group starts. One that does not has no pods at all.
bool AnswerCheck::check_minima(const Group& group, std::size_t first, bool must_start) {
  std::int64_t own = 0;
  bool starts = true;
  for (std::size_t i = 0; i < group.pod_sets.size(); ++i) {
    own += counts_[first + i];
    starts &= counts_[first + i] >= std::min(group.pod_sets[i].min_count, group.pod_sets[i].count);
  }
  starts &= own >= group.min_pods.value_or(0);
  std::size_t next = first + group.pod_sets.size();
  std::size_t started = 0;
  for (const Group& nested : group.groups) {
    started += check_minima(nested, next, false) ? 1 : 0;
    next += sets_below(nested);
  }
  const auto groups = static_cast<int>(group.groups.size());
  starts &= static_cast<int>(started) >= std::min(groups, group.min_groups.value_or(groups));
  if (!starts && (must_start || std::any_of(counts_.begin() + static_cast<std::ptrdiff_t>(first),
                                            counts_.begin() + static_cast<std::ptrdiff_t>(next),
                                            [](int count) { return count > 0; }))) {
    complain("group \"{}\" starts below its minimum", group.name);
  }
  return starts;
}

std::size_t AnswerCheck::check_group(const Group& group, TopologyId topology, std::size_t first) {
  const TopologyId own = group.constraint.topology.value_or(topology);
  std::size_t next = first;
  for (const PodSet& set : group.pod_sets) {
    topologies_[next] = set.constraint.topology.value_or(own);
    const Subject subject{set.name, next, next + 1, topologies_[next]};
    check_constraint(set.constraint, subject);
    if (!set.constraint.slices.empty() && !fault_) {
      check_ranks(set.constraint, subject, context_.tree(subject.topology));
    }
    ++next;
  }
  for (const Group& nested : group.groups) {
    next = check_group(nested, own, next);
  }
  if (first == next) {
    return next;
  }
  // Where all its pods share a topology, that is the one whose levels count.
  const bool one = std::all_of(topologies_.begin() + static_cast<std::ptrdiff_t>(first),
                               topologies_.begin() + static_cast<std::ptrdiff_t>(next),
                               [&](TopologyId id) { return id == topologies_[first]; });
  const Subject subject{group.name, first, next, one ? topologies_[first] : own};
  check_constraint(group.constraint, subject);
  if (!group.constraint.slices.empty() && group.groups.empty() && !fault_) {
    check_pieces(group.constraint, subject, context_.tree(subject.topology));
  }
  return next;
}

// The one domain of a level that all pods of the subject are in.
std::optional<std::uint32_t> AnswerCheck::only_domain(const Subject& subject, const DomainTree& tree, int level) {
  std::optional<std::uint32_t> found;
  for (std::size_t set = subject.first; set < subject.end; ++set) {
    for (const HostShare& share : placement_.pod_sets[set]) {
      const std::uint32_t host = tree.host_of(share.node);
      if (host == DomainTree::kNowhere) {
        complain("host \"{}\" of \"{}\" is outside its topology", context_.inventory.node(share.node).name,
                 subject.name);
        return std::nullopt;
      }
      const std::uint32_t domain = tree.ancestor(tree.host_level(), host, level);
      if (found.value_or(domain) != domain) {
        complain("\"{}\" needs one domain, but is in \"{}\" and \"{}\"", subject.name, tree.name({level, *found}),
                 tree.name({level, domain}));
        return std::nullopt;
      }
      found = domain;
    }
  }
  return found;
}

void AnswerCheck::check_constraint(const Constraint& constraint, const Subject& subject) {
  const int level = std::max(constraint.required.value_or(-1), constraint.exclusive.value_or(-1));
  if (level < 0) {
    return;
  }
  const DomainTree& tree = context_.tree(subject.topology);
  const std::optional<std::uint32_t> domain = only_domain(subject, tree, level);
  if (!domain || !constraint.exclusive) {
    return;  // a group that was left out is nowhere
  }
  const std::uint32_t own = tree.ancestor(level, *domain, *constraint.exclusive);
  const std::vector<bool>* occupied = context_.occupied(subject.topology, *constraint.exclusive);
  if (occupied != nullptr && (*occupied)[own]) {
    complain("\"{}\" wants \"{}\" to itself, but another has it", subject.name,
             tree.name({*constraint.exclusive, own}));
  }
  owners_.push_back({subject.name, subject.first, subject.end, subject.topology, *constraint.exclusive, own});
}

// Piece i of a pod set is the ranks from i * size on.
void AnswerCheck::check_ranks(const Constraint& constraint, const Subject& subject, const DomainTree& tree) {
  for (const Slice& slice : constraint.slices) {
    std::int64_t rank = 0;
    std::uint32_t piece = 0;  // the domain of the piece that has begun
    for (const HostShare& share : placement_.pod_sets[subject.first]) {
      const std::uint32_t host = tree.host_of(share.node);
      if (host == DomainTree::kNowhere) {
        complain("host \"{}\" of \"{}\" is outside its topology", context_.inventory.node(share.node).name,
                 subject.name);
        return;
      }
      const std::uint32_t domain = tree.ancestor(tree.host_level(), host, slice.level);
      if (rank % slice.size != 0 && domain != piece) {
        complain("a slice of {} pods of \"{}\" is in \"{}\" and \"{}\"", slice.size, subject.name,
                 tree.name({slice.level, piece}), tree.name({slice.level, domain}));
        return;
      }
      rank += share.count;
      piece = domain;
    }
  }
}

// The pods of several sets cut as one: as many whole pieces as there can be, the rest in one domain.
void AnswerCheck::check_pieces(const Constraint& constraint, const Subject& subject, const DomainTree& tree) {
  for (const Slice& slice : constraint.slices) {
    std::map<std::uint32_t, std::int64_t> pods;
    std::int64_t all = 0;
    for (std::size_t set = subject.first; set < subject.end; ++set) {
      for (const HostShare& share : placement_.pod_sets[set]) {
        const std::uint32_t host = tree.host_of(share.node);
        if (host == DomainTree::kNowhere) {
          complain("host \"{}\" of \"{}\" is outside its topology", context_.inventory.node(share.node).name,
                   subject.name);
          return;
        }
        pods[tree.ancestor(tree.host_level(), host, slice.level)] += share.count;
        all += share.count;
      }
    }
    std::int64_t rest = 0;
    for (const auto& [domain, count] : pods) {
      rest += count % slice.size;
    }
    if (rest != all % slice.size) {
      complain("a slice of {} pods of \"{}\" is in several domains", slice.size, subject.name);
    }
  }
}

// No two owners share a domain that one of them wants to itself, unless one is a part of the other.
void AnswerCheck::check_owners() {
  if (owners_.size() < 2) {
    return;
  }
  // Keyed by the owned domain: who is found there from a finer level is in the way, too.
  std::map<std::tuple<TopologyId, int, std::uint32_t>, std::vector<const Owner*>> owned;
  for (const Owner& owner : owners_) {
    owned[{owner.topology, owner.level, owner.domain}].push_back(&owner);
  }
  for (const Owner& other : owners_) {
    const DomainTree& tree = context_.tree(other.topology);
    for (int level = other.level; level >= 0 && !fault_; --level) {
      const auto here = owned.find({other.topology, level, tree.ancestor(other.level, other.domain, level)});
      if (here == owned.end()) {
        continue;
      }
      for (const Owner* owner : here->second) {
        if (!owner->holds(other) && !other.holds(*owner)) {
          complain("\"{}\" and \"{}\" are both in \"{}\", which the first wants to itself", owner->name, other.name,
                   tree.name({level, owner->domain}));
          break;
        }
      }
    }
  }
}

}  // namespace

std::optional<std::string> answer_fault(const AnswerContext& context, const Gang& gang, const std::vector<int>& counts,
                                        const Placement& placement, AnswerScratch& scratch) {
  return AnswerCheck(context, gang, counts, placement, scratch).run();
}

}  // namespace gantree

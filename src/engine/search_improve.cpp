// A placement that was found group by group, made better: a few groups at a time are taken out and placed together
// again, as well as can be beside all the others.
//
// Which groups: those that keep a domain in use which few have pods in, then each by itself, then in pairs. Every trial
// is exact for the groups that it moves, and what it finds is kept only where fewer domains are used. With the others
// where they are it stays legal at every moment.
#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr std::int64_t kImproveSteps = 1'500'000;  // in all
constexpr std::int64_t kTrialSteps = 200'000;      // of one trial
constexpr std::size_t kPartsMoved = 8;             // at once
constexpr int kPasses = 4;

}  // namespace

class Improvement {
 public:
  explicit Improvement(Search& search) : search_(search), tree_(search.tree()), budget_(kImproveSteps) {
    collect(search.plan_.root, {});
  }

  void run() {
    score_ = score();
    for (int pass = 0; pass < kPasses && !budget_.exhausted() && !search_.tired(); ++pass) {
      const Score before = score_;
      vacate();
      for (const Family& family : families_) {
        for (std::size_t a = 0; a < family.children.size(); ++a) {
          move(family, {family.children[a]});
        }
      }
      for (const Family& family : families_) {
        for (std::size_t a = 0; a < family.children.size(); ++a) {
          for (std::size_t b = a + 1; b < family.children.size(); ++b) {
            move(family, {family.children[a], family.children[b]});
          }
        }
      }
      if (score_ == before) {
        break;
      }
    }
    search_.owned_.shrink(0);
  }

 private:
  using Nodes = std::vector<const PlanNode*>;
  using Score = std::vector<std::int64_t>;  // by depth of units and level, then for all parts: domains
  // A node with several children, and those around it.
  struct Family {
    Nodes around;  // the outermost first, itself last
    Nodes children;
  };

  void collect(const PlanNode& node, Nodes around);
  [[nodiscard]] Score score() const;
  void count(const std::vector<std::size_t>& parts, std::size_t depth, Score& score) const;
  [[nodiscard]] UsedDomains used(const PlanNode& node, const std::vector<std::size_t>& but) const;
  [[nodiscard]] Domain within(const Family& family) const;
  void own_all_but(const PlanNode& node, const Nodes& moved);
  void vacate();
  bool move(const Family& family, const Nodes& nodes);
  [[nodiscard]] std::uint32_t at(std::uint32_t host, int level) const {
    return tree_.ancestor(tree_.host_level(), host, level);
  }

  Search& search_;
  const DomainTree& tree_;
  Budget budget_;
  std::vector<Family> families_;
  std::size_t depths_ = 0;
  Score score_;
};

void Improvement::collect(const PlanNode& node, Nodes around) {
  depths_ = std::max(depths_, node.unit ? static_cast<std::size_t>(node.depth) + 1 : 0);
  around.push_back(&node);
  for (const PlanNode& child : node.children) {
    collect(child, around);
  }
  if (node.children.size() < 2) {
    return;
  }
  Family family{.around = std::move(around), .children = {}};
  for (const PlanNode& child : node.children) {
    family.children.push_back(&child);
  }
  // By name: in which order a gang lists its groups does not matter.
  const auto name = [&](const PlanNode* child) { return search_.plan_.parts[search_.parts_of(*child).front()].name; };
  std::stable_sort(family.children.begin(), family.children.end(),
                   [&](const PlanNode* a, const PlanNode* b) { return name(a) < name(b); });
  families_.push_back(std::move(family));
}

void Improvement::count(const std::vector<std::size_t>& parts, std::size_t depth, Score& score) const {
  std::vector<std::uint32_t> hosts;
  for (const std::size_t part : parts) {
    for (const HostPods& share : search_.shares_[part]) {
      hosts.push_back(share.host);
    }
  }
  std::sort(hosts.begin(), hosts.end());
  for (int level = 0; level < tree_.levels(); ++level) {
    std::uint32_t last = DomainTree::kNowhere;
    for (const std::uint32_t host : hosts) {
      const std::uint32_t domain = at(host, level);
      score[depth * static_cast<std::size_t>(tree_.levels()) + static_cast<std::size_t>(level)] += domain != last;
      last = domain;
    }
  }
}

Improvement::Score Improvement::score() const {
  Score found((depths_ + 1) * static_cast<std::size_t>(tree_.levels()));
  const auto add = [&](const auto& self, const PlanNode& node) -> void {
    if (node.unit) {
      count(search_.parts_of(node), static_cast<std::size_t>(node.depth), found);
    }
    for (const PlanNode& child : node.children) {
      self(self, child);
    }
  };
  add(add, search_.plan_.root);
  count(search_.parts_of(search_.plan_.root), depths_, found);
  return found;
}

// Where the parts below a node have pods, except for some.
UsedDomains Improvement::used(const PlanNode& node, const std::vector<std::size_t>& but) const {
  UsedDomains found;
  for (int level = 0; level < tree_.levels(); ++level) {
    found.emplace_back(tree_.size(level));
  }
  for (const std::size_t part : search_.parts_of(node)) {
    if (std::find(but.begin(), but.end(), part) != but.end()) {
      continue;
    }
    for (const HostPods& share : search_.shares_[part]) {
      for (int level = 0; level < tree_.levels(); ++level) {
        found[static_cast<std::size_t>(level)][at(share.host, level)] = true;
      }
    }
  }
  return found;
}

// The domain that the groups around must not leave.
Domain Improvement::within(const Family& family) const {
  Domain found = kWholeTree;
  for (const PlanNode* node : family.around) {
    if (node->required > found.level) {
      const std::size_t part = search_.parts_of(*node).front();
      found = {node->required, at(search_.shares_[part].front().host, node->required)};
    }
  }
  return found;
}

void Improvement::own_all_but(const PlanNode& node, const Nodes& moved) {
  if (std::find(moved.begin(), moved.end(), &node) != moved.end()) {
    return;
  }
  // A group around those that move stays in its domain: it is related to them, and in nobody else's way.
  search_.own_itself(node);
  for (const PlanNode& child : node.children) {
    own_all_but(child, moved);
  }
}

// All groups that have pods in a domain, where they are few.
void Improvement::vacate() {
  const Family* widest = nullptr;
  for (const Family& family : families_) {
    if (widest == nullptr || family.around.size() < widest->around.size()) {
      widest = &family;
    }
  }
  for (int level = 0; widest != nullptr && level < tree_.levels(); ++level) {
    for (std::uint32_t domain = 0; domain < tree_.size(level) && !budget_.exhausted(); ++domain) {
      Nodes there;
      for (const PlanNode* child : widest->children) {
        const std::vector<std::size_t> parts = search_.parts_of(*child);
        const bool here = std::any_of(parts.begin(), parts.end(), [&](std::size_t part) {
          return std::any_of(search_.shares_[part].begin(), search_.shares_[part].end(),
                             [&](const HostPods& share) { return at(share.host, level) == domain; });
        });
        if (here) {
          there.push_back(child);
        }
      }
      if (there.size() > 1) {
        move(*widest, there);
      }
    }
  }
}

bool Improvement::move(const Family& family, const Nodes& nodes) {
  std::vector<std::size_t> parts;
  for (const PlanNode* node : nodes) {
    const std::vector<std::size_t> own = search_.parts_of(*node);
    parts.insert(parts.end(), own.begin(), own.end());
  }
  if (parts.size() > kPartsMoved || budget_.exhausted()) {
    return false;
  }
  JointProblem problem;
  problem.inventory = &search_.context_.inventory;
  problem.within = within(family);
  for (const PlanNode* node : family.around) {
    if (node->unit) {
      std::vector<std::size_t> all(parts.size());
      std::iota(all.begin(), all.end(), 0U);
      problem.units.push_back({std::move(all), node->depth, 1, used(*node, parts)});
    }
  }
  problem.used = used(search_.plan_.root, parts);
  search_.owned_.shrink(0);
  own_all_but(search_.plan_.root, nodes);
  std::vector<Shares> before;
  for (const std::size_t part : parts) {
    before.push_back(search_.shares_[part]);
    search_.give(part);
  }
  for (const std::size_t part : parts) {
    problem.parts.push_back({&search_.counts(part), search_.plan_.parts[part].count});
  }
  for (const PlanNode* node : nodes) {
    search_.add_rules(*node, parts, problem);
  }
  const std::int64_t steps = std::min(kTrialSteps, budget_.left());
  Budget own(steps);
  const JointAnswer answer = place_jointly(problem, own);
  budget_.spend(steps - own.left() + 1);
  search_.work(steps - own.left());
  if (search_.place_all(answer, parts)) {
    if (Score now = score(); now < score_) {
      score_ = std::move(now);
      return true;
    }
    for (std::size_t i = parts.size(); i-- > 0;) {
      search_.give(parts[i]);
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    search_.take(parts[i], before[i]);
  }
  return false;
}

SearchAnswer Search::improved(SearchAnswer found) {
  const auto named = [](const auto& self, const PlanNode& node) -> bool {
    return node.groups == 1 && std::all_of(node.children.begin(), node.children.end(),
                                           [&](const PlanNode& child) { return self(self, child); });
  };
  note_size();
  if (found.verdict != SearchVerdict::kFound || fill_ != Fill::kNow || !small_ || !named(named, plan_.root) ||
      !joinable(parts_of(plan_.root))) {
    return found;
  }
  for (std::size_t part = 0; part < shares_.size(); ++part) {
    take(part, found.shares[part]);
  }
  Improvement(*this).run();
  return answer(true, JointVerdict::kFound);
}

}  // namespace gantree

// A placement that was found group by group, made better: a few groups at a time are taken out and placed together
// again, as well as can be beside all the others.
//
// Which groups: those that have more domains than they would have without the others, with one that is in the way, or
// with two of which one makes way for the next; then those that keep a domain in use which few have pods in, then each
// by itself, then in pairs. Every trial is exact for the groups that it moves at once, and what it finds is kept only
// where fewer domains are used. With the others where they are it stays legal at every moment.
#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr std::int64_t kImproveSteps = 3'000'000;  // in all
constexpr std::int64_t kTrialSteps = 200'000;      // of one trial
constexpr double kMostCombinations = 20'000;       // of pods of the groups that are moved at once
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
    note_least();
    for (int pass = 0; pass < kPasses && !tired(); ++pass) {
      const Score before = score_;
      for (std::size_t f = 0; f < families_.size(); ++f) {
        for (std::size_t a = 0; a < families_[f].children.size(); ++a) {
          while (!tired() && settle(families_[f], a)) {
          }
        }
      }
      vacate();
      move_each();
      move_pairs();
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
    std::vector<Score> least;  // by child: what it would cost without all others
  };
  // Where parts were.
  using Places = std::vector<std::pair<std::size_t, Shares>>;

  [[nodiscard]] bool tired() const { return budget_.exhausted() || search_.tired(); }
  void collect(const PlanNode& node, Nodes around);
  [[nodiscard]] Score score() const;
  [[nodiscard]] Score score_of(const PlanNode& node) const;
  void count(const std::vector<std::size_t>& parts, std::size_t depth, Score& score) const;
  void add_units(const PlanNode& node, Score& score) const;
  [[nodiscard]] UsedDomains used(const PlanNode& node) const;
  [[nodiscard]] Domain within(const Family& family) const;
  void own_all_but_those_out(const PlanNode& node);
  void note_least();
  void vacate();
  void move_each();
  void move_pairs();
  bool move(const Family& family, const Nodes& nodes);
  bool settle(const Family& family, std::size_t child);
  bool settle_with(const Family& family, const PlanNode& node, const PlanNode& other, const Score& own);
  bool chain(const Family& family, const PlanNode& node, const PlanNode& other);
  void take_out(const PlanNode& node, Places& places);
  bool put(const Family& family, const Nodes& nodes);
  void restore(const Places& places);
  bool keep_if_better();
  [[nodiscard]] std::uint32_t at(std::uint32_t host, int level) const {
    return tree_.ancestor(tree_.host_level(), host, level);
  }

  Search& search_;
  const DomainTree& tree_;
  Budget budget_;
  std::vector<Family> families_;
  std::size_t depths_ = 0;
  Score score_;
  Nodes out_;      // taken out at the moment
  Domain inside_;  // where groups of the family at hand may go
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
  Family family{.around = std::move(around), .children = {}, .least = {}};
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

void Improvement::add_units(const PlanNode& node, Score& score) const {
  if (node.unit) {
    count(search_.parts_of(node), static_cast<std::size_t>(node.depth), score);
  }
  for (const PlanNode& child : node.children) {
    add_units(child, score);
  }
}

Improvement::Score Improvement::score() const {
  Score found((depths_ + 1) * static_cast<std::size_t>(tree_.levels()));
  add_units(search_.plan_.root, found);
  count(search_.parts_of(search_.plan_.root), depths_, found);
  return found;
}

// What the units of a group, itself among them, contribute.
Improvement::Score Improvement::score_of(const PlanNode& node) const {
  Score found(depths_ * static_cast<std::size_t>(tree_.levels()));
  add_units(node, found);
  return found;
}

// Where the parts below a node that are not taken out have pods.
UsedDomains Improvement::used(const PlanNode& node) const {
  UsedDomains found;
  for (int level = 0; level < tree_.levels(); ++level) {
    found.emplace_back(tree_.size(level));
  }
  for (const std::size_t part : search_.parts_of(node)) {
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

void Improvement::own_all_but_those_out(const PlanNode& node) {
  if (std::find(out_.begin(), out_.end(), &node) != out_.end()) {
    return;
  }
  // A group around those that move stays in its domain: it is related to them, and in nobody else's way.
  search_.own_itself(node);
  for (const PlanNode& child : node.children) {
    own_all_but_those_out(child);
  }
}

void Improvement::take_out(const PlanNode& node, Places& places) {
  out_.push_back(&node);
  for (const std::size_t part : search_.parts_of(node)) {
    places.emplace_back(part, search_.shares_[part]);
    search_.give(part);
  }
}

// Back to where these parts were, wherever they are now; nothing is out any more.
void Improvement::restore(const Places& places) {
  out_.clear();
  for (const auto& [part, shares] : places) {
    search_.give(part);
  }
  for (const auto& [part, shares] : places) {
    search_.take(part, shares);
  }
}

bool Improvement::keep_if_better() {
  Score now = score();
  if (now < score_) {
    score_ = std::move(now);
    return true;
  }
  return false;
}

// Places groups of a family that are out, as well as can be beside all that are not.
bool Improvement::put(const Family& family, const Nodes& nodes) {
  std::vector<std::size_t> parts;
  double combinations = 1;
  for (const PlanNode* node : nodes) {
    for (const std::size_t part : search_.parts_of(*node)) {
      parts.push_back(part);
      combinations *= search_.plan_.parts[part].count + 1;
    }
  }
  if (parts.size() > kPartsMoved || combinations > kMostCombinations || tired()) {
    return false;
  }
  JointProblem problem;
  problem.inventory = &search_.context_.inventory;
  problem.within = inside_;
  for (const PlanNode* node : family.around) {
    if (node->unit) {
      std::vector<std::size_t> all(parts.size());
      std::iota(all.begin(), all.end(), 0U);
      problem.units.push_back({std::move(all), node->depth, 1, used(*node)});
    }
  }
  problem.used = used(search_.plan_.root);
  search_.owned_.shrink(0);
  own_all_but_those_out(search_.plan_.root);
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
  if (!search_.place_all(answer, parts)) {
    return false;
  }
  std::erase_if(out_, [&](const PlanNode* node) { return std::find(nodes.begin(), nodes.end(), node) != nodes.end(); });
  return true;
}

// What every group would cost if no other were there. Where that takes long to find out it is taken to be worth a try.
void Improvement::note_least() {
  std::vector<Domain> inside;
  for (const Family& family : families_) {
    inside.push_back(within(family));
  }
  Places places;
  take_out(search_.plan_.root, places);
  search_.owned_.shrink(0);
  for (std::size_t f = 0; f < families_.size(); ++f) {
    for (const PlanNode* child : families_[f].children) {
      const std::vector<std::size_t> parts = search_.parts_of(*child);
      const std::int64_t steps = std::min(kTrialSteps, budget_.left());
      Budget own(steps);
      const JointAnswer answer = search_.jointly(*child, inside[f], parts, own);
      budget_.spend(steps - own.left() + 1);
      Score least;
      if (search_.place_all(answer, parts)) {
        least = score_of(*child);
        for (const std::size_t part : parts) {
          search_.give(part);
        }
      }
      families_[f].least.push_back(std::move(least));
    }
  }
  restore(places);
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
  if (tired()) {
    return false;
  }
  inside_ = within(family);
  Places places;
  for (const PlanNode* node : nodes) {
    take_out(*node, places);
  }
  if (put(family, nodes) && keep_if_better()) {
    return true;
  }
  restore(places);
  return false;
}

void Improvement::move_each() {
  for (const Family& family : families_) {
    for (const PlanNode* child : family.children) {
      move(family, {child});
    }
  }
}

void Improvement::move_pairs() {
  for (const Family& family : families_) {
    for (std::size_t a = 0; a < family.children.size(); ++a) {
      for (std::size_t b = a + 1; b < family.children.size(); ++b) {
        move(family, {family.children[a], family.children[b]});
      }
    }
  }
}

// A group that could do with fewer domains gets them, where others can make way. True where it is better off.
bool Improvement::settle(const Family& family, std::size_t child) {
  const PlanNode& node = *family.children[child];
  inside_ = within(family);
  const Score own = score_of(node);
  if (own == family.least[child]) {
    return false;
  }
  if (move(family, {&node})) {
    return true;
  }
  return std::any_of(family.children.begin(), family.children.end(), [&](const PlanNode* other) {
    return other != &node && !tired() && settle_with(family, node, *other, own);
  });
}

// The same with another group that makes way. Where that one finds no place as good, a third one may.
bool Improvement::settle_with(const Family& family, const PlanNode& node, const PlanNode& other, const Score& own) {
  Places places;
  take_out(node, places);
  take_out(other, places);
  if (!put(family, {&node}) || score_of(node) >= own) {
    restore(places);
    return false;
  }
  const Places half = [&] {
    Places found;
    for (const std::size_t part : search_.parts_of(node)) {
      found.emplace_back(part, search_.shares_[part]);
    }
    return found;
  }();
  if (put(family, {&other}) && keep_if_better()) {
    return true;
  }
  restore(places);
  if (move(family, {&node, &other})) {
    return true;
  }
  // Once more as far as it was good: the group in its better place, the other one out.
  places.clear();
  take_out(node, places);
  take_out(other, places);
  for (const auto& [part, shares] : half) {
    search_.take(part, shares);
  }
  std::erase(out_, &node);
  if (chain(family, node, other)) {
    return true;
  }
  restore(places);
  return false;
}

// With one group out: another one makes way for it.
bool Improvement::chain(const Family& family, const PlanNode& node, const PlanNode& other) {
  for (const PlanNode* third : family.children) {
    if (third == &node || third == &other || tired()) {
      continue;
    }
    Places places;
    take_out(*third, places);
    if (put(family, {&other}) && put(family, {third}) && keep_if_better()) {
      return true;
    }
    for (const std::size_t part : search_.parts_of(other)) {
      search_.give(part);
    }
    restore(places);
    out_ = {&other};
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

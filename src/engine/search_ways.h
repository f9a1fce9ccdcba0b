// The ways to search, one class: search.cpp has those that place all parts at once, search_alone.cpp groups that each
// have a domain to themselves, search_proofs.cpp what rules a gang out, search_steps.cpp and search_restarts.cpp the
// ways that go part by part, search_improve.cpp makes what these find better.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/owned_domains.h"
#include "engine/part_need.h"
#include "engine/search.h"

namespace gantree {

inline constexpr std::int64_t kSearchSteps = std::int64_t{512} * 1024;

class Search {
 public:
  Search(const SearchContext& context, const GangPlan& plan, Fill fill)
      : context_(context), plan_(plan), fill_(fill), budget_(kSearchSteps), shares_(plan.parts.size()) {
    note_free_filling(plan.root, true);
  }

  // Every part at once: exact, or given up.
  SearchAnswer together();
  // Where all groups are alone in domains of one level: exact at any number of them, or given up. None otherwise.
  [[nodiscard]] std::optional<SearchAnswer> each_alone();
  // Part by part: with backtracking, and where that gives up in many orders.
  SearchAnswer step_by_step();
  // A placement of this plan with fewer domains, where a few groups that move can have that.
  SearchAnswer improved(SearchAnswer found);
  // Whether going part by part a few times finds a placement.
  [[nodiscard]] bool found_quickly();
  // The first of these that does not give up.
  SearchAnswer run();

  [[nodiscard]] const DomainTree& tree() { return counts(0).tree(); }

 private:
  friend class Restarts;
  friend class Improvement;
  friend class EachAlone;

  // Steps: the domains that others have to themselves are gone through every time.
  [[nodiscard]] std::int64_t cost_of_a_look() const { return 1 + static_cast<std::int64_t>(owned_.size() / 16); }
  void work(std::int64_t steps) { context_.work->spend(steps); }
  [[nodiscard]] bool tired() const { return context_.work->exhausted(); }
  // A share of what is left of the work, at most so many steps.
  [[nodiscard]] std::int64_t share_of_work(std::int64_t steps) const;
  [[nodiscard]] std::int64_t shapes() const;
  SearchAnswer some_order();
  // Gives up after so many dead ends at the latest.
  SearchAnswer backtracking(std::int64_t dead_ends);
  SearchAnswer starting_over();

  // What is still to be placed: the first of a list whose rest lives further up the stack.
  struct Pending {
    const PlanNode* node = nullptr;
    Domain within = kWholeTree;
    const Pending* next = nullptr;
  };

  SlotCounts& counts(std::size_t part) {
    SlotCounts*& slots = counts_[part];
    if (slots == nullptr) {
      slots = &context_.counts(plan_.parts[part], fill_);
    }
    slots->refresh();
    return *slots;
  }
  [[nodiscard]] std::vector<std::size_t> parts_of(const PlanNode& node) const {
    std::vector<std::size_t> parts;
    collect_parts(node, parts);
    // By name: in which order a gang lists its pod sets does not matter.
    std::stable_sort(parts.begin(), parts.end(),
                     [&](std::size_t a, std::size_t b) { return plan_.parts[a].name < plan_.parts[b].name; });
    return parts;
  }
  void note_free_filling(const PlanNode& node, bool free);
  Scope scope_of(std::size_t part, Domain within, int required, int exclusive);
  std::optional<Shares> place_part(std::size_t part, const Scope& scope);
  void take(std::size_t part, const Shares& shares);
  void give(std::size_t part);
  SearchAnswer found() { return {.verdict = SearchVerdict::kFound, .shares = std::move(shares_)}; }
  [[nodiscard]] const std::vector<bool>* occupied(const PlanNode& node, int level, std::size_t part);
  [[nodiscard]] OwnedDomains::Owner owner(const PlanNode& node) const;
  void own_itself(const PlanNode& node);
  void own_below(const PlanNode& node);
  [[nodiscard]] bool own(const PlanNode& node, Domain domain);
  void note_size();

  [[nodiscard]] std::optional<SearchAnswer> single();
  [[nodiscard]] std::optional<SearchAnswer> single_alike();
  [[nodiscard]] std::optional<SearchAnswer> single_alone(const PlanNode& alone, std::size_t part, int required);
  SearchAnswer answer(bool done, JointVerdict verdict);
  [[nodiscard]] const PlanNode* only_unit() const;
  JointVerdict closest_group(const PlanNode& node);
  std::optional<JointAnswer> best_joint(const PlanNode& node, const std::vector<Domain>& domains, Budget& effort,
                                        bool& gave_up);
  [[nodiscard]] bool hopeless(const PlanNode& node, int required);
  [[nodiscard]] bool too_many_of_a_shape(const PlanNode& node, int required);
  [[nodiscard]] bool too_many_alone();
  [[nodiscard]] bool short_of_a_resource(const PlanNode& node, int required);
  [[nodiscard]] bool some_do_not_fit();
  [[nodiscard]] bool joinable(const std::vector<std::size_t>& parts) const;
  void add_rules(const PlanNode& node, const std::vector<std::size_t>& parts, JointProblem& problem);
  JointAnswer jointly(const PlanNode& node, Domain within, const std::vector<std::size_t>& parts, Budget& budget,
                      bool any = false);
  JointAnswer one_of(const PlanNode& node, Domain domain, const std::vector<std::size_t>& parts, Budget& budget);
  bool place_all(const JointAnswer& answer, const std::vector<std::size_t>& parts);
  bool closest_then_tightest(const std::vector<std::size_t>& close, const std::vector<std::size_t>& rest);

  bool step(const Pending* pending);
  bool step_leaf(const PlanNode& node, Domain within, const Pending* rest);
  bool step_group(const PlanNode& node, Domain within, const Pending* rest);
  bool try_group_in(const PlanNode& node, Domain domain, const Pending* rest);
  [[nodiscard]] std::optional<bool> try_group_together(const PlanNode& node, Domain domain,
                                                       const std::vector<std::size_t>& parts, const Pending* rest);
  [[nodiscard]] std::size_t largest_of(const std::vector<std::size_t>& parts) const;
  [[nodiscard]] std::optional<Amounts> all_together(const std::vector<std::size_t>& parts) const;
  [[nodiscard]] bool room_for(const Amounts& sum, NodeId host) const {
    return (fill_ == Fill::kNow ? context_.inventory.room(host, sum) : context_.inventory.room_when_empty(host, sum)) >
           0;
  }
  // The first of the domains that could hold a group.
  std::vector<Domain> candidates(const PlanNode& node, Domain within, int level,
                                 std::size_t most = std::numeric_limits<std::size_t>::max());
  [[nodiscard]] const SlotCounts* joint_counts(const PlanNode& node, int& pieces);

  // What a group asks of the domains of a level: so many pods of each of these counts, and of the first of them most.
  struct Asked {
    Domain within;
    int level = 0;
    std::pair<const SlotCounts*, int> first;
    std::vector<std::pair<const SlotCounts*, int>> all;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  // In this order: the fewest children that it takes, then the tightest.
  struct Rank {
    int children = 0;
    int capacity = 0;
    std::uint32_t index = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  struct KeptCandidates {
    Asked asked;
    std::vector<Rank> order;             // the best of them, as of when it was made
    bool all = false;                    // there were no others then
    std::uint64_t position = 0;          // of the inventory's log, up to where changes are noted
    std::vector<std::uint32_t> changed;  // domains since then, sorted
  };
  std::vector<Domain> kept_candidates(Asked asked, const std::function<bool(const Domain&)>& holds, std::size_t most);
  [[nodiscard]] static Rank rank(const Asked& asked, std::uint32_t index);
  void list_candidates(KeptCandidates& kept, const std::function<bool(const Domain&)>& holds);
  [[nodiscard]] bool note_changes(KeptCandidates& kept);
  [[nodiscard]] bool merge_candidates(const KeptCandidates& kept, const std::function<bool(const Domain&)>& holds,
                                      std::size_t most, std::vector<Domain>& found) const;
  [[nodiscard]] std::vector<Pending> expand(const PlanNode& node, Domain within, const Pending* rest) const;

  const SearchContext& context_;
  const GangPlan& plan_;
  Fill fill_;
  Budget budget_;
  std::vector<Shares> shares_;
  std::vector<SlotCounts*> counts_ = std::vector<SlotCounts*>(plan_.parts.size());
  std::vector<bool> free_filling_ = std::vector<bool>(plan_.parts.size());
  std::map<const PlanNode*, std::optional<JointNeed>> joint_needs_;
  std::map<std::pair<const PlanNode*, int>, std::vector<bool>> taken_;  // what occupied() worked out
  std::vector<KeptCandidates> kept_;
  OwnedDomains owned_;          // by groups that are placed already
  bool small_ = false;          // few enough hosts to search long for the best
  std::int64_t dead_ends_ = 0;  // that step() may still run into
  bool complete_ = true;        // step() has left nothing untried
};

}  // namespace gantree

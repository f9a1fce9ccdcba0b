#include "engine/culprit.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/alike.h"

namespace gantree {

namespace {

constexpr std::size_t kMostTried = 64;     // kinds of groups
constexpr std::size_t kMostSeveral = 8;    // of these, with several pod sets: they take longer
constexpr std::size_t kMostTogether = 16;  // pod sets of a group that is tried

bool same(const Group& a, const Group& b) {
  const auto same_sets = [](const PodSet& x, const PodSet& y) {
    return x.count == y.count && x.min_count == y.min_count && x.constraint == y.constraint && x.shape == y.shape;
  };
  return a.constraint == b.constraint && a.min_pods == b.min_pods && a.min_groups == b.min_groups &&
         std::equal(a.pod_sets.begin(), a.pod_sets.end(), b.pod_sets.begin(), b.pod_sets.end(), same_sets) &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(), same);
}

class CulpritSearch {
 public:
  CulpritSearch(const SearchContext& context, const Gang& gang, const Counts& counts, Fill fill)
      : context_(context), gang_(gang), counts_(counts), fill_(fill) {}

  std::optional<Culprit> run() {
    std::size_t set = gang_.root.pod_sets.size();
    for (const Group& nested : gang_.root.groups) {
      look(nested, set);
    }
    return std::move(found_);
  }

 private:
  // Groups inside first. `set` is the first pod set below the group, and then the first behind it.
  void look(const Group& group, std::size_t& set) {
    const std::size_t first = set;
    set += group.pod_sets.size();
    for (const Group& nested : group.groups) {
      look(nested, set);
    }
    if (!found_ && !group.name.empty()) {
      try_alone(group, first, set);
    }
  }

  void try_alone(const Group& group, std::size_t first, std::size_t end) {
    Counts alone(counts_.size(), 0);
    std::copy(counts_.begin() + static_cast<std::ptrdiff_t>(first), counts_.begin() + static_cast<std::ptrdiff_t>(end),
              alone.begin() + static_cast<std::ptrdiff_t>(first));
    const auto sets =
        static_cast<std::size_t>(std::count_if(alone.begin(), alone.end(), [](int pods) { return pods > 0; }));
    const bool known =
        std::any_of(tried_.begin(), tried_.end(), [&](const Group* other) { return same(*other, group); });
    if (sets == 0 || sets > kMostTogether || known || tried_.size() >= kMostTried ||
        (sets > 1 && several_ >= kMostSeveral)) {
      return;
    }
    several_ += sets > 1 ? 1 : 0;
    tried_.push_back(&group);
    GangPlan plan = make_plan(gang_, alone);
    const SearchVerdict verdict =
        fill_ == Fill::kNow ? search_any(context_, plan) : search(context_, plan, fill_).verdict;
    if (verdict == SearchVerdict::kNone) {
      found_ = {.group = &group, .plan = std::move(plan)};
    }
  }

  const SearchContext& context_;
  const Gang& gang_;
  const Counts& counts_;
  Fill fill_;
  std::vector<const Group*> tried_;
  std::size_t several_ = 0;
  std::optional<Culprit> found_;
};

}  // namespace

std::optional<Culprit> find_culprit(const SearchContext& context, const Gang& gang, const Counts& counts, Fill fill) {
  return CulpritSearch(context, gang, counts, fill).run();
}

std::optional<TooManyAlike> too_many_alike(const SearchContext& context, const GangPlan& plan, Fill fill) {
  const std::optional<AlikePlan> alike = AlikePlan::of(plan);
  if (!alike) {
    return std::nullopt;
  }
  std::optional<TooManyAlike> found;
  for (const PlanNode& node : alike->merged().root.children) {
    if (node.groups < 2 || node.required < 0 || node.children.size() != 1 || !node.children.front().leaf()) {
      continue;
    }
    const Part& part = alike->merged().parts[node.children.front().part];
    const SlotCounts& counts = context.counts(part, fill);
    const int each = part.count / node.groups;
    int fit = std::min(node.groups, counts.capacity(kWholeTree) / each);
    if (node.exclusive >= 0) {
      const std::vector<bool>* taken = fill == Fill::kNow ? context.occupied(part.topology, node.exclusive) : nullptr;
      fit = 0;
      for (std::uint32_t d = 0; d < counts.tree().size(node.exclusive); ++d) {
        fit += counts.capacity({node.exclusive, d}) >= each && (taken == nullptr || !(*taken)[d]) ? 1 : 0;
      }
    }
    const auto one =
        std::find_if(plan.parts.begin(), plan.parts.end(), [&](const Part& own) { return own.name == part.name; });
    if (fit < node.groups && one != plan.parts.end()) {
      found = {.part = &*one, .groups = node.groups, .fit = fit, .level = node.required, .alone = node.exclusive >= 0};
      break;
    }
  }
  return found;
}

}  // namespace gantree

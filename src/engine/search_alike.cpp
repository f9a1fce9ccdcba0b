#include <map>
#include <utility>

#include "engine/alike.h"
#include "engine/search_ways.h"

namespace gantree {

namespace {

constexpr std::size_t kFewParts = 8;  // of which the best placement is mostly found without merging any

// By depth of units and level, the domains that every unit has pods in; of alike groups that are not distinguished, as
// many as there must be at the least.
std::map<std::pair<int, int>, std::int64_t> unit_domains(const GangPlan& plan, const std::vector<Shares>& shares,
                                                         const DomainTree& tree, const PlanNode& node) {
  std::map<std::pair<int, int>, std::int64_t> found;
  if (node.unit) {
    std::vector<std::size_t> parts;
    collect_parts(node, parts);
    for (int level = 0; level <= tree.host_level(); ++level) {
      std::map<std::uint32_t, int> groups;  // by domain
      for (const std::size_t part : parts) {
        std::map<std::uint32_t, int> pods;
        for (const HostPods& share : shares[part]) {
          pods[tree.ancestor(tree.host_level(), share.host, level)] += share.count;
        }
        const int each = plan.parts[part].count / node.groups;
        for (const auto& [domain, count] : pods) {
          groups[domain] = std::max(groups[domain], (count + each - 1) / each);
        }
      }
      for (const auto& [domain, count] : groups) {
        found[{node.depth, level}] += count;
      }
    }
  }
  for (const PlanNode& child : node.children) {
    for (const auto& [where, count] : unit_domains(plan, shares, tree, child)) {
      found[where] += count;
    }
  }
  return found;
}

SearchAnswer search_alike(const SearchContext& context, const GangPlan& plan, const AlikePlan& alike, Fill fill) {
  const bool few = plan.parts.size() <= kFewParts;
  Search merged(context, alike.merged(), fill);
  const SearchAnswer together = merged.together();
  if (together.verdict == SearchVerdict::kNone || (together.verdict == SearchVerdict::kFound && fill == Fill::kEmpty)) {
    return together;
  }
  if (together.verdict == SearchVerdict::kFound) {
    if (auto shares = alike.apart(together.shares, merged.tree())) {
      SearchAnswer apart{.verdict = SearchVerdict::kFound, .shares = std::move(*shares)};
      if (together.rough || unit_domains(plan, apart.shares, merged.tree(), plan.root) !=
                                unit_domains(alike.merged(), together.shares, merged.tree(), alike.merged().root)) {
        // Groups may lie in more domains than was counted, or than was asked for: naming them may find better.
        SearchAnswer named = few ? Search(context, plan, fill).together() : SearchAnswer{};
        return named.verdict == SearchVerdict::kFound ? named : Search(context, plan, fill).improved(std::move(apart));
      }
      return apart;
    }
  }
  Search named(context, plan, fill);
  return few ? named.run() : named.step_by_step();
}

}  // namespace

SearchAnswer search(const SearchContext& context, const GangPlan& plan, Fill fill) {
  if (const std::optional<AlikePlan> alike = AlikePlan::of(plan)) {
    return search_alike(context, plan, *alike, fill);
  }
  return Search(context, plan, fill).run();
}

SearchVerdict search_any(const SearchContext& context, const GangPlan& plan) {
  const bool few = plan.parts.size() <= kFewParts;
  const std::optional<AlikePlan> alike = few ? std::nullopt : AlikePlan::of(plan);
  const GangPlan& counted = alike ? alike->merged() : plan;
  const auto verdict = [&](const SearchAnswer& answer, Search& by) {
    const bool apart = answer.verdict != SearchVerdict::kFound || !alike || alike->apart(answer.shares, by.tree());
    return apart ? answer.verdict : SearchVerdict::kGaveUp;
  };
  if (!few) {
    Search alone(context, counted, Fill::kNow);
    const std::optional<SearchAnswer> answer = alone.each_alone();
    if (answer && answer->verdict != SearchVerdict::kGaveUp) {
      return verdict(*answer, alone);
    }
  }
  if (plan.parts.size() > 1 && Search(context, plan, Fill::kNow).found_quickly()) {
    return SearchVerdict::kFound;
  }
  if (few) {
    return search(context, plan, Fill::kNow).verdict;
  }
  // Of many parts only what can be decided all at once: going through them again and again takes long.
  Search all(context, counted, Fill::kNow);
  return verdict(all.together(), all);
}

}  // namespace gantree

// Why a placed gang is where it is, compared with the other domains that were there.
#include <algorithm>
#include <set>

#include "engine/pack.h"
#include "explain/survey.h"

namespace gantree {

namespace {

std::optional<Choice> asked_for(const Part& part, int required) {
  switch (part.packing) {
    case Packing::kSpread:
      return Choice::kSpread;
    case Packing::kBalanced:
      return Choice::kBalanced;
    case Packing::kTightest:
      return required < 0 && part.slices.empty() ? std::optional(Choice::kHoles) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

Landing Survey::landing(const std::vector<PodSetDecision>& pod_sets) const {
  Landing landing;
  landing.topology = measure_.topology;
  std::set<std::uint32_t> hosts;
  for (const PodSetDecision& set : pod_sets) {
    for (const HostShare& share : set.hosts) {
      if (const std::uint32_t host = tree_->host_of(share.node); host != DomainTree::kNowhere) {
        hosts.insert(host);
      }
    }
  }
  Domain home = kWholeTree;
  for (int level = 0; level < tree_->levels() && !hosts.empty(); ++level) {
    std::set<std::uint32_t> domains;
    for (const std::uint32_t host : hosts) {
      domains.insert(tree_->ancestor(tree_->host_level(), host, level));
    }
    landing.used.push_back(static_cast<int>(domains.size()));
    if (domains.size() == 1) {
      home = {level, *domains.begin()};
    }
  }
  landing.level = home.level;
  landing.domain = path(home);
  landing.offered = offers(home, Fill::kNow);
  std::optional<std::pair<int, Domain>> tightest;
  for (int d = 0; d < domains_in(home.level); ++d) {
    const Domain domain{home.level, static_cast<std::uint32_t>(d)};
    if (holds_all(domain, Fill::kNow)) {
      ++landing.could;
      const int room = offers(domain, Fill::kNow);
      if (!tightest || room < tightest->first) {
        tightest = {room, domain};
      }
    }
  }
  landing.choice = choice(landing, home, tightest);
  return landing;
}

Choice Survey::choice(Landing& landing, Domain home, std::optional<std::pair<int, Domain>> tightest) const {
  if (!holds_all(home, Fill::kNow)) {
    return Choice::kCleared;
  }
  if (const auto asked = asked_for(plan_.parts.front(), common_)) {
    return *asked;
  }
  if (landing.could == 1) {
    return Choice::kOnly;
  }
  if (landing.offered == tightest->first) {
    return Choice::kTightest;
  }
  const Need& need = needs_[chosen_];
  if (needs_.size() == 1 && home.level < tree_->host_level()) {
    landing.children = children_needed(*counts_[chosen_].now, home, need.count);
    landing.tighter_children = children_needed(*counts_[chosen_].now, tightest->second, need.count);
    if (landing.children < landing.tighter_children) {
      return Choice::kFewest;
    }
  }
  return Choice::kBest;
}

}  // namespace gantree

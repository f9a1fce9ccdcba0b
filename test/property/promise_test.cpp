// What holds for every placement, whatever was asked.
#include <algorithm>

#include "oracle/judge.h"
#include "property/draw.h"

namespace gantree::test {
namespace {

using oracle::Booking;
using oracle::Moment;
using oracle::Problem;

// The placed gangs of an instance, each with the problem it was placed in.
struct Placed {
  Problem problem;
  oracle::Assignment assignment;
  std::vector<NamedShares> shares;
};

std::vector<Placed> place_all(const Instance& instance) {
  std::vector<Placed> all;
  std::vector<Booking> booked;
  World world(instance);
  for (const GangSpec& spec : instance.gangs) {
    const Gang gang = world.gang(spec);
    const Outcome outcome = world.engine().place(gang);
    if (!outcome.placement) {
      continue;
    }
    Placed placed{.problem = make_problem(instance, spec, booked, Moment::kNow),
                  .assignment = {},
                  .shares = world.named(*outcome.placement)};
    oracle::Shares shares;
    for (std::size_t s = 0; s < placed.shares.size(); ++s) {
      placed.problem.pod_sets[s].count = outcome.counts.at(s);
      auto& pods = placed.assignment.emplace_back(placed.problem.hosts.size(), 0);
      for (const auto& [host, count] : placed.shares[s]) {
        const auto at = std::ranges::find(placed.problem.hosts, host);
        RC_ASSERT(at != placed.problem.hosts.end());
        pods[static_cast<std::size_t>(at - placed.problem.hosts.begin())] += count;
      }
      shares.emplace_back(placed.shares[s].begin(), placed.shares[s].end());
    }
    all.push_back(std::move(placed));
    booked.push_back({.gang = spec, .shares = std::move(shares)});
    world.engine().take(gang, *outcome.placement);
  }
  return all;
}

RC_GTEST_PROP(Promise, NoHostIsOvercommittedNoRuleBrokenAndNoPodLeftBehind, ()) {
  Choices choices = draw_choices();
  for (const Placed& placed : place_all(draw_instance(choices))) {
    for (const Problem::PodSet& set : placed.problem.pod_sets) {
      RC_ASSERT(set.count >= set.min_count);
    }
    const auto wrong = fault(placed.problem, placed.assignment);
    RC_LOG() << wrong.value_or("") << "\n";
    RC_ASSERT(!wrong);
  }
}

RC_GTEST_PROP(Promise, RanksVisitEveryDomainOnceAndEverySliceLiesInOne, ()) {
  Choices choices = draw_choices();
  for (const Placed& placed : place_all(draw_instance(choices))) {
    for (std::size_t s = 0; s < placed.shares.size(); ++s) {
      const auto wrong = rank_fault(placed.problem, s, placed.shares[s]);
      RC_LOG() << wrong.value_or("") << "\n";
      RC_ASSERT(!wrong);
    }
  }
}

RC_GTEST_PROP(Promise, FreeNeverFallsBelowZeroWhereAGangTookSomething, ()) {
  Choices choices = draw_choices();
  const Instance instance = draw_instance(choices);
  World world(instance);
  std::vector<std::pair<Gang, Placement>> held;
  for (int step = 0; step < 12; ++step) {
    if (!held.empty() && choices.one_in(3)) {
      const auto at = static_cast<std::size_t>(choices.up_to(static_cast<int>(held.size()) - 1));
      world.engine().give(held[at].first, held[at].second);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    Gang gang = world.gang(choices.of(instance.gangs));
    gang.key.name += std::to_string(step);
    const Outcome outcome = world.engine().place(gang);
    if (!outcome.placement) {
      continue;
    }
    world.engine().take(gang, *outcome.placement);
    const auto sets = pod_sets(gang.root);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      for (const HostShare& share : outcome.placement->pod_sets.at(s)) {
        for (const auto& [resource, amount] : sets[s]->shape.requests.entries()) {
          RC_ASSERT(world.inventory().free(share.node, resource) >= 0);
        }
      }
    }
    held.emplace_back(std::move(gang), *outcome.placement);
  }
}

}  // namespace
}  // namespace gantree::test

// Minima of groups against trying every admissible number of pods.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "oracle/brute_force.h"
#include "oracle/rounds.h"
#include "support/instance_text.h"
#include "support/world.h"

namespace gantree::oracle {
namespace {

using test::Choices;
using test::Family;
using test::GroupSpec;
using test::PodSetSpec;
using test::Scale;

using Numbers = std::vector<int>;  // pods by pod set

int sum(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0);
}

// Gives every group some minima of its own.
void draw_minima(Choices& choices, GroupSpec& group) {
  int pods = 0;
  for (PodSetSpec& set : group.pod_sets) {
    pods += set.count;
    set.min_count = choices.one_in(2) ? choices.up_to(set.count) : set.count;
  }
  if (pods > 0 && choices.one_in(2)) {
    group.min_pods = choices.up_to(pods);
  }
  if (!group.groups.empty() && choices.one_in(2)) {
    group.min_groups = choices.up_to(static_cast<int>(group.groups.size()));
  }
  for (GroupSpec& nested : group.groups) {
    draw_minima(choices, nested);
  }
}

// A gang of nested groups with one or two pod sets each, some of them constrained.
test::GangSpec draw_gang(Choices& choices, int levels) {
  test::GangSpec gang;
  gang.name = "gang";
  int sets = 0;
  const auto add_sets = [&](GroupSpec& group, int number) {
    for (int i = 0; i < number; ++i) {
      group.pod_sets.push_back(
          test::make_pod_set(fmt::format("s{}", sets++), 1 + choices.up_to(2), 1 + choices.up_to(1)));
    }
  };
  const auto maybe_required = [&](GroupSpec& group) {
    if (levels > 0 && choices.one_in(3)) {
      group.constraint = test::required(choices.up_to(levels - 1));
    }
  };
  add_sets(gang.root, choices.up_to(1));
  const int groups = 1 + choices.up_to(2);
  for (int g = 0; g < groups; ++g) {
    GroupSpec group;
    group.name = fmt::format("g{}", g);
    maybe_required(group);
    add_sets(group, 1 + choices.up_to(1));
    if (choices.one_in(4)) {
      GroupSpec inner;
      inner.name = fmt::format("g{}-inner", g);
      add_sets(inner, 1);
      maybe_required(inner);
      group.groups.push_back(std::move(inner));
    }
    gang.root.groups.push_back(std::move(group));
  }
  draw_minima(choices, gang.root);
  return gang;
}

// All numbers with which a group may start, those of its nested groups behind its own.
std::vector<Numbers> admissible(const GroupSpec& group) {
  std::vector<Numbers> found{{}};
  for (const PodSetSpec& set : group.pod_sets) {
    std::vector<Numbers> longer;
    for (const Numbers& before : found) {
      for (int count = set.min_count; count <= set.count; ++count) {
        longer.push_back(before);
        longer.back().push_back(count);
      }
    }
    found = std::move(longer);
  }
  std::erase_if(found, [&](const Numbers& numbers) { return sum(numbers) < group.min_pods.value_or(0); });
  std::vector<std::pair<Numbers, int>> with_groups;  // and how many nested groups start
  for (Numbers& numbers : found) {
    with_groups.emplace_back(std::move(numbers), 0);
  }
  for (const GroupSpec& nested : group.groups) {
    const std::vector<Numbers> inner = admissible(nested);
    const Numbers nothing(test::pod_sets(nested).size(), 0);
    std::vector<std::pair<Numbers, int>> longer;
    for (const auto& [numbers, started] : with_groups) {
      const auto append = [&, &before = numbers](const Numbers& more, int with) {
        longer.emplace_back(before, with);
        longer.back().first.insert(longer.back().first.end(), more.begin(), more.end());
      };
      for (const Numbers& one : inner) {
        append(one, started + 1);
      }
      append(nothing, started);
    }
    with_groups = std::move(longer);
  }
  const int needed = group.min_groups.value_or(static_cast<int>(group.groups.size()));
  std::set<Numbers> all;
  for (const auto& [numbers, started] : with_groups) {
    if (started >= needed) {
      all.insert(numbers);
    }
  }
  return {all.begin(), all.end()};
}

// The most pods that fit, of all admissible numbers; 0 where none fit.
int most_pods(Problem problem, std::vector<Numbers> numbers) {
  std::ranges::stable_sort(numbers, [](const Numbers& a, const Numbers& b) { return sum(a) > sum(b); });
  for (const Numbers& counts : numbers) {
    if (sum(counts) == 0) {
      return 0;
    }
    for (std::size_t s = 0; s < counts.size(); ++s) {
      problem.pod_sets[s].count = counts[s];
    }
    if (any_by_trying(problem)) {
      return sum(counts);
    }
  }
  return 0;
}

TEST(MinimaOracle, StartsTheMostPodsThatAnyAdmissibleNumberAllows) {
  const Scale scale{.max_hosts = 4, .max_pods = 8, .max_upper_levels = 2, .max_gpus = 3};
  int placed = 0;
  int partly = 0;
  for (const std::uint64_t seed : seeds(Family::kNested, 3000)) {
    Choices choices(seed);
    Instance instance = random_cluster(choices, scale);
    instance.gangs = {draw_gang(choices, test::levels_above_hosts(instance))};
    const test::GangSpec& spec = instance.gangs.front();
    const std::vector<Numbers> allowed = admissible(spec.root);
    if (allowed.size() > 400) {
      continue;  // too much to try
    }
    test::World world(instance);
    const Outcome outcome = world.engine().place(world.gang(spec));
    const std::string about = fmt::format("seed {}\n{}", seed, to_text(instance));
    const int most = most_pods(make_problem(instance, spec, {}, Moment::kNow), allowed);
    if (!outcome.placement) {
      ASSERT_EQ(most, 0) << about << outcome.message;
      const bool ever = most_pods(make_problem(instance, spec, {}, Moment::kEmpty), allowed) > 0;
      ASSERT_EQ(outcome.refusal, ever ? Refusal::kBusy : Refusal::kTooLarge) << about << outcome.message;
      continue;
    }
    ++placed;
    ASSERT_TRUE(std::ranges::find(allowed, outcome.counts) != allowed.end())
        << about << fmt::format("{}", fmt::join(outcome.counts, " "));
    ASSERT_EQ(sum(outcome.counts), most) << about;
    Problem problem = make_problem(instance, spec, {}, Moment::kNow);
    Assignment assignment(outcome.counts.size(), std::vector<int>(problem.hosts.size(), 0));
    const auto named = world.named(*outcome.placement);
    for (std::size_t s = 0; s < named.size(); ++s) {
      partly += outcome.counts[s] < problem.pod_sets[s].count ? 1 : 0;
      problem.pod_sets[s].count = outcome.counts[s];
      for (const auto& [host, count] : named[s]) {
        assignment[s][static_cast<std::size_t>(std::ranges::find(problem.hosts, host) - problem.hosts.begin())] +=
            count;
      }
    }
    ASSERT_EQ(fault(problem, assignment).value_or(""), "") << about;
  }
  EXPECT_GT(placed, 200);
  EXPECT_GT(partly, 200);
}

}  // namespace
}  // namespace gantree::oracle

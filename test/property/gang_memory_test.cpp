// However nasty a gang is, one decision about it takes at most 64 MB beside the counts that are kept.
//
// GANTREE_MEMORY_HOSTS: on so many hosts instead of 10,000, and 2,000 for preemption.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <ctime>

#include "support/large_cluster.h"
#include "support/memory_peak.h"

namespace gantree::test {
namespace {

constexpr std::size_t kMost = std::size_t{64} * 1024 * 1024;
constexpr int kRack = LargeCluster::kRack;
constexpr int kHost = LargeCluster::kHost;

int hosts_or(int otherwise) {
  const char* text = std::getenv("GANTREE_MEMORY_HOSTS");
  return text == nullptr ? otherwise : std::stoi(text);
}

struct Nasty {
  std::string name;
  Group root;
  int hosts = 0;  // 0: as many as are asked for
};

using MakeGroup = std::function<Group(const LargeCluster&, int)>;

Group groups_of(const LargeCluster& cluster, int number, const MakeGroup& make) {
  Group root;
  for (int g = 0; g < number; ++g) {
    Group group = make(cluster, g);
    group.name = fmt::format("g{}", g);
    for (std::size_t s = 0; s < group.pod_sets.size(); ++s) {
      group.pod_sets[s].name = fmt::format("g{}-{}", g, s);
    }
    root.groups.push_back(std::move(group));
  }
  return root;
}

Group one_set(const PodSet& set, const Constraint& constraint) {
  Group group;
  group.constraint = constraint;
  group.pod_sets = {set};
  return group;
}

Group leader_and_workers(const LargeCluster& cluster, int workers, const Constraint& constraint, int gpus = 1) {
  Group group = one_set(cluster.pods("workers", workers, gpus, 1), constraint);
  group.pod_sets.push_back(cluster.pods("leader", 1, 2, 4));
  return group;
}

std::vector<Nasty> nasty_gangs() {
  const LargeCluster some({.hosts = 1});
  std::vector<Nasty> all;
  const auto add = [&](const std::string& name, int hosts, int groups, const MakeGroup& make) {
    all.push_back({name, groups_of(some, groups, make), hosts});
  };
  add("twelve subgroups of four pods on two hosts", 2, 12,
      [](const LargeCluster& c, int) { return one_set(c.pods("", 4, 0, 1), in_one(kHost)); });
  add("2,048 leaders with workers, each in a rack", 0, 2048,
      [](const LargeCluster& c, int) { return leader_and_workers(c, 7, in_one(kRack)); });
  add("2,048 groups, each alone on a host", 0, 2048,
      [](const LargeCluster& c, int) { return one_set(c.pods("", 1, 1, 1), alone_in_one(kHost)); });
  add("2,048 groups of 48 shapes, each alone on a host", 0, 2048,
      [](const LargeCluster& c, int g) { return one_set(c.pods("", 1, 1, 1 + g % 48), alone_in_one(kHost)); });
  add("2,048 unlike groups, each alone in a rack", 0, 2048,
      [](const LargeCluster& c, int g) { return one_set(c.pods("", 1 + g / 48, 1, 1 + g % 48), alone_in_one(kRack)); });
  add("512 unlike leaders with workers, each alone in a rack", 0, 512,
      [](const LargeCluster& c, int g) { return leader_and_workers(c, 1 + g / 8, alone_in_one(kRack), 1 + g % 8); });
  add("2,048 unlike leaders with workers, each in a rack", 0, 2048,
      [](const LargeCluster& c, int g) { return leader_and_workers(c, 1 + g % 40, in_one(kRack), 1 + g % 8); });
  add("256 unlike leaders with workers, each in a rack", 0, 256,
      [](const LargeCluster& c, int g) { return leader_and_workers(c, 1 + g % 20, in_one(kRack), 1 + g % 8); });
  add("2,048 unlike groups, each in a rack", 0, 2048, [](const LargeCluster& c, int g) {
    return one_set(c.pods("", 1 + g % 29, 1 + g % 4, 1 + g % 7), in_one(kRack));
  });
  add("512 groups of 48 shapes, each in a rack", 0, 512,
      [](const LargeCluster& c, int g) { return one_set(c.pods("", 1 + g % 5, 1, 1 + g % 48), in_one(kRack)); });
  add("1,024 groups of 90 shapes on 64 hosts", 64, 1024,
      [](const LargeCluster& c, int g) { return one_set(c.pods("", 1 + g % 3, 0, 1 + g % 90), in_one(kHost)); });
  add("40 unlike groups on 24 hosts", 24, 40,
      [](const LargeCluster& c, int g) { return leader_and_workers(c, 1 + g % 4, in_one(g % 3), g % 2); });
  add("eight sets of hundreds of pods on 250 hosts", 250, 8,
      [](const LargeCluster& c, int g) { return one_set(c.pods("", 200 + 7 * g, g % 2, 1 + g), in_one(0)); });
  add("a leader and 4,000 workers in one group", 0, 1,
      [](const LargeCluster& c, int) { return leader_and_workers(c, 4000, {}); });
  add("64 groups of 16 unlike groups", 0, 64, [](const LargeCluster& c, int g) {
    Group outer = groups_of(
        c, 16, [&](const LargeCluster&, int i) { return one_set(c.pods("", 1 + i % 3, i % 2, 1 + i), in_one(kHost)); });
    outer.constraint = in_one(g % 2);
    return outer;
  });
  add("2,048 groups of which one must start", 0, 2048,
      [](const LargeCluster& c, int g) { return one_set(c.pods("", 1 + g % 7, 4, 8), in_one(kHost)); });
  all.back().root.min_groups = 1;
  return all;
}

void expect_small(const std::string& name, std::size_t peak, double seconds) {
  EXPECT_LE(peak, kMost) << name;
  fmt::print("{}: {} KiB, {:.2f} s\n", name, peak / 1024, seconds);
  std::fflush(stdout);
}

double now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

class Memory : public ::testing::TestWithParam<Nasty> {};

TEST_P(Memory, OfOnePlacementIsBounded) {
  const Nasty& what = GetParam();
  for (const int percent : {60, 95}) {
    LargeCluster cluster({.hosts = what.hosts == 0 ? hosts_or(10'000) : what.hosts});
    Choices choices(1);
    cluster.fill(percent, choices);
    const Gang gang = cluster.gang(what.root);
    (void)cluster.engine().place(gang);  // the shapes are counted from now on
    const double before = now();
    const MemoryPeak peak;
    const Outcome outcome = cluster.engine().place(gang);
    expect_small(fmt::format("{}, {} % busy, {}", what.name, percent, outcome.placement ? "placed" : outcome.message),
                 peak.bytes(), now() - before);
  }
}

TEST_P(Memory, OfOnePreemptionIsBounded) {
  const Nasty& what = GetParam();
  LargeCluster cluster({.hosts = what.hosts == 0 ? hosts_or(2'000) : what.hosts});
  Choices choices(1);
  const std::vector<RunningGang> running = cluster.fill_with_gangs(choices);
  std::vector<const RunningGang*> candidates;
  for (const RunningGang& gang : running) {
    candidates.push_back(&gang);
  }
  const Gang gang = cluster.gang(what.root);
  const PreemptionRequest request{gang, candidates, {}, {}};
  (void)cluster.engine().place(gang);
  const double before = now();
  const MemoryPeak peak;
  const PreemptionAnswer answer = find_victims(cluster.engine(), request);
  const char* const verdict = answer.verdict == PreemptionVerdict::kFound  ? "found"
                              : answer.verdict == PreemptionVerdict::kNone ? "none"
                                                                           : "gave up";
  expect_small(fmt::format("{}: {}, {} of {} evicted, {} steps", what.name, verdict, answer.victims.size(),
                           running.size(), answer.work),
               peak.bytes(), now() - before);
  EXPECT_TRUE(answer.verdict == PreemptionVerdict::kFound || answer.victims.empty());
}

INSTANTIATE_TEST_SUITE_P(Of, Memory, ::testing::ValuesIn(nasty_gangs()), [](const auto& nasty) {
  std::string name;
  for (const char c : nasty.param.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += c;
    }
  }
  return name;
});

}  // namespace
}  // namespace gantree::test

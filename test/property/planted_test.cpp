// Gangs of many groups that are known to fit: each group was put somewhere first, the others were filled in around
// it, and then its room was given back.
//
// Groups that are alike are all placed. Of those that differ at least 99 % are, and the others are never told that
// there is no room: the search says that it gave up.
//
// GANTREE_PLANTED_ROUNDS: so many clusters of each kind; GANTREE_PLANTED_FIRST: the first seed;
// GANTREE_PLANTED_HOSTS: of that many hosts; GANTREE_PLANTED_SHOW=1 tells each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <set>

#include "support/large_cluster.h"

namespace gantree::test {
namespace {

constexpr int kBlock = LargeCluster::kBlock;
constexpr int kRack = LargeCluster::kRack;
constexpr int kHost = LargeCluster::kHost;

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoi(text);
}

enum class Plant : std::uint8_t {
  kAlike,         // each in a rack
  kAlone,         // each with a rack to itself
  kOnHosts,       // each on one host
  kAlikeLeaders,  // a leader and workers, each in a rack
  kSizes,         // of one shape and many sizes
  kShapes,        // of several shapes and sizes
  kUnlikeHosts,   // the same, each on one host
  kLeaders,       // leaders and workers of several shapes
  kUnlikeAlone,   // several shapes, each with a rack to itself
  kNested,        // groups in blocks, of groups in racks
};
struct Kind {
  Plant plant;
  const char* name;
  bool alike;
};
constexpr std::array kKinds{
    Kind{Plant::kAlike, "Alike", true},
    Kind{Plant::kAlone, "Alone", true},
    Kind{Plant::kOnHosts, "OnHosts", true},
    Kind{Plant::kAlikeLeaders, "AlikeLeaders", true},
    Kind{Plant::kSizes, "Sizes", false},
    Kind{Plant::kShapes, "Shapes", false},
    Kind{Plant::kUnlikeHosts, "UnlikeHosts", false},
    Kind{Plant::kLeaders, "Leaders", false},
    Kind{Plant::kUnlikeAlone, "UnlikeAlone", false},
    Kind{Plant::kNested, "Nested", false},
};

// Puts groups onto an empty cluster, and remembers what was booked.
class Planter {
 public:
  Planter(LargeCluster& cluster, Choices& choices, Plant plant, int groups) : cluster_(cluster), choices_(choices) {
    // In few enough racks that many have to share one, unless each wants one to itself.
    const bool alone = plant == Plant::kAlone || plant == Plant::kUnlikeAlone;
    const int all = cluster.hosts() / cluster.scale().hosts_per_rack;
    racks_ = std::min(all, std::max(4, groups * (alone ? 110 : choices.between(40, 150)) / 100));
  }

  Group plant(Plant plant, int groups) {
    Group root;
    for (int misses = 0; static_cast<int>(root.groups.size()) < groups && misses < 10'000;) {
      Group group = draw(plant);
      if (alike(plant) && !root.groups.empty()) {
        group = root.groups.front();
      }
      name(group, fmt::format("g{}", root.groups.size()));
      if (put(group, plant)) {
        root.groups.push_back(std::move(group));
      } else {
        ++misses;
      }
    }
    return root;
  }

  void give_back() {
    for (const auto& [host, requests, count] : booked_) {
      cluster_.inventory().give(LargeCluster::host(host), requests, count);
    }
  }

 private:
  struct Booked {
    int host = 0;
    Amounts requests;
    int count = 0;
  };

  static bool alike(Plant plant) { return plant < Plant::kSizes; }

  PodSet pods(int most) {
    const int gpus = choices_.of(std::vector{0, 1, 1, 2, 4, 8});
    return cluster_.pods("", choices_.between(1, std::max(1, most / std::max(1, gpus))), gpus,
                         choices_.of(std::vector{1, 2, 4, 6, 11}));
  }
  Group one_set(PodSet set, const Constraint& constraint) {
    Group group;
    group.constraint = constraint;
    group.pod_sets.push_back(std::move(set));
    return group;
  }
  Group with_leader(PodSet workers) {
    Group group = one_set(std::move(workers), in_one(kRack));
    group.pod_sets.push_back(cluster_.pods("", 1, choices_.up_to(2), choices_.between(1, 8)));
    return group;
  }
  Group draw(Plant plant) {
    switch (plant) {
      case Plant::kAlike:
      case Plant::kShapes:
        return one_set(pods(24), in_one(kRack));
      case Plant::kAlone:
      case Plant::kUnlikeAlone:
        return one_set(pods(48), alone_in_one(kRack));
      case Plant::kOnHosts:
      case Plant::kUnlikeHosts:
        return one_set(pods(8), in_one(kHost));
      case Plant::kAlikeLeaders:
      case Plant::kLeaders:
        return with_leader(pods(24));
      case Plant::kSizes:
        return one_set(cluster_.pods("", choices_.between(1, 32), 1, 4), in_one(kRack));
      case Plant::kNested: {
        Group outer;
        outer.constraint = in_one(kBlock);
        for (int inner = choices_.between(2, 4); inner > 0; --inner) {
          outer.groups.push_back(choices_.one_in(2) ? with_leader(pods(16)) : one_set(pods(16), in_one(kRack)));
        }
        return outer;
      }
    }
    return {};
  }
  void name(Group& group, const std::string& name) {
    group.name = name;
    for (std::size_t s = 0; s < group.pod_sets.size(); ++s) {
      group.pod_sets[s].name = fmt::format("{}-{}", name, s);
    }
    for (std::size_t g = 0; g < group.groups.size(); ++g) {
      this->name(group.groups[g], fmt::format("{}.{}", name, g));
    }
  }

  bool put(const Group& group, Plant plant) {
    const std::size_t before = booked_.size();
    if (plant == Plant::kNested) {
      // In a block all of whose racks may be used.
      const int blocks = std::max(1, racks_ / cluster_.scale().racks_per_block);
      const int block = choices_.up_to(blocks - 1);
      const auto put_inner = [&](const Group& inner) {
        const int rack =
            block * cluster_.scale().racks_per_block + choices_.up_to(cluster_.scale().racks_per_block - 1);
        return put_in_rack(inner, rack);
      };
      if (std::all_of(group.groups.begin(), group.groups.end(), put_inner)) {
        return true;
      }
      take_back(before);
      return false;
    }
    const int rack = choices_.up_to(racks_ - 1);
    const bool alone = group.constraint.exclusive.has_value();
    if ((alone && taken_.contains(rack)) || !put_in_rack(group, rack)) {
      take_back(before);
      return false;
    }
    if (alone) {
      taken_.insert(rack);
    }
    return true;
  }

  // Pod after pod on any host of the rack that has room; all on one host where that is asked.
  bool put_in_rack(const Group& group, int rack) {
    const int width = cluster_.scale().hosts_per_rack;
    const int first = rack * width;
    const int hosts = std::min(width, cluster_.hosts() - first);
    if (hosts <= 0) {
      return false;
    }
    const int only = group.constraint.required == kHost ? choices_.up_to(hosts - 1) : -1;
    for (const PodSet& set : group.pod_sets) {
      for (int left = set.count; left > 0;) {
        int host = only >= 0 ? only : choices_.up_to(hosts - 1);
        for (int looked = 1; only < 0 && looked < hosts && room(first + host, set) <= 0; ++looked) {
          host = (host + 1) % hosts;
        }
        const int there = room(first + host, set);
        if (there <= 0) {
          return false;
        }
        const int count = std::min(left, choices_.between(1, there));
        cluster_.inventory().take(LargeCluster::host(first + host), set.shape.requests, count);
        booked_.push_back({first + host, set.shape.requests, count});
        left -= count;
      }
    }
    return true;
  }
  int room(int host, const PodSet& set) {
    return static_cast<int>(cluster_.inventory().room(LargeCluster::host(host), set.shape.requests));
  }
  void take_back(std::size_t to) {
    for (; booked_.size() > to; booked_.pop_back()) {
      const Booked& last = booked_.back();
      cluster_.inventory().give(LargeCluster::host(last.host), last.requests, last.count);
    }
  }

  LargeCluster& cluster_;
  Choices& choices_;
  int racks_ = 0;
  std::vector<Booked> booked_;
  std::set<int> taken_;
};

class Planted : public ::testing::TestWithParam<Kind> {};

TEST_P(Planted, AreFound) {
  const Kind& kind = GetParam();
  const int rounds = number("GANTREE_PLANTED_ROUNDS", 1);
  const int first = number("GANTREE_PLANTED_FIRST", 0);
  const bool show = number("GANTREE_PLANTED_SHOW", 0) != 0;
  int asked = 0;
  int placed = 0;
  double slowest = 0;
  for (int round = first; round < first + rounds; ++round) {
    for (const int groups : {16, 64, 256}) {
      for (const int percent : {60, 80, 95}) {
        Choices choices(static_cast<std::uint64_t>(kind.plant) * 1'000'000 + static_cast<std::uint64_t>(round) * 1'000 +
                        static_cast<std::uint64_t>(groups + percent));
        LargeCluster cluster({.hosts = number("GANTREE_PLANTED_HOSTS", 10'000)});
        Planter planter(cluster, choices, kind.plant, groups);
        const Gang gang = cluster.gang(planter.plant(kind.plant, groups));
        cluster.fill(percent, choices);
        planter.give_back();
        const std::clock_t begin = std::clock();
        const Outcome outcome = cluster.engine().place(gang);
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        slowest = std::max(slowest, seconds);
        ++asked;
        placed += outcome.placement ? 1 : 0;
        const std::string what = fmt::format("{} {}: {} groups, {} % busy", kind.name, round, groups, percent);
        if (show) {
          fmt::print("{}: {:.3f} s {}\n", what, seconds, outcome.placement ? "" : outcome.message);
          std::fflush(stdout);
        }
        EXPECT_TRUE(outcome.placement || (!kind.alike && outcome.refusal == Refusal::kSearchLimit))
            << what << ": " << outcome.message;
      }
    }
  }
  fmt::print("{}: {} of {} placed, slowest {:.3f} s\n", kind.name, placed, asked, slowest);
  EXPECT_GE(100 * placed, 99 * asked);
}

INSTANTIATE_TEST_SUITE_P(Gangs, Planted, ::testing::ValuesIn(kKinds), [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace gantree::test

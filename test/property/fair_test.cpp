// Fair sharing over many random rounds: queues of nested cohorts with random weights and quotas take from each other.
//
// After every eviction: whoever it was for has started, its side ends with no more than the strategy allows, and none
// of those who went comes back by driving him out. As long as nothing comes and nothing ends, all comes to rest.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "cycle/cycle.h"
#include "queue/victims.h"

namespace gantree {
namespace {

constexpr int kHosts = 8;
constexpr int kHostsARack = 2;
constexpr int kGpusAHost = 4;

struct Party {
  std::string name;
  int parent = -1;  // among cohorts
  std::int64_t nominal = 0;
  std::int64_t weight = 1000;
};

struct Job {
  int name = 0;
  int queue = 0;
  int pods = 1;
  std::int64_t priority = 0;
  bool one_rack = false;
  std::map<std::string, int> hosts = {};  // where it runs; empty: it waits
  bool gave_way = false;                  // it was evicted, and nothing has ended since
};

class Rounds {
 public:
  Rounds(std::uint64_t seed, std::vector<ShareStrategy> strategies)
      : random_(seed), strategies_(std::move(strategies)) {
    cohorts_.push_back({.name = "Cohort root", .nominal = kHosts * kGpusAHost / 4});
    for (int i = 0; i < 2; ++i) {
      cohorts_.push_back({.name = "Cohort " + std::to_string(i), .parent = 0, .nominal = below(5), .weight = weight()});
    }
    for (int i = 0; i < 5; ++i) {
      queues_.push_back({.name = "Queue " + std::to_string(i),
                         .parent = static_cast<int>(below(3)),
                         .nominal = below(6),
                         .weight = weight()});
    }
  }

  void run(int rounds) {
    for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
      change();
      settle();
    }
  }

  int evictions = 0;
  int circles = 0;   // rounds that did not come to rest
  int excesses = 0;  // turns in which more was taken than the strategy allows

 private:
  std::int64_t below(std::int64_t bound) { return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random_); }
  std::int64_t weight() {
    constexpr std::int64_t kWeights[] = {1000, 1000, 2000, 500, 3000, 0};
    return kWeights[below(6)];
  }

  // Some jobs end, some come.
  void change() {
    if (std::erase_if(jobs_, [&](const Job& job) { return !job.hosts.empty() && below(4) == 0; }) > 0) {
      std::for_each(jobs_.begin(), jobs_.end(), [](Job& job) { job.gave_way = false; });
    }
    while (jobs_.size() < 24) {
      jobs_.push_back({.name = next_++,
                       .queue = static_cast<int>(below(5)),
                       .pods = static_cast<int>(1 + below(6)),
                       .priority = below(3),
                       .one_rack = below(2) == 0});
    }
    std::shuffle(jobs_.begin(), jobs_.end(), random_);
  }

  // Every job that waits has its turn, until nothing moves any more.
  void settle() {
    constexpr int kMostPasses = 50;
    int passes = 0;
    for (bool moved = true; moved && !testing::Test::HasFailure(); ++passes) {
      if (passes == kMostPasses) {
        ++circles;
        return;
      }
      moved = false;
      for (Job& job : jobs_) {
        moved = (job.hosts.empty() && turn(job)) || moved;
      }
    }
  }

  struct Books {
    Cluster cluster;
    Quota quota;
    std::vector<QueueId> ids;
    TopologyId racks;
    Amounts pod;
  };

  void open(Books& books) {
    const ResourceId gpu = books.cluster.inventory().resources().intern("gpu");
    books.pod.set(gpu, 1);
    books.pod.set(ResourceNames::kPods, 1);
    books.racks = books.cluster.engine().add_topology({.name = "t", .levels = {"rack", kHostnameLabel}});
    Interner& strings = books.cluster.inventory().strings();
    for (int i = 0; i < kHosts; ++i) {
      Node node;
      node.name = "h" + std::to_string(i);
      node.labels = {{strings.intern("rack"), strings.intern("r" + std::to_string(i / kHostsARack))},
                     {strings.intern(kHostnameLabel), strings.intern(node.name)}};
      std::sort(node.labels.begin(), node.labels.end());
      node.allocatable.set(gpu, kGpusAHost);
      node.allocatable.set(ResourceNames::kPods, 110);
      books.cluster.upsert_node(std::move(node));
    }
    books.quota.evict_by_share(strategies_);
    std::vector<QuotaId> cells;
    for (const Party& cohort : cohorts_) {
      cells.push_back(books.quota.add({.queue = cohort.name,
                                       .flavor = "f",
                                       .resource = "gpu",
                                       .nominal = cohort.nominal,
                                       .parent = cohort.parent < 0 ? std::nullopt : std::optional(cells[0]),
                                       .weight = cohort.weight}));
    }
    for (const Party& queue : queues_) {
      books.ids.push_back(books.quota.add_queue({.name = queue.name,
                                                 .tree = "tree",
                                                 .within = WithinRule::kLowerPriority,
                                                 .reclaim = ReclaimRule::kAny,
                                                 .weight = queue.weight,
                                                 .knows_shares = true}));
      books.quota.add({.queue = queue.name,
                       .flavor = "f",
                       .resource = "gpu",
                       .nominal = queue.nominal,
                       .parent = cells[static_cast<std::size_t>(queue.parent)],
                       .owner = books.ids.back()});
    }
    for (const Job& job : jobs_) {
      if (!job.hosts.empty()) {
        start(books, job);
      }
    }
  }

  [[nodiscard]] static GangKey key(const Job& job) {
    return {.ns = "default", .name = std::to_string(job.name), .kind = "Job"};
  }
  [[nodiscard]] static QuotaId cell(const Books& books, const Job& job) {
    return books.quota.cells_of(books.ids[static_cast<std::size_t>(job.queue)])[0];
  }

  static void start(Books& books, const Job& job) {
    RunningGang gang;
    gang.key = key(job);
    gang.dialect = "test";
    gang.priority = job.priority;
    gang.created_seconds = gang.started_seconds = job.name + 1;
    gang.queue = books.ids[static_cast<std::size_t>(job.queue)];
    gang.used = {{cell(books, job), job.pods}};
    for (const auto& [host, count] : job.hosts) {
      for (int i = 0; i < count; ++i) {
        books.cluster.upsert_pod(
            {.key = gang.key.name + host + std::to_string(i), .node = host, .requests = books.pod});
      }
      gang.holdings.push_back({.node = *books.cluster.inventory().find(host), .requests = books.pod, .count = count});
    }
    books.quota.take(gang.used);
    books.cluster.add_running(std::move(gang));
  }

  static Submission asks(const Books& books, const Job& job) {
    Submission made;
    made.key = key(job);
    made.dialect = "test";
    made.priority = job.priority;
    made.created_seconds = job.name + 1;
    made.queue = books.ids[static_cast<std::size_t>(job.queue)];
    made.pod_sets.emplace_back("main", job.pods);
    Alternative& way = made.parts.emplace_back().emplace_back();
    way.gang.topology = books.racks;
    PodSet& set = way.gang.root.pod_sets.emplace_back();
    set.name = "main";
    set.count = set.min_count = job.pods;
    set.shape.requests = books.pod;
    set.constraint.required = job.one_rack ? std::optional(0) : std::nullopt;
    set.constraint.packing = Packing::kPack;
    way.demand = {{{cell(books, job), 1}}};
    way.flavors.emplace_back();
    return made;
  }

  bool turn(Job& job) {
    Books books;
    open(books);
    Submission submission = asks(books, job);
    const QueueRules& rules = books.quota.rules(*submission.queue);
    submission.may_evict_by_share = !job.gave_way;
    for (const Job& other : jobs_) {
      if (other.hosts.empty() && other.queue == job.queue && outranks(rules, asks(books, other), submission)) {
        submission.outranked_by.push_back(least_demands_of(asks(books, other)));
      }
    }
    const Plan plan = run_cycle(books.cluster, books.quota, {submission});
    const Decision& decision = plan.decisions.front();
    if (decision.state != GangState::kPlaced) {
      EXPECT_TRUE(plan.evictions.empty()) << "nobody is evicted in vain";
      return false;
    }
    std::map<int, Eviction> gone;
    for (const Eviction& eviction : plan.evictions) {
      gone.emplace(std::stoi(eviction.key.name), eviction);
    }
    judge(job, gone);
    for (Job& other : jobs_) {
      if (gone.contains(other.name)) {
        other.hosts.clear();
        other.gave_way = true;
      }
    }
    for (const HostShare& share : decision.pod_sets.front().hosts) {
      job.hosts[books.cluster.inventory().node(share.node).name] += share.count;
    }
    evictions += static_cast<int>(gone.size());
    for (const auto& [name, eviction] : gone) {
      if (eviction.reason == EvictionReason::kFairShare) {
        stays_against(job, name);
      }
    }
    return true;
  }

  // One that went by share cannot take back at once what was taken for the other.
  void stays_against(const Job& job, int gone) {
    for (const Job& victim : jobs_) {
      if (victim.name == gone) {
        Books books;
        open(books);
        for (const Eviction& eviction : run_cycle(books.cluster, books.quota, {asks(books, victim)}).evictions) {
          EXPECT_NE(eviction.key, key(job)) << victim.name << " drives out " << job.name << ", for whom it went";
        }
      }
    }
  }

  // What a queue (0 and up) or a cohort (below 0) has beyond its quota, by its weight: counted anew from the jobs.
  struct Share {
    bool weightless = false;
    double amount = 0;
    friend auto operator<=>(const Share&, const Share&) = default;
  };
  [[nodiscard]] bool belongs(int queue, int holder) const {
    return holder >= 0 ? queue == holder : queues_[static_cast<std::size_t>(queue)].parent == -holder;
  }
  [[nodiscard]] Share share(int holder, const std::set<int>& running) const {
    std::int64_t over = holder < 0 ? -cohorts_[static_cast<std::size_t>(-holder)].nominal : 0;
    for (int q = 0; q < static_cast<int>(queues_.size()); ++q) {
      over -= belongs(q, holder) ? queues_[static_cast<std::size_t>(q)].nominal : 0;
    }
    for (const Job& job : jobs_) {
      over += running.contains(job.name) && belongs(job.queue, holder) ? job.pods : 0;
    }
    const std::int64_t weight = holder < 0 ? cohorts_[static_cast<std::size_t>(-holder)].weight
                                           : queues_[static_cast<std::size_t>(holder)].weight;
    if (over <= 0) {
      return {};
    }
    return {.weightless = weight == 0,
            .amount = static_cast<double>(over) / static_cast<double>(weight == 0 ? 1 : weight)};
  }
  // The sides that are compared: queues in one cohort, else their cohorts; a queue of the root beside a cohort.
  [[nodiscard]] std::pair<int, int> sides(int ours, int theirs) const {
    const int mine = queues_[static_cast<std::size_t>(ours)].parent;
    const int other = queues_[static_cast<std::size_t>(theirs)].parent;
    if (mine == other) {
      return {ours, theirs};
    }
    return {mine == 0 ? ours : -mine, other == 0 ? theirs : -other};
  }

  void judge(const Job& job, const std::map<int, Eviction>& gone) {
    std::set<int> after{job.name};
    for (const Job& one : jobs_) {
      if (!one.hosts.empty() && !gone.contains(one.name)) {
        after.insert(one.name);
      }
    }
    std::set<int> judged;
    for (const Job& victim : jobs_) {
      const auto eviction = gone.find(victim.name);
      if (eviction == gone.end() || eviction->second.reason != EvictionReason::kFairShare) {
        continue;
      }
      const auto [ours, theirs] = sides(job.queue, victim.queue);
      if (!judged.insert(theirs).second) {
        continue;
      }
      const Share mine = share(ours, after);
      const bool final = mine <= share(theirs, after);
      bool initial = true;
      for (const Job& other : jobs_) {
        const auto one = gone.find(other.name);
        if (one == gone.end() || one->second.reason != EvictionReason::kFairShare ||
            sides(job.queue, other.queue).second != theirs) {
          continue;
        }
        std::set<int> before = after;
        before.insert(other.name);
        initial = initial && mine < share(theirs, before);
      }
      // It had less than the other, and has no more than the other ends with.
      excesses += initial && (final || strategies_.back() == ShareStrategy::kInitialShare) ? 0 : 1;
    }
  }

  std::mt19937_64 random_;
  std::vector<ShareStrategy> strategies_;
  std::vector<Party> cohorts_;
  std::vector<Party> queues_;
  std::vector<Job> jobs_;
  int next_ = 0;
};

TEST(FairSharing, ComesToRestAndTakesNoMoreThanItsStrategyAllows) {
  int evictions = 0;
  int circles = 0;
  int excesses = 0;
  for (const std::vector<ShareStrategy>& strategies :
       {std::vector{ShareStrategy::kFinalShare}, std::vector{ShareStrategy::kInitialShare},
        std::vector{ShareStrategy::kFinalShare, ShareStrategy::kInitialShare}}) {
    for (std::uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
      SCOPED_TRACE(seed);
      Rounds rounds(seed, strategies);
      rounds.run(20);
      evictions += rounds.evictions;
      circles += rounds.circles;
      excesses += rounds.excesses;
    }
  }
  EXPECT_GT(evictions, 500) << "otherwise nothing was tried";
  EXPECT_EQ(circles, 0) << "they drive each other out for ever";
  EXPECT_EQ(excesses, 0) << "it takes more than its strategy allows";
}

}  // namespace
}  // namespace gantree

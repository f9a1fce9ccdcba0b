#include "explain/why.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cycle/cycle.h"

namespace gantree {
namespace {

constexpr int kRack = 0;
constexpr int kHost = 1;

// Racks of hosts with 8 gpus each, gangs that run on them, and one gang that is asked about.
class WhyTest : public testing::Test {
 protected:
  struct World {
    World() : topology(cluster.engine().add_topology({.name = "net", .levels = {"rack", kHostnameLabel}})) {
      gpu = cluster.inventory().resources().intern("nvidia.com/gpu");
    }
    Cluster cluster;
    Quota quota;
    ResourceId gpu;
    TopologyId topology;
  };

  static NodeId host(World& world, const std::string& rack, const std::string& name, bool cordoned = false) {
    Interner& strings = world.cluster.inventory().strings();
    Node node;
    node.name = name;
    node.labels = {{strings.intern("rack"), strings.intern(rack)},
                   {strings.intern(kHostnameLabel), strings.intern(name)}};
    std::sort(node.labels.begin(), node.labels.end());
    node.allocatable.set(world.gpu, 8);
    node.allocatable.set(ResourceNames::kPods, 110);
    node.unschedulable = cordoned;
    return world.cluster.inventory().upsert(std::move(node));
  }

  static Amounts whole_host(const World& world) {
    Amounts request;
    request.set(world.gpu, 8);
    request.set(ResourceNames::kPods, 1);
    return request;
  }

  static void runs(World& world, const std::string& name, std::int64_t priority, const std::vector<NodeId>& hosts) {
    RunningGang gang;
    gang.key = {"default", name, "Job"};
    gang.priority = priority;
    for (const NodeId node : hosts) {
      world.cluster.inventory().take(node, whole_host(world), 1);
      gang.holdings.push_back({.node = node, .requests = whole_host(world), .count = 1});
    }
    world.cluster.add_running(std::move(gang));
  }

  // So many pods of a whole host each, all in one domain of a level.
  static Submission job(const World& world, const std::string& name, int count, std::optional<int> required = kRack,
                        std::int64_t priority = 0) {
    PodSet set;
    set.name = "main";
    set.count = set.min_count = count;
    set.shape.requests = whole_host(world);
    set.constraint.required = required;
    set.constraint.packing = Packing::kPack;
    Alternative alternative;
    alternative.gang.topology = world.topology;
    alternative.gang.root.pod_sets.push_back(std::move(set));
    alternative.demand.emplace_back();
    alternative.flavors.emplace_back();
    Submission submission;
    submission.key = {"default", name, "Job"};
    submission.priority = priority;
    submission.pod_sets.emplace_back("main", count);
    submission.parts = {{std::move(alternative)}};
    return submission;
  }

  // The same, of a queue with so many gpus.
  static Submission job_with_quota(World& world, int count, std::int64_t gpus) {
    const QuotaId cell =
        world.quota.add({.queue = "Queue \"q\"", .flavor = "f", .resource = "nvidia.com/gpu", .nominal = gpus});
    Submission submission = job(world, "train", count);
    submission.parts[0][0].demand[0] = {{cell, 8}};
    return submission;
  }

  static Explanation explain(World& world, std::vector<Submission> queue, const std::string& name = "train") {
    return explain_gang(world.cluster, world.quota, std::move(queue), {{"default", name, "Job"}});
  }

  static bool starts(World& world, Submission submission) {
    std::vector<Submission> queue;
    queue.push_back(std::move(submission));
    return run_cycle(world.cluster, world.quota, std::move(queue)).decisions.front().state == GangState::kPlaced;
  }

  static const Remedy* remedy(const Explanation& why, RemedyKind kind) {
    const auto it =
        std::find_if(why.remedies.begin(), why.remedies.end(), [&](const Remedy& one) { return one.kind == kind; });
    return it == why.remedies.end() ? nullptr : &*it;
  }

  // r1 has 4 hosts with 2 in use by "low" (priority 0), r2 has 3 with 2 in use by "high" (priority 9).
  static void busy(World& world) {
    const NodeId first = host(world, "r1", "a");
    const NodeId second = host(world, "r1", "b");
    host(world, "r1", "c");
    host(world, "r1", "d");
    const NodeId third = host(world, "r2", "e");
    const NodeId fourth = host(world, "r2", "f");
    host(world, "r2", "g");
    runs(world, "low", 0, {first, second});
    runs(world, "high", 9, {third, fourth});
  }
};

TEST_F(WhyTest, FewerPodsAreTheMostThatFit) {
  World world;
  busy(world);
  const Explanation why = explain(world, {job(world, "train", 3)});
  const Remedy* fewer = remedy(why, RemedyKind::kFewerPods);
  ASSERT_NE(fewer, nullptr);
  EXPECT_EQ(fewer->count, 2);
  EXPECT_TRUE(starts(world, job(world, "fewer", fewer->count))) << "the cluster is as before, and so it starts";
}

TEST_F(WhyTest, MoreHostsAreTheFewestThatHelp) {
  World world;
  busy(world);
  const Explanation why = explain(world, {job(world, "train", 4)});
  const Remedy* more = remedy(why, RemedyKind::kMoreHosts);
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(more->count, 2);
  EXPECT_EQ(more->domain, DomainPath{"r1"});
  host(world, "r1", "x");
  EXPECT_FALSE(starts(world, job(world, "one", 4))) << "one less does not";
  host(world, "r1", "y");
  EXPECT_TRUE(starts(world, job(world, "two", 4)));
}

TEST_F(WhyTest, PreferringALevelIsOfferedWhereNoCoarserOneIsThere) {
  World world;
  busy(world);
  const Explanation why = explain(world, {job(world, "train", 3)});
  const Remedy* anywhere = remedy(why, RemedyKind::kPreferred);
  ASSERT_NE(anywhere, nullptr);
  EXPECT_EQ(anywhere->from, kRack);
  EXPECT_EQ(anywhere->place.size(), 3U);
}

TEST_F(WhyTest, EvictionNamesTheCheapestGangAndWhetherTheRulesAllowIt) {
  World world;
  busy(world);
  const Explanation why = explain(world, {job(world, "train", 3)});
  const Remedy* evict = remedy(why, RemedyKind::kEvict);
  ASSERT_NE(evict, nullptr);
  ASSERT_EQ(evict->victims.size(), 1U);
  EXPECT_EQ(evict->victims[0].key.name, "low");
  EXPECT_EQ(evict->victims[0].forbidden, "its priority 0 is not below 0");
}

TEST_F(WhyTest, EvictionsThatTheRulesAllowAreMadeAndTold) {
  World world;
  busy(world);
  const Explanation why = explain(world, {job(world, "train", 3, kRack, 5)});
  EXPECT_EQ(why.decision.state, GangState::kPlaced);
  ASSERT_EQ(why.evictions.size(), 1U);
  EXPECT_EQ(why.evictions[0].key.name, "low");
  ASSERT_TRUE(why.landing);
  EXPECT_EQ(why.landing->choice, Choice::kCleared);
}

TEST_F(WhyTest, NearestDomainsNameWhoHoldsThem) {
  World world;
  busy(world);
  const Explanation why = explain(world, {job(world, "train", 3)});
  ASSERT_EQ(why.nearest.size(), 2U);
  EXPECT_EQ(why.nearest[0].path, DomainPath{"r1"});
  EXPECT_EQ(why.nearest[0].offers, 2);
  ASSERT_EQ(why.nearest[0].holders.size(), 1U);
  EXPECT_EQ(why.nearest[0].holders[0].key.name, "low");
  EXPECT_EQ(why.nearest[0].holders[0].amount, 16);
  EXPECT_EQ(why.nearest[0].others, 0);
}

TEST_F(WhyTest, LevelsAreCountedNowAndWhenEmpty) {
  World world;
  busy(world);
  const Explanation why = explain(world, {job(world, "train", 4)});
  ASSERT_EQ(why.levels.size(), 3U);
  EXPECT_EQ(why.levels[0].level, -1);
  EXPECT_EQ(why.levels[1].level, kRack);
  EXPECT_EQ(why.levels[1].domains, 2);
  EXPECT_EQ(why.levels[1].when_empty, 1);
  EXPECT_EQ(why.levels[1].now, 0);
  EXPECT_EQ(why.levels[1].offers, 2);
  EXPECT_EQ(why.levels[2].level, kHost);
  EXPECT_EQ(why.hosts.roomy, 3);
}

TEST_F(WhyTest, PartsThatMayBeApartAreCountedByTheHardestOne) {
  World world;
  for (const char* name : {"a", "b", "c"}) {
    host(world, "r1", name);
  }
  host(world, "r2", "d");
  Submission two = job(world, "train", 3);
  std::vector<PodSet>& sets = two.parts[0][0].gang.root.pod_sets;
  sets.push_back(sets.front());
  sets.back().name = "other";
  sets.back().count = sets.back().min_count = 1;
  two.parts[0][0].demand.emplace_back();
  two.parts[0][0].flavors.emplace_back();
  two.pod_sets.emplace_back("other", 1);
  const Explanation why = explain(world, {two});
  EXPECT_EQ(why.decision.state, GangState::kPlaced);
  EXPECT_EQ(why.measure.pod_set, "main");
  ASSERT_EQ(why.levels.size(), 3U);
  EXPECT_EQ(why.levels[1].now, 1) << "one rack has room for the three that must be together";
}

TEST_F(WhyTest, GangsThatWentBeforeAreNamedWhereTheirTurnIsInTheWay) {
  World world;
  host(world, "r0", "0");
  host(world, "r1", "a");
  host(world, "r1", "b");
  std::vector<Submission> queue;
  queue.push_back(job(world, "harmless", 1, kRack, 8));
  queue.push_back(job(world, "rival", 2, kRack, 7));
  queue.push_back(job(world, "train", 2));
  const Explanation why = explain(world, std::move(queue));
  EXPECT_EQ(why.turn, 3);
  const Remedy* first = remedy(why, RemedyKind::kGoFirst);
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(first->victims.size(), 1U);
  EXPECT_EQ(first->victims[0].key.name, "rival");
}

TEST_F(WhyTest, CordonedHostsAreMendedBeforeOthersAreBought) {
  World world;
  host(world, "r1", "a");
  host(world, "r1", "off", true);
  const Explanation why = explain(world, {job(world, "train", 2)});
  const Remedy* mend = remedy(why, RemedyKind::kMendHosts);
  ASSERT_NE(mend, nullptr);
  EXPECT_EQ(mend->nodes, std::vector<std::string>{"off"});
  EXPECT_FALSE(starts(world, job(world, "again", 2))) << "it is cordoned again afterwards";
}

TEST_F(WhyTest, MissingQuotaIsEnoughAndNoMore) {
  const auto starts_with = [](std::int64_t nominal) {
    World world;
    host(world, "r1", "a");
    host(world, "r1", "b");
    return starts(world, job_with_quota(world, 2, nominal));
  };
  World world;
  host(world, "r1", "a");
  host(world, "r1", "b");
  const Explanation why = explain(world, {job_with_quota(world, 2, 11)});
  EXPECT_EQ(why.decision.reason, Reason::kQuotaExceeded);
  const Remedy* more = remedy(why, RemedyKind::kMoreQuota);
  ASSERT_NE(more, nullptr);
  ASSERT_EQ(more->quota.size(), 1U);
  EXPECT_EQ(more->quota[0].left, 11);
  EXPECT_EQ(more->quota[0].missing(), 5);
  EXPECT_FALSE(starts_with(15)) << "one less does not";
  EXPECT_TRUE(starts_with(16));
}

TEST_F(WhyTest, APlacedGangIsToldTheTightestRack) {
  World world;
  for (const char* name : {"a", "b", "c", "d"}) {
    host(world, "r1", name);
  }
  for (const char* name : {"e", "f", "g"}) {
    host(world, "r2", name);
  }
  const Explanation why = explain(world, {job(world, "train", 3)});
  ASSERT_TRUE(why.landing);
  EXPECT_EQ(why.landing->choice, Choice::kTightest);
  EXPECT_EQ(why.landing->could, 2);
  EXPECT_EQ(why.landing->domain, DomainPath{"r2"});
}

TEST_F(WhyTest, ARunningGangIsToldWhereItRuns) {
  World world;
  busy(world);
  const Explanation why = explain(world, {}, "low");
  EXPECT_TRUE(why.running);
  EXPECT_EQ(why.holdings.size(), 2U);
}

TEST_F(WhyTest, OfSeveralTheFirstThatWaitsIsExplained) {
  World world;
  host(world, "r1", "a");
  std::vector<Submission> queue;
  for (const char* name : {"web-0", "web-1", "web-2"}) {
    queue.push_back(job(world, name, 1));
  }
  const Explanation why = explain_gang(world.cluster, world.quota, queue, {queue[0].key, queue[1].key, queue[2].key});
  EXPECT_EQ(why.key.name, "web-1");
  ASSERT_EQ(why.siblings.size(), 2U);
  EXPECT_EQ(why.siblings[0].state, GangState::kPlaced);
  EXPECT_EQ(why.siblings[1].state, GangState::kWaiting);
}

TEST_F(WhyTest, PodsThatNoHostCanHoldAreToldHowSmallTheyMustBe) {
  World world;
  host(world, "r1", "a");
  Submission huge = job(world, "train", 2);
  huge.parts[0][0].gang.root.pod_sets[0].shape.requests.set(world.gpu, 9);
  const Explanation why = explain(world, {huge});
  ASSERT_EQ(why.hosts.too_small.size(), 1U);
  const Remedy* smaller = remedy(why, RemedyKind::kSmallerPods);
  ASSERT_NE(smaller, nullptr);
  EXPECT_EQ(smaller->amount, 4) << "two of them have to fit on the host of 8";
}

TEST_F(WhyTest, WhereNoChangeHelpsThereIsNone) {
  World world;
  host(world, "r1", "a");
  Submission huge = job(world, "train", 1);
  PodShape& shape = huge.parts[0][0].gang.root.pod_sets[0].shape;
  shape.requests.set(world.gpu, 9);
  shape.affinity.emplace();
  const Explanation why = explain(world, {huge});
  EXPECT_TRUE(why.tried);
  EXPECT_TRUE(why.remedies.empty());
}

TEST_F(WhyTest, LookingOnChangesNoDecision) {
  const auto fill = [](World& world) {
    busy(world);
    host(world, "r3", "h");
    host(world, "r3", "off", true);
    std::vector<Submission> queue;
    for (int i = 0; i < 6; ++i) {
      queue.push_back(
          job(world, "job-" + std::to_string(i), 1 + i % 3, i % 2 == 0 ? std::optional(kRack) : std::nullopt, 10 - i));
    }
    return queue;
  };
  World planned;
  const Plan plan = run_cycle(planned.cluster, planned.quota, fill(planned));
  for (const Decision& asked : plan.decisions) {
    World world;
    const Explanation one = explain_gang(world.cluster, world.quota, fill(world), {asked.key});
    EXPECT_EQ(one.decision.state, asked.state) << asked.key.name;
    for (std::size_t node = 0; node < planned.cluster.inventory().size(); ++node) {
      const NodeId id = make_id<NodeTag>(node);
      EXPECT_EQ(world.cluster.inventory().free(id, world.gpu), planned.cluster.inventory().free(id, planned.gpu))
          << "after explaining " << asked.key.name;
    }
  }
}

}  // namespace
}  // namespace gantree

#include "cycle/cycle.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantree {
namespace {

// A cluster of hosts with some gpus each, in one topology of hosts, and a quota.
class CycleTest : public testing::Test {
 protected:
  CycleTest() : topology_(cluster_.engine().add_topology({.name = "hosts", .levels = {kHostnameLabel}})) {}

  void host(const std::string& name, std::int64_t gpus) {
    Node node;
    node.name = name;
    Interner& strings = cluster_.inventory().strings();
    node.labels = {{strings.intern(kHostnameLabel), strings.intern(name)}};
    node.allocatable.set(gpu(), gpus);
    node.allocatable.set(ResourceNames::kPods, 110);
    cluster_.upsert_node(std::move(node));
  }

  ResourceId gpu() { return cluster_.inventory().resources().intern("nvidia.com/gpu"); }

  QuotaId quota(const std::string& flavor, std::int64_t gpus) {
    return quota_.add({.queue = "Queue \"q\"", .flavor = flavor, .resource = "nvidia.com/gpu", .nominal = gpus});
  }

  // One way to start `count` pods of one gpu each, all on one host where that is required.
  Alternative alternative(int count, std::optional<QuotaId> cell = {}, const std::string& flavor = "",
                          bool one_host = false) {
    Alternative made;
    made.gang.topology = topology_;
    PodSet set;
    set.name = "main";
    set.count = count;
    set.min_count = count;
    set.shape.requests.set(gpu(), 1);
    set.shape.requests.set(ResourceNames::kPods, 1);
    if (one_host) {
      set.constraint.required = 0;
      set.constraint.packing = Packing::kPack;
    }
    made.gang.root.pod_sets.push_back(std::move(set));
    made.demand.push_back(cell ? QuotaDemand{{*cell, 1}} : QuotaDemand{});
    made.flavors.push_back(flavor);
    return made;
  }

  static Submission job(const std::string& name, std::vector<Alternative> alternatives) {
    Submission submission;
    submission.key = {.ns = "default", .name = name, .kind = "Job"};
    submission.dialect = "test";
    submission.pod_sets.emplace_back("main", alternatives.front().gang.root.pod_sets.front().count);
    submission.parts = {std::move(alternatives)};
    return submission;
  }

  Decision decide(Submission submission) {
    std::vector<Submission> queue;
    queue.push_back(std::move(submission));
    return run_cycle(cluster_, quota_, std::move(queue)).decisions.front();
  }

  Cluster cluster_;
  Quota quota_;
  TopologyId topology_;
};

TEST_F(CycleTest, SaysThatAGangIsTooLargeForEverAlsoWhereQuotaIsShortNow) {
  host("a", 4);
  const QuotaId cell = quota("h100", 8);
  quota_.take({{cell, 4}});
  EXPECT_EQ(decide(job("huge", {alternative(6, cell, "h100", true)})).reason, Reason::kTopologyTooLarge);
  EXPECT_EQ(decide(job("fits", {alternative(4, cell, "h100", true)})).state, GangState::kPlaced);
  EXPECT_EQ(decide(job("later", {alternative(4, cell, "h100", true)})).reason, Reason::kQuotaExceeded);
}

TEST_F(CycleTest, PlacesAGangAndSaysWhere) {
  host("a", 4);
  const Decision decision = decide(job("train", {alternative(3, {}, "h100")}));
  EXPECT_EQ(decision.state, GangState::kPlaced);
  ASSERT_EQ(decision.pod_sets.size(), 1U);
  EXPECT_EQ(decision.pod_sets[0].count, 3);
  EXPECT_EQ(decision.pod_sets[0].flavor, "h100");
  ASSERT_EQ(decision.pod_sets[0].hosts.size(), 1U);
  EXPECT_EQ(decision.pod_sets[0].hosts[0].count, 3);
}

TEST_F(CycleTest, GivesNothingAwayTwice) {
  host("a", 4);
  std::vector<Submission> queue;
  queue.push_back(job("a", {alternative(3)}));
  queue.push_back(job("b", {alternative(3)}));
  queue.push_back(job("c", {alternative(1)}));
  const std::vector<Decision> decisions = run_cycle(cluster_, quota_, std::move(queue)).decisions;
  ASSERT_EQ(decisions.size(), 3U);
  EXPECT_EQ(decisions[0].state, GangState::kPlaced);
  EXPECT_EQ(decisions[1].state, GangState::kWaiting);
  EXPECT_EQ(decisions[1].reason, Reason::kTopologyBusy);
  EXPECT_EQ(decisions[1].pod_sets[0].count, 3);
  EXPECT_TRUE(decisions[1].pod_sets[0].hosts.empty());
  EXPECT_EQ(decisions[2].state, GangState::kPlaced) << "a small gang may go past a large one that waits";
}

TEST_F(CycleTest, UsesQuotaOnlyForWhatIsPlaced) {
  host("a", 4);
  const QuotaId cell = quota("h100", 5);
  std::vector<Submission> queue;
  queue.push_back(job("a", {alternative(5, cell)}));  // too large for the host
  queue.push_back(job("b", {alternative(4, cell)}));
  const std::vector<Decision> decisions = run_cycle(cluster_, quota_, std::move(queue)).decisions;
  EXPECT_EQ(decisions[0].reason, Reason::kTopologyTooLarge);
  EXPECT_EQ(decisions[1].state, GangState::kPlaced);
  EXPECT_EQ(quota_.cell(cell).used, 4);
}

TEST_F(CycleTest, TriesTheNextFlavorWhereTheFirstHasNoQuotaLeft) {
  host("a", 8);
  const QuotaId first = quota("h100", 2);
  const QuotaId second = quota("spot", 8);
  const Decision decision = decide(job("a", {alternative(4, first, "h100"), alternative(4, second, "spot")}));
  EXPECT_EQ(decision.state, GangState::kPlaced);
  EXPECT_EQ(decision.pod_sets[0].flavor, "spot");
  EXPECT_EQ(quota_.cell(first).used, 0);
}

TEST_F(CycleTest, TellsTheReasonNearestToBeingLifted) {
  host("a", 8);
  host("b", 8);
  const QuotaId in_use = quota("h100", 8);
  const QuotaId small = quota("spot", 2);
  quota_.take({{{in_use, 8}}}, {1});
  // Twelve on one host: never. Quota of h100: when others end. Quota of spot: never.
  const Decision decision = decide(
      job("a", {alternative(8, small, "spot"), alternative(8, in_use, "h100"), alternative(12, {}, "old", true)}));
  EXPECT_EQ(decision.state, GangState::kWaiting);
  EXPECT_EQ(decision.reason, Reason::kQuotaExceeded);
  EXPECT_EQ(decision.message,
            "Queue \"q\" has 0 of 8 nvidia.com/gpu left in flavor \"h100\": 8 more are needed (tried too: flavor "
            "\"spot\": QuotaExceeded; flavor \"old\": TopologyTooLarge)");
}

TEST_F(CycleTest, PrefersTellingOfBusyHostsToTellingOfQuota) {
  host("a", 8);
  const QuotaId full = quota("h100", 2);
  std::vector<Submission> queue;
  queue.push_back(job("a", {alternative(8, {}, "any")}));
  queue.push_back(job("b", {alternative(8, full, "h100"), alternative(8, {}, "any")}));
  const std::vector<Decision> decisions = run_cycle(cluster_, quota_, std::move(queue)).decisions;
  EXPECT_EQ(decisions[1].reason, Reason::kTopologyBusy);
  EXPECT_TRUE(decisions[1].message.starts_with("flavor \"any\": ")) << decisions[1].message;
}

TEST_F(CycleTest, StartsFewerPodsWhereQuotaIsShortAndTheGangAllowsIt) {
  host("a", 8);
  const QuotaId cell = quota("h100", 5);
  Alternative elastic = alternative(8, cell, "h100");
  elastic.gang.root.pod_sets[0].min_count = 3;
  const Decision decision = decide(job("a", {elastic}));
  EXPECT_EQ(decision.state, GangState::kPlaced);
  EXPECT_EQ(decision.pod_sets[0].count, 5);
  EXPECT_EQ(quota_.cell(cell).used, 5);
}

TEST_F(CycleTest, WaitsWhereNotEvenTheMinimumIsWithinQuota) {
  host("a", 8);
  const QuotaId cell = quota("h100", 2);
  Alternative elastic = alternative(8, cell, "h100");
  elastic.gang.root.pod_sets[0].min_count = 3;
  const Decision decision = decide(job("a", {elastic}));
  EXPECT_EQ(decision.reason, Reason::kQuotaExceeded);
  EXPECT_THAT(decision.message, testing::HasSubstr(": 3 are needed"));
}

TEST_F(CycleTest, ChargesQuotaForThePodsPlacedWhereHostsAreShort) {
  host("a", 4);
  const QuotaId cell = quota("h100", 100);
  Alternative elastic = alternative(8, cell, "h100");
  elastic.gang.root.pod_sets[0].min_count = 2;
  const Decision decision = decide(job("a", {elastic}));
  EXPECT_EQ(decision.state, GangState::kPlaced);
  EXPECT_EQ(decision.pod_sets[0].count, 4);
  EXPECT_EQ(quota_.cell(cell).used, 4);
}

TEST_F(CycleTest, PassesRejectionsOn) {
  Submission submission = job("a", {alternative(3)});
  submission.parts.clear();
  submission.rejection = Rejection{.reason = Reason::kInvalidRequest, .message = "no such level"};
  const Decision rejected = decide(submission);
  EXPECT_EQ(rejected.state, GangState::kRejected);
  EXPECT_EQ(rejected.message, "no such level");
  EXPECT_EQ(rejected.pod_sets[0].count, 3);

  submission.rejection->waits = true;
  EXPECT_EQ(decide(submission).state, GangState::kWaiting);
}

TEST_F(CycleTest, PlacesAGangOfNoPodsAtOnce) {
  Submission submission;
  submission.key = {.ns = "default", .name = "none", .kind = "Job"};
  submission.pod_sets.emplace_back("main", 0);
  submission.parts.emplace_back().emplace_back();
  const Decision decision = decide(submission);
  EXPECT_EQ(decision.state, GangState::kPlaced);
  ASSERT_EQ(decision.pod_sets.size(), 1U);
  EXPECT_EQ(decision.pod_sets[0].count, 0);
}

TEST_F(CycleTest, ReportsPodSetsInTheOrderSubmitted) {
  host("a", 8);
  Alternative nested = alternative(1);
  nested.gang.root.pod_sets[0].name = "other";
  Group group;
  group.pod_sets.push_back(alternative(2).gang.root.pod_sets[0]);
  group.pod_sets[0].name = "workers";
  nested.gang.root.groups.push_back(group);
  nested.demand.emplace_back();
  nested.flavors = {"flavor-of-other", "flavor-of-workers"};
  Submission submission = job("a", {nested});
  submission.pod_sets = {{"workers", 2}, {"other", 1}};
  const Decision decision = decide(submission);
  ASSERT_EQ(decision.pod_sets.size(), 2U);
  EXPECT_EQ(decision.pod_sets[0].name, "workers");
  EXPECT_EQ(decision.pod_sets[0].count, 2);
  EXPECT_EQ(decision.pod_sets[0].flavor, "flavor-of-workers");
  EXPECT_EQ(decision.pod_sets[1].name, "other");
}

TEST_F(CycleTest, HoldsBackAStrictQueueBehindTheFirstThatWaits) {
  host("a", 4);
  const QueueId strict = quota_.add_queue({.name = "Queue \"s\"", .tree = "s", .strict = true});
  std::vector<Submission> queue;
  for (const auto& [name, pods, priority] :
       {std::tuple("first", 3, 9), std::tuple("head", 4, 8), std::tuple("small", 1, 7), std::tuple("invalid", 1, 6)}) {
    queue.push_back(job(name, {alternative(pods)}));
    queue.back().priority = priority;
    queue.back().queue = strict;
  }
  queue.back().parts.clear();
  queue.back().rejection = Rejection{.reason = Reason::kInvalidRequest, .message = "no such level"};
  queue.push_back(job("elsewhere", {alternative(1)}));
  const std::vector<Decision> decisions = run_cycle(cluster_, quota_, std::move(queue)).decisions;
  ASSERT_EQ(decisions.size(), 5U);
  EXPECT_EQ(decisions[0].state, GangState::kPlaced);
  EXPECT_EQ(decisions[1].reason, Reason::kTopologyBusy);
  EXPECT_EQ(decisions[2].reason, Reason::kQueueBlocked);
  EXPECT_EQ(decisions[2].message, "Queue \"s\" starts its jobs strictly in order, and default/head before it waits");
  EXPECT_EQ(decisions[3].state, GangState::kRejected);
  EXPECT_EQ(decisions[4].state, GangState::kPlaced);
}

TEST_F(CycleTest, TriesItsOwnQuotaOfAllFlavorsBeforeItBorrowsWhereTheQueueSaysSo) {
  host("a", 16);
  const QueueId id = quota_.add_queue({.name = "q", .tree = "c"});
  const QuotaId cohort = quota_.add({.queue = "c", .flavor = "h100", .resource = "nvidia.com/gpu", .nominal = 8});
  const QuotaId first = quota_.add(
      {.queue = "q", .flavor = "h100", .resource = "nvidia.com/gpu", .nominal = 2, .parent = cohort, .owner = id});
  const QuotaId second =
      quota_.add({.queue = "q", .flavor = "spot", .resource = "nvidia.com/gpu", .nominal = 8, .owner = id});
  Submission submission = job("a", {alternative(4, first, "h100"), alternative(4, second, "spot")});
  submission.queue = id;
  EXPECT_EQ(decide(submission).pod_sets[0].flavor, "h100");
  submission.own_quota_first = true;
  EXPECT_EQ(decide(submission).pod_sets[0].flavor, "spot");
}

// Notes what it is shown.
class Notes final : public CycleObserver {
 public:
  void before(const Submission& submission, Cluster& cluster, const Quota& /*quota*/) override {
    text_ += fmt::format("{} finds {}, ", submission.key.name, free_of(cluster));
  }
  void after(const Submission& submission, const Decision& decision, Cluster& cluster,
             const Quota& /*quota*/) override {
    EXPECT_EQ(submission.key, decision.key);
    text_ += fmt::format("is {} and leaves {}\n", to_string(decision.state), free_of(cluster));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::int64_t free_of(Cluster& cluster) {
    return cluster.inventory().free(NodeId{0}, cluster.inventory().resources().intern("nvidia.com/gpu"));
  }
  std::string text_;
};

TEST_F(CycleTest, ShowsAnObserverEveryTurn) {
  host("a", 4);
  std::vector<Submission> queue;
  queue.push_back(job("a", {alternative(3)}));
  queue.push_back(job("b", {alternative(3)}));
  Notes notes;
  EXPECT_EQ(run_cycle(cluster_, quota_, std::move(queue), &notes).decisions.size(), 2U);
  EXPECT_EQ(notes.text(), "a finds 4, is Placed and leaves 1\nb finds 1, is Waiting and leaves 1\n");
}

}  // namespace
}  // namespace gantree

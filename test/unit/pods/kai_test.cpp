// PodGroups and queues of KAI on a live cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct QueueSpec {
  std::string parent = {};
  int quota = -1;
  int limit = -1;
  std::string more = {};
};

struct KaiApi : FakeApi {
  KaiApi() : FakeApi(PodOptions{.schedulers = {"gantree", "kai-scheduler"}}) {
    send("kai.scheduler", "v1alpha1", "Topology",
         R"({"metadata":{"name":"net","uid":"t"},"spec":{"levels":[{"nodeLabel":"rack"},
             {"nodeLabel":"kubernetes.io/hostname"}]}})");
  }
  void queue(const std::string& name, const QueueSpec& spec) {
    send("scheduling.run.ai", "v2", "Queue",
         fmt::format(R"({{"metadata":{{"name":"{0}","uid":"q-{0}"}},"spec":{{{1}{4}"resources":{{
                         "gpu":{{"quota":{2},"limit":{3},"overQuotaWeight":1}},
                         "cpu":{{"quota":-1,"limit":-1}},"memory":{{"quota":-1,"limit":-1}}}}}}}})",
                     name, spec.parent.empty() ? "" : fmt::format(R"("parentQueue":"{}",)", spec.parent), spec.quota,
                     spec.limit, spec.more));
  }
  void group(const std::string& name, int min, const std::string& more = "", const std::string& status = "{}") {
    send("scheduling.run.ai", "v2alpha2", "PodGroup",
         fmt::format(R"({{"metadata":{{"namespace":"default","name":"{0}","uid":"k-{0}"}},
                         "spec":{{"minMember":{1}{2}{3}}},"status":{4}}})",
                     name, min, more.empty() ? "" : ",", more, status));
  }
  void members(const std::string& name, int count, PodSpec spec = {}) {
    spec.annotations = fmt::format(R"("pod-group-name":"{}")", name);
    spec.scheduler = "kai-scheduler";
    for (int i = 0; i < count; ++i) {
      pod(fmt::format("{}-{}", name, i), spec);
    }
  }
  // Everything that can happen by itself does.
  void settle() {
    for (int i = 0; i < 8; ++i) {
      run();
      pass(seconds(1));
    }
  }
  [[nodiscard]] std::set<std::string> nodes(const std::string& name) const {
    std::set<std::string> found;
    for (const auto& [pod, spec] : pods) {
      if (pod.starts_with(name + "-") && !spec.node.empty()) {
        found.insert(spec.node);
      }
    }
    return found;
  }
  void end(const std::string& name) {
    for (const auto& [pod, spec] : std::map(pods)) {
      if (pod.starts_with(name + "-")) {
        PodSpec over = spec;
        over.phase = "Succeeded";
        this->pod(pod, over);
      }
    }
  }
};

constexpr const char* kInRack = R"("topologyConstraint":{"topology":"net","requiredTopologyLevel":"rack"})";

TEST(LiveKai, APodGroupStartsWholeInOneRack) {
  KaiApi api;
  api.racks(2, 2);
  api.pod("other", {.gpus = 8, .scheduler = "default-scheduler", .node = "n0-0", .phase = "Running"});
  api.group("train", 2, kInRack);
  api.members("train", 2);
  api.settle();
  EXPECT_EQ(api.nodes("train"), (std::set<std::string>{"n1-0", "n1-1"}));
}

TEST(LiveKai, WithFewerPodsThanItsMinimumNothingStarts) {
  KaiApi api;
  api.racks(1, 4);
  api.group("train", 3);
  api.members("train", 2);
  api.settle();
  EXPECT_THAT(api.nodes("train"), IsEmpty());
  EXPECT_THAT(api.written_to("PodGroup", "train"), HasSubstr("2 of the 3 pods"));
}

TEST(LiveKai, WhereNoRackHoldsItItWaitsAndItsStatusSaysWhy) {
  KaiApi api;
  api.racks(2, 2);
  api.pod("a", {.gpus = 8, .scheduler = "default-scheduler", .node = "n0-0", .phase = "Running"});
  api.pod("b", {.gpus = 8, .scheduler = "default-scheduler", .node = "n1-0", .phase = "Running"});
  api.group("train", 2, kInRack);
  api.members("train", 2);
  api.settle();
  EXPECT_THAT(api.nodes("train"), IsEmpty());
  const std::string status = api.written_to("PodGroup", "train");
  EXPECT_THAT(status, HasSubstr(R"("type":"UnschedulableOnNodePool")"));
  EXPECT_THAT(status, HasSubstr(R"("nodePool":"default")"));
  EXPECT_THAT(status, HasSubstr(R"("transitionID":"1")"));
  api.remove_pod("a");
  api.settle();
  EXPECT_EQ(api.nodes("train"), (std::set<std::string>{"n0-0", "n0-1"}));
}

TEST(LiveKai, TheConditionGoesWhenItHasStarted) {
  KaiApi api;
  api.racks(1, 2);
  api.group(
      "train", 2, "",
      R"({"schedulingConditions":[{"type":"UnschedulableOnNodePool","status":"True","message":"m","transitionID":"3"}]})");
  api.members("train", 2);
  api.settle();
  api.settle();  // while its pods are on their way it is not told at every step
  EXPECT_EQ(api.nodes("train").size(), 2U);
  EXPECT_THAT(api.written_to("PodGroup", "train"), HasSubstr(R"("schedulingConditions":[])"));
}

TEST(LiveKai, APodGroupOfKoordinatorWithTheSameNameIsAnother) {
  KaiApi api;
  api.racks(1, 4);
  api.group("train", 2);
  api.members("train", 2);
  api.pod_group("train", 3);
  for (int i = 0; i < 2; ++i) {
    api.pod(fmt::format("koord-{}", i), {.gang = "train"});
  }
  api.settle();
  EXPECT_EQ(api.nodes("train").size(), 2U);
  EXPECT_THAT(api.nodes("koord"), IsEmpty());
}

TEST(LiveKai, APodThatNamesNoPodGroupWaitsForOne) {
  KaiApi api;
  api.racks(1, 1);
  api.pod("lone", {.scheduler = "kai-scheduler"});
  api.settle();
  EXPECT_TRUE(api.pods["lone"].node.empty());
  EXPECT_THAT(api.written_to("Pod", "lone"), HasSubstr("names no PodGroup yet"));
  api.group("lone", 1);
  api.pod("lone", {.scheduler = "kai-scheduler", .annotations = R"("pod-group-name":"lone")"});
  api.settle();
  EXPECT_EQ(api.pods["lone"].node, "n0-0");
}

TEST(LiveKai, WhatRunsCountsAgainstTheLimitOfItsQueue) {
  KaiApi api;
  api.racks(1, 4);
  api.queue("top", {});
  api.queue("team", {.parent = "top", .quota = 8, .limit = 16});
  api.group("first", 2, R"("queue":"team")");
  api.members("first", 2, {.node = "", .phase = "Pending"});
  api.settle();
  EXPECT_EQ(api.nodes("first").size(), 2U);
  api.group("second", 1, R"("queue":"team")");
  api.members("second", 1);
  api.settle();
  EXPECT_THAT(api.nodes("second"), IsEmpty());
  EXPECT_THAT(api.written_to("PodGroup", "second"), HasSubstr("OverLimit"));
  api.end("first");
  api.settle();
  EXPECT_EQ(api.nodes("second").size(), 1U);
}

TEST(LiveKai, AfterARestartWhatRunsCountsAsBefore) {
  KaiApi api;
  api.racks(1, 4);
  api.members("first", 2, {.node = "n0-0", .phase = "Running"});
  api.pod(
      "first-1",
      {.scheduler = "kai-scheduler", .node = "n0-1", .phase = "Running", .annotations = R"("pod-group-name":"first")"});
  api.group("first", 2, R"("queue":"team")");
  api.group("second", 1, R"("queue":"team")");
  api.members("second", 1);
  api.queue("team", {.parent = "top", .quota = 8, .limit = 16});
  api.queue("top", {});
  api.settle();
  EXPECT_THAT(api.nodes("second"), IsEmpty());
}

TEST(LiveKai, AHigherLimitLetsWhatWaitedStart) {
  KaiApi api;
  api.racks(1, 4);
  api.queue("top", {});
  api.queue("team", {.parent = "top", .quota = 8, .limit = 8});
  api.group("big", 2, R"("queue":"team")");
  api.members("big", 2);
  api.settle();
  EXPECT_THAT(api.nodes("big"), IsEmpty());
  api.queue("team", {.parent = "top", .quota = 8, .limit = 16});
  api.settle();
  EXPECT_EQ(api.nodes("big").size(), 2U);
}

TEST(LiveKai, AQueueTakesBackItsQuotaWhateverThePriorities) {
  KaiApi api;
  api.racks(1, 4);
  api.queue("top", {});
  api.queue("lender", {.parent = "top", .quota = 16});
  api.queue("borrower", {.parent = "top", .quota = 16});
  for (const char* name : {"b0", "b1", "b2", "b3"}) {
    api.group(name, 1, R"("queue":"borrower")");
    api.members(name, 1, {.priority = 90});
  }
  api.settle();
  ASSERT_EQ(api.binds.size(), 0U);
  api.group("own", 2, R"("queue":"lender")");
  api.members("own", 2, {.priority = 1});
  api.settle();
  ASSERT_EQ(api.evictions.size(), 2U);
  for (const Order& order : std::vector<Order>(api.evictions)) {
    api.scheduler.answered(order.id, Answer::kDone, "", api.now);
    api.remove_pod(order.write.object.name);
  }
  api.settle();
  EXPECT_EQ(api.nodes("own").size(), 2U);
  EXPECT_LE(api.fullest(), 8);
}

TEST(LiveKai, WhatMayNotBeEvictedStaysWithinTheQuota) {
  KaiApi api;
  api.racks(1, 4);
  api.queue("top", {});
  api.queue("team", {.parent = "top", .quota = 8});
  api.group("firm", 2, R"("queue":"team","preemptibility":"non-preemptible")");
  api.members("firm", 2);
  api.settle();
  EXPECT_THAT(api.nodes("firm"), IsEmpty());
  EXPECT_THAT(api.written_to("PodGroup", "firm"), HasSubstr("NonPreemptibleOverQuota"));
  api.group("soft", 2, R"("queue":"team")");
  api.members("soft", 2);
  api.settle();
  EXPECT_EQ(api.nodes("soft").size(), 2U);
}

TEST(LiveKai, PodsAboveTheMinimumFollowWhenThereIsRoom) {
  KaiApi api;
  api.racks(1, 2);
  api.pod("other", {.gpus = 8, .scheduler = "default-scheduler", .node = "n0-1", .phase = "Running"});
  api.group("elastic", 1);
  api.members("elastic", 2);
  api.settle();
  EXPECT_EQ(api.nodes("elastic").size(), 1U);
  api.remove_pod("other");
  api.settle();
  EXPECT_EQ(api.nodes("elastic").size(), 2U);
}

constexpr const char* kHigh = R"("priorityClassName":"build-preemptible")";

// A gang of four pods that needs some, on four hosts, and one that asks for hosts of higher priority.
struct Elastic : KaiApi {
  explicit Elastic(int min) {
    racks(1, 4);
    group("elastic", min);
    members("elastic", 4, {.phase = "Running"});
    for (int i = 0; i < 4; ++i) {
      place(i);
    }
    settle();
  }
  void place(int i) {
    pod(fmt::format("elastic-{}", i), {.scheduler = "kai-scheduler",
                                       .node = fmt::format("n0-{}", i),
                                       .phase = "Running",
                                       .annotations = R"("pod-group-name":"elastic")"});
  }
  void ask(const std::string& name, int count) {
    group(name, count, kHigh);
    members(name, count, {.priority = 75});
    settle();
  }
  [[nodiscard]] std::set<std::string> evicted() const {
    std::set<std::string> names;
    for (const Order& order : evictions) {
      names.insert(order.write.object.name);
    }
    return names;
  }
  void leave() {
    for (const Order& order : std::vector<Order>(std::exchange(evictions, {}))) {
      scheduler.answered(order.id, Answer::kDone, "", now);
      remove_pod(order.write.object.name);
    }
    settle();
  }
};

TEST(LiveKai, AnEvictionTakesTheSurplusFirstAndTheGangGoesOn) {
  Elastic api(1);
  api.ask("first", 1);
  EXPECT_EQ(api.evicted(), std::set<std::string>{"elastic-3"});
  api.leave();
  EXPECT_EQ(api.nodes("first"), std::set<std::string>{"n0-3"});
  EXPECT_EQ(api.nodes("elastic").size(), 3U);
  api.ask("second", 2);
  EXPECT_EQ(api.evicted(), (std::set<std::string>{"elastic-1", "elastic-2"}));
  api.leave();
  EXPECT_EQ(api.nodes("second").size(), 2U);
  api.ask("third", 1);
  EXPECT_EQ(api.evicted(), std::set<std::string>{"elastic-0"}) << "only then its last one";
  EXPECT_LE(api.fullest(), 8);
}

TEST(LiveKai, BelowItsMinimumAGangGoesWhole) {
  Elastic api(3);
  api.ask("first", 2);
  EXPECT_EQ(api.evicted().size(), 4U);
  api.leave();
  EXPECT_EQ(api.nodes("first").size(), 2U);
}

TEST(LiveKai, WhileItsSurplusWaitsTheRestMayStillBeEvicted) {
  Elastic api(2);
  api.ask("first", 2);
  EXPECT_EQ(api.evicted(), (std::set<std::string>{"elastic-2", "elastic-3"}));
  api.leave();
  api.members("elastic", 2, {.node = "", .phase = "Pending"});
  api.place(0);
  api.place(1);
  api.pod("elastic-8", {.scheduler = "kai-scheduler", .annotations = R"("pod-group-name":"elastic")"});
  api.settle();
  EXPECT_TRUE(api.pods["elastic-8"].node.empty());
  api.ask("second", 1);
  EXPECT_EQ(api.evicted(), (std::set<std::string>{"elastic-0", "elastic-1"}));
  api.remove_pod("elastic-1");
  api.settle();
  EXPECT_TRUE(api.pods["elastic-8"].node.empty()) << "not while the rest leaves";
}

TEST(LiveKai, TwoThatAskAtOnceAreGivenDifferentPodsOfTheSurplus) {
  Elastic api(2);
  api.group("one", 1, kHigh);
  api.group("two", 1, kHigh);
  api.members("one", 1, {.priority = 75});
  api.members("two", 1, {.priority = 75});
  api.settle();
  EXPECT_EQ(api.evicted(), (std::set<std::string>{"elastic-2", "elastic-3"}));
  api.leave();
  EXPECT_EQ(api.nodes("one").size(), 1U);
  EXPECT_EQ(api.nodes("two").size(), 1U);
  EXPECT_EQ(api.nodes("elastic").size(), 2U);
}

TEST(LiveKai, WhatLeavesMakesRoomForOneAloneThoughItsGangFollows) {
  Elastic api(3);
  api.group("one", 1, kHigh);
  api.group("two", 2, kHigh);
  api.group("three", 2, kHigh);
  for (const auto& [name, count] : {std::pair("one", 1), std::pair("two", 2), std::pair("three", 2)}) {
    api.members(name, count, {.priority = 75});
  }
  api.settle();
  EXPECT_EQ(api.evicted().size(), 4U);
  EXPECT_EQ(api.evictions.size(), 4U) << "nobody is told twice";
  api.leave();
  EXPECT_EQ(api.nodes("one").size() + api.nodes("two").size() + api.nodes("three").size(), 3U);
  EXPECT_LE(api.fullest(), 8);
}

TEST(LiveKai, AQueueTakesBackTheSurplusAloneAndIsToldWhatIsLeft) {
  KaiApi api;
  api.racks(1, 4);
  api.queue("top", {});
  api.queue("lender", {.parent = "top", .quota = 16});
  api.queue("borrower", {.parent = "top", .quota = 16});
  api.group("elastic", 1, R"("queue":"borrower")");
  api.members("elastic", 4);
  api.settle();
  ASSERT_EQ(api.nodes("elastic").size(), 4U);
  api.group("own", 2, R"("queue":"lender")");
  api.members("own", 2, {.priority = 1});
  api.settle();
  ASSERT_EQ(api.evictions.size(), 2U);
  for (const Order& order : std::vector<Order>(api.evictions)) {
    api.scheduler.answered(order.id, Answer::kDone, "", api.now);
    api.remove_pod(order.write.object.name);
  }
  api.settle();
  EXPECT_EQ(api.nodes("own").size(), 2U);
  EXPECT_EQ(api.nodes("elastic").size(), 2U);
  api.settle();
  EXPECT_THAT(api.written_to("Queue", "borrower"),
              HasSubstr(R"("allocated":{"cpu":"0","memory":"0","nvidia.com/gpu":"16"})"));
}

TEST(LiveKai, NobodyOfAQueueIsPreemptedBeforeItHasRunForSoLong) {
  KaiApi api;
  api.racks(1, 1);
  api.queue("top", {.more = R"("preemptMinRuntime":"60s",)"});
  api.queue("team", {.parent = "top"});
  api.group("low", 1, R"("queue":"team")");
  api.pod("low-0", {.scheduler = "kai-scheduler",
                    .node = "n0-0",
                    .phase = "Running",
                    .annotations = R"("pod-group-name":"low")",
                    .started = "2023-11-14T22:13:20Z"});
  api.group("high", 1, fmt::format(R"("queue":"team",{})", kHigh));
  api.members("high", 1, {.priority = 75});
  for (api.now = kStart + seconds(1); api.now < kStart + seconds(59); api.pass(seconds(1))) {
    api.decide();
    EXPECT_THAT(api.evictions, IsEmpty()) << (api.now - kStart).count();
    ASSERT_TRUE(api.wake) << "it is looked at again when the time has come";
    EXPECT_LE(*api.wake, kStart + seconds(60));
  }
  api.now = kStart + seconds(60);
  api.decide();
  EXPECT_EQ(api.evictions.size(), 1U);
}

TEST(LiveKai, NobodyIsReclaimedBeforeItHasRunForSoLong) {
  KaiApi api;
  api.racks(1, 1);
  api.queue("top", {.more = R"("reclaimMinRuntime":"1h",)"});  // above both: that is not asked
  api.queue("lender", {.parent = "top", .quota = 8});
  api.queue("borrower",
            {.parent = "top", .quota = 0, .more = R"("reclaimMinRuntime":"30s","preemptMinRuntime":"1h",)"});
  api.group("low", 1, R"("queue":"borrower")");
  api.pod("low-0", {.scheduler = "kai-scheduler",
                    .node = "n0-0",
                    .phase = "Running",
                    .annotations = R"("pod-group-name":"low")",
                    .started = "2023-11-14T22:13:20Z"});
  api.group("own", 1, R"("queue":"lender")");
  api.members("own", 1);
  for (api.now = kStart + seconds(1); api.now < kStart + seconds(30); api.pass(seconds(1))) {
    api.decide();
    EXPECT_THAT(api.evictions, IsEmpty()) << (api.now - kStart).count();
  }
  api.decide();
  EXPECT_EQ(api.evictions.size(), 1U);
}

TEST(LiveKai, NobodyIsEvictedForAGangBeforeItsDelayIsOver) {
  KaiApi api;
  api.racks(1, 1);
  api.queue("top", {});
  api.queue("team", {.parent = "top"});
  api.group("low", 1, R"("queue":"team")");
  api.members("low", 1);
  api.settle();
  ASSERT_EQ(api.nodes("low").size(), 1U);
  api.now = kStart;
  api.send("scheduling.run.ai", "v2alpha2", "PodGroup",
           R"({"metadata":{"namespace":"default","name":"patient","uid":"k-p",
                           "creationTimestamp":"2023-11-14T22:13:20Z"},
               "spec":{"minMember":1,"queue":"team","priorityClassName":"build-preemptible",
                       "preemptionDelay":"40s"}})");
  api.members("patient", 1, {.priority = 75});
  for (; api.now < kStart + seconds(40); api.pass(seconds(1))) {
    api.decide();
    EXPECT_THAT(api.evictions, IsEmpty()) << (api.now - kStart).count();
    EXPECT_LE(api.wake.value_or(Time::max()), kStart + seconds(40));
  }
  const std::string told = api.written_to("PodGroup", "patient");
  EXPECT_THAT(told, HasSubstr(R"("reason":"PreemptionDelayNotElapsed")"));
  EXPECT_THAT(told, HasSubstr("it evicts nobody before 2023-11-14T22:14:00Z"));
  api.decide();
  EXPECT_EQ(api.evictions.size(), 1U);
}

TEST(LiveKai, TheStatusOfAQueueTellsWhatIsUsedAndAskedForBelowIt) {
  KaiApi api;
  api.racks(1, 2);
  api.queue("top", {});
  api.queue("team", {.parent = "top", .quota = 8, .limit = 8});
  api.group("runs", 1, R"("queue":"team","preemptibility":"non-preemptible")");
  api.members("runs", 1);
  api.settle();
  api.group("waits", 1, R"("queue":"team")");
  api.members("waits", 1);
  api.settle();
  const std::string told = api.written_to("Queue", "top");
  EXPECT_THAT(told, HasSubstr(R"("childQueues":["team"])"));
  EXPECT_THAT(told, HasSubstr(R"("allocatedNonPreemptible":{"cpu":"0","memory":"0","nvidia.com/gpu":"8"})"));
  EXPECT_THAT(told, HasSubstr(R"("requested":{"cpu":"0","memory":"0","nvidia.com/gpu":"16"})"));
  api.settle();
  EXPECT_THAT(api.written_to("Queue", ""), IsEmpty());
}

TEST(LiveKai, AGangBelowItsMinimumForLongerThanItsGraceIsEvictedWhole) {
  KaiApi api;
  api.racks(1, 2);
  api.pod("other", {.gpus = 8, .scheduler = "default-scheduler", .node = "n0-1", .phase = "Running"});
  api.group("torn", 2, R"("stalenessGracePeriod":"20s")");
  api.members("torn", 2);
  api.pod(
      "torn-0",
      {.scheduler = "kai-scheduler", .node = "n0-0", .phase = "Running", .annotations = R"("pod-group-name":"torn")"});
  for (int i = 0; i < 45; ++i) {
    api.decide();
    api.pass(seconds(1));
    if (i == 15) {
      EXPECT_THAT(api.evictions, IsEmpty());
    }
  }
  ASSERT_EQ(api.evictions.size(), 1U);
  EXPECT_EQ(api.evictions.front().write.object.name, "torn-0");
}

TEST(LiveKai, PodsLearnTheirRankAndDomainWithTheirBinding) {
  KaiApi api;
  api.racks(2, 2);
  api.group("train", 4, kInRack);
  api.members("train", 4, {.gpus = 4});
  api.decide();
  ASSERT_EQ(api.binds.size(), 4U);
  EXPECT_EQ(api.binds[0].write.object.name, "train-0");
  EXPECT_EQ(api.binds[0].write.body, R"({"gantree.dev/rank":"0","gantree.dev/topology-domain":"r0,n0-0",)"
                                     R"("gantree.dev/topology-levels":"rack,kubernetes.io/hostname"})");
  EXPECT_THAT(api.binds[3].write.body, HasSubstr(R"("gantree.dev/rank":"3","gantree.dev/topology-domain":"r0,n0-1")"));
}

TEST(LiveKai, APodThatComesLaterGetsTheRankThatIsFree) {
  KaiApi api;
  api.racks(1, 4);
  api.group("elastic", 1);
  for (const int rank : {0, 2}) {
    api.pod(fmt::format("elastic-{}", rank),
            {.scheduler = "kai-scheduler",
             .node = fmt::format("n0-{}", rank),
             .phase = "Running",
             .annotations = fmt::format(R"("pod-group-name":"elastic","gantree.dev/rank":"{}")", rank)});
  }
  api.pod("elastic-9", {.scheduler = "kai-scheduler", .annotations = R"("pod-group-name":"elastic")"});
  api.decide();
  ASSERT_EQ(api.binds.size(), 1U);
  EXPECT_THAT(api.binds.front().write.body, HasSubstr(R"("gantree.dev/rank":"1")"));
}

TEST(LiveKai, WhereKaiItselfRunsItsPodsAreLeftAlone) {
  KaiApi api;
  api.racks(1, 2);
  api.scheduler.leave_queues_alone(true);
  api.group("train", 1);
  api.members("train", 1);
  api.pod("lone", {.scheduler = "kai-scheduler"});
  api.settle();
  EXPECT_THAT(api.nodes("train"), IsEmpty());
  EXPECT_THAT(api.written_to("Pod", ""), IsEmpty()) << "nor are they told anything";
  api.scheduler.leave_queues_alone(false);
  api.settle();
  EXPECT_EQ(api.nodes("train").size(), 1U);
}

TEST(LiveKai, WhereKaisSchedulerIsNotOursItsPodsAreRefused) {
  FakeApi api(PodOptions{.schedulers = {"gantree"}});
  api.racks(1, 1);
  api.pod("marked", {.annotations = R"("kai.scheduler/topology":"net")"});
  api.run();
  api.pass(seconds(5));
  api.run();
  EXPECT_TRUE(api.pods["marked"].node.empty());
  EXPECT_THAT(api.written_to("Pod", "marked"), HasSubstr("in plans only"));
}

}  // namespace
}  // namespace gantree

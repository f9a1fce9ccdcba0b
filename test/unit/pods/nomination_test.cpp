#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// One rack of three hosts: two gangs of low priority on two of them, and a gang that needs all three.
struct Contest : FakeApi {
  Contest() {
    racks(1, 3);
    for (const std::string name : {"low", "other"}) {
      pod_group(name, 1);
      pods_of(name, 1, {.node = name == "low" ? "n0-0" : "n0-1", .phase = "Running", .priority = 1});
    }
  }
  void ask() {
    pod_group("high", 3);
    pods_of("high", 3, {.scheduler = "koord-scheduler", .priority = 10});
    pass(seconds(5));
    decide();
  }
  void going(const std::string& name) {
    PodSpec spec = pods[name];
    spec.deleting = true;
    pod(name, spec);
  }
  // What a process finds that starts after the one before it has evicted for the gang.
  void after_a_restart() {
    going("low-0");
    going("other-0");
    pod_group("high", 3);
    for (int i = 0; i < 3; ++i) {
      pod("high-" + std::to_string(i), {.gang = "high", .priority = 10, .nominated = "n0-" + std::to_string(i)});
    }
  }
};

TEST(Nomination, AllPodsOfAGangNameTheirNodesWhileTheyWaitForItsVictims) {
  Contest api;
  api.ask();
  ASSERT_EQ(api.evictions.size(), 2U);
  EXPECT_THAT(api.written_to("Pod", ""),
              AllOf(HasSubstr("Preempting"), HasSubstr(R"("nominatedNodeName":"n0-0")"),
                    HasSubstr(R"("nominatedNodeName":"n0-1")"), HasSubstr(R"("nominatedNodeName":"n0-2")")));
}

TEST(Nomination, VictimsAreToldWhoPreemptsThem) {
  Contest api;
  api.ask();
  ASSERT_EQ(api.evictions.size(), 2U);
  const Write& write = api.evictions.front().write;
  EXPECT_EQ(write.verb, WriteVerb::kPreempt);
  EXPECT_THAT(write.body, AllOf(HasSubstr(R"("type":"DisruptionTarget")"), HasSubstr(R"("status":"True")"),
                                HasSubstr(R"("reason":"PreemptionByScheduler")"),
                                HasSubstr("koord-scheduler: preempting to accommodate higher priority pods, "
                                          "preemptor: default/high, triggerpod: default/high-0")));
}

TEST(Nomination, IsTakenAwayWhereTheRoomIsNotHeldAnyMore) {
  Contest api;
  api.ask();
  for (int i = 0; i < 3; ++i) {
    PodSpec spec = api.pods["high-" + std::to_string(i)];
    spec.nominated = "n0-" + std::to_string(i);
    api.pod("high-" + std::to_string(i), spec);
  }
  // One of its pods goes, and it cannot start.
  api.remove_pod("high-0");
  api.others.clear();
  api.pass(seconds(5));
  api.decide();
  api.pass(seconds(5));
  api.decide();
  EXPECT_THAT(api.written_to("Pod", "high-1"), HasSubstr(R"("nominatedNodeName":null)"));
}

TEST(Nomination, IsTakenAwayAgainWhereTheFirstAttemptWasLost) {
  Contest api;
  api.pod_group("high", 2);
  api.pod("high-0", {.gang = "high", .priority = 0, .nominated = "n0-0"});
  api.decide();
  api.pass(seconds(5));
  api.decide();
  api.others.clear();
  for (int i = 0; i < 3; ++i) {
    api.pass(seconds(20));
    api.decide();
  }
  EXPECT_THAT(api.written_to("Pod", "high-0"), HasSubstr(R"("nominatedNodeName":null)"));
}

TEST(Nomination, KeepsTheRoomOverARestart) {
  Contest api;
  api.after_a_restart();
  // Nobody else gets the host that is free.
  api.pod_group("late", 1);
  api.pods_of("late", 1, {.priority = 5});
  api.run();
  EXPECT_EQ(api.bound("late"), 0);
  EXPECT_EQ(api.bound("high"), 0);
  EXPECT_THAT(api.evictions, IsEmpty());
  api.remove_pod("low-0");
  api.run();
  EXPECT_EQ(api.bound("high"), 0);
  api.remove_pod("other-0");
  api.run();
  EXPECT_EQ(api.bound("high"), 3);
  EXPECT_EQ(api.bound("late"), 0);
  EXPECT_THAT(api.evictions, IsEmpty());
  EXPECT_LE(api.fullest(), 8);
}

TEST(Nomination, IsWorthNothingWhereTheGangCouldNotStartWithIt) {
  Contest api;
  api.going("low-0");
  api.going("other-0");
  api.pod_group("high", 3);
  api.pod("high-0", {.gang = "high", .priority = 10, .nominated = "n0-0"});
  api.pod("high-1", {.gang = "high", .priority = 10, .nominated = "n0-2"});
  api.pod_group("late", 1);
  api.pods_of("late", 1, {.priority = 5});
  api.run();
  // Two pods of three would hold room for nothing.
  EXPECT_EQ(api.bound("late"), 1);
}

TEST(Nomination, IsWorthNothingOnAHostThatIsFull) {
  Contest api;
  api.pod_group("high", 1);
  api.pod("high-0", {.gang = "high", .priority = 0, .nominated = "n0-0"});
  api.run();
  EXPECT_EQ(api.pods["high-0"].node, "n0-2");
  EXPECT_LE(api.fullest(), 8);
}

TEST(Nomination, OfAnotherSchedulersPodIsRoomThatIsTaken) {
  Contest api;
  api.pod("theirs", {.scheduler = "default-scheduler", .priority = 1, .nominated = "n0-2"});
  api.pod_group("late", 1);
  api.pods_of("late", 1, {.priority = 1});
  api.run();
  EXPECT_EQ(api.bound("late"), 0);
  api.pod("theirs", {.scheduler = "default-scheduler", .priority = 1});
  api.run();
  EXPECT_EQ(api.pods["late-0"].node, "n0-2");
}

TEST(Nomination, OfAnotherSchedulersPodIsRoomNoMoreOnceThatHasEnded) {
  Contest api;
  api.pod("theirs", {.scheduler = "default-scheduler", .priority = 1, .nominated = "n0-2"});
  api.pod_group("late", 1);
  api.pods_of("late", 1, {.priority = 1});
  api.run();
  api.remove_pod("theirs");
  api.run();
  EXPECT_EQ(api.pods["late-0"].node, "n0-2");
}

TEST(Nomination, OfAPodOfLowerPriorityIsClearedForAGangThatEvicts) {
  Contest api;
  api.pod("theirs", {.scheduler = "default-scheduler", .priority = 1, .nominated = "n0-2"});
  api.ask();
  EXPECT_EQ(api.evictions.size(), 2U);
  EXPECT_THAT(api.written_to("Pod", "theirs"), HasSubstr(R"("nominatedNodeName":null)"));
  // Until that is seen the room stays the gang's.
  api.pod("theirs", {.scheduler = "default-scheduler", .priority = 1, .nominated = "n0-2"});
  api.remove_pod("low-0");
  api.remove_pod("other-0");
  api.run();
  EXPECT_EQ(api.bound("high"), 3);
}

TEST(Nomination, OfAPodOfHigherPriorityIsRespectedByAGangThatEvicts) {
  Contest api;
  api.pod("theirs", {.scheduler = "default-scheduler", .priority = 100, .nominated = "n0-2"});
  api.ask();
  EXPECT_THAT(api.evictions, IsEmpty());
  EXPECT_THAT(api.written_to("Pod", "high-0"), Not(HasSubstr("nominatedNodeName")));
}

}  // namespace
}  // namespace gantree

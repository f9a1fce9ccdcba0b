#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two nodes: one has a gang of low priority, the other one of higher.
struct Crowd : FakeApi {
  explicit Crowd(PodOptions options = {}) : FakeApi(std::move(options)) {
    racks(1, 2);
    pod_group("low", 1);
    pods_of("low", 1, {.node = "n0-0", .phase = "Running", .priority = 1});
    pod_group("mid", 1);
    pods_of("mid", 1, {.node = "n0-1", .phase = "Running", .priority = 5});
  }
  void ask(int priority, int count = 1) {
    pod_group("high", count);
    pods_of("high", count, {.priority = priority});
    pass(seconds(5));
    decide();
  }
  // The API server has taken an eviction: the pod is going, then gone.
  void going(const std::string& name) {
    PodSpec spec = pods[name];
    spec.deleting = true;
    pod(name, spec);
  }
};

TEST(LiveEviction, TheLowestGoesAndTheRoomIsKeptForThePreemptor) {
  Crowd api;
  api.ask(10);
  ASSERT_EQ(api.evictions.size(), 1U);
  EXPECT_EQ(api.evictions.front().write.object.name, "low-0");
  EXPECT_EQ(api.evictions.front().write.object.uid, "u-low-0");
  EXPECT_THAT(api.binds, IsEmpty());
  EXPECT_THAT(api.written_to("Pod", "high-0"), HasSubstr("Preempting"));
  api.going("low-0");
  api.decide();
  EXPECT_THAT(api.binds, IsEmpty());
  // Someone else asks in between, and even of higher priority: there is room for one, and it is given away.
  api.pod("late", {.gpus = 8, .priority = 1});
  api.remove_pod("low-0");
  api.run();
  EXPECT_EQ(api.pods["high-0"].node, "n0-0");
  EXPECT_TRUE(api.pods["late"].node.empty());
  EXPECT_LE(api.fullest(), 8);
}

TEST(LiveEviction, RoomOfAGangThatLeavesIsGivenToOneAlone) {
  Crowd api;
  api.ask(10);
  ASSERT_EQ(api.evictions.size(), 1U);
  // Another asks before anybody has seen that the first one's victim leaves.
  api.pod_group("next", 1);
  api.pods_of("next", 1, {.priority = 3});
  for (int i = 0; i < 5; ++i) {
    api.pass(seconds(1));
    api.decide();
  }
  EXPECT_EQ(api.evictions.size(), 1U);
  api.remove_pod("low-0");
  api.run();
  EXPECT_EQ(api.bound("high"), 1);
  EXPECT_EQ(api.bound("next"), 0);
  EXPECT_LE(api.fullest(), 8);
}

TEST(LiveEviction, NobodyGoesWhereThatWouldNotBeEnough) {
  Crowd api;
  api.ask(3, 2);
  EXPECT_THAT(api.evictions, IsEmpty());
}

TEST(LiveEviction, EqualsAreLeftAlone) {
  Crowd api;
  api.ask(1);
  EXPECT_THAT(api.evictions, IsEmpty());
}

TEST(LiveEviction, NobodyGoesWhereItIsSwitchedOff) {
  PodOptions options;
  options.preemption = false;
  Crowd api(options);
  api.ask(10);
  EXPECT_THAT(api.evictions, IsEmpty());
}

TEST(LiveEviction, GangsGoWhole) {
  FakeApi api;
  api.racks(1, 2);
  api.pod_group("low", 2);
  for (int i = 0; i < 2; ++i) {
    const std::string number = std::to_string(i);
    api.pod("low-" + number, {.gang = "low", .node = "n0-" + number, .phase = "Running", .priority = 1});
  }
  api.pod("high", {.gpus = 8, .priority = 10});
  api.pass(seconds(5));
  api.decide();
  EXPECT_EQ(api.evictions.size(), 2U);
}

TEST(LiveEviction, WhoStartsAnewWaitsForThoseThatAreGoingAndEvictsNobodyElse) {
  Crowd api;
  api.going("low-0");
  api.ask(10);
  EXPECT_THAT(api.evictions, IsEmpty());
  EXPECT_THAT(api.binds, IsEmpty());
  api.remove_pod("low-0");
  api.run();
  EXPECT_EQ(api.pods["high-0"].node, "n0-0");
}

TEST(LiveEviction, TheRoomIsOpenToAllAgainWhenThePreemptorGoes) {
  Crowd api;
  api.ask(10);
  api.going("low-0");
  api.remove_pod("high-0");
  api.remove_pod("low-0");
  api.pod("late", {.gpus = 8, .priority = 1});
  api.run();
  EXPECT_EQ(api.pods["late"].node, "n0-0");
}

// A gang that is evicted time and again, as often as it finds a new host, while nothing ends.
struct Restless : FakeApi {
  void evict(int round) {
    const std::string number = std::to_string(round);
    node("n" + number, R"("rack":"r")", 8);
    make_anew(number);
    run();
    ASSERT_EQ(pods["mid-0"].node, "n" + number);
    pod_group("high" + number, 1);
    pods_of("high" + number, 1, {.priority = 10});
    pass(seconds(5));
    decide();
    ASSERT_EQ(evictions.size(), 1U);
    ASSERT_EQ(evictions.front().write.object.name, "mid-0");
    evictions.clear();
    remove_pod("mid-0");
    run();
    ASSERT_EQ(pods["high" + number + "-0"].node, "n" + number);
  }
  void make_anew(const std::string& uid) {
    pod_group("mid", 1);
    uids["mid-0"] = uid;
    pods_of("mid", 1, {.priority = 5});
  }
  // How many leave for it, where one of lower priority has all that it needs.
  std::size_t evicted_for_it() {
    node("low", R"("rack":"r")", 8);
    pod_group("low", 1);
    pods_of("low", 1, {.node = "low", .phase = "Running", .priority = 1});
    make_anew("last");
    wait();
    return evictions.size();
  }
  void wait() {
    for (int i = 0; i < 10; ++i) {
      pass(seconds(5));
      decide();
    }
  }
};

TEST(LiveEviction, WhoWasEvictedTwiceStillEvicts) {
  Restless api;
  api.evict(1);
  api.evict(2);
  EXPECT_EQ(api.evicted_for_it(), 1U);
}

TEST(LiveEviction, WhoWasEvictedThreeTimesEvictsNobodyUntilAGangHasEnded) {
  Restless api;
  api.evict(1);
  api.evict(2);
  api.evict(3);
  EXPECT_EQ(api.evicted_for_it(), 0U);
  // Something small ends elsewhere: it leaves too little room to start without an eviction.
  api.node("small", R"("rack":"r")", 1);
  api.pod("short", {.gpus = 1, .node = "small", .phase = "Running", .priority = 50});
  api.decide();
  api.pod("short", {.gpus = 1, .node = "small", .phase = "Succeeded", .priority = 50});
  api.wait();
  ASSERT_EQ(api.evictions.size(), 1U);
  EXPECT_EQ(api.evictions.front().write.object.name, "low-0");
}

void budget(FakeApi& api, int allowed) {
  api.send(
      "policy", "v1", "PodDisruptionBudget",
      R"({"metadata":{"namespace":"default","name":"b"},"spec":{"selector":{"matchLabels":{"pod-group.scheduling.sigs.k8s.io":"low"}}},
               "status":{"disruptionsAllowed":)" +
          std::to_string(allowed) + "}}");
}

TEST(LiveEviction, AGangThatABudgetProtectsIsNotBroken) {
  FakeApi api;
  api.racks(1, 2);
  api.pod_group("low", 2);
  for (int i = 0; i < 2; ++i) {
    const std::string number = std::to_string(i);
    api.pod("low-" + number, {.gang = "low", .node = "n0-" + number, .phase = "Running", .priority = 1});
  }
  budget(api, 1);
  api.pod("high", {.gpus = 8, .priority = 10});
  api.pass(seconds(5));
  api.decide();
  EXPECT_THAT(api.evictions, IsEmpty());
  EXPECT_EQ(api.scheduler.cluster().node_of("default/high"), "");
  budget(api, 2);
  api.pass(seconds(5));
  api.decide();
  EXPECT_EQ(api.evictions.size(), 2U);
}

TEST(LiveEviction, TheEvictedAreToldSo) {
  Crowd api;
  api.ask(10);
  api.going("low-0");
  api.remove_pod("low-0");
  api.run();
  api.pass(seconds(10));
  api.run();
  EXPECT_THAT(api.written_to("PodGroup", "low"), HasSubstr("its pods were evicted"));
}

TEST(LiveEviction, ARoomThatIsNoLongerGoodIsNotBound) {
  Crowd api;
  api.ask(10);
  api.going("low-0");
  api.decide();
  api.scheduler.removed("", "Node", "", "n0-0", api.now);
  api.remove_pod("low-0");
  api.run();
  EXPECT_TRUE(api.pods["high-0"].node.empty());
}

TEST(LiveEviction, AVictimThatComesBackUnderItsNameHasGone) {
  Crowd api;
  api.ask(10);
  api.remove_pod("low-0");
  api.uids["low-0"] = "another";
  api.pod("low-0", {.gang = "low", .priority = 1});
  api.run();
  EXPECT_EQ(api.pods["high-0"].node, "n0-0");
}

TEST(LiveEviction, AnEvictionIsGivenUpWithTheGangThatWantedIt) {
  Crowd api;
  api.ask(10);
  api.scheduler.answered(api.evictions.front().id, Answer::kRefused, "budget", api.now);
  api.evictions.clear();
  api.remove_pod("high-0");
  api.decide();
  api.pass(seconds(60));
  api.decide();
  EXPECT_THAT(api.evictions, IsEmpty());
}

TEST(LiveEviction, AnEvictionThatIsForbiddenForNowIsTriedAgain) {
  Crowd api;
  api.ask(10);
  ASSERT_EQ(api.evictions.size(), 1U);
  api.scheduler.answered(api.evictions.front().id, Answer::kRefused, "budget", api.now);
  api.evictions.clear();
  api.pass(seconds(2));
  api.decide();
  EXPECT_EQ(api.evictions.size(), 1U);
}

}  // namespace
}  // namespace gantree

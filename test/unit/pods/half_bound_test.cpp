#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr seconds kGiveBackAfter{30};
const std::string kOnceWhole = R"({"phase":"PreScheduling","conditions":[{"type":"OnceSatisfied","status":"True",
    "reason":"HadMinimum","message":"","lastTransitionTime":"2023-11-14T22:13:20Z"}]})";

// Four hosts. Gangs a and b of four pods, four GPUs each, of which a crash left two bound, one a host; others took half
// of as many hosts.
struct Crash : FakeApi {
  explicit Crash(int taken = 3, PodOptions options = {}) : FakeApi(std::move(options)) {
    racks(1, 4);
    half_bound("a", 0);
    half_bound("b", 2);
    for (int i = 0; i < taken; ++i) {
      const std::string number = std::to_string(i);
      pod("other-" + number, {.gpus = 4, .scheduler = "default-scheduler", .node = "n0-" + number, .phase = "Running"});
    }
  }
  void half_bound(const std::string& gang, int first_host, const std::string& annotations = "",
                  const std::string& status = "{}") {
    pod_group(gang, 4, annotations, status);
    for (int i = 0; i < 4; ++i) {
      PodSpec spec{.gang = gang, .gpus = 4};
      if (i < 2) {
        spec.node = "n0-" + std::to_string(first_host + i);
        spec.phase = "Running";
      }
      pod(gang + "-" + std::to_string(i), spec);
    }
  }
  std::vector<std::string> evicted() const {
    std::vector<std::string> names;
    for (const Order& order : evictions) {
      names.push_back(order.write.object.name);
    }
    return names;
  }
  // The API server does what it was told; bare pods do not come back.
  void carry_out_evictions() {
    for (const Order& order : std::exchange(evictions, {})) {
      scheduler.answered(order.id, Answer::kDone, "", now);
      if (pods.contains(order.write.object.name)) {
        remove_pod(order.write.object.name);
      }
    }
  }
  void wait(seconds time) {
    for (seconds passed{0}; passed < time; passed += seconds(1)) {
      pass(seconds(1));
      run();
    }
  }
};

TEST(HalfBound, TheLaterOfTwoGivesItsRoomBackAndTheFirstCompletesWithIt) {
  Crash api;
  api.wait(kGiveBackAfter - seconds(2));
  EXPECT_THAT(api.evicted(), IsEmpty());
  api.wait(seconds(3));
  EXPECT_THAT(api.evicted(), UnorderedElementsAre("b-0", "b-1"));
  EXPECT_EQ(api.bound("a"), 2);
  api.carry_out_evictions();
  api.wait(seconds(2));
  EXPECT_EQ(api.bound("a"), 4);
  EXPECT_EQ(api.bound("b"), 0);
  EXPECT_LE(api.fullest(), 8);
  api.wait(5 * kGiveBackAfter);
  EXPECT_THAT(api.evicted(), IsEmpty());
}

TEST(HalfBound, ThePodsThatLeaveAreTold) {
  Crash api;
  api.wait(kGiveBackAfter + seconds(1));
  EXPECT_THAT(api.written_to("Event", ""), HasSubstr("gives its room back"));
}

TEST(HalfBound, TheGangOfHigherPriorityCompletes) {
  Crash api;
  for (int i = 0; i < 4; ++i) {
    PodSpec spec = api.pods["b-" + std::to_string(i)];
    spec.priority = 10;
    api.pod("b-" + std::to_string(i), spec);
  }
  api.wait(kGiveBackAfter + seconds(1));
  EXPECT_THAT(api.evicted(), UnorderedElementsAre("a-0", "a-1"));
}

TEST(HalfBound, WhereEvenTheRoomOfTheOthersIsNotEnoughAllGiveBack) {
  Crash api(4);
  api.pod("more", {.gpus = 4, .scheduler = "default-scheduler", .node = "n0-3", .phase = "Running"});
  api.remove_pod("b-1");  // its room is taken by the one above
  api.pod("b-1", {.gang = "b", .gpus = 4});
  api.wait(kGiveBackAfter + seconds(1));
  EXPECT_THAT(api.evicted(), UnorderedElementsAre("a-0", "a-1", "b-0"));
  api.carry_out_evictions();
  api.wait(seconds(5));
  EXPECT_EQ(api.bound("a"), 0);
  EXPECT_EQ(api.bound("b"), 0);
}

TEST(HalfBound, WhoCanBeCompletedIsNotEvicted) {
  Crash api(0);
  api.wait(5 * kGiveBackAfter);
  EXPECT_THAT(api.evicted(), IsEmpty());
  EXPECT_EQ(api.bound("a"), 4);
  EXPECT_EQ(api.bound("b"), 4);
}

TEST(HalfBound, WhoHadItsMinimumOnceKeepsItsRoom) {
  Crash api;
  api.pod_group("a", 4, "", kOnceWhole);
  api.pod_group("b", 4, "", kOnceWhole);
  api.wait(10 * kGiveBackAfter);
  EXPECT_THAT(api.evicted(), IsEmpty());
  EXPECT_EQ(api.bound("a"), 2 + 1);  // and takes what there is
}

TEST(HalfBound, WhoseWaitingPodsAreYoungerThanItsStartHadItsMinimumOnce) {
  Crash api;
  for (const std::string gang : {"a", "b"}) {
    for (int i = 0; i < 4; ++i) {
      const std::string name = gang + "-" + std::to_string(i);
      PodSpec spec = api.pods[name];
      spec.created = i < 2 ? "2023-11-14T20:00:00Z" : "2023-11-14T21:00:00Z";
      spec.started = i < 2 ? "2023-11-14T20:00:10Z" : "";
      api.pod(name, spec);
    }
  }
  api.wait(10 * kGiveBackAfter);
  EXPECT_THAT(api.evicted(), IsEmpty());
}

TEST(HalfBound, WhatIsOnRecordCountsMoreThanTheAgeOfPods) {
  Crash api;
  const std::string never = R"({"conditions":[{"type":"OnceSatisfied","status":"False","reason":"NotYet","message":"",
      "lastTransitionTime":"2023-11-14T22:13:20Z"}]})";
  for (const std::string gang : {"a", "b"}) {
    api.pod_group(gang, 4, "", never);
    PodSpec spec = api.pods[gang + "-0"];
    spec.started = "2023-11-14T20:00:10Z";
    api.pod(gang + "-0", spec);
    api.remove_pod(gang + "-3");
    api.pod(gang + "-3", {.gang = gang, .gpus = 4, .created = "2023-11-14T21:00:00Z"});
  }
  api.wait(kGiveBackAfter + seconds(1));
  EXPECT_THAT(api.evicted(), UnorderedElementsAre("b-0", "b-1"));
}

TEST(HalfBound, WhoWasScaledDownKeepsItsRoom) {
  Crash api;
  for (const std::string gang : {"a", "b"}) {
    api.remove_pod(gang + "-2");
    api.remove_pod(gang + "-3");
  }
  api.wait(10 * kGiveBackAfter);
  EXPECT_THAT(api.evicted(), IsEmpty());
}

TEST(HalfBound, OfAGroupAllGiveBack) {
  FakeApi api;
  api.racks(1, 2);
  const std::string group = R"("gang.scheduling.koordinator.sh/groups":"[\"default/a\",\"default/b\"]")";
  for (const std::string gang : {"a", "b"}) {
    api.pod_group(gang, 1, group);
    api.pods_of(gang, 1, {.node = gang == "a" ? "n0-0" : "", .phase = gang == "a" ? "Running" : "Pending"});
  }
  api.pod("other", {.scheduler = "default-scheduler", .node = "n0-1", .phase = "Running"});
  api.pass(seconds(1));
  api.run();
  api.pass(kGiveBackAfter + seconds(1));
  api.run();
  ASSERT_EQ(api.evictions.size(), 1U);
  EXPECT_EQ(api.evictions.front().write.object.name, "a-0");
}

// Only-waiting counts nobody who runs, so such a gang cannot be completed even where there is room.
TEST(HalfBound, WhoCannotBeCompletedByItsPolicyStartsAnew) {
  FakeApi api;
  api.racks(1, 4);
  api.pod_group("a", 2, R"("gang.scheduling.koordinator.sh/match-policy":"only-waiting")");
  api.pods_of("a", 2);
  PodSpec spec = api.pods["a-0"];
  spec.node = "n0-0";
  api.pod("a-0", spec);
  api.run();
  EXPECT_EQ(api.bound("a"), 1);
  api.pass(kGiveBackAfter + seconds(1));
  api.run();
  ASSERT_EQ(api.evictions.size(), 1U);
  // Who made the pod makes another.
  api.remove_pod("a-0");
  api.pod("a-0b", {.gang = "a"});
  api.pass(seconds(1));
  api.run();
  EXPECT_EQ(api.bound("a"), 2);
}

TEST(HalfBound, AnEvictionThatABudgetForbidsIsAskedForAgain) {
  Crash api;
  api.wait(kGiveBackAfter + seconds(1));
  ASSERT_EQ(api.evictions.size(), 2U);
  for (const Order& order : std::exchange(api.evictions, {})) {
    api.scheduler.answered(order.id, Answer::kRefused, "budget", api.now);
  }
  api.wait(seconds(5));
  EXPECT_THAT(api.evicted(), Not(IsEmpty()));
  EXPECT_EQ(api.bound("b"), 2);
}

// A budget that never lets the later one go: the first does not wait for it for ever.
TEST(HalfBound, WhereTheLaterOneCannotLeaveTheFirstGivesBackInTheEnd) {
  Crash api;
  api.wait(kGiveBackAfter + seconds(1));
  for (int i = 0; i < 200; ++i) {
    for (const Order& order : std::exchange(api.evictions, {})) {
      const bool of_a = order.write.object.name.starts_with("a");
      api.scheduler.answered(order.id, of_a ? Answer::kDone : Answer::kRefused, "budget", api.now);
      if (of_a) {
        api.remove_pod(order.write.object.name);
      }
    }
    api.wait(seconds(1));
  }
  EXPECT_NE(api.bound("a"), 2);
}

TEST(HalfBound, ARestartComesToTheSameEnd) {
  Crash api;
  api.wait(kGiveBackAfter - seconds(5));
  Crash again;
  again.now = api.now;
  again.wait(kGiveBackAfter + seconds(1));
  EXPECT_THAT(again.evicted(), UnorderedElementsAre("b-0", "b-1"));
}

TEST(HalfBound, WhatAPodGroupHadOnceIsKeptInItsStatusUntilAllHaveLeft) {
  FakeApi api;
  api.racks(1, 2);
  api.pod_group("g", 2);
  api.pass(seconds(5));
  api.run();
  EXPECT_THAT(api.written_to("PodGroup", "g"), HasSubstr(R"("status":"False","type":"OnceSatisfied")"));
  api.pods_of("g", 2);
  api.run();
  for (const std::string name : {"g-0", "g-1"}) {
    PodSpec spec = api.pods[name];
    spec.phase = "Running";
    api.pod(name, spec);
  }
  api.pass(seconds(15));
  api.run();
  EXPECT_THAT(api.written_to("PodGroup", "g"), HasSubstr(R"("status":"True","type":"OnceSatisfied")"));
  api.pod_group("g", 2, "", kOnceWhole);
  api.remove_pod("g-0");
  api.pass(seconds(15));
  api.run();
  EXPECT_THAT(api.written_to("PodGroup", "g"), Not(HasSubstr(R"("status":"False","type":"OnceSatisfied")")));
  api.remove_pod("g-1");
  api.pass(seconds(15));
  api.run();
  EXPECT_THAT(api.written_to("PodGroup", "g"), HasSubstr(R"("status":"False","type":"OnceSatisfied")"));
}

}  // namespace
}  // namespace gantree

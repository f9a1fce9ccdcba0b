// What is seldom: objects that others made, changes in the wrong moment, leaders that come back.
#include <gmock/gmock.h>

#include "job_world.h"
#include "kueue/pod_reader.h"

namespace gantree::kueue {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* const kGroupName = "kueue.x-k8s.io";

// A job of twelve pods on two hosts, all of which run; its Workload.
std::string runs_on_two_hosts(JobWorld& world) {
  auto [workload, start] = world.admitted("train", {.pods = 12});
  world.done(start);
  world.job("train", {.pods = 12, .suspended = false, .started = true});
  for (int rank = 0; rank < 12; ++rank) {
    const std::string node = rank < 8 ? "n0-0" : "n0-1";
    world.pod(workload, fmt::format("train-{}", rank),
              {.rank = rank, .gated = false, .selector = node, .node = node, .phase = "Running"});
  }
  world.settle();
  return workload;
}

void lose(JobWorld& world, const std::string& node) {
  world.scheduler.removed("", "Node", "", node, world.now);
  world.controller.node_changed(node);
}

TEST(OddEvents, AWorkloadThatNamesNoQueueWaitsAndSaysSo) {
  JobWorld world(1, 1, 8);
  world.send(
      kGroupName, "v1beta2", "Workload",
      R"({"metadata":{"namespace":"default","name":"w","uid":"w-w","resourceVersion":"7"},"spec":{"active":true,)"
      R"("podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]}})");
  static_cast<void>(world.step());
  const Entry& entry = world.controller.workloads().at("default/w");
  EXPECT_FALSE(entry.admission());
  ASSERT_TRUE(entry.verdict);
  EXPECT_THAT(entry.verdict->message, HasSubstr("names no queue"));
}

TEST(OddEvents, AWorkloadThatEndsWhileItIsEvictedIsNotWaitedFor) {
  JobWorld world(1, 1, 8);
  const auto leaves = [&](const std::string& name, const std::string& conditions) {
    world.send(kGroupName, "v1beta2", "Workload",
               fmt::format(R"({{"metadata":{{"namespace":"default","name":"{0}","uid":"w-{0}","resourceVersion":"7"}},)"
                           R"("spec":{{"queueName":"main","podSets":[{{"name":"main","count":1,"template":{{"spec":{{)"
                           R"("containers":[{{"name":"c"}}]}}}}}}]}},"status":{{"conditions":[{1}],"admission":{{)"
                           R"("clusterQueue":"q","podSetAssignments":[{{"name":"main","count":1}}]}}}}}})",
                           name, conditions));
    return world.controller.workloads().at("default/" + name).leaves();
  };
  const std::string evicted = R"({"type":"Evicted","status":"True","reason":"Preempted"})";
  EXPECT_TRUE(leaves("evicted", evicted));
  EXPECT_FALSE(leaves("over", evicted + R"(,{"type":"Finished","status":"True","reason":"Succeeded"})"));
}

TEST(OddEvents, AnEmptyHostThatGoesTakesNothingFromItsJob) {
  JobWorld world(1, 2, 16);
  const std::string workload = runs_on_two_hosts(world);
  for (int rank = 8; rank < 12; ++rank) {
    world.pod(workload, fmt::format("train-{}", rank),
              {.rank = rank, .gated = false, .selector = "n0-1", .node = "n0-1", .phase = "Succeeded"});
  }
  world.job("train", {.pods = 12,
                      .suspended = false,
                      .started = true,
                      .status = R"(,"succeeded":4,"active":8,"completedIndexes":"8-11")"});
  world.settle();
  for (int rank = 8; rank < 12; ++rank) {
    world.remove("Pod", fmt::format("train-{}", rank));
  }
  lose(world, "n0-1");
  world.settle();
  EXPECT_THAT(world.status(workload, "conditions"), Not(HasSubstr("NodeFailures")));
  EXPECT_NE(world.status(workload, "admission"), "");
}

TEST(OddEvents, AHostThatGoesWithItsPodsIsMissed) {
  JobWorld world(1, 2, 16);
  const std::string workload = runs_on_two_hosts(world);
  for (int rank = 8; rank < 12; ++rank) {
    world.remove("Pod", fmt::format("train-{}", rank));
  }
  lose(world, "n0-1");
  world.settle();
  EXPECT_THAT(world.status(workload, "conditions"), HasSubstr("NodeFailures"));
}

TEST(OddEvents, AHostThatGoesWhileTheQueueIsHeldEvictsNobody) {
  JobWorld world(1, 2, 16);
  const std::string workload = runs_on_two_hosts(world);
  world.send(kGroupName, "v1beta2", "LocalQueue",
             R"({"metadata":{"namespace":"default","name":"main"},"spec":{"clusterQueue":"q","stopPolicy":"Hold"}})");
  for (int rank = 8; rank < 12; ++rank) {
    world.remove("Pod", fmt::format("train-{}", rank));
  }
  lose(world, "n0-1");
  world.settle();
  EXPECT_THAT(world.status(workload, "conditions"), Not(HasSubstr("NodeFailures")));
}

TEST(OddEvents, WhatWasAssumedBeforeAnotherLedIsDecidedAnew) {
  JobWorld world(1, 1, 4);
  world.job("a", {});
  world.carry_out(world.only("Workload"));
  const Order admission = world.only("Workload");
  world.controller.answered(admission.id, Answer::kUncertain, "", world.now);
  world.controller.stop_leading();
  // Another leads, and gives the quota to somebody else.
  world.job("b", {});
  world.controller.stand_by();
  world.send(kGroupName, "v1beta2", "Workload",
             R"({"metadata":{"namespace":"default","name":"taken","uid":"w-taken","resourceVersion":"99"},"spec":{)"
             R"("queueName":"main","podSets":[{"name":"main","count":4,"template":{"spec":{"containers":[{"name":"c",)"
             R"("resources":{"requests":{"nvidia.com/gpu":"1"}}}]}}}]},"status":{"admission":{"clusterQueue":"q",)"
             R"("podSetAssignments":[{"name":"main","count":4,"flavors":{"nvidia.com/gpu":"f"},)"
             R"("resourceUsage":{"nvidia.com/gpu":"4"}}]}}})");
  world.controller.stand_by();
  world.now += std::chrono::seconds(60);
  for (int i = 0; i < 20; ++i) {
    for (const Order& order : world.step()) {
      EXPECT_THAT(order.write.body, Not(HasSubstr(R"("admission":{)"))) << order.write.object.name;
      world.done(order);
    }
    world.now += std::chrono::seconds(1);
  }
}

// Another job wants the quota of one whose admission was ordered.
struct Contest {
  JobWorld world{1, 1, 4};
  Order admission;

  Contest() {
    world.job("a", {});
    world.carry_out(world.only("Workload"));
    admission = world.only("Workload");
  }
  void lose_lease() {
    world.controller.stop_leading();
    world.controller.stand_by();
  }
  [[nodiscard]] bool holds() const {
    const std::string& name = admission.write.object.name;
    return !world.controller.workloads().at("default/" + name).used.empty();
  }
  void answer(Answer answer) { world.controller.answered(admission.id, answer, "", world.now); }
};

TEST(OddEvents, AnAdmissionThatWasAnsweredStaysBookedThoughTheLeaseIsLostBeforeItsEventComes) {
  for (const Answer answer : {Answer::kDone, Answer::kUncertain}) {
    for (const bool before : {true, false}) {
      SCOPED_TRACE(
          fmt::format("answer {} {} the lease is lost", static_cast<int>(answer), before ? "before" : "after"));
      Contest contest;
      if (before) {
        contest.answer(answer);
      }
      contest.lose_lease();
      if (!before) {
        contest.answer(answer);
        contest.world.controller.stand_by();
      }
      EXPECT_TRUE(contest.holds());
    }
  }
}

TEST(OddEvents, AnAdmissionThatIsStillOnItsWayStaysBookedWhenTheLeaseIsHadAgain) {
  Contest contest;
  contest.lose_lease();
  contest.world.controller.note_under_way();
  contest.world.controller.start_leading();
  contest.world.job("b", {});
  for (const Order& order : contest.world.step()) {
    EXPECT_THAT(order.write.body, Not(HasSubstr(R"("admission":{)"))) << order.write.object.name;
  }
  EXPECT_TRUE(contest.holds());
}

TEST(OddEvents, AnAdmissionThatMayHaveBeenDoneAfterWhatTheWatchesHaveShownStaysBooked) {
  Contest contest;
  contest.lose_lease();
  contest.world.controller.note_under_way();
  contest.answer(Answer::kUncertain);
  contest.world.controller.start_leading();
  contest.world.controller.stand_by();
  EXPECT_TRUE(contest.holds());
}

TEST(OddEvents, AnAdmissionThatNobodyHasSeenIsGivenUpWhenTheLeaseIsHadAgain) {
  Contest contest;
  contest.answer(Answer::kUncertain);
  contest.lose_lease();
  contest.world.controller.start_leading();
  contest.world.controller.stand_by();
  EXPECT_FALSE(contest.holds());
}

TEST(OddEvents, AnAdmissionThatMayHaveBeenDoneIsNotUndoneByARefusal) {
  Contest contest;
  contest.answer(Answer::kUncertain);
  contest.world.now += std::chrono::seconds(20);
  std::vector<Order> again = contest.world.step();
  ASSERT_EQ(again.size(), 1U);
  contest.world.controller.answered(again.front().id, Answer::kRefused, "", contest.world.now);
  contest.world.job("b", {});
  static_cast<void>(contest.world.step());
  EXPECT_TRUE(contest.holds());
}

TEST(OddEvents, WhoeverTakesOverLooksAtAllThatCameBefore) {
  JobWorld world(1, 1, 8);
  world.job("train", {});
  world.controller.stand_by();
  EXPECT_EQ(world.only("Workload").write.verb, WriteVerb::kCreate);
}

TEST(OddEvents, AWorkloadThatLosesItsOwnerAndGoesIsForgotten) {
  JobWorld world(1, 1, 8);
  auto [workload, start] = world.admitted("train");
  world.done(start);
  world.send(
      kGroupName, "v1beta2", "Workload",
      fmt::format(R"({{"metadata":{{"namespace":"default","name":"{0}","uid":"w-{0}","resourceVersion":"9999"}},)"
                  R"("spec":{{"queueName":"main","active":true,"podSets":[{{"name":"main","count":1,)"
                  R"("template":{{"spec":{{"containers":[{{"name":"c"}}]}}}}}}]}}}})",
                  workload));
  world.remove("Workload", workload);
  world.job("train", {.suspended = false, .started = true});
  static_cast<void>(world.step());
  EXPECT_TRUE(world.controller.workloads().empty());
}

TEST(OddEvents, APodOnItsWayToAHostThatStaysKeepsItsSlot) {
  PodFamily scheduler{PodOptions{}};
  Account account(scheduler.cluster());
  Ledger ledger(account);
  PodReader reader(ledger);
  const auto admitted = [](const std::vector<std::string>& hosts) {
    Admission admission;
    SetAssignment& set = admission.sets.emplace_back();
    set.name = "main";
    set.topology.emplace();
    set.topology->levels = {"kubernetes.io/hostname"};
    for (const std::string& host : hosts) {
      set.topology->domains.push_back({.values = {host}, .count = 1});
    }
    return std::optional(admission);
  };
  for (const std::size_t slot : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    const std::string key = fmt::format("ns/p{}", slot);
    StartedPod& pod = ledger.pods[key];
    pod.workload = "ns/w";
    pod.set = "main";
    pod.slot = slot;
    pod.asked = true;
    ledger.pods_by_workload["ns/w"].insert(key);
  }
  reader.move_slots("ns/w", admitted({"a", "b", "c"}), admitted({"d", "c", "b"}));
  EXPECT_FALSE(ledger.pods.at("ns/p0").slot);
  EXPECT_FALSE(ledger.pods.at("ns/p0").asked);
  EXPECT_EQ(ledger.pods.at("ns/p1").slot, 2U);
  EXPECT_EQ(ledger.pods.at("ns/p2").slot, 1U);
  EXPECT_TRUE(ledger.pods.at("ns/p2").asked);
}

}  // namespace
}  // namespace gantree::kueue

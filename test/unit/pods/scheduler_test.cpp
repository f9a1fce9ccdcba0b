#include "pods/pod_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kRack[] =
    R"("gang.scheduling.koordinator.sh/network-topology-spec":"{\"gatherStrategy\":[{\"layer\":\"RackLayer\",\"strategy\":\"MustGather\"}]}")";

TEST(PodFamily, BindsAGangWholeInOneRack) {
  FakeApi api;
  api.topology();
  api.racks(3, 4);
  api.pod_group("train", 4, kRack);
  api.pods_of("train", 4);
  api.run();
  EXPECT_EQ(api.bound("train"), 4);
  EXPECT_EQ(api.nodes_of("train"), (std::set<std::string>{"n0-0", "n0-1", "n0-2", "n0-3"}));
  EXPECT_THAT(api.written_to("Event", ""), HasSubstr("4 pods placed on 4 hosts in r0"));
}

TEST(PodFamily, BindsNothingOfAGangThatLacksAPodAndSaysWhy) {
  FakeApi api;
  api.racks(1, 4);
  api.pod_group("train", 4);
  api.pods_of("train", 3);
  api.run();
  EXPECT_EQ(api.bound("train"), 0);
  EXPECT_THAT(api.written_to("Pod", "train-0"), IsEmpty()) << "the pods may still be being made";
  ASSERT_TRUE(api.wake);
  EXPECT_LE(*api.wake, api.now + seconds(3));
  api.pass(seconds(3));
  api.run();
  const std::string told = api.written_to("Pod", "train-0");
  EXPECT_THAT(told, HasSubstr("GangIncomplete"));
  EXPECT_THAT(told, HasSubstr("has 3 of the 4 pods that it needs"));
  EXPECT_THAT(told, Not(HasSubstr("api:1")));
  api.pod("train-3", {.gang = "train"});
  api.run();
  EXPECT_EQ(api.bound("train"), 4);
}

TEST(PodFamily, GivesARackToOneOfTwoGangsAndNothingToTheOther) {
  FakeApi api;
  api.topology();
  api.racks(1, 4);
  for (const char* name : {"a", "b"}) {
    api.pod_group(name, 3, kRack);
    api.pods_of(name, 3);
  }
  api.run();
  EXPECT_EQ(api.bound("a"), 3);
  EXPECT_EQ(api.bound("b"), 0);
  EXPECT_LE(api.fullest(), 8);
}

TEST(PodFamily, HoldsWhatItGaveAwayUntilTheEventComes) {
  FakeApi api;
  api.racks(1, 2);
  api.pod_group("a", 2);
  api.pods_of("a", 2);
  api.decide();
  EXPECT_EQ(api.binds.size(), 2U);
  api.pod_group("b", 1);
  api.pods_of("b", 1);
  api.decide();
  EXPECT_EQ(api.binds.size(), 2U) << "the room of a, which is not bound as yet, was given away again";
}

TEST(PodFamily, CountsPodsOfOtherSchedulers) {
  FakeApi api;
  api.racks(1, 2);
  api.pod("other", {.gpus = 1, .scheduler = "default-scheduler", .node = "n0-0"});
  api.pod_group("a", 2);
  api.pods_of("a", 2);
  api.run();
  EXPECT_EQ(api.bound("a"), 0);
  api.remove_pod("other");
  api.run();
  EXPECT_EQ(api.bound("a"), 2);
}

TEST(PodFamily, StartsAWaitingGangWhenNodesCome) {
  FakeApi api;
  api.racks(1, 1);
  api.pod_group("a", 2);
  api.pods_of("a", 2);
  api.run();
  EXPECT_EQ(api.bound("a"), 0);
  api.node("late", R"("rack":"r0")", 8);
  api.run();
  EXPECT_EQ(api.bound("a"), 2);
}

TEST(PodFamily, LeavesGatedPodsAlone) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 1, .gated = true});
  api.run();
  EXPECT_TRUE(api.pods["p"].node.empty());
  EXPECT_THAT(api.written_to("Pod", "p"), IsEmpty());
  api.pod("p", {.gpus = 1, .gated = false});
  api.run();
  EXPECT_EQ(api.pods["p"].node, "n0-0");
}

TEST(PodFamily, BindsPlainPodsOneByOne) {
  FakeApi api;
  api.racks(1, 1);
  for (int i = 0; i < 3; ++i) {
    api.pod("p" + std::to_string(i), {.gpus = 4});
  }
  api.run();
  int bound = 0;
  for (const auto& [name, spec] : api.pods) {
    bound += spec.node.empty() ? 0 : 1;
  }
  EXPECT_EQ(bound, 2);
}

TEST(PodFamily, LetsPodsOfOtherSchedulersWait) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 1, .scheduler = "default-scheduler"});
  api.run();
  EXPECT_TRUE(api.pods["p"].node.empty());
}

TEST(PodFamily, StartsGangGroupsTogether) {
  FakeApi api;
  api.racks(1, 2);
  const std::string groups = R"("gang.scheduling.koordinator.sh/groups":"[\"default/a\",\"default/b\"]")";
  api.pod_group("b", 1, groups);
  api.pods_of("b", 1);
  api.run();
  api.pass(seconds(3));
  api.run();
  EXPECT_EQ(api.bound("b"), 0);
  EXPECT_THAT(api.written_to("Pod", "b-0"), HasSubstr("\\\"default/a\\\" is not in the cluster"));
  api.pod_group("a", 1, groups);
  api.pods_of("a", 1);
  api.run();
  EXPECT_EQ(api.bound("a"), 1);
  EXPECT_EQ(api.bound("b"), 1);
}

TEST(PodFamily, CompletesAGangThatDiedHalfBound) {
  FakeApi first;
  FakeApi second;
  for (FakeApi* api : {&first, &second}) {
    api->topology();
    api->racks(2, 4);
    api->pod_group("a", 4, kRack);
  }
  first.pods_of("a", 4);
  first.decide();
  first.bind_next();
  first.bind_next();
  // What the second finds is what the first left behind; and another gang wants the rest of the rack.
  for (const auto& [name, spec] : first.pods) {
    second.pod(name, spec);
  }
  second.pod_group("b", 2, kRack);
  second.pods_of("b", 2, {.priority = 1000});
  second.run();
  EXPECT_EQ(second.bound("a"), 4);
  EXPECT_EQ(second.nodes_of("a").size(), 4U);
  EXPECT_EQ(second.bound("b"), 2);
  EXPECT_LE(second.fullest(), 8);
}

TEST(PodFamily, KeepsTheRoomOfARefusedBindAndTriesAgain) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  ASSERT_EQ(api.binds.size(), 1U);
  api.scheduler.answered(api.binds.front().id, Answer::kRefused, "forbidden", api.now);
  api.binds.clear();
  api.pod("q", {.gpus = 8, .priority = 1000});
  api.decide();
  EXPECT_TRUE(api.binds.empty());
  for (int i = 0; i < 10 && api.pods["p"].node.empty(); ++i) {
    ASSERT_TRUE(api.wake);
    api.now = *api.wake;
    api.run();
  }
  EXPECT_EQ(api.pods["p"].node, "n0-0");
}

TEST(PodFamily, LooksBeforeABindIsTriedAgainWhetherAnotherSchedulerTookTheRoom) {
  FakeApi api;
  api.racks(1, 2);
  api.pod("p", {.gpus = 8});
  api.decide();
  ASSERT_EQ(api.binds.size(), 1U);
  const std::string first = api.binds.front().write.node;
  api.scheduler.answered(api.binds.front().id, Answer::kRefused, "unavailable", api.now);
  api.binds.clear();
  api.pod("theirs", {.gpus = 8, .scheduler = "default-scheduler", .node = first, .phase = "Running"});
  for (int i = 0; i < 5; ++i) {
    api.pass(seconds(2));
    api.run();
  }
  EXPECT_EQ(api.pods["p"].node, first == "n0-0" ? "n0-1" : "n0-0");
  EXPECT_LE(api.fullest(), 8);
}

TEST(PodFamily, LooksBeforeABindIsTriedAgainWhetherTheNodeStillTakesPods) {
  FakeApi api;
  api.racks(1, 2);
  api.pod("p", {.gpus = 8});
  api.decide();
  ASSERT_EQ(api.binds.size(), 1U);
  const std::string first = api.binds.front().write.node;
  api.scheduler.answered(api.binds.front().id, Answer::kRefused, "unavailable", api.now);
  api.binds.clear();
  api.scheduler.removed("", "Node", "", first, api.now);
  for (int i = 0; i < 5; ++i) {
    api.pass(seconds(2));
    api.run();
  }
  EXPECT_EQ(api.pods["p"].node, first == "n0-0" ? "n0-1" : "n0-0");
}

TEST(PodFamily, GivesTheRoomUpWhenABindIsRefusedTimeAndAgain) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  for (int attempt = 1; attempt <= 5; ++attempt) {
    ASSERT_EQ(api.binds.size(), 1U) << "attempt " << attempt;
    api.scheduler.answered(api.binds.front().id, Answer::kRefused, "forbidden", api.now);
    api.binds.clear();
    if (attempt == 5) {
      api.pod("q", {.gpus = 8});
    }
    api.pass(seconds(attempt == 5 ? 0 : 20));
    api.decide();
  }
  api.run();
  EXPECT_EQ(api.pods["q"].node, "n0-0");
}

TEST(PodFamily, GivesUpAllThatWasNotSentWhenAnotherLeads) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  api.scheduler.answered(api.binds.front().id, Answer::kWithdrawn, "", api.now);
  api.binds.clear();
  EXPECT_EQ(api.scheduler.cluster().node_of("default/p"), "");
}

TEST(PodFamily, KeepsTheRoomOfABindWithoutAClearAnswer) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  api.scheduler.answered(api.binds.front().id, Answer::kUncertain, "cut off", api.now);
  api.binds.clear();
  api.pod("q", {.gpus = 8});
  api.decide();
  EXPECT_TRUE(api.binds.empty());
  // It had been done: the event comes late.
  api.pod("p", {.gpus = 8, .node = "n0-0"});
  api.pass(seconds(60));
  api.run();
  EXPECT_TRUE(api.pods["q"].node.empty());
  EXPECT_THAT(api.remarks, IsEmpty());
}

TEST(PodFamily, AsksAgainSoonWhereABindHadNoClearAnswer) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  api.scheduler.answered(api.binds.front().id, Answer::kUncertain, "cut off", api.now);
  api.binds.clear();
  api.pass(seconds(1));
  api.run();
  EXPECT_EQ(api.pods["p"].node, "n0-0");
  api.pass(seconds(60));
  api.run();
  EXPECT_THAT(api.remarks, IsEmpty());
}

TEST(PodFamily, NeverGivesAwayTheRoomOfABindThatMayHaveBeenDone) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.pod("q", {.gpus = 8});
  api.decide();
  int asked = 0;
  for (int second = 0; second < 300; ++second) {
    while (!api.binds.empty()) {
      EXPECT_EQ(api.binds.front().write.object.name, "p");
      // First cut off, then refused: it may have been done the first time.
      api.scheduler.answered(api.binds.front().id, asked++ == 0 ? Answer::kUncertain : Answer::kRefused, "", api.now);
      api.binds.pop_front();
    }
    api.pass(seconds(1));
    api.decide();
  }
  EXPECT_GE(asked, 5);
  EXPECT_LE(asked, 15);
}

TEST(PodFamily, ForgetsWhatItDecidedWhenAnotherLeads) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  api.scheduler.answered(api.binds.front().id, Answer::kRefused, "forbidden", api.now);
  api.binds.clear();
  api.scheduler.stop_leading(api.now);
  api.scheduler.stand_by();
  EXPECT_EQ(api.scheduler.cluster().node_of("default/p"), "");
  // The other gave the room away meanwhile.
  api.pod("q", {.gpus = 8, .node = "n0-0"});
  api.pass(seconds(60));
  api.run();
  EXPECT_TRUE(api.pods["p"].node.empty());
}

// The only binding that is ordered, answered before its event comes, if it ever does.
void answer_only(FakeApi& api, Answer answer) {
  ASSERT_EQ(api.binds.size(), 1U);
  api.scheduler.answered(api.binds.front().id, answer, "", api.now);
  api.binds.clear();
}

TEST(PodFamily, KeepsTheRoomOfAnAnsweredBindingThoughTheLeaseIsLostBeforeItsEventComes) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  answer_only(api, Answer::kDone);
  api.scheduler.stop_leading(api.now);
  api.scheduler.stand_by();
  EXPECT_EQ(api.scheduler.cluster().node_of("default/p"), "n0-0");
  api.pod("q", {.gpus = 8});
  api.pod("p", {.gpus = 8, .node = "n0-0"});
  api.scheduler.start_leading(api.now);
  api.run();
  EXPECT_TRUE(api.pods["q"].node.empty());
}

TEST(PodFamily, KeepsTheRoomOfABindingThatMayHaveBeenDoneUntilItLeadsAgain) {
  for (const bool before : {true, false}) {
    SCOPED_TRACE(before ? "the answer comes before the lease is lost" : "afterwards");
    FakeApi api;
    api.racks(1, 1);
    api.pod("p", {.gpus = 8});
    api.decide();
    if (before) {
      answer_only(api, Answer::kUncertain);
    }
    api.scheduler.stop_leading(api.now);
    if (!before) {
      answer_only(api, Answer::kUncertain);
    }
    api.scheduler.stand_by();
    EXPECT_EQ(api.scheduler.cluster().node_of("default/p"), "n0-0");
    // By now its event would have been told: it was not done, and another has given the room away.
    api.pod("q", {.gpus = 8, .node = "n0-0"});
    api.scheduler.start_leading(api.now);
    EXPECT_EQ(api.scheduler.cluster().node_of("default/p"), "");
    api.pass(seconds(60));
    api.run();
    EXPECT_TRUE(api.pods["p"].node.empty());
  }
}

TEST(PodFamily, KeepsTheRoomOfABindingThatIsStillOnItsWayWhenItLeadsAgain) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  const Order order = api.binds.front();
  api.binds.clear();
  api.scheduler.stop_leading(api.now);
  api.scheduler.stand_by();
  api.pod("q", {.gpus = 8});
  api.scheduler.note_under_way();
  api.scheduler.start_leading(api.now);
  api.decide();
  EXPECT_TRUE(api.binds.empty());
  // It is refused at last: not asked for again as it was decided then, but decided anew.
  api.scheduler.answered(order.id, Answer::kRefused, "", api.now);
  EXPECT_EQ(api.scheduler.cluster().node_of("default/p"), "");
}

TEST(PodFamily, KeepsTheRoomOfABindingThatMayHaveBeenDoneAfterWhatTheWatchesHaveShown) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  api.scheduler.stop_leading(api.now);
  api.scheduler.note_under_way();
  answer_only(api, Answer::kUncertain);
  api.pod("q", {.gpus = 8});
  api.scheduler.start_leading(api.now);
  api.pass(seconds(60));
  api.decide();
  ASSERT_EQ(api.binds.size(), 1U) << "it is asked for again";
  EXPECT_EQ(api.binds.front().write.object.name, "p");
}

TEST(PodFamily, GivesUpRoomThatOthersHadStillToLeaveWhenTheLeaseIsLost) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("low", {.gpus = 8});
  api.run();
  api.pod("high", {.gpus = 8, .priority = 10});
  api.decide();
  api.pass(seconds(2));
  api.decide();
  ASSERT_FALSE(api.evictions.empty());
  ASSERT_EQ(api.scheduler.cluster().node_of("default/high"), "n0-0");
  api.scheduler.stop_leading(api.now);
  EXPECT_EQ(api.scheduler.cluster().node_of("default/high"), "");
}

TEST(PodFamily, NobodyHoldsUpAnothersGangByNamingIt) {
  FakeApi api;
  api.racks(1, 2);
  api.pod_group("mine", 1);
  api.pods_of("mine", 1);
  api.pod_group("theirs", 1, R"("gang.scheduling.koordinator.sh/groups":"[\"default/mine\",\"default/theirs\"]")");
  api.pods_of("theirs", 1);
  api.run();
  EXPECT_EQ(api.bound("mine"), 1);
  EXPECT_EQ(api.bound("theirs"), 0);
}

TEST(PodFamily, PodsThatContradictEachOtherAboutTheirPartnersStopNobody) {
  FakeApi api;
  api.racks(1, 2);
  const std::string common =
      R"("gang.scheduling.koordinator.sh/name":"m","gang.scheduling.koordinator.sh/min-available":"2",)";
  api.pod("p1", {.gpus = 1,
                 .annotations = common + R"("gang.scheduling.koordinator.sh/groups":"[\"default/a\",\"default/m\"]")"});
  api.pod("p2", {.gpus = 1,
                 .annotations = common + R"("gang.scheduling.koordinator.sh/groups":"[\"default/m\",\"default/z\"]")"});
  api.pod("other", {.gpus = 1});
  api.run();
  EXPECT_EQ(api.pods["other"].node, "n0-0");
  EXPECT_TRUE(api.pods["p1"].node.empty());
}

TEST(PodFamily, GivesBackTheRoomOfAPodDeletedBeforeItWasBound) {
  FakeApi api;
  api.racks(1, 1);
  api.pod("p", {.gpus = 8});
  api.decide();
  api.remove_pod("p");
  api.binds.clear();
  api.pod("q", {.gpus = 8});
  api.run();
  EXPECT_EQ(api.pods["q"].node, "n0-0");
}

TEST(PodFamily, KeepsTheStatusOfThePodGroup) {
  FakeApi api;
  api.racks(1, 2);
  api.pod_group("a", 2);
  api.run();
  EXPECT_THAT(api.written_to("PodGroup", "a"), HasSubstr(R"("phase":"Pending")"));
  api.pods_of("a", 2);
  api.pass(seconds(2));
  api.run();
  api.pass(seconds(1));
  api.run();
  EXPECT_THAT(api.written_to("PodGroup", "a"), IsEmpty()) << "its pods are on their way";
  api.pass(seconds(10));
  api.run();
  const std::string scheduled = api.written_to("PodGroup", "a");
  EXPECT_THAT(scheduled, HasSubstr(R"("phase":"Scheduled")"));
  EXPECT_THAT(scheduled, HasSubstr(R"("scheduled":2)"));
  EXPECT_THAT(scheduled, HasSubstr(R"("type":"Scheduled")"));
}

TEST(PodFamily, WritesAStatusThatIsRefusedEverMoreSeldom) {
  FakeApi api;
  api.pod_group("a", 2);
  int written = 0;
  for (int second = 0; second < 600; ++second) {
    api.decide();
    for (const Order& order : api.others) {
      written += order.write.object.kind == "PodGroup" ? 1 : 0;
      api.scheduler.answered(order.id, Answer::kRefused, "no such subresource", api.now);
    }
    api.others.clear();
    api.pass(seconds(1));
  }
  EXPECT_GE(written, 5);
  EXPECT_LE(written, 20);
}

TEST(PodFamily, TellsTheTopologyItsDomains) {
  FakeApi api;
  api.topology();
  api.racks(2, 2);
  api.run();
  const std::string status = api.written_to("ClusterNetworkTopology", "default");
  EXPECT_THAT(status, HasSubstr(R"("topologyName":"r1")"));
  EXPECT_THAT(status, HasSubstr(R"("nodeNum":2)"));
}

TEST(PodFamily, RejectsOneUnreadableGangAndServesTheOthers) {
  FakeApi api;
  api.racks(1, 2);
  api.pod("bad",
          {.gpus = 1,
           .annotations =
               R"("gang.scheduling.koordinator.sh/name":"g","gang.scheduling.koordinator.sh/min-available":"x")"});
  api.pod("good", {.gpus = 1});
  api.run();
  EXPECT_FALSE(api.pods["good"].node.empty());
  EXPECT_TRUE(api.pods["bad"].node.empty());
  EXPECT_THAT(api.written_to("Pod", "bad"), HasSubstr("InvalidRequest"));
}

TEST(PodFamily, SaysNothingTwice) {
  FakeApi api;
  api.racks(1, 1);
  api.pod_group("a", 2);
  api.pods_of("a", 2);
  api.run();
  static_cast<void>(api.written_to("", ""));
  api.others.clear();
  api.pod("other", {.gpus = 1, .scheduler = "default-scheduler"});
  api.remove_pod("other");
  api.node("n0-0", R"("rack":"r0")", 8);
  api.decide();
  EXPECT_THAT(api.written_to("Pod", ""), IsEmpty());
  EXPECT_THAT(api.written_to("Event", ""), IsEmpty());
}

}  // namespace
}  // namespace gantree

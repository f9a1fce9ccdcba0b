#include "service/dispatcher.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "fake_transport.h"

namespace gantree {
namespace {

constexpr Time kNow{std::chrono::seconds(1'700'000'000)};

struct Desk {
  explicit Desk(DispatchLimits limits) : dispatcher(client, mailbox, limits) {}

  void add(std::uint64_t id, Urgency urgency) {
    Write write{.verb = urgency == Urgency::kBinding ? WriteVerb::kBind : WriteVerb::kCreate,
                .object = {.group = "", .version = "v1", .kind = "Pod", .ns = "default", .name = "p", .uid = "u"},
                .node = "n",
                .body = "{}"};
    dispatcher.add({.id = id, .urgency = urgency, .write = std::move(write)});
  }

  FakeTransport transport;
  kube::Client client{transport, nullptr};
  LoopMailbox mailbox;
  Dispatcher dispatcher;
};

TEST(Dispatcher, SendsBindingsBeforeAllElse) {
  Desk desk({.in_flight = 1});
  desk.add(1, Urgency::kStatus);
  desk.add(2, Urgency::kBinding);
  desk.dispatcher.send(kNow);
  ASSERT_EQ(desk.transport.sent.size(), 1U);
  EXPECT_EQ(desk.transport.sent.front().target, "/api/v1/namespaces/default/pods/p/binding");
}

TEST(Dispatcher, HandsOverNoMoreThanMayBeInFlight) {
  Desk desk({.in_flight = 2});
  for (std::uint64_t id = 1; id <= 5; ++id) {
    desk.add(id, Urgency::kBinding);
  }
  desk.dispatcher.send(kNow);
  EXPECT_EQ(desk.transport.sent.size(), 2U);
  EXPECT_EQ(desk.dispatcher.waiting(), 3U);
  desk.dispatcher.answered(1);
  desk.dispatcher.send(kNow);
  EXPECT_EQ(desk.transport.sent.size(), 3U);
}

TEST(Dispatcher, SendsEventsOnlyAsFastAsTheyMay) {
  Desk desk({.in_flight = 100, .events_in_flight = 100, .events_per_second = 10, .event_burst = 2});
  for (std::uint64_t id = 1; id <= 20; ++id) {
    desk.add(id, Urgency::kEvent);
  }
  desk.dispatcher.send(kNow);
  EXPECT_EQ(desk.transport.sent.size(), 2U);
  desk.dispatcher.send(kNow + std::chrono::milliseconds(100));
  EXPECT_EQ(desk.transport.sent.size(), 3U);
}

TEST(Dispatcher, HoldsEventsBackWhilePodsAreBoundButNotForEver) {
  Desk desk({.event_patience = std::chrono::seconds(10)});
  desk.add(1, Urgency::kBinding);
  desk.add(2, Urgency::kEvent);
  desk.dispatcher.send(kNow);
  EXPECT_EQ(desk.transport.sent.size(), 1U);
  desk.dispatcher.send(kNow + std::chrono::seconds(9));
  EXPECT_EQ(desk.transport.sent.size(), 1U);
  desk.dispatcher.send(kNow + std::chrono::seconds(10));
  EXPECT_EQ(desk.transport.sent.size(), 2U);

  desk.add(3, Urgency::kEvent);
  desk.dispatcher.answered(1);
  desk.dispatcher.send(kNow + std::chrono::seconds(11));
  EXPECT_EQ(desk.transport.sent.size(), 3U);
}

TEST(Dispatcher, DropsEventsWhereTooManyWait) {
  Desk desk({.event_burst = 0, .most_events = 2});
  for (std::uint64_t id = 1; id <= 5; ++id) {
    desk.add(id, Urgency::kEvent);
  }
  EXPECT_EQ(desk.dispatcher.dropped_events(), 3U);
}

TEST(Dispatcher, TakesBackWhatWasNotSent) {
  Desk desk({.in_flight = 1});
  desk.add(1, Urgency::kBinding);
  desk.add(2, Urgency::kBinding);
  desk.add(3, Urgency::kStatus);
  desk.dispatcher.send(kNow);
  desk.dispatcher.withdraw_reports();
  EXPECT_EQ(desk.dispatcher.withdraw(), (std::vector<std::uint64_t>{2}));
}

TEST(Dispatcher, DoesNotSayThatAPodWaitsOnceItIsBound) {
  Desk desk({.in_flight = 1});
  desk.add(1, Urgency::kStatus);
  desk.add(2, Urgency::kBinding);
  desk.dispatcher.send(kNow);
  desk.dispatcher.answered(2);
  desk.dispatcher.send(kNow);
  EXPECT_EQ(desk.transport.sent.size(), 1U);
  EXPECT_EQ(desk.mailbox.size(), 1U) << "it is answered all the same";
}

TEST(Dispatcher, NamesResourcesAsKubernetesDoes) {
  EXPECT_EQ(resource_of("", "v1", "Pod", true).plural, "pods");
  EXPECT_EQ(resource_of("g", "v1", "ClusterNetworkTopology", false).plural, "clusternetworktopologies");
  EXPECT_EQ(resource_of("g", "v1", "PriorityClass", false).plural, "priorityclasses");
}

TEST(Dispatcher, KeepsTheRoomOfWhatMayHaveBeenDone) {
  const auto meaning = [](kube::CallResult result, bool uncertain = false, std::string reason = "") {
    kube::Reply reply;
    reply.result = result;
    reply.uncertain = uncertain;
    reply.reason = std::move(reason);
    return answer_of(reply);
  };
  EXPECT_EQ(meaning(kube::CallResult::kOk), Answer::kDone);
  EXPECT_EQ(meaning(kube::CallResult::kConflict), Answer::kUncertain);
  EXPECT_EQ(meaning(kube::CallResult::kUnknown), Answer::kUncertain);
  EXPECT_EQ(meaning(kube::CallResult::kRefused), Answer::kRefused);
  EXPECT_EQ(meaning(kube::CallResult::kRefused, true), Answer::kUncertain);
  EXPECT_EQ(meaning(kube::CallResult::kUnavailable, false, "NotLeader"), Answer::kWithdrawn);
}

}  // namespace
}  // namespace gantree

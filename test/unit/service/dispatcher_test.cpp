#include "service/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fake_transport.h"

namespace gantree {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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

// A gang has to leave: its pod's budget is asked by an eviction in dry run, the pod is told why, and then deleted.
struct Preempting : Desk {
  Preempting() : Desk({}) {
    Write write{.verb = WriteVerb::kPreempt,
                .object = {.group = "", .version = "v1", .kind = "Pod", .ns = "default", .name = "p", .uid = "u"},
                .node = {},
                .body = R"({"status":{"conditions":[{"type":"DisruptionTarget"}]}})"};
    dispatcher.add({.id = 7, .urgency = Urgency::kBinding, .write = std::move(write)});
    dispatcher.send(kNow);
  }
  void answer(int status, const std::string& body = "{}") {
    const http::Done done = transport.answers.at(answers++);  // further ones may come meanwhile
    done({.kind = http::Outcome::Kind::kReply, .status = status, .headers = {}, .body = body, .error = {}});
  }
  [[nodiscard]] std::vector<std::string> sent() const {
    std::vector<std::string> lines;
    for (const http::Request& request : transport.sent) {
      lines.push_back(std::string(http::to_string(request.method)) + " " + request.target);
    }
    return lines;
  }
  // What the loop is told in the end.
  [[nodiscard]] std::vector<Answer> told() {
    std::vector<Answer> all;
    for (const Letter& letter : mailbox.take({})) {
      const auto& written = std::get<WriteAnswered>(letter);
      EXPECT_EQ(written.order, 7U);
      all.push_back(answer_of(written.reply));
    }
    return all;
  }

  std::size_t answers = 0;
  static constexpr const char* kAsk = "POST /api/v1/namespaces/default/pods/p/eviction";
  static constexpr const char* kTell = "PATCH /api/v1/namespaces/default/pods/p/status";
  static constexpr const char* kDelete = "DELETE /api/v1/namespaces/default/pods/p";
};

TEST(Preempting, AsksTheBudgetThenTellsThePodWhyAndThenDeletesIt) {
  Preempting desk;
  ASSERT_THAT(desk.sent(), ElementsAre(Preempting::kAsk));
  EXPECT_THAT(desk.transport.sent[0].body, AllOf(HasSubstr(R"("dryRun":["All"])"), HasSubstr(R"("uid":"u")")));
  desk.answer(201);
  ASSERT_THAT(desk.sent(), ElementsAre(Preempting::kAsk, Preempting::kTell));
  EXPECT_THAT(desk.transport.sent[1].body, HasSubstr("DisruptionTarget"));
  desk.answer(200);
  ASSERT_THAT(desk.sent(), ElementsAre(Preempting::kAsk, Preempting::kTell, Preempting::kDelete));
  EXPECT_THAT(desk.transport.sent[2].body, AllOf(HasSubstr(R"("uid":"u")"), Not(HasSubstr("dryRun"))));
  EXPECT_THAT(desk.told(), IsEmpty()) << "it has not left before the last answer";
  desk.answer(200);
  EXPECT_THAT(desk.told(), ElementsAre(Answer::kDone));
}

TEST(Preempting, NeitherTellsNorDeletesAPodThatABudgetProtects) {
  Preempting desk;
  desk.answer(429, R"({"kind":"Status","code":429,"reason":"TooManyRequests",)"
                   R"("details":{"causes":[{"reason":"DisruptionBudget"}]}})");
  EXPECT_THAT(desk.sent(), ElementsAre(Preempting::kAsk));
  EXPECT_THAT(desk.told(), ElementsAre(Answer::kRefused));
}

TEST(Preempting, NeitherTellsNorDeletesAnotherPodOfTheSameName) {
  Preempting desk;
  desk.answer(409, R"({"kind":"Status","code":409,"reason":"Conflict"})");
  EXPECT_THAT(desk.sent(), ElementsAre(Preempting::kAsk));
  EXPECT_THAT(desk.told(), ElementsAre(Answer::kUncertain));
}

TEST(Preempting, DoesNotDeleteAPodThatCouldNotBeTold) {
  Preempting desk;
  desk.answer(201);
  desk.answer(403, R"({"kind":"Status","code":403,"reason":"Forbidden"})");
  EXPECT_THAT(desk.sent(), ElementsAre(Preempting::kAsk, Preempting::kTell));
  EXPECT_THAT(desk.told(), ElementsAre(Answer::kRefused));
}

TEST(Preempting, SaysSoWhereThePodWasToldAndIsNotDeleted) {
  Preempting desk;
  desk.answer(201);
  desk.answer(200);
  desk.answer(403, R"({"kind":"Status","code":403,"reason":"Forbidden"})");
  EXPECT_THAT(desk.told(), ElementsAre(Answer::kRefused)) << "so that all of it is tried again";
}

TEST(Preempting, IsOneWriteInFlightUntilTheLastAnswer) {
  Preempting desk;
  desk.answer(201);
  EXPECT_EQ(desk.dispatcher.in_flight(), 1U);
  desk.answer(200);
  EXPECT_EQ(desk.dispatcher.in_flight(), 1U);
  EXPECT_EQ(desk.mailbox.size(), 0U);
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

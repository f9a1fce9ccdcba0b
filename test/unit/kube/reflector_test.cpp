// When a reflector asks what, with a clock of our own. What it tells is tested on real connections.
#include "kube/reflector.h"

#include <gtest/gtest.h>

#include "unit/kube/fake_transport.h"

namespace gantree::kube {
namespace {

using namespace std::chrono_literals;
using Kind = http::Outcome::Kind;

class CountingSink final : public Sink {
 public:
  void changed(const ObjectRef& object, std::string_view) override { told += "+" + std::string(object.name) + " "; }
  void removed(const ObjectRef& object, std::string_view) override { told += "-" + std::string(object.name) + " "; }
  void synced() override { told += "synced "; }
  void trouble(const std::string&, int failures) override { troubles = failures; }

  std::string told;
  int troubles = 0;
};

std::string list(const std::string& version, const std::vector<std::string>& names, const std::string& next = {}) {
  std::string items;
  for (const std::string& name : names) {
    items += std::string(items.empty() ? "" : ",") + R"({"metadata":{"name":")" + name +
             R"(","uid":"u","resourceVersion":"1"}})";
  }
  return R"({"metadata":{"resourceVersion":")" + version + R"(","continue":")" + next + R"("},"items":[)" + items +
         "]}";
}

std::string event(const std::string& type, const std::string& name, const std::string& version) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"name":")" + name + R"(","uid":"u","resourceVersion":")" +
         version + "\"}}}\n";
}

class ReflectorTiming : public ::testing::Test {
 protected:
  static ReflectorOptions options() {
    ReflectorOptions options;
    options.random = [] { return 0.0; };
    options.first_backoff = 1s;
    options.max_backoff = 8s;
    return options;
  }
  void open_watch() {
    transport_.settle();
    transport_.reply(200, list("10", {"a"}));
    ASSERT_NE(transport_.target().find("watch=true"), std::string::npos);
    transport_.stream().on_headers(200, {});
  }

  FakeTransport transport_;
  Client client_{transport_, nullptr};
  CountingSink sink_;
  Reflector reflector_{client_, pods(), sink_, options()};
};

TEST_F(ReflectorTiming, WaitsLongerAfterEachFailureAndThenAsksAgain) {
  transport_.settle();
  for (const auto wait : {1s, 2s, 4s, 8s, 8s}) {
    ASSERT_EQ(transport_.open(), 1U);
    transport_.fail(Kind::kNotSent);
    transport_.advance(wait - 1ms);
    EXPECT_EQ(transport_.open(), 0U);
    transport_.advance(1ms);
  }
  EXPECT_EQ(sink_.troubles, 5);
}

TEST_F(ReflectorTiming, APageThatWasLostIsAskedForAgainNotTheWholeList) {
  transport_.settle();
  transport_.reply(200, list("10", {"a"}, "page2"));
  EXPECT_NE(transport_.target().find("continue=page2"), std::string::npos);
  transport_.fail(Kind::kUnknown);
  transport_.advance(1s);
  EXPECT_NE(transport_.target().find("continue=page2"), std::string::npos);
  transport_.reply(410);
  transport_.advance(2s);
  EXPECT_EQ(transport_.target().find("continue"), std::string::npos);
  transport_.reply(200, list("12", {"b"}));
  EXPECT_EQ(sink_.told, "+a +b -a synced ");
}

TEST_F(ReflectorTiming, AWatchThatEndsInOrderGoesOnAtOnceWhereItWas) {
  open_watch();
  transport_.advance(60s);
  transport_.stream().on_bytes(event("MODIFIED", "a", "11"));
  transport_.stream().on_bytes(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"20"}}})"
                               "\n");
  transport_.reply(200);
  EXPECT_NE(transport_.target().find("resourceVersion=20&"), std::string::npos) << transport_.target();
  EXPECT_EQ(sink_.troubles, 0);
}

TEST_F(ReflectorTiming, AWatchThatEndsAtOnceIsNotAskedForWithoutPause) {
  open_watch();
  transport_.reply(200);
  EXPECT_EQ(transport_.open(), 0U);
  transport_.advance(1s);
  EXPECT_EQ(transport_.open(), 1U);
}

TEST_F(ReflectorTiming, OneCutOfAWatchThatLivedIsResumedAtOnceASecondOneAfterAPause) {
  open_watch();
  transport_.advance(60s);
  transport_.fail(Kind::kUnknown);
  EXPECT_EQ(transport_.open(), 1U);
  transport_.fail(Kind::kUnknown);
  EXPECT_EQ(transport_.open(), 0U);
}

TEST_F(ReflectorTiming, AfterManyWatchesThatFailedItListsAgain) {
  open_watch();
  for (int i = 0; i < 5 && transport_.target().find("watch=true") != std::string::npos; ++i) {
    transport_.reply(500);
    transport_.advance(8s);
  }
  EXPECT_NE(transport_.target().find("limit="), std::string::npos) << transport_.target();
}

TEST_F(ReflectorTiming, AServerThatSays410EachTimeIsNotAskedWithoutPause) {
  open_watch();
  for (int i = 0; i < 3; ++i) {
    transport_.stream().on_bytes(R"({"type":"ERROR","object":{"code":410,"message":"too old"}})"
                                 "\n");
    EXPECT_EQ(transport_.open(), 0U) << i;
    transport_.advance(8s);
    ASSERT_NE(transport_.target().find("limit="), std::string::npos);
    transport_.reply(200, list("10", {"a"}));
    transport_.stream().on_headers(200, {});
  }
}

TEST_F(ReflectorTiming, EventsOfAnUnknownTypeArePassedOver) {
  open_watch();
  transport_.stream().on_bytes(R"({"type":"NEWS","object":{"metadata":{}}})"
                               "\n" +
                               event("ADDED", "b", "12"));
  EXPECT_EQ(sink_.told, "+a synced +b ");
}

TEST_F(ReflectorTiming, AnEventThatIsMalformedEndsTheWatchAndIsAskedForAgain) {
  open_watch();
  transport_.stream().on_bytes(event("ADDED", "b", "12") + "{nonsense\n" + event("ADDED", "c", "14"));
  EXPECT_EQ(sink_.told, "+a synced +b ");
  transport_.advance(1s);
  EXPECT_NE(transport_.target().find("resourceVersion=12&"), std::string::npos) << transport_.target();
}

TEST(CallQueue, SendsNoMoreAtATimeThanAllowed) {
  FakeTransport transport;
  ClientOptions options;
  options.max_in_flight = 2;
  Client client(transport, nullptr, options);
  int answers = 0;
  for (int i = 0; i < 5; ++i) {
    client.get(pods(), {"ns", "p" + std::to_string(i)}, [&](const Reply&) { ++answers; });
  }
  transport.settle();
  EXPECT_EQ(transport.open(), 2U);
  client.get(leases(), {"ns", "lease"}, [](const Reply&) {});
  transport.settle();
  EXPECT_EQ(transport.open(), 3U) << "the lease does not wait in line";
  transport.reply(200);
  EXPECT_EQ(transport.open(), 3U);
  EXPECT_EQ(answers, 1);
}

TEST(CallQueue, KeepsToItsRate) {
  FakeTransport transport;
  ClientOptions options;
  options.max_per_second = 10;
  options.burst = 3;
  Client client(transport, nullptr, options);
  for (int i = 0; i < 20; ++i) {
    client.get(pods(), {"ns", "p"}, [](const Reply&) {});
  }
  transport.settle();
  EXPECT_EQ(transport.open(), 3U);
  transport.advance(1s);
  EXPECT_EQ(transport.open(), 13U);
}

TEST(CallQueue, AThousandCallsThatTheFenceStopsEndWithoutDepth) {
  FakeTransport transport;
  Client client(transport, nullptr);
  client.set_fence([] { return false; });
  int stopped = 0;
  for (int i = 0; i < 100'000; ++i) {
    client.bind({"ns", "p"}, "u", "n", [&](const Reply& reply) { stopped += reply.reason == "NotLeader" ? 1 : 0; });
  }
  transport.settle();
  EXPECT_EQ(stopped, 100'000);
  EXPECT_EQ(transport.open(), 0U);
}

}  // namespace
}  // namespace gantree::kube

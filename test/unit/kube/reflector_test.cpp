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

TEST_F(ReflectorTiming, APageThatIsTooLongIsAskedForWithFewerObjects) {
  transport_.settle();
  transport_.reply(200, list("10", {"a"}, "page2"));
  EXPECT_NE(transport_.target().find("limit=500&"), std::string::npos) << transport_.target();
  EXPECT_EQ(transport_.max_body(), std::size_t{32} << 20) << "it is kept whole";
  for (const char* limit : {"limit=125&continue=page2", "limit=31&continue=page2", "limit=7&continue=page2"}) {
    transport_.fail(Kind::kUnknown, 200);
    EXPECT_NE(transport_.target().find(limit), std::string::npos) << transport_.target();
  }
  EXPECT_EQ(sink_.troubles, 0);
  transport_.reply(200, list("10", {"b"}, "page3"));
  EXPECT_NE(transport_.target().find("limit=14&continue=page3"), std::string::npos) << "as many as before, by and by";
  transport_.reply(200, list("10", {"c"}));
  EXPECT_EQ(sink_.told, "+a +b +c synced ");
}

TEST_F(ReflectorTiming, AnObjectThatIsTooLongByItselfIsTrouble) {
  transport_.settle();
  for (int limit = 500; limit > 1; limit = std::max(1, limit / 4)) {
    transport_.fail(Kind::kUnknown, 200);
  }
  EXPECT_NE(transport_.target().find("limit=1"), std::string::npos) << transport_.target();
  transport_.fail(Kind::kUnknown, 200);
  EXPECT_EQ(transport_.open(), 0U);
  EXPECT_EQ(sink_.troubles, 1);
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

TEST_F(ReflectorTiming, AWatchIsAskedToEndBeforeItsSilenceMeansThatItIsDead) {
  ReflectorOptions options;
  options.notice_silence_of(15s);
  EXPECT_EQ(options.idle_timeout, 15s);
  EXPECT_LT(options.max_watch, 14s);
  EXPECT_GT(options.min_watch, 3s);
  options.notice_silence_of(2s);
  EXPECT_LE(options.max_watch, 1s);
}

TEST_F(ReflectorTiming, FewObjectsAreListedAnewToShowThatAllIsKnown) {
  open_watch();
  transport_.advance(5s);
  const http::Clock::time_point since = transport_.now();
  EXPECT_LT(reflector_.fresh_as_of(), since);
  reflector_.prove_fresh(since);
  transport_.settle();
  ASSERT_EQ(transport_.open(), 1U) << "the watch may be dead, and is not waited for";
  EXPECT_EQ(transport_.target(), "/api/v1/pods?limit=500");
  EXPECT_LT(reflector_.fresh_as_of(), since);
  transport_.reply(200, list("20", {"a", "b"}));
  EXPECT_EQ(reflector_.fresh_as_of(), since);
  EXPECT_EQ(sink_.told, "+a synced +b synced ");
}

TEST_F(ReflectorTiming, AListThatBeganAfterThatInstantShowsIt) {
  const http::Clock::time_point since = transport_.now();
  transport_.settle();
  reflector_.prove_fresh(since);
  transport_.settle();
  ASSERT_EQ(transport_.open(), 1U);
  transport_.reply(200, list("10", {"a"}));
  EXPECT_GE(reflector_.fresh_as_of(), since);
  reflector_.prove_fresh(since);
  transport_.settle();
  EXPECT_NE(transport_.target().find("watch=true"), std::string::npos) << "nothing is left to be shown";
}

TEST_F(ReflectorTiming, AListThatBeganBeforeThatInstantDoesNotShowIt) {
  transport_.settle();
  transport_.advance(1s);
  const http::Clock::time_point since = transport_.now();
  reflector_.prove_fresh(since);
  transport_.settle();
  ASSERT_EQ(transport_.open(), 1U) << "it is seen through";
  transport_.reply(200, list("10", {"a"}));
  EXPECT_LT(reflector_.fresh_as_of(), since);
  ASSERT_EQ(transport_.target(), "/api/v1/pods?limit=500") << "and followed by another";
  transport_.reply(200, list("20", {"a"}));
  EXPECT_GE(reflector_.fresh_as_of(), since);
  EXPECT_NE(transport_.target().find("watch=true"), std::string::npos) << transport_.target();
}

TEST_F(ReflectorTiming, AListOnWhichNothingComesIsBegunAnewWithMorePatienceEachTime) {
  transport_.settle();
  transport_.advance(1s);
  const http::Clock::time_point since = transport_.now();
  reflector_.prove_fresh(since);
  transport_.settle();
  transport_.advance(5s);
  ASSERT_EQ(transport_.open(), 1U);
  transport_.advance(9s);
  ASSERT_EQ(transport_.open(), 1U) << "a slow server is given ten seconds now";
  transport_.reply(200, list("10", {"a"}));
  EXPECT_EQ(reflector_.fresh_as_of(), since + 5s);
  EXPECT_NE(transport_.target().find("watch=true"), std::string::npos) << transport_.target();
}

// A page of one object, so that two are many.
class ManyObjects : public ReflectorTiming {
 protected:
  static ReflectorOptions by_one() {
    ReflectorOptions options = ReflectorTiming::options();
    options.page_size = 1;
    return options;
  }
  // Asks for a proof; the server is at version 20, of which a watch from version 10 on has to tell.
  void ask() {
    transport_.settle();
    transport_.reply(200, list("10", {"a"}, "next"));
    transport_.reply(200, list("10", {"b"}));
    transport_.stream().on_headers(200, {});
    transport_.advance(5s);
    since_ = transport_.now();
    many_.prove_fresh(since_);
    transport_.settle();
    ASSERT_EQ(transport_.target(), "/api/v1/pods?limit=1");
    transport_.reply(200, list("20", {"a"}, "next"));
    ASSERT_NE(transport_.target().find("resourceVersion=10&timeoutSeconds=3"), std::string::npos)
        << transport_.target();
    transport_.stream().on_headers(200, {});
    EXPECT_LT(many_.fresh_as_of(), since_);
  }
  void bookmark(const std::string& version) {
    transport_.stream().on_bytes(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + version +
                                 "\"}}}\n");
  }

  CountingSink other_;
  Reflector many_{client_, pods(), other_, by_one()};
  http::Clock::time_point since_;
};

TEST_F(ManyObjects, AreShownToBeKnownByABookmarkThatIsNewEnough) {
  reflector_.remove_all();
  ask();
  bookmark("19");
  EXPECT_LT(many_.fresh_as_of(), since_);
  bookmark("20");
  EXPECT_EQ(many_.fresh_as_of(), since_);
  transport_.advance(10s);
  EXPECT_NE(transport_.target().find("watch=true"), std::string::npos) << "not listed again";
}

TEST_F(ManyObjects, AreShownToBeKnownByAnEventThatIsNewEnough) {
  reflector_.remove_all();
  ask();
  transport_.stream().on_bytes(event("MODIFIED", "b", "9") + event("ADDED", "c", "112"));
  EXPECT_EQ(many_.fresh_as_of(), since_);
}

TEST_F(ManyObjects, AreListedAnewWhereNothingShowsIt) {
  reflector_.remove_all();
  ask();
  transport_.advance(3s);
  ASSERT_EQ(transport_.open(), 1U);
  ASSERT_EQ(transport_.target(), "/api/v1/pods?limit=1");
  transport_.reply(200, list("30", {"a"}, "next"));
  EXPECT_LT(many_.fresh_as_of(), since_);
  transport_.reply(200, list("30", {"b"}));
  EXPECT_GE(many_.fresh_as_of(), since_);
}

TEST_F(ManyObjects, AreListedOnANewConnectionWhereNothingShowsItAndNoPageComes) {
  reflector_.remove_all();
  ask();
  transport_.stream().on_bytes(event("MODIFIED", "b", "19"));
  transport_.advance(3s);
  ASSERT_EQ(transport_.target(), "/api/v1/pods?limit=1");
  EXPECT_FALSE(transport_.on_fresh_connection());
  transport_.advance(5s);
  ASSERT_EQ(transport_.open(), 1U) << "the list is begun anew";
  ASSERT_EQ(transport_.target(), "/api/v1/pods?limit=1");
  EXPECT_TRUE(transport_.on_fresh_connection());
  transport_.advance(9s);
  transport_.reply(200, list("30", {"a"}, "next"));
  transport_.reply(200, list("30", {"b"}));
  EXPECT_EQ(many_.fresh_as_of(), since_ + 3s + 5s) << "when that list began";
  EXPECT_EQ(other_.told, "+a +b synced +b +b synced ");
  ASSERT_NE(transport_.target().find("resourceVersion=30&"), std::string::npos) << transport_.target();
  transport_.stream().on_headers(200, {});
  transport_.advance(30s);
  EXPECT_EQ(transport_.open(), 1U);
  EXPECT_NE(transport_.target().find("watch=true"), std::string::npos) << "nobody looks for the proof any more";
}

TEST_F(ManyObjects, OfWhichOnlySomeWereListedAreListedAnew) {
  reflector_.remove_all();
  transport_.settle();
  transport_.reply(200, list("10", {"a"}));
  transport_.stream().on_headers(200, {});
  transport_.advance(5s);
  many_.prove_fresh(transport_.now());
  transport_.settle();
  transport_.reply(200, list("30", {"c"}, "next"));
  ASSERT_NE(transport_.target().find("continue=next"), std::string::npos) << transport_.target();
  transport_.advance(5s);
  since_ = transport_.now();
  many_.prove_fresh(since_);
  transport_.settle();
  ASSERT_EQ(transport_.open(), 1U);
  ASSERT_NE(transport_.target().find("continue=next"), std::string::npos) << "it is seen through";
  transport_.advance(5s);
  ASSERT_EQ(transport_.open(), 1U);
  ASSERT_EQ(transport_.target(), "/api/v1/pods?limit=1") << "but not for ever";
  // A watch would go on from version 10, and what it told would be taken for older than the page that came.
  transport_.reply(200, list("40", {"a"}, "rest"));
  ASSERT_NE(transport_.target().find("continue=rest"), std::string::npos) << transport_.target();
  transport_.reply(200, list("40", {"b"}));
  EXPECT_EQ(other_.told, "+a synced +c +b -c synced ");
  EXPECT_EQ(many_.fresh_as_of(), since_ + 5s);
}

TEST(CallQueue, WhatWasDecidedInAnEarlierTermIsNotSentInALaterOne) {
  FakeTransport transport;
  Client client(transport, nullptr);
  std::uint64_t term = 1;
  client.set_fence([&] { return term; });
  std::vector<std::string> reasons;
  const auto bind = [&] {
    client.bind({"ns", "p"}, "u", "n", "", [&](const Reply& reply) { reasons.push_back(reply.reason); });
  };
  bind();
  transport.settle();
  ASSERT_EQ(transport.open(), 1U);
  transport.fail(Kind::kNotSent);  // tried again in a while
  term = 2;
  transport.advance(10s);
  bind();  // decided before it is known that this is another term
  transport.settle();
  EXPECT_EQ(transport.open(), 0U);
  EXPECT_EQ(reasons, (std::vector<std::string>{"NotLeader", "NotLeader"}));
  client.set_term(2);
  bind();
  transport.settle();
  EXPECT_EQ(transport.open(), 1U);
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
    client.bind({"ns", "p"}, "u", "n", "", [&](const Reply& reply) { stopped += reply.reason == "NotLeader" ? 1 : 0; });
  }
  transport.settle();
  EXPECT_EQ(stopped, 100'000);
  EXPECT_EQ(transport.open(), 0U);
}

}  // namespace
}  // namespace gantree::kube

// Calls with retries against a server that fails in the ways servers do.
#include <gtest/gtest.h>

#include <future>

#include "client/fake_server.h"
#include "kube/client.h"

namespace gantree::kube {
namespace {

using test::FakeServer;

const ObjectKey kPod{"default", "a"};
constexpr const char* kUid = "11111111-2222-3333-4444-555555555555";

class CallsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.control(
        R"({"op":"put","resource":"v1/pods","object":{"metadata":{"namespace":"default","name":"a","uid":")" +
        std::string(kUid) + "\"}}}");
  }
  static http::Endpoint endpoint(const FakeServer& server) {
    http::Endpoint endpoint;
    endpoint.base_url = server.url();
    return endpoint;
  }
  static ClientOptions quick() {
    ClientOptions options;
    options.retry.first_delay = Milliseconds(10);
    options.retry.max_delay = Milliseconds(50);
    options.timeout = Milliseconds(2'000);
    return options;
  }
  template <class Send>
  Reply wait(const Send& send) {
    std::promise<Reply> answer;
    send([&answer](Reply reply) { answer.set_value(std::move(reply)); });
    return answer.get_future().get();
  }
  Reply bind(const std::string& uid = kUid, const std::string& node = "n1") {
    return wait([&](Client::Done done) { client_.bind(kPod, uid, node, "", std::move(done)); });
  }

  FakeServer server_;
  http::Client transport_{endpoint(server_)};
  Client client_{transport_, nullptr, quick()};
};

TEST_F(CallsTest, BindsAPodOnce) {
  const Reply first = bind();
  EXPECT_TRUE(first.ok()) << first.message;
  EXPECT_EQ(first.attempts, 1);
  const Reply second = bind(kUid, "n2");
  EXPECT_EQ(second.result, CallResult::kConflict);
  EXPECT_FALSE(second.uncertain);
  EXPECT_EQ(second.reason, "Conflict");
}

TEST_F(CallsTest, DoesNotBindAnotherPodOfTheSameName) {
  EXPECT_EQ(bind("11111111-2222-3333-4444-999999999999").result, CallResult::kConflict);
}

TEST_F(CallsTest, ABindingWhoseAnswerWasLostIsAConflictThatMayBeOurOwn) {
  server_.control(R"({"op":"fault","method":"POST","path":"binding","execute_and_cut":true})");
  const Reply reply = bind();
  EXPECT_EQ(reply.result, CallResult::kConflict);
  EXPECT_TRUE(reply.uncertain);
  EXPECT_EQ(reply.attempts, 2);
}

TEST_F(CallsTest, ABindingThatWasCutBeforeItWasReadIsSentAgain) {
  server_.control(R"({"op":"fault","method":"POST","path":"binding","cut":true,"times":2})");
  const Reply reply = bind();
  EXPECT_TRUE(reply.ok()) << reply.message;
  EXPECT_EQ(reply.attempts, 3);
  EXPECT_TRUE(reply.uncertain);
}

TEST_F(CallsTest, WaitsAsLongAsTheServerAsks) {
  server_.control(R"({"op":"fault","method":"POST","status":429,"headers":{"Retry-After":"1"}})");
  const auto start = std::chrono::steady_clock::now();
  const Reply reply = bind();
  EXPECT_TRUE(reply.ok());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST_F(CallsTest, GivesUpAfterAsManyAttemptsAsThePolicyAllows) {
  server_.control(R"({"op":"fault","method":"POST","status":503,"times":100})");
  const Reply reply = bind();
  EXPECT_EQ(reply.result, CallResult::kUnknown);
  EXPECT_EQ(reply.attempts, 6);
  EXPECT_EQ(client_.counters().retries.load(), 5U);
}

TEST_F(CallsTest, AReadThatFailsForEverIsUnavailable) {
  server_.control(R"({"op":"fault","method":"GET","status":500,"times":100})");
  const Reply reply = wait([&](Client::Done done) { client_.get(pods(), kPod, std::move(done)); });
  EXPECT_EQ(reply.result, CallResult::kUnavailable);
  EXPECT_EQ(reply.message, "injected fault");
}

TEST_F(CallsTest, ATimeoutIsAnUnknownOutcomeAndTriedOnANewConnection) {
  server_.control(R"({"op":"fault","method":"POST","path":"binding","hang":true})");
  const Reply reply = bind();
  EXPECT_TRUE(reply.ok()) << reply.message;
  EXPECT_TRUE(reply.uncertain);
  EXPECT_EQ(reply.attempts, 2);
}

TEST_F(CallsTest, AnEvictionThatABudgetForbidsIsNotRetried) {
  server_.control(
      R"({"op":"fault","method":"POST","path":"eviction","status":429,"body":{"kind":"Status","code":429,)"
      R"("reason":"TooManyRequests","message":"Cannot evict pod","details":{"causes":[{"reason":"DisruptionBudget"}]}}})");
  const Reply reply = wait([&](Client::Done done) { client_.evict(kPod, {}, std::move(done)); });
  EXPECT_EQ(reply.result, CallResult::kBudget);
  EXPECT_EQ(reply.attempts, 1);
}

TEST_F(CallsTest, DeletesOnlyTheObjectThatIsMeant) {
  const auto remove = [&](const std::string& uid) {
    DeleteOptions options;
    options.preconditions.uid = uid;
    return wait([&](Client::Done done) { client_.remove(pods(), kPod, options, std::move(done)); });
  };
  EXPECT_EQ(remove("another").result, CallResult::kConflict);
  EXPECT_TRUE(remove(kUid).ok());
  EXPECT_EQ(remove(kUid).result, CallResult::kNotFound);
}

TEST_F(CallsTest, CreatesUpdatesAndPatches) {
  const std::string body = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}})";
  const auto create = [&](Client::Done done) { client_.create(pods(), "default", body, std::move(done)); };
  EXPECT_EQ(wait(create).http_status, 201);
  EXPECT_EQ(wait(create).reason, "AlreadyExists");
  const ObjectKey key{"default", "b"};
  EXPECT_EQ(wait([&](Client::Done done) {
              client_.update(pods(), key, R"({"metadata":{"name":"b","resourceVersion":"1"}})", std::move(done));
            }).result,
            CallResult::kConflict);
  EXPECT_TRUE(wait([&](Client::Done done) {
                client_.patch(pods(), key, PatchType::kApply, R"({"metadata":{"labels":{"x":"y"}}})", std::move(done));
              }).ok());
  EXPECT_EQ(server_.requests("PATCH", "fieldManager=gantree&force=true"), 1);
  EXPECT_NE(server_.request_log().find("application/apply-patch+yaml"), std::string::npos);
}

TEST_F(CallsTest, WritesStopAtTheFence) {
  client_.set_fence([] { return false; });
  const Reply reply = bind();
  EXPECT_EQ(reply.result, CallResult::kUnavailable);
  EXPECT_EQ(reply.reason, "NotLeader");
  EXPECT_EQ(server_.requests("POST", "binding"), 0);
  EXPECT_TRUE(wait([&](Client::Done done) { client_.get(pods(), kPod, std::move(done)); }).ok());
  EXPECT_TRUE(wait([&](Client::Done done) {
                client_.create(leases(), "default", R"({"metadata":{"name":"l"}})", std::move(done));
              }).ok());
}

TEST_F(CallsTest, ThousandsOfCallsAreAllAnsweredWithFewAtATime) {
  constexpr int kCalls = 2'000;
  std::atomic<int> answered{0};
  for (int i = 0; i < kCalls; ++i) {
    client_.get(pods(), kPod, [&](const Reply& reply) { answered += reply.ok() ? 1 : 0; });
  }
  EXPECT_TRUE(test::eventually([&] { return answered == kCalls; }, std::chrono::seconds(30)));
  EXPECT_EQ(client_.pending(), 0U);
  EXPECT_EQ(client_.counters().in_flight.load(), 0U);
}

TEST_F(CallsTest, EndingTheClientDropsWhatIsUnderWay) {
  server_.control(R"({"op":"fault","method":"GET","hang":true,"times":50})");
  {
    Client other(transport_, nullptr);
    for (int i = 0; i < 20; ++i) {
      other.get(pods(), kPod, [](const Reply&) { ADD_FAILURE() << "called back after the end"; });
    }
    EXPECT_TRUE(test::eventually([&] { return server_.requests("GET", "pods/a") == 20; }));
  }
}

}  // namespace
}  // namespace gantree::kube

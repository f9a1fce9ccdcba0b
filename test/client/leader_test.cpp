// Replicas that take turns over a real connection.
#include "kube/leader.h"

#include <gtest/gtest.h>

#include <memory>

#include "client/fake_server.h"

namespace gantree::kube {
namespace {

using test::eventually;
using test::FakeServer;
using namespace std::chrono_literals;

struct Replica {
  Replica(const FakeServer& server, const std::string& name) : transport(endpoint(server)), client(transport, nullptr) {
    ElectionOptions options;
    options.name_space = "system";
    options.identity = name;
    options.lease_duration = 2s;
    options.renew_deadline = 1500ms;
    options.retry_period = 200ms;
    leader = std::make_unique<Leader>(
        client, options,
        LeaderHandlers{
            .started = [this] { ++started; }, .stopped = [this] { ++stopped; }, .changed = {}, .failed = {}});
  }
  static http::Endpoint endpoint(const FakeServer& server) {
    http::Endpoint endpoint;
    endpoint.base_url = server.url();
    return endpoint;
  }

  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  http::Client transport;
  Client client;
  std::unique_ptr<Leader> leader;
};

TEST(LeaderTest, OneLeadsAndTheOtherTakesOverWhenItResigns) {
  const FakeServer server;
  Replica a(server, "a");
  ASSERT_TRUE(eventually([&] { return a.leader->leading(); }));
  Replica b(server, "b");
  ASSERT_TRUE(eventually([&] { return b.leader->holder() == "a"; }));
  EXPECT_FALSE(b.leader->leading());
  a.leader->resign(5s);
  EXPECT_FALSE(a.leader->leading());
  EXPECT_EQ(a.stopped, 1);
  EXPECT_TRUE(eventually([&] { return b.leader->leading(); }, 1s)) << "a released lease is free at once";
  EXPECT_EQ(b.started, 1);
}

TEST(LeaderTest, OneThatStepsAsideLetsAnotherLeadAndFollowsItLater) {
  const FakeServer server;
  Replica a(server, "a");
  ASSERT_TRUE(eventually([&] { return a.leader->leading(); }));
  a.leader->step_aside(1s);
  ASSERT_TRUE(eventually([&] { return a.stopped == 1; }));
  auto b = std::make_unique<Replica>(server, "b");
  ASSERT_TRUE(eventually([&] { return b->leader->leading(); }, 900ms)) << "the lease is free, and a stands aside";
  EXPECT_FALSE(a.leader->leading());
  b->leader->resign(5s);
  EXPECT_TRUE(eventually([&] { return a.leader->leading(); }));
  EXPECT_EQ(a.started, 2);
}

TEST(LeaderTest, OneThatDiesIsFollowedWhenItsLeaseRanOut) {
  const FakeServer server;
  auto a = std::make_unique<Replica>(server, "a");
  ASSERT_TRUE(eventually([&] { return a->leader->leading(); }));
  Replica b(server, "b");
  ASSERT_TRUE(eventually([&] { return b.leader->holder() == "a"; }));
  a.reset();
  const auto died = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] { return b.leader->leading(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - died, 3s);
}

TEST(LeaderTest, ALeaderThatCannotRenewStopsByItself) {
  FakeServer server;
  Replica a(server, "a");
  ASSERT_TRUE(eventually([&] { return a.leader->leading(); }));
  server.end();
  EXPECT_TRUE(eventually([&] { return a.stopped == 1; }, 3s));
  EXPECT_FALSE(a.leader->leading());
}

TEST(LeaderTest, ALeaderGetsOverFaultsThatAreShorterThanItsDeadline) {
  const FakeServer server;
  Replica a(server, "a");
  ASSERT_TRUE(eventually([&] { return a.leader->leading(); }));
  server.control(R"({"op":"fault","method":"PUT","path":"leases","status":500,"times":2})");
  server.control(R"({"op":"fault","method":"PUT","path":"leases","execute_and_cut":true,"times":2})");
  EXPECT_FALSE(eventually([&] { return a.stopped > 0; }, 3s));
  EXPECT_TRUE(a.leader->leading());
}

}  // namespace
}  // namespace gantree::kube

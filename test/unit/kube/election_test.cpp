// The election with a clock that only moves when told to.
#include "kube/election.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

namespace gantree::kube {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;
using Request = ElectionStep::Request;

ElectionOptions options(const std::string& identity) {
  ElectionOptions result;
  result.name_space = "system";
  result.identity = identity;
  return result;
}

// The server's one lease.
struct Server {
  std::optional<Lease> lease;
  int version = 0;

  ElectionReply handle(const ElectionStep& step) {
    using Kind = ElectionReply::Kind;
    if (step.request == Request::kGet) {
      return lease.has_value() ? ElectionReply{Kind::kRecord, *lease} : ElectionReply{Kind::kMissing, {}};
    }
    const bool matches = step.request == Request::kCreate
                             ? !lease.has_value()
                             : lease.has_value() && lease->resource_version == step.lease.resource_version;
    if (!matches) {
      return {Kind::kConflict, {}};
    }
    lease = step.lease;
    lease->resource_version = std::to_string(++version);
    return {Kind::kRecord, *lease};
  }
};

struct Replica {
  explicit Replica(const std::string& identity) : election(options(identity)) {}
  Election election;

  // Ticks until there is nothing to do at this instant, the server answering at once.
  Instant run(Instant now, Server& server) {
    for (int i = 0; i < 10; ++i) {
      const ElectionStep step = election.tick(now, WallTime{});
      if (step.request == Request::kNone) {
        return step.wake_at;
      }
      election.answer(now, server.handle(step));
    }
    ADD_FAILURE() << "never comes to rest";
    return now;
  }
};

const Instant kStart = Instant{} + std::chrono::hours(1);

TEST(Election, TheFirstOneCreatesTheLeaseAndLeads) {
  Server server;
  Replica a("a");
  EXPECT_FALSE(a.election.leading(kStart));
  a.run(kStart, server);
  EXPECT_TRUE(a.election.leading(kStart));
  EXPECT_EQ(server.lease->holder, "a");
  EXPECT_EQ(server.lease->duration_seconds, 10);
  EXPECT_EQ(server.lease->transitions, 0);
}

TEST(Election, ALeaderThatRenewsLeadsOn) {
  Server server;
  Replica a("a");
  Instant now = kStart;
  for (int i = 0; i < 100; ++i) {
    now = std::max(a.run(now, server), now);
    EXPECT_TRUE(a.election.leading(now));
  }
  EXPECT_EQ(now - kStart, 200s);
  EXPECT_EQ(server.lease->transitions, 0);
}

TEST(Election, LeadershipEndsAtTheDeadlineCountedFromBeforeTheRenewalWasSent) {
  Server server;
  Replica a("a");
  const ElectionStep get = a.election.tick(kStart, WallTime{});
  a.election.answer(kStart + 1s, server.handle(get));
  const ElectionStep create = a.election.tick(kStart + 1s, WallTime{});
  ASSERT_EQ(create.request, Request::kCreate);
  a.election.answer(kStart + 3s, server.handle(create));  // the answer took two seconds
  EXPECT_TRUE(a.election.leading(kStart + 8s - 1ms));
  EXPECT_FALSE(a.election.leading(kStart + 8s));
}

TEST(Election, AFollowerWaitsForTheWholeLeaseOnItsOwnClock) {
  Server server;
  Replica a("a");
  Replica b("b");
  a.run(kStart, server);
  Instant now = kStart + 1500ms;
  const Instant first_seen = now;
  while (!b.election.leading(now)) {
    now = b.run(now, server);
    ASSERT_LT(now, kStart + 20s);
    b.run(now, server);
  }
  EXPECT_EQ(now - first_seen, 10s);
  EXPECT_EQ(server.lease->holder, "b");
  EXPECT_EQ(server.lease->transitions, 1);
}

TEST(Election, AFollowerStartsCountingAgainWheneverTheRecordChanges) {
  Server server;
  Replica a("a");
  Replica b("b");
  for (Instant now = kStart; now < kStart + 60s; now += 500ms) {
    a.run(now, server);
    b.run(now, server);
    EXPECT_TRUE(a.election.leading(now));
    EXPECT_FALSE(b.election.leading(now));
  }
}

TEST(Election, ALongerLeaseInTheRecordIsHonoured) {
  Server server;
  Lease other;
  other.holder = "old";
  other.duration_seconds = 60;
  other.resource_version = "1";
  server.lease = other;
  Replica b("b");
  for (Instant now = kStart; now < kStart + 59s; now += 1s) {
    b.run(now, server);
    EXPECT_FALSE(b.election.leading(now));
  }
  b.run(kStart + 60s, server);
  EXPECT_TRUE(b.election.leading(kStart + 60s));
}

TEST(Election, AReleasedLeaseIsTakenAtTheNextLook) {
  Server server;
  Replica a("a");
  Replica b("b");
  a.run(kStart, server);
  b.run(kStart, server);
  a.election.resign();
  EXPECT_FALSE(a.election.leading(kStart));
  const std::optional<Lease> release = a.election.release(WallTime{});
  ASSERT_TRUE(release.has_value());
  server.handle({.request = Request::kUpdate, .lease = *release, .wake_at = {}});
  EXPECT_EQ(server.lease->holder, "");
  b.run(kStart + 2s, server);
  EXPECT_TRUE(b.election.leading(kStart + 2s));
  a.run(kStart + 30s, server);
  EXPECT_FALSE(a.election.leading(kStart + 30s));
}

TEST(Election, AReplicaThatStepsAsideStandsAgainWhenItsPauseIsOver) {
  Server server;
  Replica a("a");
  a.run(kStart, server);
  ASSERT_TRUE(a.election.leading(kStart));
  a.election.resign(kStart + 10s);
  EXPECT_FALSE(a.election.leading(kStart));
  server.handle({.request = Request::kUpdate, .lease = a.election.release(WallTime{}).value(), .wake_at = {}});
  const ElectionStep rest = a.election.tick(kStart + 1s, WallTime{});
  EXPECT_EQ(rest.request, Request::kNone);
  EXPECT_EQ(rest.wake_at, kStart + 10s);
  a.run(kStart + 9s, server);
  EXPECT_FALSE(a.election.leading(kStart + 9s));
  // Nobody else wanted it.
  a.run(kStart + 10s, server);
  EXPECT_TRUE(a.election.leading(kStart + 10s));
}

TEST(Election, WhoDoesNotHoldTheLeaseHasNothingToRelease) {
  Server server;
  Replica a("a");
  Replica b("b");
  a.run(kStart, server);
  b.run(kStart, server);
  b.election.resign();
  EXPECT_FALSE(b.election.release(WallTime{}).has_value());
}

TEST(Election, AnUnknownOutcomeDoesNotCountAsARenewal) {
  Server server;
  Replica a("a");
  a.run(kStart, server);
  const ElectionStep renewal = a.election.tick(kStart + 2s, WallTime{});
  ASSERT_EQ(renewal.request, Request::kUpdate);
  static_cast<void>(server.handle(renewal));  // executed, but the answer is lost
  a.election.answer(kStart + 4s, {ElectionReply::Kind::kFailed, {}});
  EXPECT_FALSE(a.election.leading(kStart + 7s));
  a.run(kStart + 4500ms, server);  // looks, then writes again
  EXPECT_TRUE(a.election.leading(kStart + 7s));
  EXPECT_EQ(server.lease->transitions, 0);
}

TEST(Election, TwoThatRaceForAFreeLeaseGetOneLeader) {
  Server server;
  Replica a("a");
  Replica b("b");
  for (Replica* one : {&a, &b}) {
    const ElectionStep get = one->election.tick(kStart, WallTime{});
    one->election.answer(kStart, server.handle(get));
  }
  const ElectionStep claim_a = a.election.tick(kStart, WallTime{});
  const ElectionStep claim_b = b.election.tick(kStart, WallTime{});
  b.election.answer(kStart, server.handle(claim_b));
  a.election.answer(kStart, server.handle(claim_a));
  EXPECT_TRUE(b.election.leading(kStart));
  EXPECT_FALSE(a.election.leading(kStart));
}

// Replicas with lost, slow and doubtful answers, pauses of the whole process and clocks of different speed.
TEST(Election, ThereAreNeverTwoLeadersWhateverGoesWrong) {
  int takeovers = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::minstd_rand random(seed);
    const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
    Server server;
    std::vector<std::unique_ptr<Replica>> replicas;
    struct UnderWay {
      ElectionReply reply;
      Instant arrives;
    };
    std::map<Replica*, UnderWay> under_way;
    std::map<Replica*, Instant> asleep_until;
    std::map<Replica*, double> speed;
    for (const char* name : {"a", "b", "c"}) {
      replicas.push_back(std::make_unique<Replica>(name));
      speed[replicas.back().get()] = 0.98 + 0.02 * static_cast<double>(random() % 3);
    }
    std::string last_leader;
    for (Instant now = kStart; now < kStart + 300s; now += 100ms) {
      std::string leader;
      for (const auto& replica : replicas) {
        Replica* one = replica.get();
        const Instant own = kStart + std::chrono::duration_cast<milliseconds>((now - kStart) * speed[one]);
        if (one->election.leading(own)) {
          EXPECT_TRUE(leader.empty()) << leader << " and another at once, seed " << seed;
          leader = one == replicas[0].get() ? "a" : one == replicas[1].get() ? "b" : "c";
        }
        if (now < asleep_until[one]) {
          continue;
        }
        if (chance(1)) {
          asleep_until[one] = now + milliseconds(random() % 20'000);
        }
        if (const auto found = under_way.find(one); found != under_way.end()) {
          if (now >= found->second.arrives) {
            one->election.answer(own, found->second.reply);
            under_way.erase(found);
          }
          continue;
        }
        const ElectionStep step = one->election.tick(own, WallTime{});
        if (step.request != Request::kNone) {
          const bool lost_before = chance(5);
          ElectionReply reply = lost_before ? ElectionReply{} : server.handle(step);
          if (chance(5)) {
            reply = {};  // executed or not, the answer is lost
          }
          under_way[one] = {reply, now + milliseconds(chance(10) ? random() % 5'000 : random() % 200)};
        }
      }
      takeovers += !leader.empty() && !last_leader.empty() && leader != last_leader ? 1 : 0;
      last_leader = leader.empty() ? last_leader : leader;
    }
  }
  EXPECT_GT(takeovers, 100);
}

TEST(Lease, SurvivesBeingWrittenAndRead) {
  Lease lease;
  lease.name_space = "system";
  lease.name = "gantree";
  lease.uid = "u";
  lease.resource_version = "7";
  lease.holder = "host_1";
  lease.duration_seconds = 10;
  lease.acquire_time = "2026-01-31T12:00:00.000000Z";
  lease.renew_time = "2026-01-31T12:00:02.500000Z";
  lease.transitions = 3;
  EXPECT_EQ(read_lease(to_json(lease)).value(), lease);
}

TEST(Lease, OneThatIsNoLeaseIsRefused) {
  EXPECT_FALSE(read_lease("[]").has_value());
  EXPECT_FALSE(read_lease(R"({"metadata":{"name":3}})").has_value());
}

}  // namespace
}  // namespace gantree::kube

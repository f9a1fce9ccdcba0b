#include "service/loop.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "fake_transport.h"

namespace gantree {
namespace {

using testing::HasSubstr;

// A loop whose writes go nowhere. It leads, and has seen every list.
struct LoopAlone {
  void tell(const std::string& group, const std::string& version, const std::string& kind, const std::string& text) {
    auto object = prune(group, version, kind, text);
    ASSERT_TRUE(object) << object.error().message;
    mailbox.post(ObjectChanged{std::move(*object)});
  }
  // Runs until something is written to an object of that path; what was written.
  std::string run_until_written(const std::string& path) {
    std::string body;
    transport.on_send = [&](const http::Request& request) {
      if (request.target.find(path) != std::string::npos && body.empty()) {
        body = request.body;
        mailbox.post(Stop{});
      }
    };
    static_cast<void>(loop.run(std::chrono::milliseconds(0)));
    return body;
  }

  FakeTransport transport;
  kube::Client client{transport, nullptr};
  LoopMailbox mailbox;
  Log log{stderr, LogLevel::kError, LogFormat::kText};
  Loop loop{{.mailbox = mailbox, .log = log, .writer = client, .synced = [] { return true; }}, {}, {}, true};
};

TEST(Loop, WhatGoesOfOneFamilyTakesNothingOfTheSameNameFromAnother) {
  const std::string group = "kueue.x-k8s.io";
  LoopAlone alone;
  alone.tell(group, "v1beta2", "Topology",
             R"({"metadata":{"name":"default"},"spec":{"levels":[{"nodeLabel":"kubernetes.io/hostname"}]}})");
  alone.tell(group, "v1beta2", "ResourceFlavor",
             R"({"metadata":{"name":"gpus"},"spec":{"nodeLabels":{"pool":"a"},"topologyName":"default"}})");
  alone.tell(group, "v1beta2", "ClusterQueue",
             R"({"metadata":{"name":"q","uid":"u","resourceVersion":"1"},"spec":{"namespaceSelector":{},)"
             R"("resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"gpus","resources":[)"
             R"({"name":"cpu","nominalQuota":"4"}]}]}]}})");
  alone.mailbox.post(ObjectRemoved{.group = "kai.scheduler", .kind = "Topology", .ns = "", .name = "default"});
  EXPECT_THAT(alone.run_until_written("clusterqueues/q/status"), HasSubstr(R"("reason":"Ready")"));
}

TEST(Loop, APlacementThatBreaksARuleIsLoggedWithWhatWasAsked) {
  FakeTransport transport;
  kube::Client client{transport, nullptr};
  LoopMailbox mailbox;
  std::FILE* const file = std::tmpfile();
  Log log{file, LogLevel::kError, LogFormat::kText};
  Loop loop{{.mailbox = mailbox, .log = log, .writer = client, .synced = [] { return true; }}, {}, {}, true};
  Engine& engine = loop.scheduler().cluster().engine();
  Gang gang;
  gang.key = {"default", "train", "Job"};
  gang.topology = engine.add_topology({"default", {"rack"}});
  gang.root.pod_sets.push_back({.name = "main", .shape = {}, .count = 2, .min_count = 2, .constraint = {}});
  const Outcome outcome = engine.checked(gang, {.placement = Placement{{{}}}, .counts = {2}, .message = {}});
  EXPECT_FALSE(outcome.placement);
  std::rewind(file);
  std::string line(4096, '\0');
  line.resize(std::fread(line.data(), 1, line.size(), file));
  std::fclose(file);
  EXPECT_THAT(line, HasSubstr("broken invariant"));
  EXPECT_THAT(line, HasSubstr("default/train"));
  EXPECT_THAT(line, HasSubstr("0 pods of \\\"main\\\" have a host, but 2 start"));
  const std::size_t name = line.find("gantree-broken-answer-");
  ASSERT_NE(name, std::string::npos) << line;
  const std::string kept = line.substr(name, line.find(".txt", name) + 4 - name);
  EXPECT_TRUE(std::filesystem::remove(std::filesystem::temp_directory_path() / kept));
}

// A loop with an election and watches, round by round.
struct LoopOfAReplica {
  using Steady = std::chrono::steady_clock;

  void tell(const std::string& kind, const std::string& text) {
    auto object = prune("", "v1", kind, text);
    ASSERT_TRUE(object) << object.error().message;
    mailbox.post(ObjectChanged{std::move(*object)});
  }
  void tell_pod(const std::string& name, const std::string& node) {
    tell("Pod",
         fmt::format(
             R"({{"metadata":{{"namespace":"ns","name":"{0}","uid":"u-{0}"}},"spec":{{"schedulerName":"gantree",)"
             R"("nodeName":"{1}","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"4"}}}}}}]}}}})",
             name, node));
  }
  void turn(std::chrono::milliseconds later = std::chrono::milliseconds(20)) {
    now += later;
    EXPECT_FALSE(loop.turn(mailbox.take(Steady::time_point::min()), std::chrono::seconds(1)));
  }
  [[nodiscard]] int bindings() const {
    int count = 0;
    for (const http::Request& request : transport.sent) {
      count += request.target.ends_with("/binding") ? 1 : 0;
    }
    return count;
  }
  void answer_last() {
    http::Outcome outcome;
    outcome.kind = http::Outcome::Kind::kReply;
    outcome.status = 201;
    transport.answers.back()(outcome);
  }

  Steady::time_point now = Steady::time_point{} + std::chrono::hours(1);
  FakeTransport transport;
  kube::Client client{transport, nullptr};
  LoopMailbox mailbox;
  Log log{stderr, LogLevel::kError, LogFormat::kText};
  std::optional<Steady::time_point> asked;
  std::vector<std::string> unproven;
  bool listed = true;
  int stepped_aside = 0;
  Loop loop{{.mailbox = mailbox,
             .log = log,
             .writer = client,
             .synced = [this] { return listed; },
             .prove_fresh = [this](Steady::time_point since) { asked = since; },
             .stale = [this](Steady::time_point) { return unproven; },
             .step_aside = [this] { ++stepped_aside; },
             .clock = {.now = [this] { return now; },
                       .wall =
                           [this] {
                             return Time(std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()));
                           }}},
            {},
            {},
            false};
};

constexpr const char* kHost =
    R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","pods":"10"},"conditions":[)"
    R"({"type":"Ready","status":"True"}]}})";

TEST(Loop, ANewLeaderDecidesNothingBeforeEveryWatchIsShownToBeAsFreshAsTheLease) {
  LoopOfAReplica replica;
  replica.tell("Node", kHost);
  replica.tell_pod("late", "");
  replica.turn();
  replica.unproven = {"pods"};
  replica.mailbox.post(LeadershipChanged{.leading = true, .term = 1, .since = replica.now});
  const auto since = replica.now;
  for (int i = 0; i < 300; ++i) {
    replica.turn();
  }
  EXPECT_EQ(replica.asked, since);
  EXPECT_EQ(replica.bindings(), 0);
  // What the watch had not told of: another has filled the host.
  replica.tell_pod("first", "n");
  replica.unproven.clear();
  replica.turn();
  replica.turn();
  replica.turn(std::chrono::seconds(2));
  EXPECT_EQ(replica.bindings(), 0);
  replica.mailbox.post(ObjectRemoved{.group = "", .kind = "Pod", .ns = "ns", .name = "first"});
  replica.turn(std::chrono::seconds(1));
  replica.turn(std::chrono::seconds(1));
  EXPECT_EQ(replica.bindings(), 1);
}

TEST(Loop, AReplicaThatCannotShowFreshnessGivesTheLeaseUpAndHasTwiceAsLongTheNextTime) {
  LoopOfAReplica replica;
  replica.unproven = {"pods"};
  const auto lead = [&](std::uint64_t term) {
    replica.mailbox.post(LeadershipChanged{.leading = true, .term = term, .since = replica.now});
  };
  lead(1);
  for (int second = 0; second < 59; ++second) {
    replica.turn(std::chrono::seconds(1));
  }
  EXPECT_EQ(replica.stepped_aside, 0);
  for (int second = 0; second < 5; ++second) {
    replica.turn(std::chrono::seconds(1));
  }
  EXPECT_EQ(replica.stepped_aside, 1);
  EXPECT_THAT(replica.loop.metrics_page(replica.client.counters(), replica.client.counters()),
              HasSubstr("gantree_hand_overs_given_up_total 1"));
  replica.mailbox.post(LeadershipChanged{});
  replica.turn(std::chrono::seconds(10));
  lead(2);
  for (int second = 0; second < 119; ++second) {
    replica.turn(std::chrono::seconds(1));
  }
  EXPECT_EQ(replica.stepped_aside, 1);
  replica.turn(std::chrono::seconds(2));
  EXPECT_EQ(replica.stepped_aside, 2);
}

TEST(Loop, AReplicaThatHasNotListedAllGivesTheLeaseUpToo) {
  LoopOfAReplica replica;
  replica.listed = false;
  replica.mailbox.post(LeadershipChanged{.leading = true, .term = 1, .since = replica.now});
  replica.turn(std::chrono::seconds(59));
  EXPECT_EQ(replica.stepped_aside, 0);
  replica.turn(std::chrono::seconds(1));
  EXPECT_EQ(replica.stepped_aside, 1);
}

TEST(Loop, ALeaseThatIsLostForAMomentGivesNoRoomAwayTwice) {
  LoopOfAReplica replica;
  replica.tell("Node", kHost);
  replica.tell_pod("a", "");
  replica.mailbox.post(LeadershipChanged{.leading = true, .term = 1, .since = replica.now});
  for (int i = 0; i < 4; ++i) {
    replica.turn(std::chrono::seconds(1));
  }
  ASSERT_EQ(replica.bindings(), 1);
  replica.answer_last();
  replica.turn();
  // Its event does not come.
  replica.tell_pod("b", "");
  replica.unproven = {"pods"};
  replica.mailbox.post(LeadershipChanged{});
  replica.mailbox.post(LeadershipChanged{.leading = true, .term = 2, .since = replica.now});
  for (int i = 0; i < 4; ++i) {
    replica.turn(std::chrono::seconds(1));
  }
  EXPECT_EQ(replica.bindings(), 1);
  replica.tell_pod("a", "n");
  replica.unproven.clear();
  for (int i = 0; i < 40; ++i) {
    replica.turn(std::chrono::seconds(1));
  }
  EXPECT_EQ(replica.bindings(), 1);
}

TEST(Loop, WhatDoesNotFitIntoTheMemoryOfItsNamespaceIsToldAndReadAgainWhenOthersAreGone) {
  FakeTransport transport;
  kube::Client client(transport, nullptr);
  LoopMailbox mailbox;
  Log log(stderr, LogLevel::kError, LogFormat::kText);
  std::vector<std::string> read;
  std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
  Loop loop({.mailbox = mailbox,
             .log = log,
             .writer = client,
             .synced = [] { return true; },
             .clock = {.now = [&] { return now; }, .wall = {}},
             .read = [&](const NamespaceBudget::Aside& aside) { read.push_back(aside.ns + "/" + aside.name); },
             .namespace_memory = 16 << 10U},
            {}, {}, true);
  const auto pod = [](const std::string& ns, const std::string& name) {
    return *prune("", "v1", "Pod",
                  fmt::format(R"({{"metadata":{{"namespace":"{0}","name":"{1}","uid":"u-{0}-{1}"}},)"
                              R"("spec":{{"schedulerName":"gantree","containers":[{{"name":"c"}}]}}}})",
                              ns, name));
  };
  const auto turn = [&] {
    now += std::chrono::seconds(1);
    EXPECT_FALSE(loop.turn(mailbox.take({}), std::chrono::seconds(1)));
  };
  mailbox.post(ObjectChanged{pod("evil", "a")});
  mailbox.post(ObjectChanged{pod("evil", "b")});
  mailbox.post(ObjectChanged{pod("good", "c")});
  for (int i = 0; i < 4; ++i) {
    turn();
  }
  EXPECT_EQ(loop.scheduler().pods().table().pods(), 2U);
  const auto told = std::find_if(transport.sent.begin(), transport.sent.end(), [](const http::Request& request) {
    return request.body.find("NamespaceFull") != std::string::npos;
  });
  ASSERT_NE(told, transport.sent.end());
  EXPECT_THAT(told->body, HasSubstr("u-evil-b"));
  EXPECT_TRUE(read.empty());
  mailbox.post(ObjectRemoved{.group = "", .kind = "Pod", .ns = "evil", .name = "a"});
  turn();
  EXPECT_EQ(read, std::vector<std::string>{"evil/b"});
  mailbox.post(ObjectRead{pod("evil", "b")});
  turn();
  EXPECT_EQ(loop.scheduler().pods().table().pods(), 2U);
}

// What pods name is kept for good: who makes and deletes them must not fill the memory so, nor make cycles longer.
TEST(Loop, PodsThatComeAndGoLeaveOnlySoManyNamesBehind) {
  LoopAlone alone;
  for (int i = 0; i < 20; ++i) {
    std::string names;
    for (int k = 0; k < 100; ++k) {
      names += fmt::format(R"({}"x.io/r{}-{}":"1")", names.empty() ? "" : ",", i, k);
    }
    alone.tell(
        "", "v1", "Pod",
        fmt::format(R"({{"metadata":{{"namespace":"ns","name":"p","uid":"u{}"}},"spec":{{"schedulerName":"gantree",)"
                    R"("containers":[{{"name":"c","resources":{{"requests":{{{}}}}}}}]}}}})",
                    i, names));
    static_cast<void>(alone.loop.turn(alone.mailbox.take({}), std::chrono::seconds(1)));
    static_cast<void>(alone.loop.turn({}, std::chrono::seconds(1)));
    alone.mailbox.post(ObjectRemoved{.group = "", .kind = "Pod", .ns = "ns", .name = "p"});
  }
  const Inventory& inventory = alone.loop.scheduler().cluster().inventory();
  EXPECT_GT(inventory.resources().size(), 100U);
  EXPECT_LT(inventory.resources().size(), 300U);
}

}  // namespace
}  // namespace gantree

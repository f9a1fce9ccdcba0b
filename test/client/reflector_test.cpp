// Lists and watches against a server that fails in the ways servers do.
#include "kube/reflector.h"

#include <gtest/gtest.h>

#include "client/fake_server.h"
#include "client/recorder.h"

namespace gantree::kube {
namespace {

using test::eventually;
using test::FakeServer;
using test::Recorder;

class ReflectorTest : public ::testing::Test {
 protected:
  static http::Endpoint endpoint(const FakeServer& server) {
    http::Endpoint endpoint;
    endpoint.base_url = server.url();
    return endpoint;
  }
  static ReflectorOptions quick() {
    ReflectorOptions options;
    options.page_size = 10;
    options.first_backoff = http::Milliseconds(20);
    options.max_backoff = http::Milliseconds(200);
    return options;
  }
  void fill(int count) const {
    server_.control(R"({"op":"fill","resource":"v1/pods","name":"pod","count":)" + std::to_string(count) + "}");
  }
  void put(const std::string& name, const std::string& more = {}) const {
    server_.control(R"({"op":"put","resource":"v1/pods","object":{"metadata":{"namespace":"default","name":")" + name +
                    "\"" + more + "}}}");
  }
  void remove(const std::string& name) const {
    server_.control(R"({"op":"delete","resource":"v1/pods","namespace":"default","name":")" + name + "\"}");
  }

  FakeServer server_;
  http::Client transport_{endpoint(server_)};
  Client client_{transport_, nullptr};
  Recorder sink_;
};

TEST_F(ReflectorTest, ListsInPagesThenTellsChangesAsTheyCome) {
  fill(25);
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  EXPECT_EQ(sink_.size(), 25U);
  EXPECT_EQ(server_.requests("GET", "limit=10"), 3);
  EXPECT_TRUE(reflector.synced());

  put("new");
  put("new", R"(,"labels":{"a":"b"})");
  remove("pod-000007");
  ASSERT_TRUE(eventually([&] { return sink_.count("removed default/pod-000007") == 1; }));
  EXPECT_EQ(sink_.count("changed default/new"), 2);
  EXPECT_NE(sink_.object("default/new").find("\"a\""), std::string::npos);
  EXPECT_EQ(reflector.size(), 25U);
}

TEST_F(ReflectorTest, ResumesAfterACutInTheMiddleOfAnEventWithoutLosingOrRepeatingOne) {
  fill(3);
  server_.control(R"({"op":"fault","method":"GET","path":"watch=true","cut_event":2,"times":1})");
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  for (const char* name : {"a", "b", "c"}) {
    put(name);
  }
  ASSERT_TRUE(eventually([&] { return sink_.size() == 6; }));
  EXPECT_EQ(sink_.count("changed default/a"), 1);
  EXPECT_EQ(sink_.count("changed default/b"), 1);
  EXPECT_EQ(sink_.syncs(), 1) << "a cut needs no new list";
}

TEST_F(ReflectorTest, DropsEventsThatAreSentTwice) {
  server_.control(R"({"op":"set","duplicate":true})");
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  put("a");
  put("a", R"(,"labels":{"x":"y"})");
  remove("a");
  put("b");
  ASSERT_TRUE(eventually([&] { return sink_.count("changed default/b") == 1; }));
  const std::vector<std::string> expected = {"synced", "changed default/a", "changed default/a", "removed default/a",
                                             "changed default/b"};
  EXPECT_EQ(sink_.log(), expected);
  EXPECT_GE(client_.counters().dropped_events.load(), 3U);
}

TEST_F(ReflectorTest, ListsAgainWhenAnEventSays410AndTellsOnlyWhatDiffers) {
  fill(12);
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  server_.control(R"({"op":"delete_unseen","resource":"v1/pods","namespace":"default","name":"pod-000003"})");
  server_.control(R"({"op":"compact"})");
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 2; }));
  EXPECT_EQ(sink_.count("changed default/pod-000001"), 1) << "told again though it did not change";
  EXPECT_EQ(sink_.count("removed default/pod-000003 unseen"), 1);
  EXPECT_EQ(sink_.size(), 11U);
  put("later");
  EXPECT_TRUE(eventually([&] { return sink_.size() == 12; }));
}

TEST_F(ReflectorTest, ListsAgainWhenTheWatchIsRefusedWith410) {
  fill(2);
  server_.control(R"({"op":"fault","method":"GET","path":"watch=true","status":410})");
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 2; }));
  put("later");
  EXPECT_TRUE(eventually([&] { return sink_.size() == 3; }));
  EXPECT_EQ(client_.counters().relists.load(), 1U);
}

TEST_F(ReflectorTest, StartsTheListAgainWhenAPageIsGone) {
  fill(25);
  server_.control(R"({"op":"fault","method":"GET","path":"continue=","status":410,"times":1})");
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  EXPECT_EQ(sink_.size(), 25U);
  EXPECT_EQ(sink_.count("changed default/pod-000000"), 1);
}

TEST_F(ReflectorTest, TellsARecreatedObjectAsRemovedAndChanged) {
  put("a", R"(,"uid":"11111111-2222-3333-4444-555555555555")");
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  server_.control(R"({"op":"delete_unseen","resource":"v1/pods","namespace":"default","name":"a"})");
  put("a", R"(,"uid":"11111111-2222-3333-4444-666666666666")");
  ASSERT_TRUE(eventually([&] { return sink_.count("changed default/a") == 2; }));
  const std::vector<std::string> expected = {"changed default/a", "synced", "removed default/a unseen",
                                             "changed default/a"};
  EXPECT_EQ(sink_.log(), expected);
  EXPECT_EQ(sink_.last_removed_uid(), "11111111-2222-3333-4444-555555555555");
}

TEST_F(ReflectorTest, GivesUpAWatchOnWhichNothingComesAndResumes) {
  ReflectorOptions options = quick();
  options.idle_timeout = http::Milliseconds(300);
  const Reflector reflector(client_, pods(), sink_, options);
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  ASSERT_TRUE(eventually([&] { return server_.requests("GET", "watch=true") == 1; }));
  server_.control(R"({"op":"set","frozen":true})");
  put("unseen");
  ASSERT_TRUE(eventually([&] { return server_.requests("GET", "watch=true") >= 2; }));
  server_.control(R"({"op":"set","frozen":false})");
  ASSERT_TRUE(eventually([&] { return sink_.size() == 1; }));
  EXPECT_EQ(sink_.syncs(), 1);
}

TEST_F(ReflectorTest, BookmarksKeepAWatchAliveAndMoveItOn) {
  server_.control(R"({"op":"set","bookmark_seconds":0.1})");
  ReflectorOptions options = quick();
  options.idle_timeout = http::Milliseconds(1'000);
  options.min_watch = options.max_watch = http::Milliseconds(2'000);
  const Reflector reflector(client_, pods(), sink_, options);
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  // Something else moves the version on, and what was before is forgotten.
  server_.control(R"({"op":"fill","resource":"v1/other","name":"x","count":5})");
  ASSERT_TRUE(eventually([&] { return server_.requests("GET", "watch=true") == 2; }));
  EXPECT_GT(server_.requests("GET", "resourceVersion=1005"), 0);
  EXPECT_EQ(sink_.syncs(), 1);
  EXPECT_TRUE(sink_.troubles().empty()) << sink_.troubles().front();
}

TEST_F(ReflectorTest, KeepsTryingWhileTheServerFailsAndSaysWhatIsWrong) {
  fill(1);
  server_.control(R"({"op":"fault","method":"GET","path":"limit=","status":503,"times":3})");
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  ASSERT_EQ(sink_.troubles().size(), 3U);
  EXPECT_EQ(sink_.troubles()[0], "pods/v1: injected fault (503)");
}

TEST_F(ReflectorTest, RemovesAllWhenItsResourceGoes) {
  fill(3);
  Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  reflector.remove_all();
  EXPECT_EQ(sink_.size(), 0U);
  EXPECT_EQ(reflector.size(), 0U);
}

TEST_F(ReflectorTest, ReadsLargeListsThatAreCompressed) {
  server_.control(R"({"op":"fill","resource":"v1/pods","name":"big","count":100,"size":4000})");
  ReflectorOptions options = quick();
  options.page_size = 60;
  const Reflector reflector(client_, pods(), sink_, options);
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  EXPECT_EQ(sink_.size(), 100U);
  EXPECT_GT(sink_.object("default/big-000099").size(), 4000U);
}

TEST_F(ReflectorTest, LooksForTheServerAgainWhenItIsGone) {
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  server_.end();
  ASSERT_TRUE(eventually([&] { return sink_.troubles().size() >= 2; }));
  EXPECT_NE(sink_.troubles().back().find("connect"), std::string::npos) << sink_.troubles().back();
}

}  // namespace
}  // namespace gantree::kube

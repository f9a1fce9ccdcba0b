#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

using ::testing::ElementsAre;
using Lines = std::vector<std::string>;

TEST(Watch, BeginsWithWhatIsThereAndGoesOnWithChanges) {
  World world;
  (void)world.post(kMaps, config_map("a"));
  const auto recorder = watch(world, kMaps, "");
  (void)world.merge(std::string(kMaps) + "/a", R"({"data":{"a":"c"}})");
  (void)world.remove(std::string(kMaps) + "/a");
  EXPECT_THAT(recorder->wait(3), ElementsAre("ADDED a", "MODIFIED a", "DELETED a"));
}

TEST(Watch, GoesOnFromAVersionThatIsNamed) {
  World world;
  const std::string version = version_in(world.post(kMaps, config_map("a")));
  (void)world.post(kMaps, config_map("b"));
  const auto recorder = watch(world, kMaps, "resourceVersion=" + version);
  (void)world.post(kMaps, config_map("c"));
  EXPECT_THAT(recorder->wait(2), ElementsAre("ADDED b", "ADDED c"));
}

TEST(Watch, SaysWhereTheInitialEventsEnd) {
  World world;
  (void)world.post(kMaps, config_map("a"));
  const auto recorder =
      watch(world, kMaps, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  EXPECT_THAT(recorder->wait(2), ElementsAre("ADDED a", "BOOKMARK "));
  EXPECT_EQ(text_at(recorder->objects()[1], {"metadata", "annotations", "k8s.io/initial-events-end"}), "true");
}

TEST(Watch, ShowsWhatLeavesTheSelectionAsDeleted) {
  World world;
  (void)world.post(kMaps, config_map("a", R"(,"labels":{"x":"1"})"));
  (void)world.post(kMaps, config_map("b"));
  const auto recorder = watch(world, kMaps, "labelSelector=x%3D1");
  (void)world.merge(std::string(kMaps) + "/a", R"({"metadata":{"labels":{"x":"2"}}})");
  (void)world.merge(std::string(kMaps) + "/b", R"({"metadata":{"labels":{"x":"1"}}})");
  EXPECT_THAT(recorder->wait(3), ElementsAre("ADDED a", "DELETED a", "ADDED b"));
  const Value gone = recorder->objects()[1];
  EXPECT_EQ(text_at(gone, {"metadata", "labels", "x"}), "1") << "as it was when it was last seen";
  EXPECT_EQ(text_at(gone, {"metadata", "resourceVersion"}), version_in(world.get(std::string(kMaps) + "/a")));
}

TEST(Lists, OfAnEarlierVersionAreAsTheyWere) {
  World world;
  (void)world.post(kMaps, config_map("a"));
  const std::string then = version_in(world.post(kMaps, config_map("b", R"(,"labels":{"x":"1"})")));
  (void)world.post(kMaps, config_map("c"));
  (void)world.merge(std::string(kMaps) + "/b", R"({"metadata":{"labels":{"x":"2"}}})");
  (void)world.merge(std::string(kMaps) + "/b", R"({"metadata":{"labels":{"x":"3"}}})");
  (void)world.remove(std::string(kMaps) + "/a");
  const std::string exactly = std::string(kMaps) + "?resourceVersionMatch=Exact&resourceVersion=" + then;
  const Answer list = world.get(exactly);
  EXPECT_THAT(names_in(list), ElementsAre("a", "b"));
  EXPECT_EQ(version_in(list), then);
  EXPECT_THAT(names_in(world.get(exactly + "&labelSelector=x%3D1")), ElementsAre("b"));
  EXPECT_THAT(names_in(world.get(exactly + "&labelSelector=x%3D3")), ElementsAre());
  const std::string to_come = std::to_string(std::stoull(then) + 1000);
  EXPECT_EQ(world.get(std::string(kMaps) + "/b?resourceVersion=" + to_come).status, 504);
}

TEST(Watch, EndsWhenItsTimeIsUp) {
  World world;
  const auto recorder = watch(world, kMaps, "timeoutSeconds=1");
  EXPECT_TRUE(World::eventually([&] { return recorder->over(); }));
}

TEST(Watch, TellsHowFarItHasComeBeforeItsTimeIsUp) {
  World world;
  const std::string version = version_in(world.post(kMaps, config_map("a")));
  const auto recorder =
      watch(world, kMaps, "resourceVersion=" + version + "&timeoutSeconds=3&allowWatchBookmarks=true");
  const std::string last = version_in(world.post("/api/v1/namespaces", R"({"metadata":{"name":"elsewhere"}})"));
  ASSERT_THAT(recorder->wait(1), ElementsAre("BOOKMARK "));
  // What a new namespace gets is written too.
  EXPECT_GE(std::stoull(std::string(text_at(recorder->objects()[0], {"metadata", "resourceVersion"}))),
            std::stoull(last));
  EXPECT_FALSE(recorder->over());
}

TEST(Watch, OfAServerThatKeptNothingTellsThatTheVersionIsTooOld) {
  std::string version;
  {
    World world;
    for (int i = 0; i < 100; ++i) {
      version = version_in(world.post(kMaps, config_map("a" + std::to_string(i))));
    }
  }
  World world;
  const auto recorder = watch(world, kMaps, "resourceVersion=" + version);
  EXPECT_THAT(recorder->wait(1), ElementsAre("ERROR "));
}

TEST(Watch, InsideTheProcessWaitsForKindsThatAreNotThereYet) {
  World world;
  std::atomic<int> seen = 0;
  std::atomic<bool> synced = false;
  (void)world.api().watch("/apis/example.com/v1/things", "",
                          {.event = [&](const WatchEvent&) { ++seen; }, .synced = [&] { synced = true; }});
  (void)world.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                   R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
  EXPECT_TRUE(World::eventually([&] { return synced.load(); }));
  (void)world.post("/apis/example.com/v1/namespaces/default/things",
                   R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"}})");
  EXPECT_TRUE(World::eventually([&] { return seen == 1; }));
}

TEST(Lists, AreReadPageByPageAsTheyWereAtTheBeginning) {
  World world;
  for (const char* name : {"a", "b", "c"}) {
    (void)world.post(kMaps, config_map(name));
  }
  const Answer first = world.get(std::string(kMaps) + "?limit=2");
  EXPECT_THAT(names_in(first), ElementsAre("a", "b"));
  EXPECT_EQ(text_in(first, {"metadata", "remainingItemCount"}), "1");
  (void)world.remove(std::string(kMaps) + "/c");
  const std::string token = text_in(first, {"metadata", "continue"});
  const Answer second = world.get(std::string(kMaps) + "?limit=2&continue=" + token);
  EXPECT_THAT(names_in(second), ElementsAre("c"));
  EXPECT_EQ(version_in(second), version_in(first));
  EXPECT_EQ(world.get(std::string(kMaps) + "?limit=2&continue=nonsense").status, 410);
}

TEST(Lists, ATokenOfOneListDoesNotLeadIntoAnother) {
  World world;
  for (const char* name : {"a", "b"}) {
    (void)world.post(kMaps, config_map(name));
    (void)world.post("/api/v1/namespaces/default/secrets",
                     R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + std::string(name) + R"("}})");
  }
  const std::string secrets = "/api/v1/namespaces/default/secrets?limit=1";
  const std::string token = text_in(world.get(secrets), {"metadata", "continue"});
  ASSERT_FALSE(token.empty());
  EXPECT_EQ(world.get(std::string(kMaps) + "?limit=1&continue=" + token).status, 410);
  EXPECT_EQ(world.get("/api/v1/secrets?limit=1&continue=" + token).status, 410);
  EXPECT_EQ(world.get(secrets + "&fieldSelector=metadata.name%3Da&continue=" + token).status, 410);
  EXPECT_THAT(names_in(world.get(secrets + "&continue=" + token)), ElementsAre("b"));
}

TEST(Lists, CanBeSelectedByLabelAndField) {
  World world;
  (void)world.post(kPods, pod("a", R"(,"labels":{"x":"1"})"));
  (void)world.post(kPods, pod("b", R"(,"labels":{"x":"2"})", R"(,"nodeName":"n1")"));
  EXPECT_THAT(names_in(world.get(std::string(kPods) + "?labelSelector=x%20in%20(1,3)")), ElementsAre("a"));
  EXPECT_THAT(names_in(world.get(std::string(kPods) + "?fieldSelector=spec.nodeName%3Dn1")), ElementsAre("b"));
  EXPECT_THAT(names_in(world.get("/api/v1/pods?fieldSelector=metadata.name!%3Db")), ElementsAre("a"));
  EXPECT_EQ(world.get(std::string(kPods) + "?fieldSelector=spec.dnsPolicy%3Dx").status, 400);
}

class Restarts : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ApiOptions kept() const { return {.file = (folder_ / "cluster.db").string()}; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("gantree-restarts-" + std::to_string(::getpid()));
};

TEST_F(Restarts, AWatchGoesOnWhereItWas) {
  std::string created;
  std::string deleted;
  {
    World world(kept());
    created = version_in(world.post(kMaps, config_map("a")));
    (void)world.merge(std::string(kMaps) + "/a", R"({"data":{"a":"c"}})");
    (void)world.remove(std::string(kMaps) + "/a");
    deleted = version_in(world.get(kMaps));
    (void)world.post(kPods, pod("p"));
  }
  for (int i = 0; i < 2; ++i) {
    World world(kept());
    const auto resumed = watch(world, kMaps, "resourceVersion=" + deleted);
    const auto late = watch(world, kMaps, "resourceVersion=" + created);
    const auto never_changed = watch(world, "/api/v1/namespaces/default/secrets", "resourceVersion=" + created);
    (void)world.post(kMaps, config_map("b" + std::to_string(i)));
    (void)world.post("/api/v1/namespaces/default/secrets",
                     R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s)" + std::to_string(i) + R"("}})");
    EXPECT_THAT(resumed->wait(1 + i), i == 0 ? Lines({"ADDED b0"}) : Lines({"ADDED b0", "ADDED b1"}));
    EXPECT_THAT(late->wait(3 + i), i == 0 ? Lines({"MODIFIED a", "DELETED a", "ADDED b0"})
                                          : Lines({"MODIFIED a", "DELETED a", "ADDED b0", "ADDED b1"}));
    EXPECT_EQ(text_at(late->objects()[0], {"data", "a"}), "c");
    EXPECT_THAT(never_changed->wait(1 + i), i == 0 ? Lines({"ADDED s0"}) : Lines({"ADDED s0", "ADDED s1"}));
  }
}

TEST_F(Restarts, AWatchSeesWhatLeftItsSelectionMeanwhile) {
  std::string version;
  {
    World world(kept());
    (void)world.post(kMaps, config_map("a", R"(,"labels":{"x":"1"})"));
    (void)world.post(kMaps, config_map("gone", R"(,"labels":{"x":"1"})"));
    version = version_in(world.post(kMaps, config_map("b")));
    (void)world.merge(std::string(kMaps) + "/a", R"({"metadata":{"labels":{"x":"2"}}})");
    (void)world.merge(std::string(kMaps) + "/b", R"({"metadata":{"labels":{"x":"1"}}})");
    (void)world.merge(std::string(kMaps) + "/b", R"({"data":{"a":"c"}})");
    (void)world.remove(std::string(kMaps) + "/gone");
  }
  World world(kept());
  const auto recorder = watch(world, kMaps, "labelSelector=x%3D1&resourceVersion=" + version);
  EXPECT_THAT(recorder->wait(4), ElementsAre("DELETED a", "ADDED b", "MODIFIED b", "DELETED gone"));
}

TEST_F(Restarts, AWatchIsToldThatItsVersionIsTooOldWhereMuchHasChangedSince) {
  std::string first;
  std::string last;
  {
    World world(kept());
    first = version_in(world.post(kMaps, config_map("a")));
    const std::string much(900'000, 'x');
    for (int i = 0; i < 22; ++i) {
      const std::string change = R"({"data":{"a":")" + std::to_string(i) + much + R"("}})";
      last = version_in(world.merge(std::string(kMaps) + "/a", change));
    }
  }
  World world(kept());
  const auto late = watch(world, kMaps, "resourceVersion=" + first);
  EXPECT_THAT(late->wait(1), ElementsAre("ERROR "));
  const Value code = *find(late->objects()[0], {"code"});
  EXPECT_EQ(code.get_int64(), 410);
  const auto others = watch(world, kPods, "resourceVersion=" + first);
  const auto before_last = watch(world, kMaps, "resourceVersion=" + std::to_string(std::stoull(last) - 1));
  EXPECT_THAT(before_last->wait(1), ElementsAre("MODIFIED a"));
  (void)world.post(kPods, pod("p"));
  EXPECT_THAT(others->wait(1), ElementsAre("ADDED p"));
}

TEST_F(Restarts, WhereTheHistoryLacksWhatWasCommittedWatchesBeginAnew) {
  const std::string history = kept().file + "-history";
  std::string version;
  {
    World world(kept());
    version = version_in(world.post(kMaps, config_map("a")));
    (void)world.post(kMaps, config_map("b"));
  }
  std::filesystem::resize_file(history, std::filesystem::file_size(history) - 1);
  for (int i = 0; i < 2; ++i) {
    World world(kept());
    EXPECT_THAT(watch(world, kMaps, "resourceVersion=" + version)->wait(1), ElementsAre("ERROR "));
    EXPECT_THAT(watch(world, kPods, "resourceVersion=" + version)->wait(1), ElementsAre("ERROR "));
    (void)world.post(kMaps, config_map("c" + std::to_string(i)));
    std::filesystem::remove(history);
  }
}

TEST_F(Restarts, WhatTheHistoryHasBeyondTheLastCommitDoesNotCount) {
  const std::string history = kept().file + "-history";
  std::string version;
  {
    World world(kept());
    version = version_in(world.post(kMaps, config_map("a")));
    (void)world.post(kMaps, config_map("b"));
  }
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(history));
  std::ofstream(history, std::ios::binary | std::ios::app) << std::string(100, 'x');
  for (int i = 0; i < 2; ++i) {
    World world(kept());
    const auto recorder = watch(world, kMaps, "resourceVersion=" + version);
    EXPECT_THAT(recorder->wait(1 + i), i == 0 ? Lines({"ADDED b"}) : Lines({"ADDED b", "ADDED c0"}));
    (void)world.post(kMaps, config_map("c" + std::to_string(i)));
    EXPECT_GT(static_cast<std::streamoff>(std::filesystem::file_size(history)), size);
  }
}

}  // namespace
}  // namespace gantree::apiserver

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

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
}

TEST(Watch, EndsWhenItsTimeIsUp) {
  World world;
  const auto recorder = watch(world, kMaps, "timeoutSeconds=1");
  EXPECT_TRUE(World::eventually([&] { return recorder->over(); }));
}

TEST(Watch, TellsThatTheVersionIsTooOld) {
  const auto folder = std::filesystem::temp_directory_path() / ("gantree-watch-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "cluster.db").string();
  {
    World world({.file = file});
  }
  {
    World world({.file = file});
    const auto recorder = watch(world, kMaps, "resourceVersion=1");
    EXPECT_THAT(recorder->wait(1), ElementsAre("ERROR "));
    const Value code = *find(recorder->objects()[0], {"code"});
    EXPECT_EQ(code.get_int64(), 410);
  }
  std::filesystem::remove_all(folder);
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

TEST(Watch, GoesOnAfterARestartWhereNothingHasChangedSince) {
  const auto folder = std::filesystem::temp_directory_path() / ("gantree-resume-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "cluster.db").string();
  std::string created;
  std::string deleted;
  {
    World world({.file = file});
    created = version_in(world.post(kMaps, config_map("a")));
    (void)world.remove(std::string(kMaps) + "/a");
    deleted = version_in(world.get(kMaps));
    (void)world.post(kPods, pod("p"));
  }
  {
    World world({.file = file});
    const auto resumed = watch(world, kMaps, "resourceVersion=" + deleted);
    const auto late = watch(world, kMaps, "resourceVersion=" + created);
    (void)world.post(kMaps, config_map("b"));
    EXPECT_THAT(resumed->wait(1), ElementsAre("ADDED b"));
    EXPECT_THAT(late->wait(1), ElementsAre("ERROR "));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gantree::apiserver

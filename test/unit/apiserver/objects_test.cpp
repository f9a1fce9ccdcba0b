// Creating, changing and deleting objects.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

std::string at(std::string_view collection, std::string_view name) {
  return std::string(collection) + "/" + std::string(name);
}

TEST(Objects, AreGivenAnIdentityWhenTheyAreCreated) {
  World world;
  const Answer created = world.post(kMaps, config_map("a"));
  EXPECT_EQ(created.status, 201) << created.text();
  EXPECT_EQ(text_in(created, {"metadata", "uid"}).size(), 36U);
  EXPECT_FALSE(text_in(created, {"metadata", "creationTimestamp"}).empty());
  EXPECT_FALSE(version_in(created).empty());
  const Answer read = world.get(at(kMaps, "a"));
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.text(), created.text());
}

TEST(Objects, MayBeCreatedOnceUnderAName) {
  World world;
  (void)world.post(kMaps, config_map("a"));
  const Answer again = world.post(kMaps, config_map("a"));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(text_in(again, {"reason"}), "AlreadyExists");
  EXPECT_EQ(text_in(again, {"message"}), "configmaps \"a\" already exists");
}

TEST(Objects, GetAMadeUpNameWhereTheyAskForOne) {
  World world;
  const Answer created =
      world.post(kMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"job-"}})");
  EXPECT_EQ(created.status, 201) << created.text();
  const std::string name = text_in(created, {"metadata", "name"});
  EXPECT_TRUE(name.starts_with("job-"));
  EXPECT_EQ(name.size(), 9U);
}

TEST(Objects, ThatAreNotThereAreSaidToBeSo) {
  World world;
  const Answer missing = world.get(at(kMaps, "x"));
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(text_in(missing, {"reason"}), "NotFound");
  EXPECT_EQ(text_in(missing, {"message"}), "configmaps \"x\" not found");
  EXPECT_EQ(text_in(missing, {"details", "kind"}), "configmaps");
  EXPECT_EQ(world.get("/apis/example.com/v1/things").status, 404);
}

TEST(Objects, OfAnOldVersionDoNotOverwriteANewerOne) {
  World world;
  const Answer created = world.post(kMaps, config_map("a"));
  const std::string old = created.text();
  EXPECT_EQ(world.merge(at(kMaps, "a"), R"({"data":{"a":"c"}})").status, 200);
  const Answer stale = world.put(at(kMaps, "a"), old);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(text_in(stale, {"message"}),
            "Operation cannot be fulfilled on configmaps \"a\": it was changed meanwhile: read it again, and make "
            "the change on what is there now");
}

TEST(Objects, ThatDoNotChangeKeepTheirVersion) {
  World world;
  const Answer created = world.post(kMaps, config_map("a"));
  const Answer same = world.merge(at(kMaps, "a"), R"({"data":{"a":"b"}})");
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(version_in(same), version_in(created));
}

TEST(Objects, AreNotStoredByADryRun) {
  World world;
  EXPECT_EQ(world.post(std::string(kMaps) + "?dryRun=All", config_map("a")).status, 201);
  EXPECT_EQ(world.get(at(kMaps, "a")).status, 404);
}

TEST(Objects, WithFinalizersStayUntilTheLastIsTakenAway) {
  World world;
  (void)world.post(kMaps, config_map("a", R"(,"finalizers":["example.com/hold"])"));
  const Answer deleted = world.remove(at(kMaps, "a"));
  EXPECT_EQ(deleted.status, 200);
  EXPECT_FALSE(text_in(deleted, {"metadata", "deletionTimestamp"}).empty());
  EXPECT_EQ(world.get(at(kMaps, "a")).status, 200);
  EXPECT_EQ(world.merge(at(kMaps, "a"), R"({"metadata":{"finalizers":["example.com/hold","more"]}})").status, 422);
  EXPECT_EQ(world.merge(at(kMaps, "a"), R"({"metadata":{"finalizers":null}})").status, 200);
  EXPECT_EQ(world.get(at(kMaps, "a")).status, 404);
}

TEST(Objects, AreDeletedOnlyWhereThePreconditionsHold) {
  World world;
  (void)world.post(kMaps, config_map("a"));
  const Answer refused = world.remove(at(kMaps, "a"), R"({"preconditions":{"uid":"other"}})");
  EXPECT_EQ(refused.status, 409);
  const Answer deleted = world.remove(at(kMaps, "a"));
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(text_in(deleted, {"status"}), "Success");
  EXPECT_EQ(text_in(deleted, {"details", "kind"}), "configmaps");
}

TEST(Objects, OfACollectionCanBeDeletedBySelector) {
  World world;
  (void)world.post(kMaps, config_map("a", R"(,"labels":{"x":"1"})"));
  (void)world.post(kMaps, config_map("b", R"(,"labels":{"x":"2"})"));
  EXPECT_EQ(world.remove(std::string(kMaps) + "?labelSelector=x%3D1").status, 200);
  EXPECT_EQ(names_in(world.get(kMaps)), std::vector<std::string>{"b"});
}

TEST(Objects, AreNotTakenInAnUnknownFormat) {
  World world;
  EXPECT_EQ(world.send("POST", kMaps, "x", "application/cbor").status, 415);
  EXPECT_EQ(world.send("POST", kMaps, "x", "application/vnd.kubernetes.protobuf").status, 400);
  EXPECT_EQ(world.send("PATCH", at(kMaps, "a"), "{}", "text/plain").status, 415);
  EXPECT_EQ(world.post(kMaps, "{").status, 400);
  EXPECT_EQ(world.post(kMaps, "[]").status, 400);
  EXPECT_EQ(world.send("PUT", kMaps, "{}").status, 405);
}

TEST(Objects, ThatKubectlAppliedBeforeTellWhatItAppliedLast) {
  World world;
  const std::string path = at(kMaps, "a");
  (void)world.post(kMaps,
                   config_map("a", R"(,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"})"));
  const Answer applied =
      world.send("PATCH", path + "?fieldManager=kubectl&force=true",
                 R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"c":"d"}})",
                 "application/apply-patch+yaml");
  EXPECT_EQ(applied.status, 200) << applied.text();
  EXPECT_EQ(text_in(applied, {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}),
            R"({"apiVersion":"v1","data":{"c":"d"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}})"
            "\n");
}

TEST(Objects, WithAFieldTwiceAreWarnedOfOrRefused) {
  World world;
  const std::string body = R"({"metadata":{"name":"a"},"data":{"a":"1","a":"2"}})";
  EXPECT_EQ(world.post(std::string(kMaps) + "?fieldValidation=Strict", body).status, 400);
  const Answer warned = world.post(kMaps, body);
  EXPECT_EQ(text_in(warned, {"data", "a"}), "2");
  ASSERT_EQ(warned.headers.size(), 1U);
  EXPECT_NE(warned.headers.front().second.find("data.a"), std::string::npos);
  EXPECT_TRUE(world.put(at(kMaps, "a") + "?fieldValidation=Ignore", body).headers.empty());
  const std::string patch = R"({"data":{"b":"1","b":"2"}})";
  EXPECT_EQ(world.merge(at(kMaps, "a") + "?fieldValidation=Strict", patch).status, 422);
  EXPECT_EQ(text_in(world.merge(at(kMaps, "a"), patch), {"data", "b"}), "2");
}

TEST(Namespaces, MustBeThereForWhatIsCreatedInThem) {
  World world;
  const Answer refused = world.post("/api/v1/namespaces/none/configmaps", config_map("a"));
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(text_in(refused, {"message"}), "namespaces \"none\" not found");
}

TEST(Namespaces, AreNotDeletedAllAtOnce) {
  World world;
  EXPECT_EQ(world.post("/api/v1/namespaces", R"({"metadata":{"name":"a"}})").status, 201);
  EXPECT_EQ(world.remove("/api/v1/namespaces").status, 405);
  EXPECT_EQ(text_in(world.get("/api/v1/namespaces/a"), {"status", "phase"}), "Active");
}

TEST(Namespaces, AreEmptiedBeforeTheyGo) {
  World world;
  (void)world.post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})");
  (void)world.post("/api/v1/namespaces/n/configmaps", config_map("a", R"(,"finalizers":["example.com/hold"])"));
  (void)world.post("/api/v1/namespaces/n/configmaps", config_map("b"));
  EXPECT_EQ(text_in(world.remove("/api/v1/namespaces/n"), {"status", "phase"}), "Terminating");
  EXPECT_TRUE(World::eventually([&] { return names_in(world.get("/api/v1/namespaces/n/configmaps")).size() == 1; }));
  const Answer refused = world.post("/api/v1/namespaces/n/configmaps", config_map("c"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(world.get("/api/v1/namespaces/n").status, 200);
  (void)world.merge("/api/v1/namespaces/n/configmaps/a", R"({"metadata":{"finalizers":null}})");
  EXPECT_TRUE(World::eventually([&] { return world.get("/api/v1/namespaces/n").status == 404; }));
}

class Owned : public ::testing::Test {
 protected:
  Owned() {
    const Answer owner = world_.post(kMaps, config_map("owner"));
    const std::string reference =
        R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":")" +
        text_in(owner, {"metadata", "uid"}) + R"(","blockOwnerDeletion":true}])";
    EXPECT_EQ(world_.post(kMaps, config_map("child", reference)).status, 201);
  }
  bool gone(std::string_view name) {
    return World::eventually([&] { return world_.get(at(kMaps, name)).status == 404; });
  }
  World world_;
};

TEST_F(Owned, ObjectsFollowTheirOwner) {
  (void)world_.remove(at(kMaps, "owner"));
  EXPECT_TRUE(gone("child"));
}

TEST_F(Owned, ObjectsGoFirstWhereTheOwnerWaitsForThem) {
  (void)world_.merge(at(kMaps, "child"), R"({"metadata":{"finalizers":["example.com/hold"]}})");
  (void)world_.remove(std::string(at(kMaps, "owner")) + "?propagationPolicy=Foreground");
  EXPECT_TRUE(World::eventually(
      [&] { return !text_in(world_.get(at(kMaps, "child")), {"metadata", "deletionTimestamp"}).empty(); }));
  EXPECT_EQ(world_.get(at(kMaps, "owner")).status, 200);
  (void)world_.merge(at(kMaps, "child"), R"({"metadata":{"finalizers":null}})");
  EXPECT_TRUE(gone("child"));
  EXPECT_TRUE(gone("owner"));
}

TEST_F(Owned, ObjectsStayWhereTheOwnerLetsThemGo) {
  (void)world_.remove(std::string(at(kMaps, "owner")) + "?propagationPolicy=Orphan");
  EXPECT_TRUE(gone("owner"));
  EXPECT_TRUE(World::eventually(
      [&] { return text_in(world_.get(at(kMaps, "child")), {"metadata", "ownerReferences"}).empty(); }));
}

// An operator's objects may be put back before its definitions.
TEST(Owners, OfAKindThatIsNotServedAreNotTakenToBeGone) {
  World world;
  const auto owned_by = [](std::string_view kind) {
    return R"(,"ownerReferences":[{"apiVersion":"example.com/v1","kind":")" + std::string(kind) +
           R"(","name":"x","uid":"00000000-0000-0000-0000-000000000000"}])";
  };
  EXPECT_EQ(world.post(kMaps, config_map("a", owned_by("Thing"))).status, 201);
  EXPECT_EQ(world.post(kMaps, config_map("b", owned_by("Other"))).status, 201);
  EXPECT_EQ(world
                .post(kMaps, config_map("c", R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"x",
                  "uid":"00000000-0000-0000-0000-000000000000"}])"))
                .status,
            201);
  EXPECT_TRUE(World::eventually([&] { return world.get(at(kMaps, "c")).status == 404; }));
  EXPECT_EQ(world.get(at(kMaps, "a")).status, 200);
  EXPECT_EQ(world
                .post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                      R"({"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
                  "names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
                  "schema":{"openAPIV3Schema":{"type":"object"}}}]}})")
                .status,
            201);
  EXPECT_TRUE(World::eventually([&] { return world.get(at(kMaps, "a")).status == 404; }));
  EXPECT_EQ(world.get(at(kMaps, "b")).status, 200);
}

TEST(Cluster, SurvivesInItsFile) {
  const auto folder = std::filesystem::temp_directory_path() / ("gantree-api-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "cluster.db").string();
  std::string version;
  {
    World world({.file = file});
    EXPECT_EQ(world.post(kMaps, config_map("a")).status, 201);
    (void)world.post(kMaps, config_map("b"));
    (void)world.remove(at(kMaps, "b"));
    version = version_in(world.get(kMaps));
  }
  {
    World world({.file = file});
    EXPECT_EQ(names_in(world.get(kMaps)), std::vector<std::string>{"a"});
    const Answer created = world.post(kMaps, config_map("c"));
    EXPECT_GT(std::stoull(version_in(created)), std::stoull(version));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gantree::apiserver

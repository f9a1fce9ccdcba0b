#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kThings = "/apis/example.com/v1/namespaces/default/things";
constexpr const char* kDefinition = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
  "metadata":{"name":"things.example.com"},
  "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing","shortNames":["th"]},
    "versions":[
      {"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".spec.mode"}],
       "subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}},
       "schema":{"openAPIV3Schema":{"type":"object","properties":{
         "spec":{"type":"object","required":["size"],"properties":{
           "size":{"type":"integer","minimum":0},"mode":{"type":"string","default":"fast","enum":["fast","slow"]}}},
         "status":{"type":"object","properties":{"size":{"type":"integer"}}}}}}},
      {"name":"v1beta1","served":true,"storage":false,
       "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

class Definitions : public ::testing::Test {
 protected:
  Definitions() {
    EXPECT_EQ(world_.post(kDefinitions, kDefinition).status, 201);
    EXPECT_TRUE(World::eventually([&] { return world_.get(kThings).status == 200; }));
  }
  static std::string thing(std::string_view spec) {
    return R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":)" + std::string(spec) + "}";
  }
  World world_;
};

TEST_F(Definitions, AreServedWithTheirConditions) {
  const Answer read = world_.get(std::string(kDefinitions) + "/things.example.com");
  EXPECT_NE(read.text().find("\"type\":\"Established\",\"status\":\"True\""), std::string::npos) << read.text();
  EXPECT_EQ(text_in(read, {"status", "storedVersions"}), "[\"v1\"]");
  EXPECT_EQ(text_in(read, {"status", "acceptedNames", "listKind"}), "ThingList");
  const std::string listed = world_.get("/apis/example.com/v1").text();
  EXPECT_NE(listed.find("\"shortNames\":[\"th\"]"), std::string::npos) << listed;
  EXPECT_NE(listed.find("things/scale"), std::string::npos);
}

TEST_F(Definitions, AreRefusedWhereTheirSchemasAreOfNoUse) {
  const auto define = [&](const std::string& schema) {
    return world_.post(kDefinitions,
                       R"({"metadata":{"name":"gizmos.example.com"},"spec":{"group":"example.com","scope":"Cluster",
      "names":{"plural":"gizmos","kind":"Gizmo"},"versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":)" +
                           schema + "}}]}}");
  };
  const auto fields = [&](const std::string& schema) {
    const Answer refused = define(schema);
    EXPECT_EQ(refused.status, 422) << refused.text();
    std::string all;
    const Value body = body_of(refused);
    const Array* causes = array_at(body, {"details", "causes"});
    for (std::size_t i = 0; causes != nullptr && i < causes->size(); ++i) {
      all += std::string(text_at((*causes)[i], {"field"})) + " ";
    }
    return all;
  };
  EXPECT_EQ(fields(R"({"type":"object","properties":{"a":{},"b":{"type":"array"},"c":{"type":"strange"}}})"),
            "spec.validation.openAPIV3Schema.properties[a].type spec.validation.openAPIV3Schema.properties[b].items "
            "spec.validation.openAPIV3Schema.properties[c].type ");
  EXPECT_EQ(fields(R"({"type":"object","properties":{"a":{"type":"integer","default":"x"}}})"),
            "spec.validation.openAPIV3Schema.properties[a].default ");
  EXPECT_EQ(fields(R"({"type":"object","x-kubernetes-validations":[{"rule":"1 +"}]})"),
            "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule ");
  EXPECT_EQ(define(R"x({"type":"object","x-kubernetes-validations":[{"rule":"unheard(self)"}]})x").status, 201);
}

TEST_F(Definitions, WaitForNamesThatOthersHave) {
  const std::string other =
      R"({"metadata":{"name":"others.example.com"},"spec":{"group":"example.com","scope":"Cluster",
      "names":{"plural":"others","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
  EXPECT_EQ(world_.post(kDefinitions, other).status, 201);
  const auto conditions = [&] {
    return text_in(world_.get(std::string(kDefinitions) + "/others.example.com"), {"status", "conditions"});
  };
  EXPECT_TRUE(World::eventually(
      [&] { return conditions().find(R"("type":"NamesAccepted","status":"False")") != std::string::npos; }));
  EXPECT_EQ(world_.get("/apis/example.com/v1/others").status, 404);
  EXPECT_EQ(world_.remove(std::string(kDefinitions) + "/things.example.com").status, 200);
  EXPECT_TRUE(World::eventually([&] { return world_.get("/apis/example.com/v1/others").status == 200; }))
      << conditions();
}

TEST(DefinitionsOfAFolder, KeepTheirNamesWhenTheServerIsStartedAgain) {
  ApiOptions options;
  options.file = testing::TempDir() + "definitions_test." + std::to_string(getpid()) + ".db";
  const auto define = [](World& world, const std::string& plural) {
    const Answer made = world.post(kDefinitions, R"({"metadata":{"name":")" + plural +
                                                     R"(.example.com"},"spec":{"group":"example.com","scope":"Cluster",
      "names":{"plural":")" + plural + R"(","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
    EXPECT_EQ(made.status, 201) << made.text();
  };
  const auto served = [](World& world, const std::string& plural) {
    return world.get("/apis/example.com/v1/" + plural).status == 200;
  };
  {
    World world(options);
    define(world, "things");
    EXPECT_TRUE(World::eventually([&] { return served(world, "things"); }));
    define(world, "others");
    EXPECT_TRUE(World::eventually([&] {
      const Answer other = world.get(std::string(kDefinitions) + "/others.example.com");
      return other.text().find("KindConflict") != std::string::npos;
    }));
  }
  {
    World world(options);
    EXPECT_TRUE(World::eventually([&] { return served(world, "things"); }));
    EXPECT_FALSE(served(world, "others")) << "though it comes first by its name";
  }
  for (const char* end : {"", "-wal", "-shm"}) {
    (void)std::filesystem::remove(options.file + end);
  }
}

TEST_F(Definitions, GiveDefaultsAndRefuseWhatTheSchemaForbids) {
  const Answer created = world_.post(kThings, thing(R"({"size":2,"unknown":1})"));
  EXPECT_EQ(created.status, 201) << created.text();
  EXPECT_EQ(text_in(created, {"spec", "mode"}), "fast");
  EXPECT_EQ(text_in(created, {"spec", "unknown"}), "");
  EXPECT_EQ(text_in(created, {"metadata", "generation"}), "1");
  const Answer refused = world_.merge(std::string(kThings) + "/a", R"({"spec":{"mode":"odd"}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(text_in(refused, {"reason"}), "Invalid");
}

TEST_F(Definitions, HaveASchemaForEachVersion) {
  const std::string old = "/apis/example.com/v1beta1/namespaces/default/things";
  const std::string odd = R"("metadata":{"name":"a"},"spec":{"size":2,"mode":"odd"}})";
  EXPECT_EQ(world_.post(kThings, R"({"apiVersion":"example.com/v1","kind":"Thing",)" + odd).status, 422);
  EXPECT_EQ(world_.post(old, R"({"apiVersion":"example.com/v1beta1","kind":"Thing",)" + odd).status, 201);
}

TEST_F(Definitions, NameFieldsToSelectBy) {
  (void)world_.post(kThings, thing(R"({"size":2})"));
  const std::string list = kThings;
  EXPECT_EQ(names_in(world_.get(list + "?fieldSelector=spec.mode%3Dfast")).size(), 1U);
  EXPECT_EQ(names_in(world_.get(list + "?fieldSelector=spec.mode%3Dslow")).size(), 0U);
  EXPECT_EQ(world_.get(list + "?fieldSelector=spec.size%3D2").status, 400);
}

TEST_F(Definitions, KeepStatusAndScaleApart) {
  (void)world_.post(kThings, thing(R"({"size":2})"));
  const std::string path = std::string(kThings) + "/a";
  EXPECT_EQ(text_in(world_.merge(path + "/status", R"({"status":{"size":1}})"), {"status", "size"}), "1");
  EXPECT_EQ(text_in(world_.get(path), {"metadata", "generation"}), "1");
  EXPECT_EQ(text_in(world_.merge(path + "/scale", R"({"spec":{"replicas":5}})"), {"status", "replicas"}), "1");
  EXPECT_EQ(text_in(world_.get(path), {"spec", "size"}), "5");
  EXPECT_EQ(text_in(world_.get(path), {"metadata", "generation"}), "2");
}

TEST_F(Definitions, ServeOneObjectInAllVersions) {
  (void)world_.post(kThings, thing(R"({"size":2})"));
  const Answer other = world_.get("/apis/example.com/v1beta1/namespaces/default/things/a");
  EXPECT_EQ(text_in(other, {"apiVersion"}), "example.com/v1beta1");
  EXPECT_EQ(text_in(other, {"spec", "size"}), "2");
}

TEST_F(Definitions, StoreWhatIsWrittenByAnotherVersionAsTheirOwn) {
  const std::string old = "/apis/example.com/v1beta1/namespaces/default/things";
  const Answer made = world_.post(
      old,
      R"({"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"a"},"spec":{"size":2,"unknown":1}})");
  EXPECT_EQ(made.status, 201);
  for (const Answer& answer : {made, world_.get(old + "/a"), world_.get(std::string(kThings) + "/a")}) {
    EXPECT_EQ(text_in(answer, {"spec", "mode"}), "fast");
    EXPECT_EQ(text_in(answer, {"spec", "unknown"}), "");
  }
}

TEST_F(Definitions, TakeTheirObjectsWithThem) {
  (void)world_.post(kThings, thing(R"({"size":2})"));
  (void)world_.remove(std::string(kDefinitions) + "/things.example.com");
  EXPECT_TRUE(
      World::eventually([&] { return world_.get(std::string(kDefinitions) + "/things.example.com").status == 404; }));
  EXPECT_EQ(world_.get(kThings).status, 404);
}

}  // namespace
}  // namespace gantree::apiserver

#include <gtest/gtest.h>

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

TEST_F(Definitions, TakeTheirObjectsWithThem) {
  (void)world_.post(kThings, thing(R"({"size":2})"));
  (void)world_.remove(std::string(kDefinitions) + "/things.example.com");
  EXPECT_TRUE(
      World::eventually([&] { return world_.get(std::string(kDefinitions) + "/things.example.com").status == 404; }));
  EXPECT_EQ(world_.get(kThings).status, 404);
}

}  // namespace
}  // namespace gantree::apiserver

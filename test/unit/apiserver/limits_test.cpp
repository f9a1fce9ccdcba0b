// What one client may ask for without harm to the others.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

constexpr const char* kThings = "/apis/example.com/v1/namespaces/default/things";
constexpr const char* kDefinition = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
  "metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
      "subresources":{"status":{}},
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

std::string nested(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) {
    text += "{\"a\":";
  }
  return text + "1" + std::string(depth, '}');
}
std::string thing(std::string_view name, const std::string& spec) {
  return R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":")" + std::string(name) + R"("},"spec":)" +
         spec + "}";
}

void define_things(World& world) {
  (void)world.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kDefinition);
  EXPECT_TRUE(World::eventually([&] { return world.get(kThings).status == 200; }));
}

// Otherwise one object would keep the whole cluster from starting again.
TEST(Limits, WhateverIsStoredCanBeReadAgain) {
  const auto folder = std::filesystem::temp_directory_path() / ("gantree-deep-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "cluster.db").string();
  const std::string a = std::string(kThings) + "/a";
  {
    World world({.file = file});
    define_things(world);
    EXPECT_EQ(world.post(kThings, thing("a", nested(kMaxObjectDepth - 1))).status, 201);
    EXPECT_EQ(world.merge(a, R"({"spec":{"b":1}})").status, 200);
    EXPECT_EQ(world.post(kThings, thing("b", nested(kMaxObjectDepth))).status, 400);
    EXPECT_EQ(world.post(kThings, thing("b", nested(100'000))).status, 400);
    EXPECT_EQ(world.merge(a, "{\"spec\":" + nested(kMaxObjectDepth) + "}").status, 400);
    EXPECT_EQ(world.merge(a + "/status", "{\"status\":" + nested(kMaxObjectDepth) + "}").status, 400);
    std::string path = "/spec";
    for (std::size_t i = 0; i + 2 < kMaxObjectDepth; ++i) {
      path += "/a";
    }
    const auto add = [&](const std::string& to) {
      return world.send("PATCH", a, R"([{"op":"add","path":")" + to + R"(","value":)" + nested(100) + "}]",
                        "application/json-patch+json");
    };
    EXPECT_EQ(add(path).status, 400);
    std::string account = "/metadata/managedFields/0/fieldsV1";
    for (int i = 0; i < 3; ++i) {
      EXPECT_NE(add(account + "/f:x").status / 100, 5);
      account += "/f:x";
      for (int level = 0; level < 100; ++level) {
        account += "/a";
      }
    }
    const std::string wish = thing("a", nested(kMaxObjectDepth));
    EXPECT_EQ(world.send("PATCH", a + "?fieldManager=x&force=true", wish, "application/apply-patch+yaml").status, 400);
  }
  {
    World world({.file = file});
    EXPECT_EQ(world.get(a).status, 200);
    EXPECT_EQ(world.merge(a, R"({"spec":{"b":1}})").status, 200);
    EXPECT_EQ(world.remove(a).status, 200);
  }
  std::filesystem::remove_all(folder);
}

TEST(Limits, OfManyWarningsSomeAreTold) {
  World world;
  std::string fields;
  for (int i = 0; i < 20'000; ++i) {
    fields += ",\"unknown" + std::to_string(i) + "\\r\\nX: y\":1";
  }
  const Answer created = world.post(kPods, pod("a", "", fields));
  EXPECT_EQ(created.status, 201);
  std::size_t bytes = 0;
  for (const auto& [name, value] : created.headers) {
    bytes += name.size() + value.size();
    EXPECT_EQ(value.find_first_of("\r\n"), std::string::npos);
  }
  EXPECT_GT(bytes, 100U);
  EXPECT_LT(bytes, 8'192U);
  const Answer refused = world.post(std::string(kPods) + "?fieldValidation=Strict", pod("b", "", fields));
  EXPECT_EQ(refused.status, 400);
  EXPECT_LT(refused.text().size(), 100'000U);
}

TEST(Limits, ADefinitionThatContainsItselfIsNotServed) {
  World world;
  std::string definition = kDefinition;
  const std::string free = R"("x-kubernetes-preserve-unknown-fields":true)";
  definition.replace(definition.find(free), free.size(), R"("anyOf":[{"$ref":"#/definitions/v1"}])");
  const Answer created = world.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  EXPECT_NE(created.status / 100, 5) << created.text();
  EXPECT_EQ(world.get(kThings).status, 404);
  EXPECT_EQ(world.post(kThings, thing("a", "{}")).status, 404);
}

}  // namespace
}  // namespace gantree::apiserver

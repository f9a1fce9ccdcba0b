// Bodies and answers in YAML.
#include "apiserver/yaml.h"

#include <gtest/gtest.h>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

Answer ask(World& world, std::string method, std::string path, std::string body, std::string accept) {
  Call call;
  call.method = std::move(method);
  call.path = std::move(path);
  call.body = std::move(body);
  call.content_type = "application/yaml";
  call.accept = std::move(accept);
  return world.api().call_and_wait(std::move(call));
}

TEST(Yaml, IsReadAndGiven) {
  World world;
  const Answer made = ask(world, "POST", kMaps, "metadata: {name: a}\ndata:\n  x: 'on'\n", "application/json");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(text_in(made, {"data", "x"}), "on");
  const Answer read = ask(world, "GET", std::string(kMaps) + "/a", "", "application/yaml");
  EXPECT_EQ(read.content_type, "application/yaml");
  const auto object = read_yaml_or_json(read.text());
  ASSERT_TRUE(object) << read.text();
  EXPECT_TRUE(same(*object, body_of(world.get(std::string(kMaps) + "/a"))));
  const Answer refused = ask(world, "GET", std::string(kMaps) + "/b", "", "application/yaml, application/json");
  EXPECT_EQ(refused.status, 404);
  EXPECT_NE(refused.text().find("reason: NotFound\n"), std::string::npos) << refused.text();
  const Answer flow = ask(world, "POST", kMaps, "{metadata: {name: f}, data: {x: z}}", "application/json");
  EXPECT_EQ(text_in(flow, {"data", "x"}), "z") << flow.text();
  EXPECT_EQ(ask(world, "POST", kMaps, "a: [", "application/json").status, 400);
  EXPECT_EQ(ask(world, "POST", kMaps, "{a: b", "application/json").status, 400);
  EXPECT_EQ(ask(world, "PATCH", std::string(kMaps) + "/a", "data: {}", "application/json").status, 415);
}

TEST(Yaml, OfFractionsIsOneLine) {
  EXPECT_EQ(to_yaml(*parse_json(R"({"a":[1,"b"]})")), "a:\n- 1\n- b\n");
  EXPECT_EQ(to_yaml(*parse_json(R"({"a":0.5})")), "{\"a\":0.5}\n");
}

}  // namespace
}  // namespace gantree::apiserver

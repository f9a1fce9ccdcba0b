#include "apiserver/openapi.h"

#include <gtest/gtest.h>

#include <functional>

namespace gantree::apiserver {
namespace {

Value json(const std::string& text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value());
  return value.value_or(Value());
}

CustomKind queue() {
  CustomKind kind{.group = "batch.example.com",
                  .version = "v1",
                  .kind = "Queue",
                  .list_kind = "QueueList",
                  .plural = "queues",
                  .namespaced = true,
                  .has_status = true,
                  .has_scale = false,
                  .schema = {}};
  kind.schema = json(
      R"({"type":"object","properties":{"spec":{"type":"object","properties":{"cpu":{"anyOf":[{"type":"integer"}],"x-kubernetes-int-or-string":true}}}}})");
  return kind;
}

void every_reference(const Value& value, const std::function<void(std::string_view)>& look) {
  if (value.is_array()) {
    for (const Value& item : value.get_array()) {
      every_reference(item, look);
    }
  } else if (value.is_object()) {
    for (const auto& member : value.get_object()) {
      if (std::string_view(member.key()) == "$ref" && member.value().is_string()) {
        look(text_of(member.value()));
      }
      every_reference(member.value(), look);
    }
  }
}

TEST(OpenApi, EveryDocumentOfTheIndexIsThereAndComplete) {
  const std::vector<CustomKind> custom{queue()};
  const Value index = json(openapi_v3_index(custom));
  for (const auto& path : index.at("paths").as_object()) {
    const std::string name(path.key());
    const std::string rest = name.substr(name.find('/') + 1);
    const std::size_t slash = rest.find('/');
    const std::string group = slash == std::string::npos ? "" : rest.substr(0, slash);
    const auto document = openapi_v3(group, slash == std::string::npos ? rest : rest.substr(slash + 1), custom);
    ASSERT_TRUE(document.has_value()) << name;
    const Value read = json(*document);
    every_reference(read, [&](std::string_view reference) {
      EXPECT_NE(find(read, {"components", "schemas", reference.substr(reference.rfind('/') + 1)}), nullptr)
          << reference;
    });
  }
  EXPECT_FALSE(openapi_v3("no.such", "v1", custom).has_value());
}

TEST(OpenApi, CustomKindsAreNamedByTheirGroupBackwards) {
  const std::vector<CustomKind> custom{queue()};
  const Value read = json(*openapi_v3("batch.example.com", "v1", custom));
  const Value* schema = find(read, {"components", "schemas", "com.example.batch.v1.Queue"});
  ASSERT_NE(schema, nullptr);
  EXPECT_NE(find(*schema, {"properties", "metadata", "allOf"}), nullptr);
  EXPECT_NE(find(read, {"paths", "/apis/batch.example.com/v1/namespaces/{namespace}/queues/{name}/status", "patch"}),
            nullptr);
}

TEST(OpenApi, UrlsChangeWithTheSchema) {
  std::vector<CustomKind> custom{queue()};
  const std::string before = openapi_v3_index(custom);
  EXPECT_EQ(before, openapi_v3_index(custom));
  custom[0].schema.at("properties").as_object().clear();
  EXPECT_NE(before, openapi_v3_index(custom));
}

TEST(OpenApi, TheSecondVersionRefersToDefinitions) {
  const std::vector<CustomKind> custom{queue()};
  const auto text = openapi_v2(custom);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->find("components/schemas"), std::string::npos);
  const Value read = json(*text);
  every_reference(read, [&](std::string_view reference) {
    EXPECT_NE(find(read, {"definitions", reference.substr(reference.rfind('/') + 1)}), nullptr) << reference;
  });
  EXPECT_EQ(text_at(read, {"definitions", "io.k8s.api.core.v1.Pod", "properties", "spec", "$ref"}),
            "#/definitions/io.k8s.api.core.v1.PodSpec");
}

}  // namespace
}  // namespace gantree::apiserver

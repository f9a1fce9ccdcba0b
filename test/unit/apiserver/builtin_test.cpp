#include "apiserver/builtin.h"

#include <gtest/gtest.h>

namespace gantree::apiserver {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(Value());
}

const BuiltinSchemas& schemas() {
  static const auto loaded = BuiltinSchemas::load();
  EXPECT_TRUE(loaded.has_value());
  return **loaded;
}

TEST(Builtin, EveryServedKindHasASchemaWithMetadata) {
  for (const BuiltinKind& kind : builtin_kinds()) {
    const Schema* schema = schemas().find(kind.group, kind.version, kind.kind);
    ASSERT_NE(schema, nullptr) << kind.kind;
    EXPECT_EQ(schema->member("metadata"), &schemas().object_meta()) << kind.kind;
  }
  EXPECT_NE(schemas().find("autoscaling", "v1", "Scale"), nullptr);
  EXPECT_EQ(schemas().find("apps", "v1", "Pod"), nullptr);
}

TEST(Builtin, SchemasAreOfThePinnedKubernetes) {
  const Schema* pod = schemas().find("", "v1", "Pod");
  const Schema* spec = pod->member("spec");
  ASSERT_NE(spec, nullptr);
  const Property* containers = spec->find("containers");
  ASSERT_NE(containers, nullptr);
  EXPECT_TRUE(containers->patch.merge);
  EXPECT_EQ(containers->patch.merge_key, "name");
  EXPECT_EQ(containers->schema->list_type, ListType::kMap);
  EXPECT_NE(spec->find("schedulingGates"), nullptr);
  EXPECT_EQ(spec, schemas().find("batch", "v1", "Job")->member("spec")->member("template")->member("spec"));
}

TEST(Builtin, PodsArePrunedAndBroughtToTheirForm) {
  const Schema* pod = schemas().find("", "v1", "Pod");
  Value value = json(R"({"metadata":{"name":"a","labels":{},"annotations":null},"spec":{"containers":[
    {"name":"a","imge":"x","args":[],"resources":{"limits":{"cpu":1,"memory":"1024Mi"}}}],"nodeSelector":{}}})");
  EXPECT_EQ(prune(*pod, value), std::vector<std::string>{"spec.containers[0].imge"});
  canonicalize(*pod, value);
  EXPECT_EQ(to_json(value), R"({"metadata":{"name":"a"},"spec":{"containers":[)"
                            R"({"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}})");
}

TEST(Builtin, WrongTypesAreNamedAsGoNamesThem) {
  const Schema* job = schemas().find("batch", "v1", "Job");
  EXPECT_EQ(decode_error(*job, json(R"({"spec":{"parallelism":2,"template":{"spec":{"containers":[]}}}})")),
            std::nullopt);
  EXPECT_EQ(decode_error(*job, json(R"({"spec":{"parallelism":"2"}})")),
            "json: cannot unmarshal string into Go struct field JobSpec.spec.parallelism of type int32");
  EXPECT_EQ(
      decode_error(*job, json(R"({"spec":{"template":{"spec":{"containers":[{"name":1}]}}}})")),
      "json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.name of type string");
  EXPECT_EQ(decode_error(*job, json(R"({"metadata":{"labels":{"a":true}}})")),
            "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string");
  EXPECT_NE(decode_error(*schemas().find("", "v1", "Node"), json(R"({"status":{"capacity":{"cpu":"x"}}})")),
            std::nullopt);
}

}  // namespace
}  // namespace gantree::apiserver

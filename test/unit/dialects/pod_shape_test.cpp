#include <gtest/gtest.h>

#include "dialects/core/node.h"
#include "dialects/core/pod.h"
#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

// A shape read from a pod spec, and nodes to try it on.
class Shape : public testing::Test {
 protected:
  PodShape read(const std::string& spec) {
    const Manifests manifests(spec);
    json::Reader reader("test.yaml", manifests.root(), "");
    PodShape shape = read_pod_shape(reader, manifests.root(), inventory_);
    error_ = reader.ok() ? "" : reader.error().value().message;
    return shape;
  }

  Ineligible on(const PodShape& shape, const std::string& manifest) {
    const Manifests manifests("apiVersion: v1\nkind: Node\n" + manifest);
    const Object object{.file = "test.yaml", .group = "", .version = "v1", .kind = "Node", .value = manifests.root()};
    const auto node = read_node({object, "", object.metadata()["name"].text()}, inventory_);
    EXPECT_TRUE(node);
    return eligibility(shape, *node, inventory_.strings());
  }

  Inventory inventory_;
  std::string error_;
};

std::string affinity(const std::string& expression) {
  return "{containers: [], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "{nodeSelectorTerms: [{matchExpressions: [" +
         expression + "]}]}}}}";
}

TEST_F(Shape, FollowsTheNodeSelector) {
  const PodShape shape = read("nodeSelector: {pool: gpu}");
  EXPECT_EQ(on(shape, "metadata: {name: n1, labels: {pool: gpu}}"), Ineligible::kNo);
  EXPECT_EQ(on(shape, "metadata: {name: n1, labels: {pool: cpu}}"), Ineligible::kSelector);
}

TEST_F(Shape, FollowsEveryAffinityOperator) {
  struct Case {
    const char* expression;
    const char* labels;
    bool matches;
  };
  for (const Case& one :
       {Case{"{key: a, operator: In, values: [x, w]}", "{a: w}", true},
        Case{"{key: a, operator: In, values: [x, w]}", "{a: z}", false},
        Case{"{key: a, operator: NotIn, values: [x]}", "{}", true},
        Case{"{key: a, operator: NotIn, values: [x]}", "{a: x}", false},
        Case{"{key: a, operator: Exists}", "{a: x}", true}, Case{"{key: a, operator: Exists}", "{}", false},
        Case{"{key: a, operator: DoesNotExist}", "{}", true}, Case{"{key: a, operator: DoesNotExist}", "{a: x}", false},
        Case{"{key: a, operator: Gt, values: ['5']}", "{a: '6'}", true},
        Case{"{key: a, operator: Gt, values: ['5']}", "{a: '5'}", false},
        Case{"{key: a, operator: Lt, values: ['5']}", "{a: '4'}", true},
        Case{"{key: a, operator: Lt, values: ['5']}", "{a: x}", false}}) {
    const PodShape shape = read(affinity(one.expression));
    EXPECT_EQ(error_, "");
    EXPECT_EQ(on(shape, std::string("metadata: {name: n1, labels: ") + one.labels + "}"),
              one.matches ? Ineligible::kNo : Ineligible::kAffinity)
        << one.expression << " on " << one.labels;
  }
}

TEST_F(Shape, ComparesNodeNamesInMatchFields) {
  const PodShape shape = read(
      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
      "[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}");
  EXPECT_EQ(on(shape, "metadata: {name: n1}"), Ineligible::kNo);
  EXPECT_EQ(on(shape, "metadata: {name: n2}"), Ineligible::kAffinity);
}

TEST_F(Shape, IsPinnedByANodeName) {
  const PodShape pinned = read("nodeName: n1");
  EXPECT_EQ(on(pinned, "metadata: {name: n1}"), Ineligible::kNo);
  EXPECT_EQ(on(pinned, "metadata: {name: n2}"), Ineligible::kAffinity);
}

TEST_F(Shape, MatchesNoNodeWhereTheListOfTermsIsEmpty) {
  const PodShape shape =
      read("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}");
  EXPECT_EQ(on(shape, "metadata: {name: n1}"), Ineligible::kAffinity);
}

TEST_F(Shape, KeepsPreferredTermsWithTheirWeight) {
  const PodShape shape = read(
      "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
      "[{weight: 30, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}");
  EXPECT_EQ(error_, "");
  ASSERT_EQ(shape.preferred.size(), 1U);
  EXPECT_EQ(shape.preferred[0].weight, 30);
}

TEST_F(Shape, ToleratesTaintsByKeyValueAndEffect) {
  struct Case {
    const char* toleration;
    bool tolerates;
  };
  const std::string node = "metadata: {name: n1}\nspec: {taints: [{key: gpu, value: h100, effect: NoSchedule}]}";
  for (const Case& one : {Case{"{operator: Exists}", true}, Case{"{key: gpu, operator: Exists}", true},
                          Case{"{key: gpu, value: h100}", true}, Case{"{key: gpu, operator: Equal, value: h100}", true},
                          Case{"{key: gpu, value: a100}", false}, Case{"{key: tpu, operator: Exists}", false},
                          Case{"{key: gpu, operator: Exists, effect: NoSchedule}", true},
                          Case{"{key: gpu, operator: Exists, effect: NoExecute}", false}}) {
    const PodShape shape = read(std::string("tolerations: [") + one.toleration + "]");
    EXPECT_EQ(on(shape, node), one.tolerates ? Ineligible::kNo : Ineligible::kTainted) << one.toleration;
  }
}

TEST_F(Shape, RefusesWhatMeansNothing) {
  for (const std::string& spec : {
           std::string("tolerations: [{key: a, operator: Like}]"),
           std::string("tolerations: [{value: x}]"),
           std::string("tolerations: [{operator: Exists, effect: Never}]"),
           affinity("{key: a, operator: Near}"),
           affinity("{key: a, operator: In}"),
           affinity("{key: a, operator: Exists, values: [x]}"),
           affinity("{key: a, operator: Gt, values: [x]}"),
           affinity("{key: a, operator: Gt, values: ['1', '2']}"),
           affinity("{operator: Exists}"),
           std::string("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                       "[{matchFields: [{key: metadata.uid, operator: In, values: [n1]}]}]}}}"),
       }) {
    (void)read(spec);
    EXPECT_TRUE(error_.starts_with("test.yaml:1: ")) << spec << " gives " << error_;
  }
}

TEST_F(Shape, IsReadAlikeWhereMoreNamesAreAskedForThanAreKept) {
  inventory_.strings().limit_asked(0);
  const std::string node = "metadata: {name: n1, labels: {a: x}}\nspec: {taints: [{key: t, effect: NoSchedule}]}";
  ASSERT_EQ(on(read("{}"), node), Ineligible::kTainted) << "from here on its names are known";
  EXPECT_EQ(on(read("tolerations: [{key: t, operator: Exists}, {key: u, operator: Exists}]"), node), Ineligible::kNo);
  EXPECT_NE(on(read("tolerations: [{key: u, operator: Exists}]"), node), Ineligible::kNo);
  const std::string tolerates = ", tolerations: [{operator: Exists}]}";
  const auto with = [&](const std::string& expression) {
    std::string spec = affinity(expression);
    spec.replace(spec.size() - 1, 1, tolerates);
    return on(read(spec), node);
  };
  EXPECT_EQ(with("{key: a, operator: In, values: [v, w, x]}"), Ineligible::kNo);
  EXPECT_EQ(with("{key: a, operator: In, values: [v, w]}"), Ineligible::kAffinity);
  EXPECT_EQ(with("{key: a, operator: NotIn, values: [v, w]}"), Ineligible::kNo);
  EXPECT_EQ(with("{key: b, operator: DoesNotExist}"), Ineligible::kNo);
  EXPECT_EQ(with("{key: b, operator: Exists}"), Ineligible::kAffinity);
  EXPECT_EQ(with("{key: a, operator: Gt, values: ['5']}"), Ineligible::kAffinity);
  EXPECT_EQ(error_, "");
  EXPECT_EQ(on(read("{nodeSelector: {b: y}" + tolerates), node), Ineligible::kSelector);
  EXPECT_EQ(on(read("{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                    "[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}" +
                    tolerates),
               node),
            Ineligible::kNo);
  EXPECT_EQ(error_, "");
}

}  // namespace
}  // namespace gantree

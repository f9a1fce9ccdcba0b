// ValidatingAdmissionPolicies refuse what their rules forbid, as far as they are bound.
#include <gtest/gtest.h>

#include <string>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

constexpr const char* kAdmission = "/apis/admissionregistration.k8s.io/v1";

class Policies : public testing::Test {
 protected:
  void policy(const std::string& rest) {
    const Answer answer = world.post(
        std::string(kAdmission) + "/validatingadmissionpolicies",
        R"({"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],
            "operations":["CREATE","UPDATE"],"resources":["configmaps"]}]},)" +
            rest + "}}");
    ASSERT_EQ(answer.status, 201) << answer.text();
  }
  void bind(const std::string& rest) {
    const Answer answer = world.post(std::string(kAdmission) + "/validatingadmissionpolicybindings",
                                     R"({"metadata":{"name":"b"},"spec":{"policyName":"p",)" + rest + "}}");
    ASSERT_EQ(answer.status, 201) << answer.text();
  }
  World world;
};

TEST_F(Policies, RefuseWhatBreaksARuleOnceTheyAreBound) {
  policy(R"("validations":[{"expression":"object.metadata.name != 'bad'","message":"no bad ones"}])");
  EXPECT_EQ(world.post(kMaps, config_map("early")).status, 201);
  EXPECT_EQ(world.post(std::string(kMaps) + "?dryRun=All", config_map("bad")).status, 201);
  bind(R"("validationActions":["Deny"])");
  const Answer refused = world.post(kMaps, config_map("bad"));
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(text_in(refused, {"reason"}), "Invalid");
  EXPECT_EQ(text_in(refused, {"message"}), "policy \"p\" refuses it, bound by \"b\": no bad ones");
  EXPECT_EQ(world.get(std::string(kMaps) + "/bad").status, 404);
  EXPECT_EQ(world.post(kMaps, config_map("good")).status, 201);
}

TEST_F(Policies, WarnWhereTheBindingAsksForNoMore) {
  policy(R"("validations":[{"expression":"object.metadata.name != 'bad'"}])");
  bind(R"("validationActions":["Warn"])");
  const Answer warned = world.post(kMaps, config_map("bad"));
  EXPECT_EQ(warned.status, 201);
  ASSERT_EQ(warned.headers.size(), 1U);
  EXPECT_NE(warned.headers.front().second.find("object.metadata.name != 'bad'"), std::string::npos);
}

TEST_F(Policies, ARuleThatCannotBeDecidedRefusesUnlessThePolicySaysOtherwise) {
  policy(R"("validations":[{"expression":"object.data.none == 'x'"}])");
  bind(R"("validationActions":["Deny"])");
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 422);
  EXPECT_EQ(
      world.merge(std::string(kAdmission) + "/validatingadmissionpolicies/p", R"({"spec":{"failurePolicy":"Ignore"}})")
          .status,
      200);
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 201);
}

TEST_F(Policies, WithAConditionThatCannotBeDecidedRefuseToo) {
  policy(R"("matchConditions":[{"name":"c","expression":"object.none == 1"}],"validations":[{"expression":"true"}])");
  bind(R"("validationActions":["Deny"])");
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 422);
}

TEST_F(Policies, WithoutTheirParametersRefuseAll) {
  policy(R"("paramKind":{"apiVersion":"v1","kind":"Secret"},"validations":[{"expression":"'most' in params.data"}])");
  bind(
      R"("validationActions":["Deny"],"paramRef":{"name":"s","namespace":"default","parameterNotFoundAction":"Deny"})");
  const std::string policy_path = std::string(kAdmission) + "/validatingadmissionpolicies/p";
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 422);
  EXPECT_EQ(world.merge(policy_path, R"({"spec":{"failurePolicy":"Ignore"}})").status, 200);
  EXPECT_EQ(world.post(std::string(kMaps) + "?dryRun=All", config_map("a")).status, 201);
  EXPECT_EQ(world.merge(policy_path, R"({"spec":{"failurePolicy":"Fail"}})").status, 200);
  EXPECT_EQ(
      world.post("/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"s"},"data":{"most":"MQ=="}})").status,
      201);
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 201);
}

TEST_F(Policies, ThatCannotBeEvaluatedAreRefusedThemselves) {
  const Answer answer =
      world.post(std::string(kAdmission) + "/validatingadmissionpolicies",
                 R"x({"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],
            "apiVersions":["*"],"operations":["*"],"resources":["*"]}]},
            "validations":[{"expression":"authorizer.group('').allowed()"}]}})x");
  EXPECT_EQ(answer.status, 422);
  EXPECT_NE(answer.text().find("spec.validations[0].expression"), std::string::npos);
}

}  // namespace
}  // namespace gantree::apiserver

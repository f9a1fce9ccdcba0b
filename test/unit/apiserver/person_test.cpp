// Requests in the name of somebody else.
#include "apiserver/person.h"

#include <gtest/gtest.h>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

constexpr const char* kRobot = "system:serviceaccount:default:robot";
constexpr const char* kRbac = "/apis/rbac.authorization.k8s.io/v1";
constexpr const char* kGroups = R"("apiGroup":"rbac.authorization.k8s.io",)";

class Impersonation : public testing::Test {
 protected:
  Answer ask(const Person& as, std::string path, std::string body = "", bool robot_asks = false) {
    Call call;
    call.method = body.empty() ? "GET" : "POST";
    call.path = std::move(path);
    call.body = std::move(body);
    if (robot_asks) {
      call.user = kRobot;
      call.trusted = false;
    }
    call.as = std::make_shared<const Person>(as);
    return world.api().call_and_wait(std::move(call));
  }
  int status(const Person& as, std::string path) { return ask(as, std::move(path)).status; }
  int by_robot(const Person& as) { return ask(as, "/version", "", true).status; }

  // Lets the subject do what the rules say, everywhere.
  void grant(const std::string& name, const std::string& subject, const std::string& rules) {
    const std::string head =
        R"({"apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":")" + name + R"("},"kind":"ClusterRole)";
    const Answer role = world.post(std::string(kRbac) + "/clusterroles", head + R"(","rules":)" + rules + "}");
    EXPECT_EQ(role.status, 201) << role.text();
    const Answer binding = world.post(std::string(kRbac) + "/clusterrolebindings",
                                      head + R"(Binding","roleRef":{)" + kGroups + R"("kind":"ClusterRole","name":")" +
                                          name + R"("},"subjects":[)" + subject + "]}");
    EXPECT_EQ(binding.status, 201) << binding.text();
  }
  static std::string subject(const std::string& kind, const std::string& name) {
    return R"({"apiGroup":"rbac.authorization.k8s.io","kind":")" + kind + R"(","name":")" + name + "\"}";
  }
  static std::string robot() { return R"({"kind":"ServiceAccount","name":"robot","namespace":"default"})"; }
  static std::string to_read(const std::string& resource) {
    return R"([{"apiGroups":[""],"resources":[")" + resource + R"("],"verbs":["list"]}])";
  }
  World world;
};

TEST_F(Impersonation, GivesTheRightsOfThePersonAndNoOthers) {
  EXPECT_EQ(status({"alice"}, kPods), 403);
  EXPECT_EQ(status({"alice"}, "/version"), 200);
  EXPECT_EQ(status({"kubernetes-admin"}, kPods), 403) << "a name alone is no right";
  EXPECT_EQ(status({"system:admin"}, kPods), 403);
  grant("by-name", subject("User", "alice"), to_read("pods"));
  grant("by-group", subject("Group", "devs"), to_read("configmaps"));
  EXPECT_EQ(status({"alice"}, kPods), 200);
  EXPECT_EQ(status({"alice"}, kMaps), 403);
  EXPECT_EQ(status({"alice", {"ops", "devs"}}, kMaps), 200);
  EXPECT_EQ(status({"bob"}, kPods), 403);
  EXPECT_EQ(status({"bob", {"system:masters"}}, "/api/v1/secrets"), 200);
}

TEST_F(Impersonation, EverybodyIsKnownAndServiceAccountsHaveTheirGroups) {
  grant("known", subject("Group", "system:authenticated"), to_read("pods"));
  grant("accounts", subject("Group", "system:serviceaccounts:default"), to_read("configmaps"));
  EXPECT_EQ(status({"alice"}, kPods), 200);
  EXPECT_EQ(status({"system:anonymous"}, kPods), 403);
  EXPECT_EQ(status({kRobot}, kMaps), 200);
  EXPECT_EQ(status({"system:serviceaccount:other:robot"}, kMaps), 403);
  EXPECT_EQ(status({kRobot, {"devs"}}, kMaps), 403) << "groups that are given stand for those it has";
}

TEST_F(Impersonation, IsForThoseAloneWhoMay) {
  EXPECT_EQ(by_robot({"alice"}), 403);
  grant("as", robot(),
        R"([{"apiGroups":[""],"resources":["users"],"resourceNames":["alice"],"verbs":["impersonate"]},
            {"apiGroups":[""],"resources":["groups"],"resourceNames":["devs"],"verbs":["impersonate"]},
            {"apiGroups":["authentication.k8s.io"],"resources":["userextras/scopes"],"verbs":["impersonate"]}])");
  EXPECT_EQ(by_robot({"alice"}), 200);
  EXPECT_EQ(by_robot({"bob"}), 403);
  EXPECT_EQ(by_robot({"alice", {"devs"}}), 200);
  EXPECT_EQ(by_robot({"alice", {"devs", "system:masters"}}), 403);
  EXPECT_EQ(by_robot({"alice", {}, "", {{"scopes", {"view"}}}}), 200);
  EXPECT_EQ(by_robot({"alice", {}, "", {{"other", {"view"}}}}), 403);
  EXPECT_EQ(by_robot({"alice", {}, "u-1"}), 403);
}

TEST_F(Impersonation, OfServiceAccountsIsARightOfItsOwn) {
  grant("users", robot(), R"([{"apiGroups":[""],"resources":["users"],"verbs":["impersonate"]}])");
  EXPECT_EQ(by_robot({"anybody"}), 200);
  EXPECT_EQ(by_robot({"system:serviceaccount:kube-system:default"}), 403);
  const std::string of = std::string(kRbac) + "/namespaces/kube-system";
  (void)world.post(of + "/roles",
                   R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"as"},"rules":)"
                   R"([{"apiGroups":[""],"resources":["serviceaccounts"],"verbs":["impersonate"]}]})");
  (void)world.post(of + "/rolebindings",
                   R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"as"},)"
                   R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"as"},"subjects":[)" +
                       robot() + "]}");
  EXPECT_EQ(by_robot({"system:serviceaccount:kube-system:default"}), 200);
  EXPECT_EQ(by_robot({"system:serviceaccount:default:default"}), 403);
}

TEST_F(Impersonation, ReviewsOfOneselfAreOfThePerson) {
  grant("by-group", subject("Group", "devs"), to_read("pods"));
  const auto may_list = [&](const Person& as) {
    return text_in(ask(as, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                       R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
                       R"("spec":{"resourceAttributes":{"verb":"list","resource":"pods"}}})"),
                   {"status", "allowed"});
  };
  EXPECT_EQ(may_list({"alice"}), "false");
  EXPECT_EQ(may_list({"alice", {"devs"}}), "true");
  const auto rules = [&](const Person& as) {
    return text_in(ask(as, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                       R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectRulesReview",)"
                       R"("spec":{"namespace":"default"}})"),
                   {"status", "resourceRules"});
  };
  const std::string everybodys =
      R"({"verbs":["create"],"apiGroups":["authorization.k8s.io"],)"
      R"("resources":["selfsubjectaccessreviews","selfsubjectrulesreviews"]},)"
      R"({"verbs":["create"],"apiGroups":["authentication.k8s.io"],"resources":["selfsubjectreviews"]})";
  EXPECT_EQ(rules({"alice"}), "[" + everybodys + "]");
  EXPECT_EQ(rules({"alice", {"devs"}}),
            R"([{"verbs":["list"],"apiGroups":[""],"resources":["pods"]},)" + everybodys + "]");
  const Answer who = ask({"alice", {"devs"}, "u-1", {{"scopes", {"view", "edit"}}}},
                         "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                         R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})");
  EXPECT_EQ(text_in(who, {"status", "userInfo", "username"}), "alice") << who.text();
  EXPECT_EQ(text_in(who, {"status", "userInfo", "groups"}), R"(["devs","system:authenticated"])");
  EXPECT_EQ(text_in(who, {"status", "userInfo", "uid"}), "u-1");
  EXPECT_EQ(text_in(who, {"status", "userInfo", "extra"}), R"({"scopes":["view","edit"]})");
}

TEST_F(Impersonation, NobodyGivesInAnothersNameWhatThatOneDoesNotHave) {
  const std::string binding = std::string(R"({"apiVersion":"rbac.authorization.k8s.io/v1",)") +
                              R"("kind":"ClusterRoleBinding","metadata":{"name":"lord"},"roleRef":{)" + kGroups +
                              R"("kind":"ClusterRole","name":"cluster-admin"}})";
  grant("writer", subject("User", "alice"),
        R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["*"],"verbs":["create"]}])");
  const std::string bindings = std::string(kRbac) + "/clusterrolebindings";
  EXPECT_EQ(ask({"alice"}, bindings, binding).status, 403);
  EXPECT_EQ(ask({"alice", {"system:masters"}}, bindings, binding).status, 201);
}

TEST(PersonInHeaders, IsReadWhateverTheCaseOfTheirNames) {
  const auto person = person_in({{"Host", "x"},
                                 {"impersonate-user", "alice"},
                                 {"Impersonate-Group", "devs"},
                                 {"IMPERSONATE-GROUP", "ops, all"},
                                 {"Impersonate-Uid", "u-1"},
                                 {"Impersonate-Extra-Acme.com%2fProject", "p"},
                                 {"Impersonate-Extra-Acme.com%2Fproject", "q"}});
  ASSERT_TRUE(person && *person);
  EXPECT_EQ((*person)->user, "alice");
  EXPECT_EQ((*person)->groups, (std::vector<std::string>{"devs", "ops, all"}));
  EXPECT_EQ((*person)->uid, "u-1");
  EXPECT_EQ((*person)->extra.at("acme.com/project"), (std::vector<std::string>{"p", "q"}));
}

TEST(PersonInHeaders, IsNobodyWithoutThem) {
  const auto nobody = person_in({{"Host", "x"}, {"Impersonate-User", ""}});
  ASSERT_TRUE(nobody);
  EXPECT_EQ(*nobody, nullptr);
}

TEST(PersonInHeaders, NeedsAUserToHaveGroups) {
  for (const char* header : {"Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-a"}) {
    const auto person = person_in({{header, "x"}});
    ASSERT_FALSE(person) << header;
    EXPECT_EQ(person.error().code, 400);
    EXPECT_EQ(person.error().reason(), "BadRequest");
  }
}

}  // namespace
}  // namespace gantree::apiserver

// What service accounts may do, by the roles that are stored.
#include <gtest/gtest.h>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

constexpr const char* kRobot = "system:serviceaccount:default:robot";
constexpr const char* kRbac = "/apis/rbac.authorization.k8s.io/v1";

class Rights : public testing::Test {
 protected:
  // Status of what the robot asks.
  int ask(std::string method, std::string path, std::string body = "", std::string type = "application/json") {
    Call call;
    call.content_type = std::move(type);
    call.method = std::move(method);
    const std::size_t query = path.find('?');
    call.path = path.substr(0, query);
    call.query = query == std::string::npos ? "" : path.substr(query + 1);
    call.body = std::move(body);
    call.user = kRobot;
    call.trusted = false;
    return world.api().call_and_wait(std::move(call)).status;
  }
  void grant(const std::string& rules, bool everywhere) {
    const std::string of = everywhere ? kRbac : std::string(kRbac) + "/namespaces/default";
    const std::string prefix = everywhere ? "Cluster" : "";
    const std::string head = R"({"apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"r"},)";
    const Answer role = world.post(of + (everywhere ? "/clusterroles" : "/roles"),
                                   head + R"("kind":")" + prefix + R"(Role","rules":)" + rules + "}");
    EXPECT_EQ(role.status, 201) << role.text();
    bind(of, head, prefix + "Role", prefix, "r");
  }
  void bind(const std::string& of, const std::string& head, const std::string& kind, const std::string& prefix,
            const std::string& name) {
    const Answer binding = world.post(
        of + (prefix.empty() ? "/rolebindings" : "/clusterrolebindings"),
        head + R"("kind":")" + prefix + R"(RoleBinding","roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")" +
            kind + R"(","name":")" + name +
            R"("},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"default"}]})");
    EXPECT_EQ(binding.status, 201) << binding.text();
  }
  World world;
};

TEST_F(Rights, WithoutARoleThereIsDiscoveryAndNothingElse) {
  EXPECT_EQ(ask("GET", "/version"), 200);
  EXPECT_EQ(ask("GET", "/apis/apps/v1"), 200);
  EXPECT_EQ(ask("GET", "/api/v1/pods"), 403);
  EXPECT_EQ(ask("POST", kMaps, config_map("a")), 403);
  EXPECT_EQ(ask("GET", "/api/v1/namespaces/default/pods/a"), 403) << "nor whether there is one";
}

TEST_F(Rights, OfViewersGrowByTheRolesThatAreLabelledSo) {
  const std::string of = std::string(kRbac) + "/namespaces/default";
  bind(of, R"({"metadata":{"name":"v"},)", "ClusterRole", "", "view");
  EXPECT_TRUE(World::eventually([&] { return ask("GET", kMaps) == 200; }));
  EXPECT_EQ(ask("GET", "/api/v1/namespaces/default/secrets"), 403);
  EXPECT_EQ(ask("POST", kMaps, config_map("a")), 403);
  (void)world.post(std::string(kRbac) + "/clusterroles", R"({"metadata":{"name":"more","labels":{
    "rbac.authorization.k8s.io/aggregate-to-view":"true"}},"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["list"]}]})");
  EXPECT_TRUE(World::eventually([&] { return ask("GET", "/api/v1/namespaces/default/secrets") == 200; }));
  (void)world.remove(std::string(kRbac) + "/clusterroles/more");
  EXPECT_TRUE(World::eventually([&] { return ask("GET", "/api/v1/namespaces/default/secrets") == 403; }));
}

TEST_F(Rights, OfRolesThatGatherFromEachOtherAreThoseThatOthersSay) {
  const auto make = [&](const std::string& name, const std::string& from, const std::string& rules) {
    const Answer made =
        world.post(std::string(kRbac) + "/clusterroles",
                   R"({"metadata":{"name":")" + name + R"(","labels":{"of":")" + name + R"("}},"rules":)" + rules +
                       R"(,"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"of":")" + from + R"("}}]}})");
    EXPECT_EQ(made.status, 201) << made.text();
  };
  make("one", "two", R"([{"apiGroups":[""],"resources":["pods"],"verbs":["list"]}])");
  make("two", "three", R"([{"apiGroups":[""],"resources":["nodes"],"verbs":["list"]}])");
  make("three", "one", R"([{"apiGroups":[""],"resources":["secrets"],"verbs":["list"]}])");
  const std::string rule = R"([{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}])";
  (void)world.post(std::string(kRbac) + "/clusterroles",
                   R"({"metadata":{"name":"four","labels":{"of":"two"}},"rules":)" + rule + "}");
  for (const char* name : {"one", "two", "three"}) {
    const std::string path = std::string(kRbac) + "/clusterroles/" + name;
    EXPECT_TRUE(World::eventually([&] { return text_in(world.get(path), {"rules"}) == rule; })) << name;
  }
}

TEST_F(Rights, ToGatherRolesTakesAllRights) {
  grant(R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],"verbs":["create"]}])", true);
  EXPECT_EQ(ask("POST", std::string(kRbac) + "/clusterroles", R"({"metadata":{"name":"none"},"rules":[]})"), 201);
  EXPECT_EQ(ask("POST", std::string(kRbac) + "/clusterroles", R"({"metadata":{"name":"all"},"rules":[],
    "aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"kubernetes.io/bootstrapping":"rbac-defaults"}}]}})"),
            403);
}

TEST_F(Rights, ARoleOfANamespaceEndsThere) {
  grant(R"([{"apiGroups":[""],"resources":["configmaps"],"verbs":["create","list"]}])", false);
  EXPECT_EQ(ask("POST", kMaps, config_map("a")), 201);
  EXPECT_EQ(ask("GET", kMaps), 200);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/a"), 403);
  EXPECT_EQ(ask("GET", "/api/v1/configmaps"), 403);
  EXPECT_EQ(ask("GET", "/api/v1/namespaces/kube-system/configmaps"), 403);
  EXPECT_EQ(world.remove(std::string(kRbac) + "/namespaces/default/rolebindings/r").status, 200);
  EXPECT_EQ(ask("GET", kMaps), 403) << "what is taken away is gone at once";
}

TEST_F(Rights, RolesNamePartsOfObjectsAndSingleOnes) {
  grant(R"([{"apiGroups":[""],"resources":["pods/status"],"verbs":["patch"]},
            {"apiGroups":[""],"resources":["configmaps"],"resourceNames":["mine"],"verbs":["*"]}])",
        true);
  EXPECT_EQ(ask("PATCH", "/api/v1/namespaces/default/pods/a/status", "{}"), 415) << "allowed, but no patch";
  EXPECT_EQ(ask("PATCH", "/api/v1/namespaces/default/pods/a", "{}"), 403);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/mine"), 404);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/other"), 403);
}

// As an informer does that follows one object.
TEST_F(Rights, ASingleObjectMayBeListedAndWatchedByItsName) {
  grant(R"([{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["mine"],
             "verbs":["list","watch","deletecollection"]}])",
        false);
  const std::string mine = std::string(kMaps) + "?fieldSelector=metadata.name%3Dmine";
  EXPECT_EQ(ask("GET", mine), 200);
  EXPECT_EQ(ask("GET", mine + "&watch=true"), 400) << "allowed, but there is nobody to tell";
  EXPECT_EQ(ask("DELETE", mine), 200);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "?fieldSelector=metadata.name%3Dother"), 403);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "?fieldSelector=metadata.name!%3Dmine"), 403);
  EXPECT_EQ(ask("GET", kMaps), 403);
  EXPECT_EQ(ask("POST", std::string(kMaps) + "?fieldSelector=metadata.name%3Dmine", config_map("mine")), 403);
}

TEST_F(Rights, WhoMayPatchMayNotMakeByApplying) {
  const auto apply = [&] {
    return ask("PATCH", std::string(kMaps) + "/a?fieldManager=x", config_map("a"), "application/apply-patch+yaml");
  };
  grant(R"([{"apiGroups":[""],"resources":["configmaps"],"verbs":["patch"]}])", true);
  EXPECT_EQ(apply(), 403);
  (void)world.post(kMaps, config_map("a"));
  EXPECT_EQ(apply(), 200);
}

TEST_F(Rights, NobodyGivesWhatHeDoesNotHave) {
  grant(R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["*"],"verbs":["create","patch","get"]},
            {"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}])",
        true);
  const std::string roles = std::string(kRbac) + "/clusterroles";
  const auto role = [](const std::string& name, const std::string& rules) {
    return R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":")" + name +
           R"("},"rules":)" + rules + "}";
  };
  const auto binding = [](const std::string& of) {
    return R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"of-)" + of +
           R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" + of +
           R"("},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"default"}]})";
  };
  const std::string readers = R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])";
  const std::string all = R"([{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}])";
  const std::string named = R"([{"apiGroups":[""],"resources":["secrets"],"resourceNames":["x"],"verbs":["get"]}])";
  EXPECT_EQ(ask("POST", roles, role("reader", readers)), 201);
  EXPECT_EQ(ask("POST", roles, role("lord", all)), 403);
  EXPECT_EQ(ask("POST", roles, role("spy", named)), 403);
  EXPECT_EQ(ask("PATCH", roles + "/reader", R"({"rules":)" + all + "}", "application/merge-patch+json"), 403);
  EXPECT_EQ(ask("PATCH", roles + "/reader", R"({"rules":[]})", "application/merge-patch+json"), 200);
  const std::string bindings = std::string(kRbac) + "/clusterrolebindings";
  EXPECT_EQ(ask("POST", bindings, binding("reader")), 201);
  EXPECT_EQ(ask("POST", bindings, binding("cluster-admin")), 403);
  EXPECT_EQ(ask("POST", bindings, binding("not-there-yet")), 403);
  EXPECT_EQ(world.post(roles, role("lord", all)).status, 201) << "the administrator may";
  EXPECT_EQ(ask("POST", bindings, binding("lord")), 403);
}

TEST_F(Rights, WhoMayEscalateOrBindGivesAnything) {
  grant(R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["*"],"verbs":["create","escalate","bind"]}])",
        true);
  EXPECT_EQ(ask("POST", std::string(kRbac) + "/clusterroles",
                R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"lord"},
                    "rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})"),
            201);
  EXPECT_EQ(ask("POST", std::string(kRbac) + "/clusterrolebindings",
                R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"b"},
                    "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"lord"}})"),
            201);
  EXPECT_EQ(ask("GET", "/api/v1/secrets"), 403) << "he was not among the subjects";
}

TEST_F(Rights, TheAdministratorsRoleGivesEverything) {
  bind(kRbac, R"({"apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"all"},)", "ClusterRole", "Cluster",
       "cluster-admin");
  EXPECT_EQ(ask("GET", "/api/v1/secrets"), 200);
  EXPECT_EQ(ask("POST", "/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})"),
            201);
}

TEST_F(Rights, ReviewsTellWhatWouldBeAllowed) {
  grant(R"([{"apiGroups":["apps"],"resources":["*"],"verbs":["get"]}])", true);
  const auto allowed = [&](const std::string& verb, const std::string& resource) {
    const Answer answer =
        world.post("/apis/authorization.k8s.io/v1/subjectaccessreviews",
                   R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":")" +
                       std::string(kRobot) + R"(","resourceAttributes":{"group":"apps","verb":")" + verb +
                       R"(","resource":")" + resource + "\"}}}");
    return text_in(answer, {"status", "allowed"});
  };
  EXPECT_EQ(allowed("get", "deployments"), "true");
  EXPECT_EQ(allowed("delete", "deployments"), "false");
}

}  // namespace
}  // namespace gantree::apiserver

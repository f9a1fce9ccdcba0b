// ResourceQuotas: what they count, and what they refuse.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

constexpr const char* kQuotas = "/api/v1/namespaces/default/resourcequotas";

class Quotas : public testing::Test {
 protected:
  void limit(std::string_view hard, std::string_view more = "") {
    const Answer made = world.post(
        kQuotas, R"({"metadata":{"name":"q"},"spec":{"hard":)" + std::string(hard) + std::string(more) + "}}");
    EXPECT_EQ(made.status, 201) << made.text();
  }
  int ask_for(std::string_view name, std::string_view resources, std::string_view spec = "") {
    return world
        .post(kPods, R"({"metadata":{"name":")" + std::string(name) +
                         R"("},"spec":{"containers":[{"name":"c","image":"i","resources":)" + std::string(resources) +
                         "}]" + std::string(spec) + "}}")
        .status;
  }
  std::string used() { return text_in(world.get(std::string(kQuotas) + "/q"), {"status", "used"}); }
  bool comes_to_be(std::string_view used_then) {
    return World::eventually([&] { return used() == used_then; });
  }
  World world;
};

TEST_F(Quotas, CountWhatIsThereAndWhatComesAndGoes) {
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 201);
  limit(R"({"configmaps":"2","count/deployments.apps":"1"})");
  EXPECT_TRUE(comes_to_be(R"({"configmaps":"1","count/deployments.apps":"0"})")) << used();
  EXPECT_EQ(world.post(kMaps, config_map("b")).status, 201);
  const Answer refused = world.post(kMaps, config_map("c"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(text_in(refused, {"message"}),
            "configmaps \"c\" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: "
            "configmaps=2");
  EXPECT_EQ(world.post(std::string(kMaps) + "?dryRun=All", config_map("c")).status, 403);
  EXPECT_EQ(world.merge(std::string(kMaps) + "/a", R"({"data":{"x":"y"}})").status, 200) << "which takes no more";
  EXPECT_EQ(world.remove(std::string(kMaps) + "/a").status, 200);
  EXPECT_EQ(world.post(kMaps, config_map("c")).status, 201);
  EXPECT_TRUE(comes_to_be(R"({"configmaps":"2","count/deployments.apps":"0"})")) << used();
}

TEST_F(Quotas, OfResourcesCountPodsUntilTheyAreOver) {
  limit(R"({"pods":"2","requests.cpu":"3","limits.memory":"1Gi","requests.x/y":"4"})");
  EXPECT_EQ(ask_for("a", R"({"requests":{"cpu":"1"}})"), 403) << "says nothing of its memory";
  EXPECT_EQ(ask_for("a", R"({"requests":{"cpu":"1500m"},"limits":{"memory":"256Mi","x/y":"4"}})"), 201);
  EXPECT_EQ(ask_for("b", R"({"requests":{"cpu":"1600m"},"limits":{"memory":"1Mi"}})"), 403);
  EXPECT_EQ(ask_for("b", R"({"requests":{"cpu":"1500m"},"limits":{"memory":"1Gi"}})"), 403);
  EXPECT_EQ(ask_for("b", R"({"requests":{"cpu":"1"},"limits":{"memory":"1Mi","x/y":"1"}})"), 403);
  EXPECT_EQ(ask_for("b", R"({"requests":{"cpu":"1500m"},"limits":{"memory":"256Mi"}})"), 201);
  EXPECT_TRUE(comes_to_be(R"({"limits.memory":"512Mi","pods":"2","requests.cpu":"3","requests.x/y":"4"})")) << used();
  (void)world.merge(std::string(kPods) + "/a/status", R"({"status":{"phase":"Succeeded"}})");
  EXPECT_TRUE(comes_to_be(R"({"limits.memory":"256Mi","pods":"1","requests.cpu":"1500m","requests.x/y":"0"})"))
      << used();
  EXPECT_EQ(ask_for("c", R"({"requests":{"cpu":"1"},"limits":{"memory":"1Mi"}})"), 201);
}

TEST_F(Quotas, CountPodsAsSchedulersDo) {
  limit(R"({"requests.cpu":"100","limits.cpu":"100"})");
  constexpr const char* kOne = R"({"requests":{"cpu":"1"},"limits":{"cpu":"2"}})";
  const auto first = [&](std::string_view restarts) {
    return fmt::format(R"(,"initContainers":[{{"name":"i","image":"i","resources":{}{}}}])", kOne, restarts);
  };
  EXPECT_EQ(ask_for("init", kOne, first("")), 201);
  EXPECT_TRUE(comes_to_be(R"({"limits.cpu":"2","requests.cpu":"1"})")) << used();
  EXPECT_EQ(ask_for("sidecar", kOne, first(R"(,"restartPolicy":"Always")")), 201);
  EXPECT_TRUE(comes_to_be(R"({"limits.cpu":"6","requests.cpu":"3"})")) << used();
  EXPECT_EQ(ask_for("whole", kOne, R"(,"resources":{"requests":{"cpu":"5"},"limits":{"cpu":"7"}})"), 201);
  EXPECT_TRUE(comes_to_be(R"({"limits.cpu":"13","requests.cpu":"8"})")) << used();
}

TEST_F(Quotas, MayBeOfSomePodsOnly) {
  limit(R"({"pods":"0"})", R"(,"scopes":["BestEffort"])");
  EXPECT_EQ(ask_for("a", "{}"), 403);
  EXPECT_EQ(ask_for("a", R"({"requests":{"cpu":"1"}})"), 201);
  EXPECT_EQ(world.merge(std::string(kQuotas) + "/q", R"({"spec":{"scopes":["Terminating"]}})").status, 200);
  EXPECT_EQ(ask_for("b", "{}"), 201);
  EXPECT_EQ(ask_for("c", "{}", R"(,"activeDeadlineSeconds":9)"), 403);
}

TEST_F(Quotas, ThatAreGoneRefuseNothing) {
  limit(R"({"configmaps":"0"})");
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 403);
  EXPECT_EQ(world.merge(std::string(kQuotas) + "/q", R"({"spec":{"hard":{"configmaps":"1"}}})").status, 200);
  EXPECT_EQ(world.post(kMaps, config_map("a")).status, 201);
  EXPECT_EQ(world.remove(std::string(kQuotas) + "/q").status, 200);
  EXPECT_EQ(world.post(kMaps, config_map("b")).status, 201);
}

}  // namespace
}  // namespace gantree::apiserver

// Resources that come and go while we look.
#include <gtest/gtest.h>

#include "client/fake_server.h"
#include "client/recorder.h"
#include "kube/watches.h"

namespace gantree::kube {
namespace {

using test::eventually;
using test::FakeServer;
using test::Recorder;

constexpr const char* kPods = R"("v1":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list","watch"]},)"
                              R"({"name":"pods/status","kind":"Pod","namespaced":true,"verbs":["get"]}])";
constexpr const char* kGroups =
    R"("example.com/v1beta1":[{"name":"groups","kind":"Group","namespaced":true,"verbs":["list","watch"]}])";

class DiscoveryTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    server_.control(std::string(R"({"op":"set","aggregated":)") + (GetParam() ? "true" : "false") + "}");
    serve(kPods);
  }
  void serve(const std::string& resources) const { server_.control(R"({"op":"set","served":{)" + resources + "}}"); }
  static http::Endpoint endpoint(const FakeServer& server) {
    http::Endpoint endpoint;
    endpoint.base_url = server.url();
    return endpoint;
  }

  FakeServer server_;
  http::Client transport_{endpoint(server_)};
  Client client_{transport_, nullptr};
  Recorder pods_;
  Recorder groups_;
  std::vector<WatchRequest> requests_ = {
      {.wanted = {"", "pods", {"v1"}}, .sink = &pods_, .options = {}},
      {.wanted = {"example.com", "groups", {"v1", "v1beta1"}}, .sink = &groups_, .options = {}}};
  DiscoveryOptions options_{.interval = http::Milliseconds(50), .absences = 2, .trouble = {}};
};

TEST_P(DiscoveryTest, AResourceThatAppearsLaterIsWatchedAndOneThatGoesIsForgotten) {
  server_.control(R"({"op":"fill","resource":"v1/pods","name":"pod","count":2})");
  const Watches watches(client_, requests_, options_);
  ASSERT_TRUE(eventually([&] { return watches.synced(); }));
  EXPECT_EQ(pods_.size(), 2U);
  EXPECT_EQ(groups_.syncs(), 0);
  EXPECT_FALSE(watches.states()[1].served);

  server_.control(R"({"op":"fill","resource":"example.com/v1beta1/groups","name":"group","count":3})");
  serve(std::string(kPods) + "," + kGroups);
  ASSERT_TRUE(eventually([&] { return groups_.size() == 3; }));
  ASSERT_TRUE(eventually([&] { return watches.states()[1].synced; }));

  serve(kPods);
  ASSERT_TRUE(eventually([&] { return groups_.size() == 0; }));
  EXPECT_FALSE(watches.states()[1].served);
  EXPECT_EQ(pods_.syncs(), 1) << "the others are not disturbed";
}

TEST_P(DiscoveryTest, AServerThatFailsTakesNothingAway) {
  serve(std::string(kPods) + "," + kGroups);
  server_.control(R"({"op":"fill","resource":"example.com/v1beta1/groups","name":"group","count":3})");
  const Watches watches(client_, requests_, options_);
  ASSERT_TRUE(eventually([&] { return watches.synced() && groups_.size() == 3; }));
  server_.control(R"({"op":"fault","method":"GET","path":"/apis","status":403,"times":10})");
  ASSERT_TRUE(eventually([&] { return server_.requests("GET", "/apis") > 12; }));
  EXPECT_EQ(groups_.size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(BothForms, DiscoveryTest, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Aggregated" : "OneByOne"; });

}  // namespace
}  // namespace gantree::kube

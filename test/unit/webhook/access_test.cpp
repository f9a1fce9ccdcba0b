#include "webhook/access.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "http/client.h"
#include "http/server.h"
#include "json/read.h"

namespace gantree::webhook {
namespace {

using namespace std::chrono_literals;

// As much of an API server as this needs.
class SmallApi {
 public:
  SmallApi() {
    auto started = http::Server::start({}, [this](const http::IncomingRequest& request) {
      ++requests;
      const bool self = request.path.ends_with("/selfsubjectreviews");
      return http::Response{.status = self                                                          ? self_status.load()
                                      : request.path.ends_with("/subjectaccessreviews") && refusing ? 403
                                                                                                    : 201,
                            .content_type = "application/json",
                            .body = self ? R"({"status":{"userInfo":{"username":"system:serviceaccount:ns:gantree"}}})"
                                    : request.body.find("\"user\":\"admin\"") == std::string::npos
                                        ? R"({"status":{"allowed":false}})"
                                        : R"({"status":{"allowed":true}})"};
    });
    server_ = std::move(*started);
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }

  std::atomic<int> requests = 0;
  std::atomic<bool> refusing = false;
  std::atomic<int> self_status = 201;

 private:
  std::unique_ptr<http::Server> server_;
};

http::Endpoint endpoint(const SmallApi& api) {
  http::Endpoint endpoint;
  endpoint.base_url = api.url();
  return endpoint;
}

Result<bool> administers(const Access& access, const std::string& user_info) {
  const auto documents = json::read_documents("user", user_info);
  Review review;
  review.user_info = documents->front().root();
  return access.administers(review);
}

TEST(WebhookAccess, KnowsGantreeItselfAndThoseWhoAdministerQueues) {
  SmallApi api;
  http::Client transport(endpoint(api));
  kube::Client client(transport, nullptr);
  const Access access(client);
  for (int i = 0; i < 500 && !access.self(); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(access.self(), "system:serviceaccount:ns:gantree");
  const auto admin = administers(access, R"({"username":"admin","groups":["devs"]})");
  ASSERT_TRUE(admin) << admin.error().message;
  EXPECT_TRUE(*admin);
  const auto user = administers(access, R"({"username":"mallory"})");
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_FALSE(*user);
  api.refusing = true;
  EXPECT_FALSE(administers(access, R"({"username":"admin"})"));
}

// Until it is so, or five seconds are over.
void wait_for(const std::function<bool()>& so) {
  for (int i = 0; i < 500 && !so(); ++i) {
    std::this_thread::sleep_for(10ms);
  }
}

TEST(WebhookAccess, DoesNotKnowItselfWhileTheApiServerCannotAnswer) {
  SmallApi api;
  api.self_status = 401;
  http::Client transport(endpoint(api));
  kube::Client client(transport, nullptr);
  const Access access(client);
  wait_for([&] { return api.requests > 0; });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(access.self());
  api.self_status = 201;
  wait_for([&] { return access.self().has_value(); });
  EXPECT_EQ(access.self(), "system:serviceaccount:ns:gantree") << "it was asked again";
}

TEST(WebhookAccess, KnowsThatAnOldApiServerDoesNotTell) {
  SmallApi api;
  api.self_status = 404;
  http::Client transport(endpoint(api));
  kube::Client client(transport, nullptr);
  const Access access(client);
  wait_for([&] { return access.self().has_value(); });
  EXPECT_EQ(access.self(), "");
}

TEST(WebhookAccess, AsksNobodyAboutThoseWhoMayDoEverything) {
  SmallApi api;
  http::Client transport(endpoint(api));
  kube::Client client(transport, nullptr);
  const Access access(client);
  for (int i = 0; i < 500 && !access.self(); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  const int before = api.requests;
  const auto master = administers(access, R"({"username":"root","groups":["system:masters"]})");
  ASSERT_TRUE(master);
  EXPECT_TRUE(*master);
  EXPECT_EQ(api.requests, before);
}

TEST(WebhookAccess, TellsTheApiServerAllThatItKnowsOfTheUser) {
  const auto documents = json::read_documents(
      "user", R"({"username":"a","uid":"1","groups":["g"],"extra":{"scopes":["x"]},"other":"not told"})");
  EXPECT_EQ(administers_question(documents->front().root()),
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"resourceAttributes":)"
            R"({"group":"kueue.x-k8s.io","resource":"clusterqueues","verb":"update"},"user":"a","groups":["g"],)"
            R"("uid":"1","extra":{"scopes":["x"]}}})");
}

}  // namespace
}  // namespace gantree::webhook

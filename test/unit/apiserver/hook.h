// A webhook for tests, and what asks it about ConfigMaps.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/server.h"
#include "unit/apiserver/world.h"

namespace gantree::apiserver {

// Answers each review by what a test says.
class FakeHook {
 public:
  using Judge = std::function<std::string(const Value& request)>;  // members of the response, from "," on

  explicit FakeHook(Judge judge) : judge_(std::move(judge)) {
    auto started = http::Server::start({}, [this](const http::IncomingRequest& request) {
      const auto review = parse_json(request.body);
      const std::string uid(text_at(*review, {"request", "uid"}));
      ++calls;
      return http::Response{
          .content_type = "application/json",
          .body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":")" + uid + "\"" +
                  judge_(*find(*review, {"request"})) + "}}"};
    });
    server_ = std::move(*started);
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()) + "/hook"; }
  std::atomic<int> calls = 0;

 private:
  Judge judge_;
  std::unique_ptr<http::Server> server_;
};

inline void configure(World& world, std::string_view kind, const std::string& url, std::string_view more = "") {
  const std::string plural =
      kind == "MutatingWebhookConfiguration" ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
  const Answer created = world.post(
      "/apis/admissionregistration.k8s.io/v1/" + plural,
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":")" + std::string(kind) +
          R"(","metadata":{"name":"c"},"webhooks":[{"name":"hook.example.com","clientConfig":{"url":")" + url +
          R"("},"sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":2,
          "rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE","UPDATE","DELETE"]}])" +
          std::string(more) + "}]}");
  EXPECT_EQ(created.status, 201) << created.text();
}

}  // namespace gantree::apiserver

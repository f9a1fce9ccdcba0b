// AdmissionReviews as the API server writes them, and answers taken apart.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "json/read.h"

namespace gantree::webhook {

struct Question {
  std::string_view group = "scheduling.sigs.k8s.io";
  std::string_view kind = "PodGroup";
  std::string_view operation = "CREATE";
  std::string_view object = "null";
  std::string_view old_object = "null";
  std::string_view subresource = "";
  std::string_view name = "n";
  std::string_view version = "v1alpha1";
};

inline std::string review_of(const Question& question) {
  return fmt::format(
      R"({{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"4f5c-1","kind":{{"group":"{}","version":"{}",)"
      R"("kind":"{}"}},"resource":{{"group":"{}","version":"{}","resource":"x"}},"name":"{}","namespace":"ns","operation":"{}",)"
      R"("subResource":"{}","userInfo":{{"username":"u","uid":"other"}},"object":{},"oldObject":{},"dryRun":false,"options":null}}}})",
      question.group, question.version, question.kind, question.group, question.version, question.name,
      question.operation, question.subresource, question.object, question.old_object);
}

// The fields of an answer.
struct Told {
  std::string uid;
  bool allowed = false;
  int code = 0;
  std::string message;
  std::vector<std::string> warnings;
  std::string patch;
};

inline Told told(const std::string& body) {
  Told told;
  const auto documents = json::read_documents("answer", body);
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << "no JSON: " << body;
    return told;
  }
  const json::Value root = documents->front().root();
  EXPECT_EQ(root["kind"].text(), "AdmissionReview");
  EXPECT_EQ(root["apiVersion"].text(), "admission.k8s.io/v1");
  const json::Value response = root["response"];
  told.uid = response["uid"].text();
  told.allowed = response["allowed"].text() == "true";
  if (const json::Value status = response["status"]) {
    told.code = std::stoi(std::string(status["code"].text()));
    told.message = status["message"].text();
  }
  if (const json::Value warnings = response["warnings"]) {
    for (const json::NodeData& item : warnings.items()) {
      told.warnings.emplace_back(json::Value(&item).text());
    }
  }
  if (const json::Value patch = response["patch"]) {
    EXPECT_EQ(response["patchType"].text(), "JSONPatch");
    told.patch = patch.text();
  }
  return told;
}

}  // namespace gantree::webhook

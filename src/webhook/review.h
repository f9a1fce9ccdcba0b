// One admission question of the API server, and the answer: AdmissionReview of admission.k8s.io/v1.
//
// Bodies are untrusted. Whatever comes, what goes out is an AdmissionReview; where the question could not be
// understood it is a refusal, with the uid if that could be made out, since only then the API server takes it for one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "json/write.h"

namespace gantree::webhook {

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };

// What is asked. Views and values are good during the call only.
struct Review {
  std::string_view uid;
  Operation operation = Operation::kCreate;
  std::string_view group;  // of the object's kind
  std::string_view version;
  std::string_view kind;
  std::string_view ns;
  std::string_view name;  // "" where it is yet to be generated
  std::string_view subresource;
  std::string_view user;   // who asks for it; "" where the API server does not tell
  json::Value user_info;   // the same with groups and all; absent where it does not tell
  json::Value object;      // absent on delete
  json::Value old_object;  // absent on create
};

struct Answer {
  bool allowed = true;
  int code = 0;  // an HTTP status, where it is refused
  std::string message = {};
  std::vector<std::string> warnings = {};
  json::Out::Array patch = {};  // operations of a JSON Patch; of mutating webhooks only
};

[[nodiscard]] Answer refusal(int code, std::string message);

// Called on several threads at once.
using Judge = std::function<Answer(const Review&)>;

// The body of the answer to a body.
[[nodiscard]] std::string answer_review(std::string_view body, const Judge& judge);

// A refusal of a body that was not read to its end, or not at all.
[[nodiscard]] std::string refuse_review(std::string_view beginning, int code, std::string_view message);

}  // namespace gantree::webhook

// Any body posted to any webhook: the answer is an AdmissionReview that says yes or no.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "dialects/admission.h"
#include "dialects/mutation.h"
#include "json/read.h"
#include "webhook/server.h"

namespace {

using namespace gantree;

void check(const webhook::Routes& routes, std::string_view path, std::string_view body) {
  const http::Response response = webhook::respond(
      routes, {.method = "POST", .path = std::string(path), .query = {}, .headers = {}, .body = std::string(body)});
  GANTREE_CHECK(response.status == 200);
  const auto documents = json::read_documents("answer", response.body);
  GANTREE_CHECK(documents && documents->size() == 1);
  const json::Value answer = documents->front().root()["response"];
  GANTREE_CHECK(answer["allowed"].kind() == json::Kind::kBool && answer["uid"].kind() == json::Kind::kString);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const webhook::Routes kRoutes = webhook::dialect_routes();
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const Validator& validator : all_validators()) {
    check(kRoutes, fmt::format("/validate/{}", validator.route()), body);
  }
  for (const Mutator& mutator : all_mutators()) {
    check(kRoutes, fmt::format("/validate/{}", mutator.plural), body);
    check(kRoutes, fmt::format("/mutate/{}", mutator.plural), body);
  }
  return 0;
}

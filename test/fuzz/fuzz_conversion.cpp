// Any body posted to the webhook that converts: the answer is a ConversionReview, and what was converted goes back
// again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/read.h"
#include "kueue/conversion.h"
#include "webhook/server.h"

namespace {

using namespace gantree;

constexpr std::string_view kOld = "kueue.x-k8s.io/v1beta1";
constexpr std::string_view kNew = "kueue.x-k8s.io/v1beta2";

void check_way_back(json::Value object) {
  const json::Value version = object["apiVersion"];
  if (!version || version.kind() != json::Kind::kString || version.text() != kOld) {
    return;
  }
  const auto there = kueue::convert(object, kNew);
  if (!there) {
    return;
  }
  const auto documents = json::read_documents("there", there->to_json(false));
  GANTREE_CHECK(documents && documents->size() == 1);
  GANTREE_CHECK(kueue::convert(documents->front().root(), kOld));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const webhook::Routes kRoutes = webhook::dialect_routes();
  const std::string body(reinterpret_cast<const char*>(data), size);
  const http::Response response =
      webhook::respond(kRoutes, {.method = "POST", .path = "/convert", .query = {}, .headers = {}, .body = body});
  GANTREE_CHECK(response.status == 200);
  const auto answer = json::read_documents("answer", response.body);
  GANTREE_CHECK(answer && answer->size() == 1);
  GANTREE_CHECK(answer->front().root()["response"]["result"]["status"].kind() == json::Kind::kString);
  const auto documents = json::read_documents("body", body);
  if (!documents || documents->size() != 1) {
    return 0;
  }
  const json::Value objects = documents->front().root()["request"]["objects"];
  if (objects && objects.kind() == json::Kind::kArray) {
    for (const json::NodeData& item : objects.items()) {
      check_way_back(json::Value(&item));
    }
  }
  return 0;
}

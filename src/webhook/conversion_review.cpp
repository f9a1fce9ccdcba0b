#include "webhook/conversion_review.h"

#include <fmt/format.h>

#include <utility>

#include "json/decode.h"
#include "json/read.h"

namespace gantree::webhook {

namespace {

constexpr std::string_view kConversionVersion = "apiextensions.k8s.io/v1";
constexpr std::string_view kConversionReview = "ConversionReview";

std::string write(std::string_view uid, Result<json::Out> converted) {
  json::Out result = json::Out::object();
  json::Out response = json::Out::object();
  response.add("uid", uid);
  if (converted) {
    result.add("status", "Success");
    response.add("convertedObjects", std::move(*converted));
  } else {
    result.add("status", "Failed").add("message", converted.error().message);
    response.add("convertedObjects", json::Out::array());
  }
  response.add("result", std::move(result));
  json::Out review = json::Out::object();
  review.add("apiVersion", kConversionVersion).add("kind", kConversionReview).add("response", std::move(response));
  return review.to_json(false);
}

Result<json::Out> convert_all(json::Value objects, std::string_view api_version, const Convert& convert) {
  json::Out converted = json::Out::array();
  kueue::ExpansionBudget budget;
  for (const json::NodeData& item : objects.items()) {
    const json::Value object(&item);
    if (object.kind() != json::Kind::kObject) {
      return invalid(
          fmt::format("{}: one of request.objects is {}", kConversionReview, json::to_string(object.kind())));
    }
    auto one = convert(object, api_version, budget);
    if (!one) {
      return tl::unexpected(one.error());
    }
    converted.push(std::move(*one));
  }
  return converted;
}

}  // namespace

std::string answer_conversion(std::string_view body, const Convert& convert) {
  const auto documents = json::read_documents(std::string(kConversionReview), std::string(body));
  if (!documents) {
    return write("", tl::unexpected(documents.error()));
  }
  if (documents->size() != 1 || documents->front().root().kind() != json::Kind::kObject) {
    return write("", invalid(fmt::format("the body must be one {}", kConversionReview)));
  }
  const json::Value root = documents->front().root();
  json::Reader read(kConversionReview, root, std::string(kConversionReview));
  if (read.text(root, "kind") != kConversionReview || read.text(root, "apiVersion") != kConversionVersion) {
    return write("", invalid(fmt::format("this is not a {} of {}", kConversionReview, kConversionVersion)));
  }
  const json::Value request = read.require_object(root, "request");
  const std::string_view uid = read.require_text(request, "uid");
  const std::string_view wanted = read.require_text(request, "desiredAPIVersion");
  const json::Value objects = read.require_array(request, "objects");
  if (!read.ok()) {
    return write(uid, read.error());
  }
  return write(uid, convert_all(objects, wanted, convert));
}

}  // namespace gantree::webhook

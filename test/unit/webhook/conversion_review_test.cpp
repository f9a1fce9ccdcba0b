#include "webhook/conversion_review.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/copy.h"
#include "json/read.h"

namespace gantree::webhook {
namespace {

std::string review_of(const std::string& objects) {
  return fmt::format(
      R"({{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{{"uid":"u-1","desiredAPIVersion":"g/v2","objects":{}}}}})",
      objects);
}

Result<json::Out> rename(json::Value object, std::string_view api_version) {
  if (object["bad"]) {
    return invalid("this one is bad");
  }
  return json::copy(object, [&](std::string_view key, json::Value) {
    return key == "apiVersion" ? std::optional(json::Out(api_version)) : std::nullopt;
  });
}

TEST(ConversionReview, GivesBackAllObjectsInTheirOrder) {
  EXPECT_EQ(
      answer_conversion(review_of(R"([{"apiVersion":"g/v1","a":1},{"apiVersion":"g/v1","a":2}])"), rename),
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u-1","convertedObjects":[{"apiVersion":"g/v2","a":1},{"apiVersion":"g/v2","a":2}],"result":{"status":"Success"}}})");
}

TEST(ConversionReview, ConvertsAllOrNothing) {
  EXPECT_EQ(
      answer_conversion(review_of(R"([{"apiVersion":"g/v1"},{"bad":1}])"), rename),
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u-1","convertedObjects":[],"result":{"status":"Failed","message":"this one is bad"}}})");
}

TEST(ConversionReview, DoesNotAnswerWithMoreThanFitsIntoMemory) {
  const Convert grow = [](json::Value, std::string_view) -> Result<json::Out> {
    return json::Out(json::Out::Array(1'500'000));
  };
  EXPECT_NE(answer_conversion(review_of("[{},{}]"), grow).find("Success"), std::string::npos);
  EXPECT_NE(answer_conversion(review_of("[{},{},{}]"), grow).find("ask for fewer objects at once"), std::string::npos);
}

TEST(ConversionReview, AnswersWhateverComes) {
  for (const std::string& body :
       {std::string(""), std::string("{"), std::string("[]"), std::string("{}"), std::string("3"),
        std::string(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u"}})"),
        review_of("null"), review_of("{}"), review_of("[3]"), review_of("[null]"), std::string(64, '[')}) {
    const auto documents = json::read_documents("answer", answer_conversion(body, rename));
    ASSERT_TRUE(documents) << body;
    const json::Value response = documents->front().root()["response"];
    EXPECT_EQ(response["result"]["status"].text(), "Failed") << body;
    EXPECT_FALSE(response["result"]["message"].text().empty()) << body;
  }
}

}  // namespace
}  // namespace gantree::webhook

#include "webhook/conversion_review.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "json/copy.h"
#include "json/read.h"

namespace gantree::webhook {
namespace {

std::string review_of(const std::string& objects) {
  return fmt::format(
      R"({{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{{"uid":"u-1","desiredAPIVersion":"g/v2","objects":{}}}}})",
      objects);
}

Result<json::Out> rename(json::Value object, std::string_view api_version, kueue::ExpansionBudget&) {
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

TEST(ConversionReview, AllObjectsOfAnAnswerShareOneBudget) {
  std::vector<std::int64_t> left;
  const Convert spend = [&](json::Value, std::string_view, kueue::ExpansionBudget& budget) -> Result<json::Out> {
    left.push_back(budget.values -= 10);
    return json::Out::object();
  };
  static_cast<void>(answer_conversion(review_of("[{},{},{}]"), spend));
  ASSERT_EQ(left.size(), 3U);
  EXPECT_EQ(left[0] - left[2], 20);
}

// A body of a few kilobytes took 44 s and 3.7 GiB.
TEST(ConversionReview, MakesNothingOfAssignmentsThatWouldFillTheMemory) {
  const std::string text(63, 'x');
  std::string levels;
  std::string values;
  for (int i = 0; i < 16; ++i) {
    levels += levels.empty() ? R"("a")" : R"(,"a")";
    values += fmt::format(R"({}{{"universal":"{}"}})", values.empty() ? "" : ",", text);
  }
  std::string sets;
  for (int i = 0; i < 8; ++i) {
    sets += fmt::format(
        R"({}{{"name":"m{}","topologyAssignment":{{"levels":[{}],"slices":[{{"domainCount":199999,"valuesPerLevel":[{}],"podCounts":{{"universal":1}}}}]}}}})",
        sets.empty() ? "" : ",", i, levels, values);
  }
  const std::string body = fmt::format(
      R"({{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{{"uid":"u-1","desiredAPIVersion":"kueue.x-k8s.io/v1beta1","objects":[{{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{{"name":"w"}},"status":{{"admission":{{"clusterQueue":"q","podSetAssignments":[{}]}}}}}}]}}}})",
      sets);
  const auto begin = std::chrono::steady_clock::now();
  const std::string answer =
      answer_conversion(body, [](json::Value object, std::string_view api_version, kueue::ExpansionBudget& budget) {
        return kueue::convert(object, api_version, budget);
      });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_NE(answer.find("too large to be converted at once"), std::string::npos) << answer.substr(0, 300);
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

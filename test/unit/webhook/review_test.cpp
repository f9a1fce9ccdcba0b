#include "webhook/review.h"

#include <gtest/gtest.h>

#include <string>

#include "base/base64.h"
#include "questions.h"

namespace gantree::webhook {
namespace {

Told ask(const std::string& body, const Judge& judge = [](const Review&) { return Answer{}; }) {
  return told(answer_review(body, judge));
}

TEST(Review, HandsTheQuestionToTheJudge) {
  bool asked = false;
  const Told answer = ask(
      review_of({.operation = "UPDATE", .object = R"({"a":1})", .old_object = R"({"a":2})", .subresource = "scale"}),
      [&](const Review& review) {
        asked = true;
        EXPECT_EQ(review.uid, "4f5c-1");
        EXPECT_EQ(review.operation, Operation::kUpdate);
        EXPECT_EQ(review.group, "scheduling.sigs.k8s.io");
        EXPECT_EQ(review.version, "v1alpha1");
        EXPECT_EQ(review.kind, "PodGroup");
        EXPECT_EQ(review.ns, "ns");
        EXPECT_EQ(review.name, "n");
        EXPECT_EQ(review.subresource, "scale");
        EXPECT_EQ(review.object["a"].text(), "1");
        EXPECT_EQ(review.old_object["a"].text(), "2");
        return Answer{};
      });
  EXPECT_TRUE(asked);
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.uid, "4f5c-1");
}

TEST(Review, PassesOnARefusalWithItsCodeAndSentence) {
  const Told answer = ask(review_of({.object = "{}"}), [](const Review&) { return refusal(422, "no \"good\""); });
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 422);
  EXPECT_EQ(answer.message, "no \"good\"");
}

TEST(Review, PassesOnWarningsAndAPatch) {
  const Told answer = ask(review_of({.object = "{}"}), [](const Review&) {
    json::Out operation = json::Out::object();
    operation.add("op", "add").add("path", "/metadata/labels/a").add("value", "b");
    return Answer{.warnings = {"careful"}, .patch = {std::move(operation)}};
  });
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.warnings, std::vector<std::string>{"careful"});
  EXPECT_EQ(from_base64(answer.patch), R"([{"op":"add","path":"/metadata/labels/a","value":"b"}])");
}

TEST(Review, RefusesWhatItCannotUnderstandAndNamesTheRequestIfItCan) {
  const std::string good = review_of({.object = "{}"});
  const auto broken = [&](std::string_view from, std::string_view to) {
    std::string body = good;
    body.replace(body.find(from), from.size(), to);
    return body;
  };
  const std::string named[] = {
      good.substr(0, good.size() - 10),                                                        // cut
      good + good,                                                                             // two of them
      broken("admission.k8s.io/v1", "admission.k8s.io/v1beta1"),                               // another version
      broken("\"kind\":\"AdmissionReview\"", "\"kind\":\"Pod\""),                              // another kind
      broken("CREATE", "INVENT"),                                                              // an unknown operation
      broken("\"object\":{}", "\"object\":null"),                                              // nothing to look at
      broken("\"object\":{}", "\"object\":[]"),                                                // no object
      broken("\"object\":{}", "\"object\":" + std::string(500, '[') + std::string(500, ']')),  // too deep
      broken("\"object\":{}", "\"object\":{\"a\":1,\"a\":2}"),                                 // one key twice
  };
  for (const std::string& body : named) {
    const Told answer = ask(body);
    EXPECT_FALSE(answer.allowed) << body;
    EXPECT_EQ(answer.code, 400) << body;
    EXPECT_EQ(answer.uid, "4f5c-1") << body;
    EXPECT_FALSE(answer.message.empty());
  }
  for (const char* body : {"", "nonsense", "[]", "{}", "null", "\x00\x01",
                           "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}",
                           "{\"request\":{\"uid\":7}}", "{\"request\":{\"uid\":\"cut"}) {
    const Told answer = ask(body);
    EXPECT_FALSE(answer.allowed) << body;
    EXPECT_EQ(answer.uid, "") << body;
  }
}

TEST(Review, RefusesABodyOfWhichItSawTheBeginningOnly) {
  const std::string body = review_of({.object = "{}"});
  const Told answer = told(refuse_review(body.substr(0, 120), 413, "too large"));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 413);
  EXPECT_EQ(answer.uid, "4f5c-1");
}

}  // namespace
}  // namespace gantree::webhook

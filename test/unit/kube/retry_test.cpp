#include "kube/retry.h"

#include <gtest/gtest.h>

#include "kube/call.h"

namespace gantree::kube {
namespace {

using namespace std::chrono_literals;

Attempt attempt(int number, Trouble trouble) {
  return {.number = number, .trouble = trouble, .retry_after = std::nullopt, .renewed = false};
}

TEST(Retry, WaitsLongerEachTimeUpToALimit) {
  const RetryPolicy policy{.max_attempts = 100, .first_delay = 100ms, .max_delay = 1s, .max_retry_after = 30s};
  const auto delay = [&](int number) { return decide_retry(policy, attempt(number, Trouble::kNotSent), 0).delay; };
  EXPECT_EQ(delay(1), 100ms);
  EXPECT_EQ(delay(2), 200ms);
  EXPECT_EQ(delay(4), 800ms);
  EXPECT_EQ(delay(5), 1s);
  EXPECT_EQ(delay(99), 1s);
}

TEST(Retry, TakesUpToHalfOffByChance) {
  EXPECT_EQ(backoff(100ms, 1s, 1, 0.0), 100ms);
  EXPECT_EQ(backoff(100ms, 1s, 1, 0.5), 75ms);
  EXPECT_GE(backoff(100ms, 1s, 1, 0.999), 50ms);
}

TEST(Retry, EndsAfterAsManyAttemptsAsAllowed) {
  const RetryPolicy policy;
  for (const Trouble trouble : {Trouble::kNotSent, Trouble::kUnknown, Trouble::kTooMany, Trouble::kServerError}) {
    EXPECT_TRUE(decide_retry(policy, attempt(policy.max_attempts - 1, trouble), 0).retry);
    EXPECT_FALSE(decide_retry(policy, attempt(policy.max_attempts, trouble), 0).retry);
  }
}

TEST(Retry, LeavesToTheCallerWhatIsFinal) {
  EXPECT_FALSE(decide_retry({}, attempt(1, Trouble::kFinal), 0).retry);
}

TEST(Retry, WaitsAtLeastAsLongAsTheServerAsksButNotForEver) {
  Attempt asked = attempt(1, Trouble::kTooMany);
  asked.retry_after = 3s;
  EXPECT_EQ(decide_retry({}, asked, 0).delay, 3s);
  EXPECT_GT(decide_retry({}, asked, 0.9).delay, 3s);
  EXPECT_LT(decide_retry({}, asked, 0.9).delay, 4s);
  asked.retry_after = 24h;
  EXPECT_EQ(decide_retry({}, asked, 0).delay, 30s);
}

TEST(Retry, RenewsTheCredentialOnceAndAtOnce) {
  Attempt refused = attempt(1, Trouble::kUnauthorized);
  const RetryDecision first = decide_retry({}, refused, 0.5);
  EXPECT_TRUE(first.retry && first.renew_credential);
  EXPECT_EQ(first.delay, 0ms);
  refused.renewed = true;
  EXPECT_FALSE(decide_retry({}, refused, 0.5).retry);
}

http::Outcome reply(int status, std::string body = {}) {
  http::Outcome outcome;
  outcome.kind = http::Outcome::Kind::kReply;
  outcome.status = status;
  outcome.body = std::move(body);
  return outcome;
}

Judged judged(Verb verb, http::Outcome outcome, bool uncertain = false) {
  Call call;
  call.verb = verb;
  call.uncertain = uncertain;
  return judge(call, std::move(outcome));
}

TEST(Judge, ReadsTheReasonThatTheServerGives) {
  const Judged answer = judged(
      Verb::kBind, reply(409, R"({"kind":"Status","reason":"Conflict","message":"pod a is already assigned"})"), true);
  EXPECT_EQ(answer.trouble, Trouble::kFinal);
  EXPECT_EQ(answer.reply.result, CallResult::kConflict);
  EXPECT_EQ(answer.reply.reason, "Conflict");
  EXPECT_EQ(answer.reply.message, "pod a is already assigned");
  EXPECT_TRUE(answer.reply.uncertain);
}

TEST(Judge, QuotesTheFirstLineOfWhatIsNoStatus) {
  EXPECT_EQ(judged(Verb::kGet, reply(502, "<html>\nBad Gateway")).reply.message, "<html>");
  EXPECT_EQ(judged(Verb::kGet, reply(502)).reply.message, "the API server answered 502");
  EXPECT_EQ(judged(Verb::kGet, reply(500, "{\"message\":3")).reply.message, "the API server answered 500");
}

TEST(Judge, AWriteThatTheServerFailedMayBeDone) {
  EXPECT_EQ(judged(Verb::kPatch, reply(504)).reply.result, CallResult::kUnknown);
  EXPECT_EQ(judged(Verb::kGet, reply(504)).reply.result, CallResult::kUnavailable);
  EXPECT_EQ(judged(Verb::kPatch, reply(429)).reply.result, CallResult::kUnavailable);
}

TEST(Judge, FindsHowLongToWaitInTheHeaderOrInTheStatus) {
  http::Outcome outcome = reply(429, R"({"details":{"retryAfterSeconds":7}})");
  EXPECT_EQ(judged(Verb::kGet, outcome).reply.retry_after, 7s);
  outcome.headers = {{"retry-after", "2"}};
  EXPECT_EQ(judged(Verb::kGet, outcome).reply.retry_after, 2s);
  outcome.headers = {{"retry-after", "Fri, 31 Dec 1999 23:59:59 GMT"}};
  outcome.body.clear();
  EXPECT_EQ(judged(Verb::kGet, outcome).reply.retry_after, std::nullopt);
}

}  // namespace
}  // namespace gantree::kube

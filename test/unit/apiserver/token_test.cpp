#include "apiserver/token.h"

#include <gtest/gtest.h>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

constexpr const char* kTokens = "/api/v1/namespaces/default/serviceaccounts/default/token";
const std::string kSecret = "0123456789abcdef0123456789abcdef";

ApiOptions with_secret() {
  ApiOptions options;
  options.secret = kSecret;
  return options;
}

TEST(Token, NamesItsAccountUntilItExpires) {
  const std::string token = sign_token(kSecret, {"ns", "robot", "uid", 100, 200});
  ASSERT_TRUE(read_token(kSecret, token, 199));
  EXPECT_EQ(read_token(kSecret, token, 199)->user(), "system:serviceaccount:ns:robot");
  EXPECT_FALSE(read_token(kSecret, token, 200));
}

TEST(Token, IsRefusedWhereOneLetterIsAnother) {
  const std::string token = sign_token(kSecret, {"ns", "robot", "uid", 100, 200});
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string other = token;
    other[i] = other[i] == 'A' ? 'B' : 'A';
    // The last letter of a signature has bits that mean nothing.
    EXPECT_TRUE(i + 1 == token.size() || !read_token(kSecret, other, 150)) << i;
  }
  EXPECT_FALSE(read_token("another secret", token, 150));
}

TEST(Token, IsRefusedWhereItIsNone) {
  for (const char* text : {"", ".", "..", "a.b", "a.b.c", "....", "\xff.\xff.\xff"}) {
    EXPECT_FALSE(read_token(kSecret, text, 0)) << text;
  }
}

TEST(Token, IsGivenToServiceAccountsThatAreThere) {
  World world(with_secret());
  const Answer given = world.post(kTokens, R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"})");
  ASSERT_EQ(given.status, 201) << given.text();
  EXPECT_EQ(text_in(given, {"spec", "expirationSeconds"}), "3600");
  const std::string token = text_in(given, {"status", "token"});
  const Answer review =
      world.post("/apis/authentication.k8s.io/v1/tokenreviews",
                 R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":")" + token + "\"}}");
  EXPECT_EQ(text_in(review, {"status", "user", "username"}), "system:serviceaccount:default:default") << review.text();
  EXPECT_EQ(world.post("/api/v1/namespaces/default/serviceaccounts/nobody/token", "{}").status, 404);
  EXPECT_EQ(world.post(kTokens, R"({"spec":{"expirationSeconds":10}})").status, 422);
}

// What somebody who shows the token is answered.
int status_with(World& world, const std::string& token) {
  auto read = read_token(kSecret, token, 0);
  if (!read) {
    return 401;
  }
  Call call;
  call.path = "/api/v1/namespaces/default/pods";
  call.user = read->user();
  call.trusted = false;
  call.token = std::make_shared<const TokenOf>(std::move(*read));
  return world.api().call_and_wait(std::move(call)).status;
}

std::string token_of(World& world, const std::string& account, const std::string& spec = "{}") {
  const Answer given =
      world.post("/api/v1/namespaces/default/serviceaccounts/" + account + "/token", R"({"spec":)" + spec + "}");
  EXPECT_EQ(given.status, 201) << given.text();
  return text_in(given, {"status", "token"});
}

void make_robot(World& world) {
  ASSERT_EQ(world
                .post("/api/v1/namespaces/default/serviceaccounts",
                      R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"robot"}})")
                .status,
            201);
}

Answer review(World& world, const std::string& token, const std::string& extra = "") {
  return world.post("/apis/authentication.k8s.io/v1/tokenreviews",
                    R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":")" + token +
                        "\"" + extra + "}}");
}

TEST(Token, OfADeletedAccountIsRefusedAlsoWhereThereIsOneOfThatNameAgain) {
  World world(with_secret());
  make_robot(world);
  const std::string token = token_of(world, "robot");
  EXPECT_EQ(status_with(world, token), 403) << "known, and without rights";
  ASSERT_EQ(world.remove("/api/v1/namespaces/default/serviceaccounts/robot").status, 200);
  EXPECT_EQ(status_with(world, token), 401);
  EXPECT_EQ(text_in(review(world, token), {"status", "authenticated"}), "false");
  make_robot(world);
  EXPECT_EQ(status_with(world, token), 401);
  EXPECT_EQ(text_in(review(world, token), {"status", "authenticated"}), "false");
  EXPECT_EQ(status_with(world, token_of(world, "robot")), 403);
}

TEST(Token, ForAnotherAudienceIsRefusedHere) {
  World world(with_secret());
  const std::string token = token_of(world, "default", R"({"audiences":["vault","other"]})");
  EXPECT_EQ(status_with(world, token), 401);
  EXPECT_EQ(text_in(review(world, token), {"status", "authenticated"}), "false");
  const Answer asked = review(world, token, R"(,"audiences":["vault","nobody"])");
  EXPECT_EQ(text_in(asked, {"status", "authenticated"}), "true");
  EXPECT_EQ(text_in(asked, {"status", "audiences"}), R"(["vault"])");
  const std::string usual = token_of(world, "default");
  EXPECT_EQ(status_with(world, usual), 403);
  EXPECT_EQ(text_in(review(world, usual, R"(,"audiences":["vault"])"), {"status", "authenticated"}), "false");
  EXPECT_EQ(text_in(review(world, usual), {"status", "audiences"}), R"(["https://kubernetes.default.svc"])");
}

TEST(Token, EndsWithThePodThatItIsBoundTo) {
  World world(with_secret());
  const std::string pods = "/api/v1/namespaces/default/pods";
  ASSERT_EQ(world.post(pods, pod("p")).status, 201);
  const std::string bound = R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}})";
  const std::string token = token_of(world, "default", bound);
  EXPECT_EQ(status_with(world, token), 403);
  EXPECT_NE(review(world, token).text().find("authentication.kubernetes.io/pod-name"), std::string::npos);
  ASSERT_EQ(world.remove(pods + "/p", R"({"gracePeriodSeconds":0})").status, 200);
  EXPECT_EQ(status_with(world, token), 401);
  EXPECT_EQ(world.post(kTokens, R"({"spec":)" + bound + "}").status, 404);
  EXPECT_EQ(world.post(kTokens, R"({"spec":{"boundObjectRef":{"kind":"Job","name":"p"}}})").status, 400);
}

}  // namespace
}  // namespace gantree::apiserver

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
  EXPECT_EQ(user_of_token(kSecret, token, 199), "system:serviceaccount:ns:robot");
  EXPECT_EQ(user_of_token(kSecret, token, 200), std::nullopt);
}

TEST(Token, IsRefusedWhereOneLetterIsAnother) {
  const std::string token = sign_token(kSecret, {"ns", "robot", "uid", 100, 200});
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string other = token;
    other[i] = other[i] == 'A' ? 'B' : 'A';
    // The last letter of a signature has bits that mean nothing.
    EXPECT_TRUE(i + 1 == token.size() || !user_of_token(kSecret, other, 150)) << i;
  }
  EXPECT_EQ(user_of_token("another secret", token, 150), std::nullopt);
}

TEST(Token, IsRefusedWhereItIsNone) {
  for (const char* text : {"", ".", "..", "a.b", "a.b.c", "....", "\xff.\xff.\xff"}) {
    EXPECT_EQ(user_of_token(kSecret, text, 0), std::nullopt) << text;
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

}  // namespace
}  // namespace gantree::apiserver

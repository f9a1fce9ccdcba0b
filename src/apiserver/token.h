// Tokens of service accounts: signed, not stored, and good until they expire or what they speak for is gone. Any
// thread.
//
// JSON Web Tokens with the claims that a real cluster's have, but signed with a secret (HS256) that only the server
// has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"

namespace gantree::apiserver {

// What the API server is called in tokens, and who issued them.
inline constexpr std::string_view kApiAudience = "https://kubernetes.default.svc";

struct TokenOf {
  std::string ns;
  std::string account;
  std::string uid;          // of the account
  std::int64_t issued = 0;  // Unix seconds
  std::int64_t expires = 0;
  std::vector<std::string> audiences = {std::string(kApiAudience)};
  // The object that it is bound to: "pod", "secret" or "node"; "" where it is bound to none.
  std::string bound_kind = {};
  std::string bound_name = {};
  std::string bound_uid = {};

  // "system:serviceaccount:NS:NAME"
  [[nodiscard]] std::string user() const;
  [[nodiscard]] bool is_for(std::string_view audience) const;
};

[[nodiscard]] std::string sign_token(const std::string& secret, const TokenOf& token);

// Nothing where the token is not ours or has expired. Says neither whether the account is still there nor whether the
// token is meant for this server: token_check.h.
[[nodiscard]] std::optional<TokenOf> read_token(const std::string& secret, std::string_view token, std::int64_t now);

// Takes as long whatever is given, so that a secret cannot be found out letter by letter.
[[nodiscard]] bool same_secret(std::string_view given, std::string_view secret);

// The groups that a user is in: service accounts have their own, all others may do everything.
[[nodiscard]] Array groups_of(std::string_view user);

}  // namespace gantree::apiserver

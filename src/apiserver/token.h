// Tokens of service accounts: signed, not stored, and good until they expire. Any thread.
//
// JSON Web Tokens with the claims that a real cluster's have, but signed with a secret (HS256) that only the server
// has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/json.h"

namespace gantree::apiserver {

struct TokenOf {
  std::string ns;
  std::string account;
  std::string uid;
  std::int64_t issued = 0;  // Unix seconds
  std::int64_t expires = 0;
};

[[nodiscard]] std::string sign_token(const std::string& secret, const TokenOf& token);

// "system:serviceaccount:NS:NAME"; nothing where the token is not ours or has expired.
[[nodiscard]] std::optional<std::string> user_of_token(const std::string& secret, std::string_view token,
                                                       std::int64_t now);

// Takes as long whatever is given, so that a secret cannot be found out letter by letter.
[[nodiscard]] bool same_secret(std::string_view given, std::string_view secret);

// The groups that a user is in: service accounts have their own, all others may do everything.
[[nodiscard]] Array groups_of(std::string_view user);

}  // namespace gantree::apiserver

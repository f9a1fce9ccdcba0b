#include "apiserver/token.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "base/base64.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kAccountPrefix = "system:serviceaccount:";
constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";

// The alphabet of URLs, without padding.
std::string to_url_base64(std::string_view bytes) {
  std::string text = to_base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.resize(text.find_last_not_of('=') + 1);
  return text;
}

std::optional<std::string> from_url_base64(std::string_view text) {
  std::string usual(text);
  std::replace(usual.begin(), usual.end(), '-', '+');
  std::replace(usual.begin(), usual.end(), '_', '/');
  return from_base64(usual);
}

std::string signature_of(const std::string& secret, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

std::string TokenOf::user() const {
  return fmt::format("{}{}:{}", kAccountPrefix, ns, account);
}

bool TokenOf::is_for(std::string_view audience) const {
  return std::find(audiences.begin(), audiences.end(), audience) != audiences.end();
}

std::string sign_token(const std::string& secret, const TokenOf& token) {
  Object claims;
  claims["iss"] = kApiAudience;
  claims["aud"] = Array(token.audiences.begin(), token.audiences.end());
  claims["sub"] = token.user();
  claims["iat"] = token.issued;
  claims["nbf"] = token.issued;
  claims["exp"] = token.expires;
  Object& about = object_in(claims, "kubernetes.io");
  about["namespace"] = token.ns;
  about["serviceaccount"] = Object{{"name", token.account}, {"uid", token.uid}};
  if (!token.bound_kind.empty()) {
    about[token.bound_kind] = Object{{"name", token.bound_name}, {"uid", token.bound_uid}};
  }
  const std::string text = fmt::format("{}.{}", to_url_base64(kHeader), to_url_base64(to_json(claims)));
  return fmt::format("{}.{}", text, to_url_base64(signature_of(secret, text)));
}

std::optional<TokenOf> read_token(const std::string& secret, std::string_view token, std::int64_t now) {
  const std::size_t claims_at = token.find('.');
  const std::size_t end = token.rfind('.');
  if (claims_at == std::string_view::npos || end == claims_at) {
    return std::nullopt;
  }
  const auto signature = from_url_base64(token.substr(end + 1));
  if (!signature || !same_secret(*signature, signature_of(secret, token.substr(0, end)))) {
    return std::nullopt;
  }
  // Whatever was signed was made here.
  const auto text = from_url_base64(token.substr(claims_at + 1, end - claims_at - 1));
  const auto claims = text ? parse_json(*text) : Result<Value>(invalid("no Base64"));
  const Value* expires = claims ? find(*claims, {"exp"}) : nullptr;
  if (expires == nullptr || !expires->is_int64() || expires->get_int64() <= now) {
    return std::nullopt;
  }
  TokenOf read;
  read.expires = expires->get_int64();
  read.ns = text_at(*claims, {"kubernetes.io", "namespace"});
  read.account = text_at(*claims, {"kubernetes.io", "serviceaccount", "name"});
  read.uid = text_at(*claims, {"kubernetes.io", "serviceaccount", "uid"});
  read.audiences.clear();
  if (const Array* audiences = array_at(*claims, {"aud"})) {
    for (const Value& audience : *audiences) {
      read.audiences.emplace_back(text_of(audience));
    }
  }
  for (const std::string_view kind : {"pod", "secret", "node"}) {
    if (find(*claims, {"kubernetes.io", kind}) != nullptr) {
      read.bound_kind = kind;
      read.bound_name = text_at(*claims, {"kubernetes.io", kind, "name"});
      read.bound_uid = text_at(*claims, {"kubernetes.io", kind, "uid"});
    }
  }
  return read;
}

bool same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0U : 1U;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned>(static_cast<unsigned char>(secret[i] ^ other));
  }
  return difference == 0;
}

Array groups_of(std::string_view user) {
  if (!user.starts_with(kAccountPrefix)) {
    return Array{Value("system:masters"), Value("system:authenticated")};
  }
  const std::string_view account = user.substr(kAccountPrefix.size());
  return Array{Value("system:serviceaccounts"),
               Value(fmt::format("system:serviceaccounts:{}", account.substr(0, account.find(':')))),
               Value("system:authenticated")};
}

}  // namespace gantree::apiserver

// The head of any request: in whose name it is, or why that cannot be said; and no token is good but such as were
// signed here, for those whom they were signed for.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/json.h"
#include "apiserver/person.h"
#include "apiserver/token.h"
#include "base/check.h"
#include "http/request_parser.h"

namespace {

using namespace gantree;             // NOLINT: a small program
using namespace gantree::apiserver;  // NOLINT: the same

const std::string kSecret = "0123456789abcdef";
constexpr std::int64_t kNow = 1'000;
constexpr std::string_view kUser = "system:serviceaccount:default:builder";

std::optional<std::string> user_of_token(const std::string& secret, std::string_view token, std::int64_t now) {
  const auto about = read_token(secret, token, now);
  return about ? std::optional(about->user()) : std::nullopt;
}

void check_person(const http::HeaderList& headers) {
  const auto person = person_in(headers);
  if (!person) {
    GANTREE_CHECK(person.error().code == 400);
    return;
  }
  Call call;
  call.as = *person;
  call.user = *person == nullptr ? call.user : (*person)->user;
  const Object info = user_info(call);
  GANTREE_CHECK(*person == nullptr || !(*person)->user.empty());
  GANTREE_CHECK(parse_json(to_json(info)).has_value());
}

// The only token that was signed with this secret is that of the corpus.
void check_token(std::string_view token) {
  const auto user = user_of_token(kSecret, token, kNow);
  GANTREE_CHECK(!user || *user == kUser);
}

// Whoever it is signed for; and whatever letter of it is changed, it is good no longer.
void check_signing(std::string_view text) {
  if (!is_utf8(text)) {  // no account is called so
    return;
  }
  const std::size_t cut = text.find(':');
  const TokenOf about{.ns = std::string(text.substr(0, cut)),
                      .account = cut == std::string_view::npos ? std::string() : std::string(text.substr(cut + 1)),
                      .uid = "u",
                      .issued = kNow,
                      .expires = kNow + 1};
  std::string token = sign_token("another secret", about);
  const auto user = user_of_token("another secret", token, kNow);
  GANTREE_CHECK(!user || *user == "system:serviceaccount:" + about.ns + ":" + about.account);
  GANTREE_CHECK(!user_of_token("another secret", token, kNow + 1) && !user_of_token(kSecret, token, kNow));
  // Of the last letter not all bits count.
  char& letter = token[text.size() % (token.size() - 1)];
  letter = letter == 'A' ? 'B' : 'A';
  GANTREE_CHECK(!user_of_token("another secret", token, kNow));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  http::RequestParser parser({.header_bytes = 4096, .body_bytes = 4096});
  if (parser.feed(bytes) == http::Progress::kDone) {
    const http::IncomingRequest request = parser.take();
    check_person(request.headers);
    const std::string_view header = request.header("authorization");
    check_token(header.substr(header.find(' ') + 1));
    check_signing(header);
  }
  check_token(bytes);
  return 0;
}

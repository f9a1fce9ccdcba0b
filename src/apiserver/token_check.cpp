#include "apiserver/token_check.h"

#include <fmt/format.h>

#include "apiserver/field_error.h"
#include "apiserver/yaml.h"
#include "base/time.h"

namespace gantree::apiserver {

namespace {

// How long tokens of service accounts are good.
constexpr std::int64_t kTokenSeconds = 3600;
constexpr std::int64_t kShortestToken = 600;
constexpr std::int64_t kLongestToken = std::int64_t{1} << 32;
// A token travels in a header, and headers have their limits.
constexpr std::size_t kMostAudiences = 32;
constexpr std::size_t kLongestAudience = 256;

std::int64_t seconds_now(const Core& core) {
  return std::chrono::floor<std::chrono::seconds>(core.time()).time_since_epoch().count();
}

// Tables of what a token may be bound to.
std::string_view table_of_bound(std::string_view kind) {
  return kind == "pod" ? "pods" : kind == "secret" ? "secrets" : "nodes";
}

Failure invalid_request(FieldError error) {
  return Failure{422, invalid_status("authentication.k8s.io", "TokenRequest", "", {std::move(error)})};
}

Outcome<std::int64_t> lifetime_in(const Value& body) {
  const Value* given = find(body, {"spec", "expirationSeconds"});
  const std::int64_t seconds = given != nullptr && given->is_int64() ? given->get_int64() : kTokenSeconds;
  if (seconds < kShortestToken || seconds > kLongestToken) {
    return tl::unexpected(
        invalid_request(invalid_value("spec.expirationSeconds", Value(seconds),
                                      fmt::format("must be from {} to {}", kShortestToken, kLongestToken))));
  }
  return seconds;
}

Outcome<std::vector<std::string>> audiences_in(const Value& body) {
  std::vector<std::string> audiences;
  const Array* given = array_at(body, {"spec", "audiences"});
  for (std::size_t i = 0; given != nullptr && i < given->size(); ++i) {
    audiences.emplace_back(text_of((*given)[i]));
    if (audiences.back().size() > kLongestAudience) {
      return tl::unexpected(invalid_request(too_long(index_path("spec.audiences", i), kLongestAudience)));
    }
  }
  if (audiences.size() > kMostAudiences) {
    return tl::unexpected(
        invalid_request(invalid_value("spec.audiences", Value(static_cast<std::int64_t>(given->size())),
                                      fmt::format("must be at most {}", kMostAudiences))));
  }
  if (audiences.empty()) {
    audiences.emplace_back(kApiAudience);
  }
  return audiences;
}

// Binds the token to the object that the request names; to nothing where it names none.
Outcome<> bind_token(const Core& core, const Value& body, TokenOf& token) {
  const Value* reference = find(body, {"spec", "boundObjectRef"});
  if (reference == nullptr || reference->is_null()) {
    return {};
  }
  const std::string_view kind = text_at(*reference, {"kind"});
  if (kind != "Pod" && kind != "Secret" && kind != "Node") {
    return tl::unexpected(
        bad_request(fmt::format("cannot bind token for serviceaccount \"{}\" to object of kind \"{}\": "
                                "only Pod, Secret and Node can be",
                                token.account, kind)));
  }
  token.bound_kind = kind == "Pod" ? "pod" : kind == "Secret" ? "secret" : "node";
  token.bound_name = text_at(*reference, {"name"});
  const std::string_view table = table_of_bound(token.bound_kind);
  const Key key{kind == "Node" ? "" : token.ns, token.bound_name};
  const Entry* entry = core.store.find(table, key);
  if (entry == nullptr) {
    return tl::unexpected(not_found(GroupResource{"", std::string(table)}, token.bound_name));
  }
  token.bound_uid = entry->facts->uid;
  if (const std::string_view uid = text_at(*reference, {"uid"}); !uid.empty() && uid != token.bound_uid) {
    return tl::unexpected(failure(409, "Conflict",
                                  fmt::format("the UID in the bound object reference ({}) does not match the UID in "
                                              "record ({}): the object might have been deleted and then recreated",
                                              uid, token.bound_uid)));
  }
  if (kind == "Pod") {
    const auto pod = core.read(table, key);
    if (!pod || text_at(*pod, {"spec", "serviceAccountName"}) != token.account) {
      return tl::unexpected(
          bad_request(fmt::format("cannot bind token for serviceaccount \"{}\" to pod \"{}\": it runs as another one",
                                  token.account, token.bound_name)));
    }
  }
  return {};
}

}  // namespace

std::optional<std::string> why_void(const Core& core, const TokenOf& token) {
  const Entry* account = core.store.find("serviceaccounts", {token.ns, token.account});
  if (account == nullptr || account->facts->uid != token.uid || account->facts->deleting) {
    return fmt::format("the service account {}/{} of the token is gone", token.ns, token.account);
  }
  if (!token.bound_kind.empty()) {
    const Key key{token.bound_kind == "node" ? "" : token.ns, token.bound_name};
    const Entry* bound = core.store.find(table_of_bound(token.bound_kind), key);
    if (bound == nullptr || bound->facts->uid != token.bound_uid) {
      return fmt::format("the {} \"{}\" that the token is bound to is gone", token.bound_kind, token.bound_name);
    }
  }
  return std::nullopt;
}

Outcome<> check_token(const Core& core, const Call& call) {
  if (call.token == nullptr || (call.token->is_for(kApiAudience) && !why_void(core, *call.token))) {
    return {};
  }
  return tl::unexpected(unauthorized());
}

Object user_of_token(const TokenOf& token) {
  Object user{{"username", token.user()}, {"uid", token.uid}, {"groups", groups_of(token.user())}};
  if (token.bound_kind == "pod" || token.bound_kind == "node") {
    const std::string prefix = "authentication.kubernetes.io/" + token.bound_kind;
    user["extra"] =
        Object{{prefix + "-name", Array{Value(token.bound_name)}}, {prefix + "-uid", Array{Value(token.bound_uid)}}};
  }
  return user;
}

void review_token(const Core& core, Object& review) {
  const std::string& secret = core.options.secret;
  const std::string token(text_at(review, {"spec", "token"}));
  std::vector<std::string> asked;
  if (const Array* audiences = array_at(review, {"spec", "audiences"})) {
    for (const Value& audience : *audiences) {
      asked.emplace_back(text_of(audience));
    }
  }
  if (asked.empty()) {
    asked.emplace_back(kApiAudience);
  }
  Object& status = object_in(review, "status");
  status["authenticated"] = false;
  const auto read = secret.empty() ? std::nullopt : read_token(secret, token, seconds_now(core));
  if (!read) {
    status["error"] = "the token is of no service account of this cluster, or has expired";
    return;
  }
  if (const auto problem = why_void(core, *read)) {
    status["error"] = *problem;
    return;
  }
  Array audiences;
  for (const std::string& audience : asked) {
    if (read->is_for(audience)) {
      audiences.emplace_back(audience);
    }
  }
  if (audiences.empty()) {
    status["error"] = fmt::format("token audiences {} is invalid for the target audiences {}",
                                  to_json(Value(Array(read->audiences.begin(), read->audiences.end()))),
                                  to_json(Value(Array(asked.begin(), asked.end()))));
    return;
  }
  status["authenticated"] = true;
  status["user"] = user_of_token(*read);
  status["audiences"] = std::move(audiences);
}

Answer issue_token(const Core& core, const Request& request) {
  if (request.call.method != "POST" || core.options.secret.empty()) {
    return refuse(method_not_allowed_here());
  }
  const auto body = read_yaml_or_json(request.call.body);
  if (!body || !body->is_object()) {
    return refuse(bad_request("the body of the request is no TokenRequest"));
  }
  const Entry* account = core.store.find(request.kind->table, {request.ns, request.name});
  if (account == nullptr) {
    return refuse(not_found(request.what(), request.name));
  }
  const auto seconds = lifetime_in(*body);
  const auto audiences = seconds ? audiences_in(*body) : tl::unexpected(seconds.error());
  if (!audiences) {
    return refuse(audiences.error());
  }
  const std::int64_t now = seconds_now(core);
  TokenOf token{.ns = request.ns,
                .account = request.name,
                .uid = account->facts->uid,
                .issued = now,
                .expires = now + *seconds,
                .audiences = *audiences};
  if (const auto bound = bind_token(core, *body, token); !bound) {
    return refuse(bound.error());
  }
  Object review = body->get_object();
  review["kind"] = "TokenRequest";
  review["apiVersion"] = "authentication.k8s.io/v1";
  review["metadata"] = Object{{"name", request.name}, {"namespace", request.ns}, {"creationTimestamp", core.now()}};
  Object& spec = object_in(review, "spec");
  spec["expirationSeconds"] = *seconds;
  spec["audiences"] = Array(audiences->begin(), audiences->end());
  review["status"] = Object{{"token", sign_token(core.options.secret, token)},
                            {"expirationTimestamp", rfc3339(Time(std::chrono::seconds(token.expires)))}};
  return json_answer(201, in_usual_order(std::move(review)));
}

}  // namespace gantree::apiserver

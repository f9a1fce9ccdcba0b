// What is answered when a request is refused: a Status object with its code, in the words of the real API server.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "apiserver/json.h"

namespace gantree::apiserver {

struct Failure {
  int code = 500;
  Object status;  // kind Status

  [[nodiscard]] std::string_view reason() const { return text_at(status, {"reason"}); }
  [[nodiscard]] std::string_view message() const { return text_at(status, {"message"}); }
};

template <class T = void>
using Outcome = tl::expected<T, Failure>;

// What a request is about: "pods", or "deployments" of "apps".
struct GroupResource {
  std::string group;
  std::string resource;

  [[nodiscard]] std::string text() const;  // "deployments.apps"
  friend auto operator<=>(const GroupResource&, const GroupResource&) = default;
};

[[nodiscard]] Failure failure(int code, std::string_view reason, std::string_view message);
// With details of what it is about; "" for no name.
[[nodiscard]] Failure failure(int code, std::string_view reason, std::string_view message, const GroupResource& what,
                              std::string_view name);
void add_cause(Failure& failure, std::string_view reason, std::string_view message, std::string_view field);

[[nodiscard]] Failure bad_request(std::string_view message);
[[nodiscard]] Failure not_found(const GroupResource& what, std::string_view name);
[[nodiscard]] Failure no_such_path();
[[nodiscard]] Failure already_exists(const GroupResource& what, std::string_view name);
// "Operation cannot be fulfilled on pods "a": ..."
[[nodiscard]] Failure conflict(const GroupResource& what, std::string_view name, std::string_view why);
[[nodiscard]] Failure modified(const GroupResource& what, std::string_view name);
[[nodiscard]] Failure forbidden_request(const GroupResource& what, std::string_view name, std::string_view why);
[[nodiscard]] Failure method_not_supported(const GroupResource& what, std::string_view verb);
[[nodiscard]] Failure method_not_allowed_here();
[[nodiscard]] Failure expired(std::string_view message);
[[nodiscard]] Failure unsupported_media_type(std::string_view accepted);
[[nodiscard]] Failure internal_error(std::string_view what);
// What etcd takes of an object, here of its JSON.
inline constexpr std::size_t kMostStored = std::size_t{3} << 19;
// In the words that etcd has for it.
[[nodiscard]] Failure too_large();
[[nodiscard]] Failure unauthorized();
[[nodiscard]] Failure too_many_requests(std::string_view message, std::chrono::seconds retry_after);

// A deletion that is done: names what is gone.
[[nodiscard]] Object success(const GroupResource& what, std::string_view name, std::string_view uid);
[[nodiscard]] Object success();
[[nodiscard]] Object created();  // of what leaves no object behind

}  // namespace gantree::apiserver

// An HTTP request as a server gets it, and the answer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gantree::http {

// What several may send at once without a copy. Never null.
using Bytes = std::shared_ptr<const std::string>;

// Name and value.
using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct IncomingRequest {
  std::string method;
  std::string path;   // before the '?', as sent
  std::string query;  // after it
  HeaderList headers;
  std::string body;

  // The first header of that name, whatever its letter case; "" where there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

// Length and connection headers are the server's to add.
struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  HeaderList headers = {};
  std::vector<Bytes> rest = {};  // sent behind the body, piece by piece

  [[nodiscard]] std::size_t size() const;  // of all that is sent
};

[[nodiscard]] std::string_view reason_phrase(int status);

// One line of text.
[[nodiscard]] Response plain(int status, std::string_view line);
// 405, with the methods that are allowed, as in "GET, HEAD".
[[nodiscard]] Response method_not_allowed(std::string_view allowed);

}  // namespace gantree::http

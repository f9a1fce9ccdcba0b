// Bytes to HTTP/1.1 requests, one after another; knows nothing of sockets.
//
// Untrusted input: header and body have limits, and whatever comes ends in kNeedMore, kDone or kBad.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/message.h"

namespace gantree::http {

struct RequestLimits {
  std::size_t header_bytes = std::size_t{32} << 10;
  std::size_t body_bytes = std::size_t{1} << 20;
};

enum class Progress : std::uint8_t {
  kNeedMore,
  kDone,  // take() has the request
  kBad,   // status() and what() say why; the connection is of no further use
};

// Not thread safe.
class RequestParser {
 public:
  explicit RequestParser(RequestLimits limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // What follows a whole request is kept for the one after it; feed("") goes on with it.
  // Requires that no request is waiting to be taken and none was bad.
  [[nodiscard]] Progress feed(std::string_view bytes);

  // Whether a part of a request is there.
  [[nodiscard]] bool started() const;
  [[nodiscard]] bool header_done() const;
  // What is known of the request by then. Requires header_done().
  [[nodiscard]] IncomingRequest head() const;
  // Refuses it for that, with 401. Requires header_done() and no kDone.
  [[nodiscard]] Progress turn_away();
  // True once for a request whose sender waits for leave to send the body.
  [[nodiscard]] bool take_expectation();

  // Requires kDone.
  [[nodiscard]] bool keep_alive() const;
  [[nodiscard]] IncomingRequest take();

  // Requires kBad: 400, 401, 413, 417, 431 or 501.
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] std::string_view what() const { return what_; }
  // The part of a refused request that came. Where the body was too large, this has the beginning of it.
  [[nodiscard]] IncomingRequest take_rest();

 private:
  struct Beast;

  Progress parse();
  Progress after_header();
  Progress collect_rest();
  Progress refuse(int status, std::string what);

  RequestLimits limits_;
  std::unique_ptr<Beast> beast_;
  std::string pending_;
  bool expectation_told_ = false;
  std::size_t rest_wanted_ = 0;  // of a body that is too large: so much of its beginning is waited for
  int status_ = 0;
  std::string what_;
};

}  // namespace gantree::http

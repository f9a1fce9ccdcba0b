#include "http/request_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "base/check.h"

namespace gantree::http {

namespace beast = boost::beast;

namespace {

// Of a body that is too large: enough to tell which request it was.
constexpr std::size_t kBeginning = std::size_t{4} << 10;

std::string text(beast::string_view view) {
  return {view.data(), view.size()};
}

}  // namespace

struct RequestParser::Beast {
  std::optional<beast::http::request_parser<beast::http::string_body>> parser;

  void renew(const RequestLimits& limits) {
    parser.emplace();
    parser->header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    // Checked in after_header(): Beast would drop a body that is announced too large without a look at it.
    parser->body_limit(boost::none);
  }

  [[nodiscard]] IncomingRequest request() const {
    const auto& message = parser->get();
    IncomingRequest request;
    request.method = text(message.method_string());
    const std::string target = text(message.target());
    const std::size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    request.query = mark == std::string::npos ? std::string() : target.substr(mark + 1);
    for (const auto& field : message) {
      request.headers.emplace_back(text(field.name_string()), text(field.value()));
    }
    return request;
  }
};

RequestParser::RequestParser(RequestLimits limits) : limits_(limits), beast_(std::make_unique<Beast>()) {
  beast_->renew(limits_);
}

RequestParser::~RequestParser() = default;

bool RequestParser::started() const {
  return beast_->parser->got_some() || !pending_.empty();
}

bool RequestParser::header_done() const {
  return beast_->parser->is_header_done();
}

IncomingRequest RequestParser::head() const {
  GANTREE_CHECK(header_done());
  return beast_->request();
}

Progress RequestParser::turn_away() {
  return refuse(401, "this request is not for everybody");
}

bool RequestParser::take_expectation() {
  const auto& parser = *beast_->parser;
  if (expectation_told_ || !parser.is_header_done() || parser.is_done() || rest_wanted_ > 0) {
    return false;
  }
  expectation_told_ = true;
  return beast::iequals(parser.get()[beast::http::field::expect], "100-continue");
}

bool RequestParser::keep_alive() const {
  return beast_->parser->keep_alive();
}

IncomingRequest RequestParser::take() {
  GANTREE_CHECK(beast_->parser->is_done());
  IncomingRequest request = beast_->request();
  request.body = std::move(beast_->parser->get().body());
  beast_->renew(limits_);
  expectation_told_ = false;
  return request;
}

IncomingRequest RequestParser::take_rest() {
  IncomingRequest request = beast_->request();
  request.body = beast_->parser->is_header_done() && rest_wanted_ > 0 ? std::move(pending_)
                                                                      : std::move(beast_->parser->get().body());
  return request;
}

Progress RequestParser::refuse(int status, std::string what) {
  status_ = status;
  what_ = std::move(what);
  return Progress::kBad;
}

Progress RequestParser::feed(std::string_view bytes) {
  GANTREE_CHECK(status_ == 0);
  pending_.append(bytes);
  return rest_wanted_ > 0 ? collect_rest() : parse();
}

Progress RequestParser::parse() {
  auto& parser = *beast_->parser;
  while (!parser.is_done() && !pending_.empty()) {
    const bool in_header = !parser.is_header_done();
    beast::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(pending_), error);
    pending_.erase(0, used);
    if (in_header && !error && parser.is_header_done()) {
      if (const Progress progress = after_header(); progress != Progress::kNeedMore || rest_wanted_ > 0) {
        return progress;
      }
      continue;
    }
    if (error == beast::http::error::need_more) {
      break;
    }
    if (error == beast::http::error::header_limit) {
      return refuse(431, fmt::format("the header is longer than {} bytes", limits_.header_bytes));
    }
    if (error == beast::http::error::body_limit) {
      return refuse(413, fmt::format("the body is longer than {} bytes", limits_.body_bytes));
    }
    if (error) {
      return refuse(400, fmt::format("this is not HTTP/1.1: {}", error.message()));
    }
  }
  return parser.is_done() ? Progress::kDone : Progress::kNeedMore;
}

Progress RequestParser::after_header() {
  auto& parser = *beast_->parser;
  parser.eager(true);
  parser.body_limit(limits_.body_bytes);
  const beast::string_view expect = parser.get()[beast::http::field::expect];
  if (!expect.empty() && !beast::iequals(expect, "100-continue")) {
    return refuse(417, "this expectation cannot be met");
  }
  const beast::string_view coding = parser.get()[beast::http::field::transfer_encoding];
  if (!coding.empty() && !beast::iequals(coding, "chunked")) {
    return refuse(501, "the only transfer coding understood is chunked");
  }
  const auto length = parser.content_length();
  if (length && *length > limits_.body_bytes) {
    rest_wanted_ = static_cast<std::size_t>(std::min<std::uint64_t>(*length, kBeginning));
    return collect_rest();
  }
  return Progress::kNeedMore;
}

Progress RequestParser::collect_rest() {
  const bool waits = beast::iequals(beast_->parser->get()[beast::http::field::expect], "100-continue");
  if (pending_.size() < rest_wanted_ && !waits) {
    return Progress::kNeedMore;
  }
  return refuse(413, fmt::format("the body is longer than {} bytes", limits_.body_bytes));
}

}  // namespace gantree::http

// Any bytes, in pieces of any size: each request is whole, or refused with a status; the pieces make no difference.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http/request_parser.h"

namespace {

using namespace gantree::http;

constexpr RequestLimits kLimits{.header_bytes = 512, .body_bytes = 256};

// The requests in it, as text.
std::string outcome(std::string_view bytes, std::size_t piece) {
  RequestParser parser(kLimits);
  std::string log;
  while (true) {
    const std::string_view some = bytes.substr(0, std::min(piece, bytes.size()));
    bytes.remove_prefix(some.size());
    Progress progress = parser.feed(some);
    while (progress == Progress::kDone) {
      const IncomingRequest request = parser.take();
      GANTREE_CHECK(request.body.size() <= kLimits.body_bytes);
      log += request.method + " " + request.path + "\n" + request.body + "\n";
      progress = parser.feed("");
    }
    if (progress == Progress::kBad) {
      GANTREE_CHECK(parser.status() >= 400 && parser.status() < 600 && !parser.what().empty());
      return log;
    }
    if (bytes.empty()) {
      return log;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = outcome(bytes, size + 1);
  const std::string apart = outcome(bytes, 7);
  // Near the limit it may depend on the pieces whether a header is still short enough.
  GANTREE_CHECK(size > kLimits.header_bytes || whole == apart);
  return 0;
}

// Bytes as a client with a token sends them, through the parser of HTTP to the embedded API server: header and body of
// any request, whole or chunked, in the name of whoever its header says.
#include <cstddef>
#include <cstdint>

#include "apiserver/person.h"
#include "fuzz/api_fuzzing.h"
#include "http/request_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantree;  // NOLINT: a small program
  static test::ApiUnderFire api;
  http::RequestParser parser({.header_bytes = 4096, .body_bytes = 65536});
  auto progress = parser.feed({reinterpret_cast<const char*>(data), size});
  for (int i = 0; progress == http::Progress::kDone && i < 20; ++i) {
    const http::IncomingRequest request = parser.take();
    const auto as = apiserver::person_in(request.headers);
    if (!as) {
      progress = parser.feed("");
      continue;
    }
    api.send({.method = request.method,
              .path = request.path,
              .query = request.query,
              .content_type = std::string(request.header("content-type")),
              .accept = std::string(request.header("accept")),
              .body = request.body,
              .as = *as});
    progress = parser.feed("");
  }
  api.settle();
  return 0;
}

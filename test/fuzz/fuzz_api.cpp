// A few requests to the embedded API server, as read_requests() reads them: none of them crashes it, makes it answer
// with a 5xx, or leaves lists and watches at odds.
#include <cstddef>
#include <cstdint>

#include "fuzz/api_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantree::test;
  static ApiUnderFire api;
  for (const ApiRequest& request : read_requests({reinterpret_cast<const char*>(data), size})) {
    api.send(request);
  }
  api.settle();
  return 0;
}

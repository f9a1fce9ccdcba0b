// Any bytes as the protobuf body of a request: an object that can be written as JSON and read again, or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/protobuf.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantree::apiserver;
  const auto object = read_protobuf({reinterpret_cast<const char*>(data), size});
  if (object) {
    const auto again = parse_json(to_json(*object));
    GANTREE_CHECK(again && same(*again, *object));
  }
  return 0;
}

// Any rule of a definition, on any object: it compiles or does not, and ends in a value or an error within its budget.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/cel.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantree::apiserver;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.find('\n');
  if (split == std::string_view::npos || size > 20000) {
    return 0;
  }
  const auto object = parse_json(text.substr(split + 1));
  const auto program = CelProgram::compile(text.substr(0, split));
  if (program && object) {
    (void)(*program)->evaluate(*object, &*object);
  }
  return 0;
}

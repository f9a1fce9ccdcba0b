// Any bytes: documents or one error that names its line; and documents that
// read back the same from what we write.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "support/show.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantree::json;
  const auto documents = read_documents("f", std::string(reinterpret_cast<const char*>(data), size));
  if (!documents) {
    GANTREE_CHECK(documents.error().message.starts_with("f:"));
    return 0;
  }
  for (const Document& document : *documents) {
    const Out out = to_out(document.root());
    const std::string expected = out.to_json(false);
    GANTREE_CHECK(shown(expected) == expected);
    GANTREE_CHECK(shown(out.to_yaml()) == expected);
  }
  return 0;
}

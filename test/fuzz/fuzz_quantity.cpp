// Any text: a number or one sentence; rounding brackets the value; what is
// written reads back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/quantity.h"

namespace {

using namespace gantree;

void check(std::string_view text, Unit unit) {
  const auto up = parse_quantity(text, unit, Round::kUp);
  const auto down = parse_quantity(text, unit, Round::kDown);
  if (up && down) {
    GANTREE_CHECK(*up == *down || *up == *down + 1);
  }
  for (const auto& amount : {up, down}) {
    if (amount) {
      const auto again = parse_quantity(format_quantity(*amount, unit), unit, Round::kUp);
      GANTREE_CHECK(again && *again == *amount);
    } else {
      GANTREE_CHECK(!amount.error().message.empty() && amount.error().message.size() < 200);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, Unit::kOne);
  check(text, Unit::kMilli);
  return 0;
}

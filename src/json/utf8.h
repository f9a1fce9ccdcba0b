// Walking text character by character.
#pragma once

#include <string>
#include <string_view>

namespace gantree::json {

// The character at the start of `text` and its length in bytes. Bytes that are
// not UTF-8 read as U+FFFD, one at a time. Requires: text is not empty.
struct Character {
  char32_t code = 0;
  std::size_t length = 1;
  bool valid = true;
};
[[nodiscard]] Character first_character(std::string_view text);

// Whether both JSON and YAML take the character as it is within quotes, and no
// reader takes it for a line break.
[[nodiscard]] bool is_printable(char32_t code);

// The text with each byte that is not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string as_utf8(std::string_view text);

}  // namespace gantree::json

#include "view/keys.h"

#include <utility>

namespace gantree::view {

namespace {

constexpr char kEscape = '\x1b';
// The longest sequence of a key has seven bytes; what goes on for longer is none.
constexpr std::size_t kMostBytes = 16;

// How many bytes the key has with which the text begins; 0 where its end has not come.
std::size_t length_of_key(std::string_view text) {
  if (text.front() != kEscape) {
    return 1;
  }
  if (text.size() == 1) {
    return 0;
  }
  if (text[1] == kEscape) {
    return 1;
  }
  if (text[1] == 'O') {
    return text.size() < 3 ? 0 : 3;
  }
  if (text[1] != '[') {
    return 2;  // with Alt
  }
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (text[i] >= '@' && text[i] <= '~') {
      return i + 1;
    }
    if (text[i] < ' ' || i == kMostBytes) {
      return i;
    }
  }
  return 0;
}

Key letter_key(char letter) {
  switch (letter) {
    case 'q':
    case 'Q':
    case '\x03':
    case kEscape:
      return Key::kQuit;
    case 'k':
      return Key::kUp;
    case 'j':
      return Key::kDown;
    case 'b':
      return Key::kPageUp;
    case ' ':
      return Key::kPageDown;
    case 'g':
      return Key::kTop;
    case 'G':
      return Key::kBottom;
    default:
      return Key::kOther;
  }
}

// Of what stands between "ESC [" or "ESC O" and the end.
Key sequence_key(std::string_view sequence) {
  if (sequence == "A") {
    return Key::kUp;
  }
  if (sequence == "B") {
    return Key::kDown;
  }
  if (sequence == "5~") {
    return Key::kPageUp;
  }
  if (sequence == "6~") {
    return Key::kPageDown;
  }
  if (sequence == "H" || sequence == "1~" || sequence == "7~") {
    return Key::kTop;
  }
  return sequence == "F" || sequence == "4~" || sequence == "8~" ? Key::kBottom : Key::kOther;
}

Key key_of(std::string_view bytes) {
  if (bytes.size() == 1) {
    return letter_key(bytes.front());
  }
  return bytes.size() == 2 ? Key::kOther : sequence_key(bytes.substr(2));
}

}  // namespace

std::vector<Key> KeyReader::take(std::string_view bytes) {
  begun_ += bytes;
  std::vector<Key> keys;
  std::string_view rest = begun_;
  while (!rest.empty()) {
    const std::size_t length = length_of_key(rest);
    if (length == 0) {
      break;
    }
    keys.push_back(key_of(rest.substr(0, length)));
    rest.remove_prefix(length);
  }
  begun_ = std::string(rest);
  return keys;
}

std::vector<Key> KeyReader::settle() {
  const std::string begun = std::exchange(begun_, {});
  return begun.size() == 1 ? std::vector{key_of(begun)} : std::vector<Key>();
}

}  // namespace gantree::view

#include "apiserver/protobuf_messages.h"

#include <algorithm>

#include "base/whole_number.h"

namespace gantree::apiserver {

namespace {

using Messages = std::map<std::string, Message, std::less<>>;

std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

GoForm form_of(std::string_view label) {
  switch (label.empty() ? '\0' : label.front()) {
    case 'p':
      return GoForm::kPointer;
    case 'o':
      return GoForm::kPlain;
    case 'a':
      return GoForm::kAlways;
    case 'i':
      return GoForm::kInline;
    case 'r':
      return GoForm::kRepeated;
    case 'm':
      return GoForm::kMap;
    case 'l':
      return GoForm::kItself;
    default:
      return GoForm::kUnknown;
  }
}

Messages read_messages(std::string_view text) {
  Messages messages;
  Message* current = nullptr;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (next_word(line) == "M") {
      current = &messages[std::string(line)];
      continue;
    }
    const auto number = whole_number<std::uint32_t>(next_word(line));
    const GoForm form = form_of(next_word(line));
    const std::string_view type = next_word(line);
    if (current != nullptr && number && form != GoForm::kUnknown) {
      (*current)[*number] = {form, std::string(type), std::string(line)};
    }
  }
  return messages;
}

}  // namespace

const Message* find_message(std::string_view name) {
  static const Messages kMessages = read_messages(builtin_message_text());
  const auto found = kMessages.find(name);
  return found == kMessages.end() ? nullptr : &found->second;
}

}  // namespace gantree::apiserver

#include <fmt/format.h>

#include <algorithm>

#include "json/scalar.h"
#include "json/utf8.h"
#include "json/write.h"

namespace gantree::json {
namespace {

// Readers give up on longer keys unless they are marked with "?".
constexpr std::size_t kLongKey = 900;

template <class Accept>
bool all_characters(std::string_view text, Accept accept) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!accept(character.code)) {
      return false;
    }
    text.remove_prefix(character.length);
  }
  return true;
}

// Dates, times, 1_000 and 1:30 are numbers or dates to some readers.
bool looks_numeric(std::string_view text) {
  const std::size_t digit = text.find_first_not_of("+-.");
  return digit != std::string_view::npos && digit <= 1 && text[digit] >= '0' && text[digit] <= '9' &&
         text.find_first_not_of("0123456789abcdefABCDEFxXoO_.:+-TtZz ") == std::string_view::npos;
}

bool is_plain(std::string_view text) {
  if (text.empty() || kind_of_plain(text) != Kind::kString || looks_numeric(text) || text == "<<" || text == "=") {
    return false;
  }
  if (std::string_view("?:,[]{}#&*!|>'\"%@` ").find(text.front()) != std::string_view::npos || text.back() == ' ' ||
      text.back() == ':') {
    return false;
  }
  if (text.front() == '-' && (text.size() == 1 || text[1] == ' ' || text.starts_with("---"))) {
    return false;
  }
  return !text.starts_with("...") && text.find(": ") == std::string_view::npos &&
         text.find(" #") == std::string_view::npos && all_characters(text, is_printable);
}

bool is_literal(std::string_view text) {
  return text.find('\n') != std::string_view::npos && text.front() != ' ' && text.front() != '\n' &&
         text.front() != '\t' &&
         all_characters(text, [](char32_t code) { return code == '\n' || code == '\t' || is_printable(code); });
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Character character = first_character(text);
    switch (character.code) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (is_printable(character.code)) {
          out += text.substr(0, character.length);
        } else {
          out += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(character.code));
        }
    }
    text.remove_prefix(character.length);
  }
  return out + '"';
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c;
    if (c == '\'') {
      out += c;
    }
  }
  return out + '\'';
}

// On one line. What would read as something else than text gets double quotes,
// what is only oddly spelled single ones.
std::string inline_text(std::string_view text) {
  if (is_plain(text)) {
    return std::string(text);
  }
  if (kind_of_plain(text) == Kind::kString && !looks_numeric(text) && all_characters(text, is_printable)) {
    return single_quoted(text);
  }
  return double_quoted(text);
}

class YamlWriter {
 public:
  explicit YamlWriter(std::string& out) : out_(out) {}

  // Writes the value where the line so far ends in a marker ("key:", "-") or is
  // empty; `indent` is that of the line's content.
  void write(const Out& value, std::size_t indent) {
    std::visit([&](const auto& content) { write_content(content, indent); }, value.content());
  }

 private:
  void write_content(std::monostate, std::size_t) { inline_scalar("null"); }
  void write_content(bool value, std::size_t) { inline_scalar(value ? "true" : "false"); }
  void write_content(std::int64_t value, std::size_t) { inline_scalar(fmt::format("{}", value)); }

  void write_content(const std::string& value, std::size_t indent) {
    const std::string text = as_utf8(value);
    if (!is_literal(text)) {
      inline_scalar(inline_text(text));
      return;
    }
    const bool ends = text.back() == '\n';
    const bool ends_twice = ends && text[text.size() - 2] == '\n';
    inline_scalar(ends_twice ? "|+" : ends ? "|" : "|-");
    const std::string_view body = std::string_view(text).substr(0, text.size() - (ends ? 1 : 0));
    for (std::size_t start = 0; start <= body.size();) {
      const std::size_t end = std::min(body.find('\n', start), body.size());
      if (end > start) {
        out_.append(indent + 2, ' ');
        out_ += body.substr(start, end - start);
      }
      out_ += '\n';
      start = end + 1;
    }
  }

  void write_content(const Out::Array& items, std::size_t indent) {
    if (items.empty()) {
      inline_scalar("[]");
      return;
    }
    // A list stands at the indentation of the key above it, or goes on in the
    // line of the list that holds it.
    const bool same_line = at_item_;
    start_block();
    bool first = same_line;
    for (const Out& item : items) {
      start_line(first, indent);
      first = false;
      out_ += '-';
      at_item_ = true;
      write(item, indent + 2);
    }
  }

  void write_content(const Out::Object& members, std::size_t indent) {
    if (members.empty()) {
      inline_scalar("{}");
      return;
    }
    const bool same_line = at_item_;
    start_block();
    bool first = same_line;
    for (const auto& [key, value] : members) {
      start_line(first, indent);
      first = false;
      write_key(as_utf8(key), indent);
      const bool object = std::holds_alternative<Out::Object>(value.content());
      write(value, object ? indent + 2 : indent);
    }
  }

  void write_key(std::string_view key, std::size_t indent) {
    const std::string text = inline_text(key);
    if (text.size() > kLongKey) {
      out_ += "? ";
      out_ += text;
      out_ += '\n';
      out_.append(indent, ' ');
      out_ += ':';
    } else {
      out_ += text;
      out_ += ':';
    }
  }

  void inline_scalar(std::string_view text) {
    if (!out_.empty() && out_.back() != '\n') {
      out_ += ' ';
    }
    out_ += text;
    out_ += '\n';
    at_item_ = false;
  }

  void start_block() {
    if (at_item_) {
      out_ += ' ';
    } else if (!out_.empty()) {
      out_ += '\n';
    }
    at_item_ = false;
  }

  void start_line(bool same_line, std::size_t indent) {
    if (!same_line) {
      out_.append(indent, ' ');
    }
  }

  std::string& out_;
  bool at_item_ = false;  // behind the "-" of a list item
};

}  // namespace

std::string Out::to_yaml() const {
  std::string out;
  YamlWriter(out).write(*this, 0);
  return out;
}

}  // namespace gantree::json

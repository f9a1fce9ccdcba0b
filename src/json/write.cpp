#include "json/write.h"

#include <fmt/format.h>

#include "json/like_go.h"
#include "json/utf8.h"

namespace gantree::json {

namespace {

// The letter that stands for a character after a backslash; 0 where it has none.
char escape_letter(char32_t code) {
  switch (code) {
    case '"':
    case '\\':
      return static_cast<char>(code);
    case '\n':
      return 'n';
    case '\t':
      return 't';
    case '\r':
      return 'r';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    default:
      return 0;
  }
}

template <class Plain>
void append_escaped(std::string& out, std::string_view text, std::string_view replacement, const Plain& is_plain) {
  out += '"';
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.valid) {
      out += replacement;
    } else if (const char letter = escape_letter(character.code)) {
      out += '\\';
      out += letter;
    } else if (is_plain(character.code)) {
      out += text.substr(0, character.length);
    } else {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character.code));
    }
    text.remove_prefix(character.length);
  }
  out += '"';
}

}  // namespace

// What is written is YAML too, so all that YAML does not take is escaped.
void append_string(std::string& out, std::string_view text) {
  append_escaped(out, text, "\xEF\xBF\xBD", is_printable);
}

void append_string_like_go(std::string& out, std::string_view text) {
  append_escaped(out, text, "\\ufffd", [](char32_t code) {
    return code >= 0x20 && code != '<' && code != '>' && code != '&' && code != 0x2028 && code != 0x2029;
  });
}

namespace {

class JsonWriter {
 public:
  JsonWriter(std::string& out, bool pretty) : out_(out), pretty_(pretty) {}

  void write(const Out& value) {
    std::visit([this](const auto& content) { write_content(content); }, value.content());
  }

 private:
  void write_content(std::monostate) { out_ += "null"; }
  void write_content(bool value) { out_ += value ? "true" : "false"; }
  void write_content(std::int64_t value) { out_ += fmt::format("{}", value); }
  void write_content(const std::string& value) { append_string(out_, value); }

  void write_content(const Out::Array& items) {
    write_all('[', ']', items, [this](const Out& item) { write(item); });
  }
  void write_content(const Out::Object& members) {
    write_all('{', '}', members, [this](const Out::Object::value_type& member) {
      append_string(out_, member.first);
      out_ += pretty_ ? ": " : ":";
      write(member.second);
    });
  }

  template <class Children, class Each>
  void write_all(char open, char close, const Children& children, Each each) {
    out_ += open;
    ++depth_;
    bool first = true;
    for (const auto& child : children) {
      if (!first) {
        out_ += ',';
      }
      first = false;
      new_line();
      each(child);
    }
    --depth_;
    if (!children.empty()) {
      new_line();
    }
    out_ += close;
  }

  void new_line() {
    if (pretty_) {
      out_ += '\n';
      out_.append(depth_ * 2, ' ');
    }
  }

  std::string& out_;
  bool pretty_;
  std::size_t depth_ = 0;
};

}  // namespace

Out& Out::add(std::string_view key, Out value) {
  GANTREE_CHECK(std::holds_alternative<Object>(value_));
  std::get<Object>(value_).emplace_back(std::string(key), std::move(value));
  return *this;
}

Out& Out::push(Out value) {
  GANTREE_CHECK(std::holds_alternative<Array>(value_));
  std::get<Array>(value_).push_back(std::move(value));
  return *this;
}

std::string Out::to_json(bool pretty) const {
  std::string out;
  JsonWriter(out, pretty).write(*this);
  return out;
}

}  // namespace gantree::json

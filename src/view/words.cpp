#include "view/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/whole_number.h"
#include "json/utf8.h"

namespace gantree::view {

namespace {

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  while (digits.size() > 1 && digits[0] == '0') {
    digits.remove_prefix(1);
  }
  return digits;
}

// Controls, and marks that turn the direction of the text around them.
bool disturbs(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0x200E || c == 0x200F ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

// The bytes of the first `width` characters.
std::size_t bytes_of(std::string_view text, int width) {
  std::size_t at = 0;
  for (; at < text.size() && width > 0; --width) {
    at += json::first_character(text.substr(at)).length;
  }
  return at;
}

}  // namespace

std::string level_word(std::string_view label) {
  if (label == kHostnameLabel) {
    return "host";
  }
  std::string_view word = label.substr(label.rfind('/') + 1);
  constexpr std::string_view kPrefix = "topology-";
  if (const std::size_t at = word.rfind(kPrefix); at != std::string_view::npos && at + kPrefix.size() < word.size()) {
    word.remove_prefix(at + kPrefix.size());
  }
  return std::string(word);
}

std::vector<std::string> level_words(const Topology& topology) {
  std::vector<std::string> words;
  for (const std::string& level : topology.levels) {
    words.push_back(level_word(level));
  }
  if (topology.levels.empty() || topology.levels.back() != kHostnameLabel) {
    words.emplace_back("host");
  }
  return words;
}

std::string counted(std::int64_t count, std::string_view word) {
  if (count == 1) {
    return fmt::format("1 {}", word);
  }
  const bool hisses = word.ends_with('s') || word.ends_with('x') || word.ends_with("ch") || word.ends_with("sh");
  return fmt::format("{} {}{}", count, word, hisses ? "es" : "s");
}

std::string amount_text(std::int64_t amount, ResourceId resource) {
  if (ResourceNames::unit(resource) != Unit::kMilli) {
    return fmt::format("{}", amount);
  }
  const std::int64_t tenths = amount % 1000 / 100;
  return tenths == 0 ? fmt::format("{}", amount / 1000) : fmt::format("{}.{}", amount / 1000, tenths);
}

std::string amounts_text(const Amounts& amounts, const ResourceNames& names) {
  std::string text;
  for (const auto& [resource, amount] : amounts.entries()) {
    text += text.empty() ? "" : ", ";
    text += fmt::format("{} {}", format_quantity(amount, ResourceNames::unit(resource)), names.name(resource));
  }
  return text;
}

std::string_view short_name(std::string_view resource) {
  return resource.substr(resource.rfind('/') + 1);
}

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view x = take_digits(a);
      const std::string_view y = take_digits(b);
      if (x != y) {
        return x.size() != y.size() ? x.size() < y.size() : x < y;
      }
    } else if (a[0] != b[0]) {
      return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) {
    return a.empty();
  }
  return whole_a < whole_b;
}

std::string printable(std::string_view text, bool unicode) {
  std::string out;
  while (!text.empty()) {
    const json::Character character = json::first_character(text);
    if (!character.valid || disturbs(character.code) || (!unicode && character.code > 0x7E)) {
      out += '?';
    } else {
      out += text.substr(0, character.length);
    }
    text.remove_prefix(character.length);
  }
  return out;
}

int columns(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string clipped(std::string_view text, int width, bool unicode) {
  if (columns(text) <= width) {
    return std::string(text);
  }
  if (width <= 0) {
    return {};
  }
  return std::string(text.substr(0, bytes_of(text, width - 1))) + (unicode ? "…" : "~");
}

std::string clipped_inside(std::string_view text, int width, bool unicode) {
  const int whole = columns(text);
  if (whole <= width || width < 4) {
    return clipped(text, width, unicode);
  }
  const int head = (width - 1) / 2;
  const int tail = width - 1 - head;
  return std::string(text.substr(0, bytes_of(text, head))) + (unicode ? "…" : "~") +
         std::string(text.substr(bytes_of(text, whole - tail)));
}

std::vector<std::string> wrapped(std::string_view text, int width) {
  width = std::max(width, 1);
  std::vector<std::string> lines;
  while (columns(text) > width) {
    // Up to and including one more character, which may be the space to break at.
    const std::size_t space = text.rfind(' ', bytes_of(text, width));
    const bool word = space != std::string_view::npos && space > 0;
    const std::size_t end = word ? space : bytes_of(text, width);
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + (word ? 1 : 0));
  }
  if (!text.empty() || lines.empty()) {
    lines.emplace_back(text);
  }
  return lines;
}

char gang_letter(int mark) {
  const int at = mark % kLetters;
  return static_cast<char>(at < 26 ? 'A' + at : 'a' + at - 26);
}

}  // namespace gantree::view

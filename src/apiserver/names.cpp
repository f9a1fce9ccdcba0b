#include "apiserver/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/whole_number.h"

namespace gantree::apiserver {

namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_alnum(char c) {
  return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

bool is_dns_label(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.back() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '-'; });
}

// Letters, digits and "-_." inside.
bool is_loose_name(std::string_view name) {
  return !name.empty() && is_alnum(name.front()) && is_alnum(name.back()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string too_many_bytes(std::size_t most) {
  return fmt::format("must be no more than {} bytes", most);
}

}  // namespace

std::optional<std::string> not_dns_label(std::string_view name) {
  if (name.size() > 63) {
    return too_many_bytes(63);
  }
  if (is_dns_label(name)) {
    return std::nullopt;
  }
  return "must be a DNS label: lower case letters, digits and '-', a letter or digit at both ends";
}

std::optional<std::string> not_dns_1035_label(std::string_view name) {
  if (name.size() > 63) {
    return too_many_bytes(63);
  }
  if (is_dns_label(name) && is_lower(name.front())) {
    return std::nullopt;
  }
  return "must be a DNS label that begins with a letter: lower case letters, digits and '-', a letter or digit at the "
         "end";
}

std::optional<std::string> not_dns_subdomain(std::string_view name) {
  if (name.size() > 253) {
    return too_many_bytes(253);
  }
  bool good = !name.empty();
  for (std::string_view rest = name; good;) {
    const std::size_t dot = rest.find('.');
    good = is_dns_label(rest.substr(0, dot));
    if (dot == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(dot + 1);
  }
  if (good) {
    return std::nullopt;
  }
  return "must be a DNS name: labels of lower case letters, digits and '-', joined by '.', each with a letter or digit "
         "at both ends";
}

std::optional<std::string> not_path_segment(std::string_view name) {
  if (name == "." || name == "..") {
    return fmt::format("may not be '{}'", name);
  }
  for (const char c : {'/', '%'}) {
    if (name.find(c) != std::string_view::npos) {
      return fmt::format("may not contain '{}'", c);
    }
  }
  return std::nullopt;
}

std::optional<std::string> not_qualified_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  std::string_view last = name;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = name.substr(0, slash);
    last = name.substr(slash + 1);
    if (last.find('/') != std::string_view::npos) {
      return "must be a name, or a DNS name, one '/' and a name";
    }
    if (prefix.empty()) {
      return "prefix part must be non-empty";
    }
    if (auto problem = not_dns_subdomain(prefix)) {
      return "prefix part " + *problem;
    }
  }
  if (last.empty()) {
    return "name part must be non-empty";
  }
  if (last.size() > 63) {
    return "name part " + too_many_bytes(63);
  }
  if (is_loose_name(last)) {
    return std::nullopt;
  }
  return "name part may have letters, digits, '-', '_' and '.' alone, and a letter or digit at both ends";
}

std::optional<std::string> not_label_value(std::string_view value) {
  if (value.size() > 63) {
    return too_many_bytes(63);
  }
  if (value.empty() || is_loose_name(value)) {
    return std::nullopt;
  }
  return "must be empty, or letters, digits, '-', '_' and '.' with a letter or digit at both ends";
}

}  // namespace gantree::apiserver

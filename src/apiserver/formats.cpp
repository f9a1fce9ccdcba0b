#include "apiserver/formats.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/duration.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

bool is_hex(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_uuid(std::string_view text) {
  std::size_t digits = 0;
  for (const char c : text) {
    if (is_hex(c)) {
      ++digits;
    } else if (c != '-') {
      return false;
    }
  }
  return digits == 32;
}

bool is_address(int family, std::string_view text) {
  std::array<unsigned char, 16> address;
  return text.size() < 64 && inet_pton(family, std::string(text).c_str(), address.data()) == 1;
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return false;
  }
  const std::string_view address = text.substr(0, slash);
  const std::string_view bits = text.substr(slash + 1);
  const bool digits = !bits.empty() && bits.size() <= 3 &&
                      std::all_of(bits.begin(), bits.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!digits) {
    return false;
  }
  const int length = std::stoi(std::string(bits));
  return (is_address(AF_INET, address) && length <= 32) || (is_address(AF_INET6, address) && length <= 128);
}

bool is_date(std::string_view text) {
  return text.size() == 10 && parse_time(std::string(text) + "T00:00:00Z").has_value();
}

}  // namespace

bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return false;
  }
  while (!text.empty() && text.back() == '=' && text.size() % 4 != 2) {
    text.remove_suffix(1);
  }
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '/'; });
}

bool has_format(std::string_view format, std::string_view text) {
  if (format == "date-time" || format == "datetime") {
    return parse_time(text).has_value();
  }
  if (format == "date") {
    return is_date(text);
  }
  if (format == "byte") {
    return is_base64(text);
  }
  if (format == "duration") {
    return parse_duration(text).has_value();
  }
  if (format == "uuid") {
    return is_uuid(text);
  }
  if (format == "ipv4") {
    return is_address(AF_INET, text);
  }
  if (format == "ipv6") {
    return is_address(AF_INET6, text);
  }
  if (format == "ip") {
    return is_address(AF_INET, text) || is_address(AF_INET6, text);
  }
  if (format == "cidr") {
    return is_cidr(text);
  }
  return true;
}

}  // namespace gantree::apiserver

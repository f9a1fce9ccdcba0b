#include "controllers/addresses.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <functional>
#include <optional>

namespace gantree::controllers {

namespace {

// 64 times 256 times 254 of them.
constexpr std::uint32_t kCount = 64 * 256 * 254;

std::string text_of_number(std::uint32_t number) {
  return fmt::format("10.{}.{}.{}", 128 + number / (256 * 254), number / 254 % 256, 1 + number % 254);
}

std::optional<std::uint32_t> number_of_text(std::string_view text) {
  std::array<std::uint32_t, 4> parts{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc() || (i < 3 ? next == end || *next != '.' : next != end)) {
      return std::nullopt;
    }
    at = i < 3 ? next + 1 : next;
  }
  const auto [a, b, c, d] = parts;
  if (a != 10 || b < 128 || b >= 192 || c > 255 || d < 1 || d > 254) {
    return std::nullopt;
  }
  return ((b - 128) * 256 + c) * 254 + d - 1;
}

}  // namespace

std::string Addresses::take(std::string_view uid) {
  const std::size_t who = std::hash<std::string_view>()(uid);
  std::uint32_t number = static_cast<std::uint32_t>(who % kCount);
  // More pods than addresses: some share one.
  for (std::uint32_t tries = 0; tries < kCount; ++tries, number = (number + 1) % kCount) {
    if (const auto [at, fresh] = taken_.try_emplace(number, who); fresh || at->second == who) {
      break;
    }
  }
  return text_of_number(number);
}

void Addresses::note(std::string_view address, std::string_view uid) {
  if (const auto number = number_of_text(address)) {
    taken_.insert_or_assign(*number, std::hash<std::string_view>()(uid));
  }
}

void Addresses::release(std::string_view address, std::string_view uid) {
  const auto number = number_of_text(address);
  const auto at = number ? taken_.find(*number) : taken_.end();
  if (at != taken_.end() && at->second == std::hash<std::string_view>()(uid)) {
    taken_.erase(at);
  }
}

}  // namespace gantree::controllers

#include "dialects/kueue/hooks/pod_group.h"

#include <fmt/format.h>

#include <cstdint>

namespace gantree::kueue {

namespace {

constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kHashDigits = 8;

std::string fitting(std::string name) {
  if (name.size() <= kLongestLabel) {
    return name;
  }
  std::uint32_t hash = 0x811c9dc5U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193U;
  }
  name.resize(kLongestLabel - kHashDigits - 1);
  // No dot or dash before the dash.
  while (name.ends_with('.') || name.ends_with('-')) {
    name.pop_back();
  }
  return fmt::format("{}-{:08x}", name, hash);
}

}  // namespace

std::string stateful_set_group(std::string_view name) {
  return fitting(fmt::format("statefulset-{}", name));
}

std::string replica_group(std::string_view set, std::string_view index) {
  return fitting(fmt::format("leaderworkerset-{}-{}", set, index));
}

}  // namespace gantree::kueue

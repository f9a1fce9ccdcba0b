#include "model/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace gantree {

namespace {

bool alphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool is_name_part(std::string_view name) {
  if (name.empty() || name.size() > 63 || !alphanumeric(name.front()) || !alphanumeric(name.back())) {
    return false;
  }
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_label(std::string_view part) {
  const auto lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (part.empty() || !lower(part.front()) || !lower(part.back())) {
    return false;
  }
  return std::all_of(part.begin(), part.end(), [&](char c) { return lower(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view name) {
  if (name.empty() || name.size() > 253) {
    return false;
  }
  while (true) {
    const std::size_t dot = name.find('.');
    if (!is_dns_label(name.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

int Topology::level(std::string_view label) const {
  const auto it = std::find(levels.begin(), levels.end(), label);
  return it == levels.end() ? -1 : static_cast<int>(it - levels.begin());
}

bool is_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) {
    return is_name_part(key);
  }
  return is_dns_subdomain(key.substr(0, slash)) && is_name_part(key.substr(slash + 1));
}

Result<> validate(const Topology& topology) {
  const auto& levels = topology.levels;
  if (levels.empty() || levels.size() > kMaxLevels) {
    return invalid(
        fmt::format("topology \"{}\" has {} levels; 1 to {} are allowed", topology.name, levels.size(), kMaxLevels));
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!is_label_key(levels[i])) {
      return invalid(fmt::format("topology \"{}\": level {} is \"{}\", which is not a label key", topology.name, i + 1,
                                 levels[i]));
    }
    if (std::find(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(i), levels[i]) !=
        levels.begin() + static_cast<std::ptrdiff_t>(i)) {
      return invalid(fmt::format("topology \"{}\" has level \"{}\" twice", topology.name, levels[i]));
    }
    if (levels[i] == kHostnameLabel && i + 1 != levels.size()) {
      return invalid(fmt::format("topology \"{}\": {} may only be the last level", topology.name, kHostnameLabel));
    }
  }
  return {};
}

}  // namespace gantree

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
  if (const auto it = std::find(levels.begin(), levels.end(), label); it != levels.end()) {
    return static_cast<int>(it - levels.begin());
  }
  const auto it = std::find_if(alternatives.begin(), alternatives.end(), [&](const std::vector<std::string>& keys) {
    return std::find(keys.begin(), keys.end(), label) != keys.end();
  });
  return it == alternatives.end() ? -1 : static_cast<int>(it - alternatives.begin());
}

int Topology::lowest_above_hosts() const {
  const int last = static_cast<int>(levels.size()) - 1;
  return last > 0 && levels.back() == kHostnameLabel ? last - 1 : last;
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
  if (topology.alternatives.size() > levels.size()) {
    return invalid(fmt::format("topology \"{}\" has further labels for more levels than there are", topology.name));
  }
  std::vector<std::string_view> seen;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    std::vector<std::string_view> keys{levels[i]};
    if (i < topology.alternatives.size()) {
      keys.insert(keys.end(), topology.alternatives[i].begin(), topology.alternatives[i].end());
    }
    if (keys.size() > kMaxLabelsOfALevel) {
      return invalid(fmt::format("topology \"{}\": level {} has {} labels; 1 to {} are allowed", topology.name, i + 1,
                                 keys.size(), kMaxLabelsOfALevel));
    }
    for (const std::string_view key : keys) {
      if (!is_label_key(key)) {
        return invalid(
            fmt::format("topology \"{}\": level {} is \"{}\", which is not a label key", topology.name, i + 1, key));
      }
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        return invalid(fmt::format("topology \"{}\" has level \"{}\" twice", topology.name, key));
      }
      if (key == kHostnameLabel && i + 1 != levels.size()) {
        return invalid(fmt::format("topology \"{}\": {} may only be the last level", topology.name, kHostnameLabel));
      }
      seen.push_back(key);
    }
  }
  return {};
}

}  // namespace gantree

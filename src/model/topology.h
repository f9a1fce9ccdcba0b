#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/id.h"

namespace gantree {

using TopologyId = Id<struct TopologyTag>;

inline constexpr int kMaxLevels = 16;
inline constexpr char kHostnameLabel[] = "kubernetes.io/hostname";

// An ordered list of node labels, coarse to fine.
struct Topology {
  std::string name;
  std::vector<std::string> levels;

  // The index of a level by its label, or -1.
  [[nodiscard]] int level(std::string_view label) const;
};

// 1 to 16 levels, unique, label-key syntax, hostname only last.
[[nodiscard]] Result<> validate(const Topology& topology);
[[nodiscard]] bool is_label_key(std::string_view key);

}  // namespace gantree

#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/id.h"

namespace gantree {

using TopologyId = Id<struct TopologyTag>;

inline constexpr int kMaxLevels = 16;
inline constexpr int kMaxLabelsOfALevel = 16;
inline constexpr char kHostnameLabel[] = "kubernetes.io/hostname";

// An ordered list of node labels, coarse to fine. A node without one of them is outside.
struct Topology {
  std::string name;
  std::vector<std::string> levels;
  // Further labels of a level, by level (shorter where the last levels have none): the first of levels[i] and
  // these that is not empty on a node counts. A level is named by levels[i] all the same.
  std::vector<std::vector<std::string>> alternatives = {};
  // A node that lacks only the label of the lowest level (hosts aside) stands there alone, in a domain named after it.
  bool lone_nodes = false;

  // The index of a level by any of its labels, or -1.
  [[nodiscard]] int level(std::string_view label) const;
  // The lowest level that is not the hostname, where there is another.
  [[nodiscard]] int lowest_above_hosts() const;
};

// 1 to 16 levels, up to 16 labels each, unique, label-key syntax, hostname only last.
[[nodiscard]] Result<> validate(const Topology& topology);
[[nodiscard]] bool is_label_key(std::string_view key);

}  // namespace gantree

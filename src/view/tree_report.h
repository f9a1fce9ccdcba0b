// What there is room for in a topology, domain by domain: how many pods of one
// shape fit into each, and the largest gang that still fits on every level.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/write.h"
#include "view/scene.h"
#include "view/terminal_text.h"

namespace gantree::view {

// What is asked of the tree.
struct TreeQuestion {
  TopologyId topology;
  Amounts request;                     // of one pod, besides `pods`; empty: one unit of the main resource
  std::vector<std::string> tolerated;  // taint keys, besides those that most hosts carry; "*": all
  std::optional<int> levels;           // how many are listed, from the top; none: all above the hosts
};

struct DomainRoom {
  Domain domain;
  Totals totals;
  std::int64_t eligible = 0;  // hosts on which such a pod may run
  std::int64_t empty = 0;     // of those, with all of the resource free
  std::int64_t free = 0;      // of the resource, on eligible hosts
  int pods = 0;               // that fit now, all in this domain
  std::vector<DomainRoom> domains;
};

// The best that one domain of a level offers. Where several do, the first by name.
struct LevelRoom {
  int level = -1;  // -1: the whole tree
  int pods = 0;
  Domain pods_in;
  std::int64_t empty = 0;  // hosts
  Domain empty_in;
  int pods_when_empty = 0;  // if nothing ran anywhere
};

struct TreeReport {
  Scene scene;
  Amounts request;
  std::vector<std::string> tolerated;  // taint keys, sorted; "*" for all
  std::vector<LevelRoom> levels;       // the whole tree, then from the top down to hosts
  DomainRoom root;
};

// Valid until a node of the cluster comes, goes or moves.
[[nodiscard]] TreeReport report_tree(Cluster& cluster, const TreeQuestion& question);

[[nodiscard]] std::vector<TextLine> tree_to_text(const TreeReport& report, const ResourceNames& names,
                                                 const TextOptions& options);
[[nodiscard]] json::Out tree_to_json(const TreeReport& report, const ResourceNames& names);

}  // namespace gantree::view

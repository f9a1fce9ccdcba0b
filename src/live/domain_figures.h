// How much is free, and how scattered: for gauges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "state/cluster.h"

namespace gantree {

// Of one resource in the domains of one level. Counted on hosts that are ready and not cordoned.
struct DomainFigures {
  std::string topology;
  std::string level;  // its label
  std::string resource;
  std::int64_t domains = 0;
  std::int64_t capacity = 0;       // of all hosts inside the topology
  std::int64_t free = 0;           // the same
  std::int64_t largest = 0;        // free in the one domain that has most: the largest gang of pods of one unit each
  std::int64_t largest_empty = 0;  // the same, if nothing ran anywhere

  // 0: as much of what is free lies in one domain as could at best. 1: nothing does.
  [[nodiscard]] double fragmentation() const;
};

// For every topology (of several that share a name the newest) and every extended resource that some node has, such
// as nvidia.com/gpu; cpu where there is none.
[[nodiscard]] std::vector<DomainFigures> domain_figures(Cluster& cluster);

}  // namespace gantree

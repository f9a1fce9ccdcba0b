// The domains of a scene as they are drawn: named, summed up, in natural order.
//
// A chain of only children is one entry ("zone-a/b1/r1"), so that deep topologies
// stay readable. The leaves are the rows: the lowest domains above the hosts, or
// the whole tree where the topology has hosts only.
#pragma once

#include <string>
#include <vector>

#include "view/scene.h"

namespace gantree::view {

struct OutlineEntry {
  Domain domain;      // the lowest of the chain
  std::string label;  // the names of the chain; of the whole tree "", or "hosts" where it is a row
  Totals totals;
  std::vector<OutlineEntry> children;  // none for a row
  bool row = false;
};

// The whole tree. Labels are printable.
[[nodiscard]] OutlineEntry make_outline(const Scene& scene, bool unicode);

// The hosts below a domain in natural order of their names.
[[nodiscard]] std::vector<std::uint32_t> hosts_in_order(const DomainTree& tree, Domain domain);

// A few words on domains that are all alike, as in "all free"; "" where they are not.
[[nodiscard]] std::string uniform_text(const Totals& totals, const std::string& resource);

// "512 hosts, 4096 nvidia.com/gpu: 1640 in use before, 1200 placed now, 1240 free, 16 out
// of service" (on hosts that are not ready or cordoned).
[[nodiscard]] std::string totals_text(const Scene& scene, const Totals& totals, bool present = false);

}  // namespace gantree::view

// Where the pods of a pod set go, by domains of the lowest level of a topology: `topologyAssignment`.
//
// Two forms are in use: a flat list of domains (v1beta1), and one in which runs of domains share what they have in
// common (v1beta2), so that an assignment to a hundred thousand hosts fits into an object. Both are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json/decode.h"
#include "json/write.h"

namespace gantree::kueue {

struct AssignedDomain {
  std::vector<std::string> values;  // by level of the assignment
  int count = 0;
  friend bool operator==(const AssignedDomain&, const AssignedDomain&) = default;
};

struct TopologyAssignment {
  std::vector<std::string> levels;      // labels; the host alone where it is the lowest level
  std::vector<AssignedDomain> domains;  // in rank order
  friend bool operator==(const TopologyAssignment&, const TopologyAssignment&) = default;
};

// The compact form. Domains keep their order.
[[nodiscard]] json::Out write_assignment(const TopologyAssignment& assignment);

// What an assignment of either form is in the flat one, at least: texts and numbers, and the bytes of the texts. Looks
// at the words only, makes nothing of them, and never overflows.
struct AssignmentSize {
  std::int64_t values = 0;
  std::int64_t bytes = 0;
};
[[nodiscard]] AssignmentSize assignment_size(json::Value value);

// Either form. Complains where lists do not go together.
[[nodiscard]] TopologyAssignment read_assignment(json::Reader& read, json::Value value);

}  // namespace gantree::kueue

// To which group a pod belongs, by its owners. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "kai/makers.h"

namespace gantree::kai {

// What a pod says of itself.
struct PodMarks {
  std::string uid = {};
  std::string scheduler = {};
  OwnerRef owner = {};
  std::string group = {};     // the annotation pod-group-name
  std::string subgroup = {};  // the label of its subgroup
  std::string set = {};       // the LeaderWorkerSet of which it says to be a part, and of which replica
  std::string replica = {};
  bool leader = false;    // of such a replica
  bool launcher = false;  // of an MPIJob
  bool has_node = false;
  bool skips = false;      // the grouper is to leave it alone
  bool marked = false;     // speaks KAI
  bool elsewhere = false;  // is in a queue, or a gang, of another family
  bool leaving = false;    // is being deleted
  bool ended = false;
};

[[nodiscard]] PodMarks read_marks(json::Value pod);

struct Target {
  std::string name = {};                  // of the PodGroup
  OwnerRef owner = {};                    // of the PodGroup
  std::vector<const Maker*> owners = {};  // that are known: who stands for the group, then the topmost first
  const Maker* sized = nullptr;           // whose pods are counted
  bool alone = false;                     // one pod is the group
  std::string_view default_class = "train";
};

// Requires owners that were all found.
[[nodiscard]] Target target_of(std::string_view pod, const PodMarks& marks, const Ancestry& ancestry);

}  // namespace gantree::kai

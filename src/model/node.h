// What the scheduler knows of a Kubernetes Node.
#pragma once

#include <string>
#include <vector>

#include "base/id.h"
#include "base/interner.h"
#include "model/resources.h"

namespace gantree {

using NodeId = Id<struct NodeTag>;

struct Label {
  StringId key;
  StringId value;
  friend auto operator<=>(const Label&, const Label&) = default;
};

enum class TaintEffect : std::uint8_t { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Taint {
  StringId key;
  StringId value;
  TaintEffect effect = TaintEffect::kNoSchedule;
  friend auto operator<=>(const Taint&, const Taint&) = default;
};

struct Node {
  std::string name;
  std::vector<Label> labels;  // sorted by key
  std::vector<Taint> taints;
  Amounts allocatable;
  bool ready = true;
  bool unschedulable = false;  // cordoned
};

// The value of a label, or nullptr.
[[nodiscard]] const StringId* label_value(const std::vector<Label>& labels, StringId key);

}  // namespace gantree

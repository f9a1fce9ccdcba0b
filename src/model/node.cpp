#include "model/node.h"

#include <algorithm>

namespace gantree {

const StringId* label_value(const std::vector<Label>& labels, StringId key) {
  const auto it = std::lower_bound(labels.begin(), labels.end(), key,
                                   [](const Label& label, StringId wanted) { return label.key < wanted; });
  return it != labels.end() && it->key == key ? &it->value : nullptr;
}

}  // namespace gantree

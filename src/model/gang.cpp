#include "model/gang.h"

namespace gantree {

std::vector<const PodSet*> pod_sets(const Group& root) {
  std::vector<const PodSet*> out;
  each_pod_set(root, [&](const PodSet& pod_set) { out.push_back(&pod_set); });
  return out;
}

}  // namespace gantree

#include "model/gang.h"

namespace gantree {

namespace {

void collect(const Group& group, std::vector<const PodSet*>& out) {
  for (const PodSet& pod_set : group.pod_sets) {
    out.push_back(&pod_set);
  }
  for (const Group& nested : group.groups) {
    collect(nested, out);
  }
}

}  // namespace

std::vector<const PodSet*> pod_sets(const Group& root) {
  std::vector<const PodSet*> out;
  collect(root, out);
  return out;
}

}  // namespace gantree

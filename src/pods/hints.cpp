// What pods of gangs are told of their places.
#include <algorithm>
#include <set>

#include "dialects/placement_hint.h"
#include "engine/domain_tree.h"
#include "pods/pod_family.h"

namespace gantree {

namespace {

// Its domain of every level of the topology; empty where the node is outside of that.
std::vector<std::string> path_of(const DomainTree& tree, NodeId node) {
  const std::uint32_t host = tree.host_of(node);
  if (host == DomainTree::kNowhere || tree.topology_levels() == 0) {
    return {};
  }
  const int lowest = tree.topology_levels() - 1;
  return tree.path({lowest, tree.ancestor(tree.host_level(), host, lowest)});
}

}  // namespace

// Pods that come later get the numbers that are free: those of pods that are gone, then the next ones.
void PodFamily::tell_places(const Decision& decision, const std::vector<std::string>& pods) {
  std::set<int> taken;
  std::set<std::string> gangs;
  for (const std::string& key : pods) {
    gangs.insert(table_.find_pod(key)->gang);
  }
  for (const std::string& id : gangs) {
    if (id.starts_with('/')) {
      return;  // a pod of no gang
    }
    for (const std::string& key : table_.find(id)->pods) {
      const LivePod& pod = *table_.find_pod(key);
      if (!pod.node.empty() && !pod.ended() && pod.rank >= 0) {
        taken.insert(pod.rank);
      }
    }
  }
  Engine& engine = cluster_.engine();
  std::size_t next = 0;
  int rank = 0;
  for (const PodSetDecision& set : decision.pod_sets) {
    for (const HostShare& share : set.hosts) {
      const std::vector<std::string> path = path_of(engine.tree(set.topology), share.node);
      for (int i = 0; i < share.count; ++i) {
        while (taken.contains(rank)) {
          ++rank;
        }
        LivePod& pod = *table_.find_pod(pods[next++]);
        pod.rank = rank++;
        pod.hint = placement_hint(pod.rank, engine.topology(set.topology).levels, path);
      }
    }
  }
}

}  // namespace gantree

// A gang: a tree of groups whose leaves are pod sets. It starts whole or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/pod_shape.h"
#include "model/topology.h"

namespace gantree {

// Cut into pieces of `size` pods, each inside one domain of `level`. Where the
// count is no multiple, the last piece is smaller; it too stays in one domain.
struct Slice {
  int level = 0;
  int size = 1;
  friend auto operator<=>(const Slice&, const Slice&) = default;
};

enum class Packing : std::uint8_t {
  kPack,      // fewest domains per level, then fewest hosts
  kTightest,  // no topology asked for: the smallest holes first
  kSpread,    // even over as many domains as there are
  kBalanced,  // equal shares over the fewest domains of the balance level
  kNearest,  // as kPack; where no domain of the preferred level holds all, one takes all it can, the rest nearest to it
};

// What a group or pod set asks of the topology. Levels are indices into the
// topology's list; every pod counts, also those of nested groups.
struct Constraint {
  std::optional<TopologyId> topology;  // whose levels these are; none: that of the parent
  std::optional<int> required;         // all in one domain of this level
  std::optional<int> preferred;        // the same, but climb and then spread rather than wait
  std::vector<Slice> slices;           // coarse to fine, each size divides the one before
  std::optional<int> exclusive;        // alone in a domain of this level among those of its kind that want to be alone
  std::optional<int> balance;          // with kBalanced: the level whose domains share equally
  Packing packing = Packing::kTightest;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

struct PodSet {
  std::string name;
  PodShape shape;
  int count = 1;
  int min_count = 1;  // == count: all or nothing
  Constraint constraint;
  std::vector<std::string> pods = {};  // names in rank order, where the pods exist already; else empty
};

struct Group {
  std::string name;
  Constraint constraint;
  std::vector<PodSet> pod_sets;
  std::vector<Group> groups;
  // Minima over what is below, beside those of the pod sets. A nested group that is left out gets no
  // pod at all, whatever its own minima say.
  std::optional<int> min_pods = {};    // of its own pod sets together; none: only their own minima count
  std::optional<int> min_groups = {};  // nested groups that must start; none: all of them
};

// The identity of the API object behind a gang.
struct GangKey {
  std::string ns;
  std::string name;
  std::string kind;
  std::string family = {};  // where families have kinds of one name; else ""
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

struct Gang {
  GangKey key;
  std::string dialect;
  std::int64_t priority = 0;
  std::int64_t created_seconds = 0;  // Unix time; 0 where the object has none
  TopologyId topology;
  std::string exclusive_kind;  // gangs of one kind exclude each other (Constraint::exclusive)
  Group root;
};

// The pod sets of a gang in depth-first order (a group's own before those of
// its nested groups). Every list "by pod set" is in this order.
[[nodiscard]] std::vector<const PodSet*> pod_sets(const Group& root);

// Calls `look` on each of them, in the same order.
template <class Look>
void each_pod_set(const Group& group, Look&& look) {
  for (const PodSet& pod_set : group.pod_sets) {
    look(pod_set);
  }
  for (const Group& nested : group.groups) {
    each_pod_set(nested, look);
  }
}

}  // namespace gantree

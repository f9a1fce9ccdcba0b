// Room for the pods of DaemonSets that a node is about to get.
//
// A node that is new, or that a DaemonSet comes to match, gets that DaemonSet's pod within moments. Until the pod is
// bound its requests are held there by a placeholder, so that no gang is promised the same room. Held for a minute at
// the most: a DaemonSet whose pods never come costs nobody more than that. The minute runs from the creation of the
// node or the DaemonSet, whichever is younger; where both are older, from when they came to match, or from when the pod
// that ran there went.
//
// Who may write DaemonSets could keep others from all that is free, one minute after the other, with DaemonSets whose
// pods never come. So a namespace for which room was held in vain gets nothing held for two minutes, and for twice as
// long each further time, up to an hour. That is over at once when every pod that was missing has come after all, each
// on its node and as large as the room that was held: those that are merely slow are not punished. It is forgotten when
// an hour has passed after it. Not so for kube-system, which no tenant writes to.
//
// Each DaemonSet is looked at with every node: of a namespace, so many that are so long in all; for the others nothing
// is held.
//
// One thread owns it: the one that owns the cluster.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "dialects/object.h"
#include "model/pod_shape.h"
#include "state/cluster.h"

namespace gantree {

inline constexpr std::chrono::seconds kDaemonPatience{60};
inline constexpr std::chrono::seconds kDaemonDistrust{120};
inline constexpr std::chrono::seconds kLongestDaemonDistrust{3600};
// Of one namespace: DaemonSets, and bytes of what is kept of them.
inline constexpr std::size_t kMostDaemonSets = 100;
inline constexpr std::size_t kMostDaemonBytes = std::size_t{256} << 10;

class Daemons {
 public:
  // The cluster must outlive it.
  explicit Daemons(Cluster& cluster) : cluster_(cluster) {}

  // A DaemonSet as it is now. Fails where it is malformed; then what was known of it stays.
  [[nodiscard]] Result<> changed(const NamedObject& named, std::string_view text, Time now);
  void removed(const std::string& key);

  // A node that the cluster knows already.
  void node_changed(std::string_view name, Time created, Time now);
  void node_removed(std::string_view name);

  // A pod of a DaemonSet, both as namespace/name, that has a node and has not ended; `requests` are the pod's.
  void pod_bound(std::string_view pod, const std::string& set, std::string_view node, const Amounts& requests);
  // Any pod that was on that node and is gone, or has ended.
  void pod_gone(std::string_view pod, std::string_view node, Time now);

  // Gives back what was held long enough.
  void expire(Time now);
  // When there is something to give back; nothing where nothing is held.
  [[nodiscard]] std::optional<Time> next() const;
  // DaemonSets of which anything is kept.
  [[nodiscard]] std::size_t known() const { return sets_.size(); }
  // The nodes where less is held than when this was last asked.
  [[nodiscard]] std::set<std::string> take_freed() { return std::exchange(freed_, {}); }

 private:
  struct Set {
    bool defined = false;   // else only pods of it are known; forgotten with the last of them
    std::size_t text = 0;   // hash
    std::size_t bytes = 0;  // of the text
    PodShape shape = {};
    Time created = {};
    std::vector<bool> matched = {};  // by node
    std::vector<bool> late = {};     // by node: room of this shape was held there in vain, and no pod came since
    // By node, the hash of the key of the pod that runs there. Pods may name any DaemonSet as their owner, so this
    // takes no more than there are pods.
    std::map<NodeId, std::uint64_t> runs = {};
  };
  // Of a namespace for which room was held in vain.
  struct Distrust {
    int times = 0;            // in a row
    Time until = {};          // nothing is held before
    std::size_t missing = 0;  // pods that have not come as yet
  };
  using Pair = std::pair<std::string, std::string>;  // DaemonSet, node

  // Whether its namespace has too many without it.
  [[nodiscard]] bool is_too_much(const std::string& key, std::size_t bytes) const;
  void match(const std::string& key, Set& set, NodeId node, Time since);
  void hold(const std::string& key, const Set& set, const std::string& node, Time since);
  void give_back(const Pair& pair);
  // The same, where the pod has not come.
  void give_up(const Pair& pair);
  // What there is against a namespace; nullptr where there is nothing, or it was long ago.
  [[nodiscard]] Distrust* distrust_of(std::string_view ns);
  void distrust(const Pair& pair);
  // The pod has come after all, or its node is gone.
  void no_longer_late(std::string_view key, Set& set, NodeId node);
  [[nodiscard]] std::string placeholder(const Pair& pair) const { return pair.first + "#daemon#" + pair.second; }

  Cluster& cluster_;
  std::map<std::string, Set, std::less<>> sets_;
  std::map<std::string, Time, std::less<>> nodes_;  // when they were created
  std::map<Pair, Time> held_;                       // until when
  std::multimap<Time, Pair> due_;                   // may name what is no longer held
  std::set<std::string> freed_;
  std::map<std::string, Distrust, std::less<>> distrusted_;  // by namespace
  Time now_ = {};                                            // as last told
};

}  // namespace gantree

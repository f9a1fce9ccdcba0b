#include "kueue/host_replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dialects/gangs.h"
#include "engine/domain_tree.h"
#include "kueue/hosts.h"
#include "kueue/submissions.h"

namespace gantree::kueue {

namespace {

// Consecutive ranks that have lost their host.
struct Piece {
  std::size_t set = 0;     // of the admission
  std::size_t domain = 0;  // of its assignment
  int first = 0;           // rank
  int count = 0;
};

std::set<std::string> names_in(std::string_view list) {
  std::set<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    names.emplace(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return names;
}

// The way to start it that it was admitted with: shapes with labels and tolerations of its flavors.
const Alternative* chosen(const Submission& submission, const Admission& admission) {
  for (const Alternative& alternative : submission.alternatives) {
    const std::vector<const PodSet*> sets = pod_sets(alternative.gang.root);
    bool same = true;
    for (const SetAssignment& assigned : admission.sets) {
      std::set<std::string> flavors;
      for (const auto& [resource, flavor] : assigned.flavors) {
        flavors.insert(flavor);
      }
      for (std::size_t i = 0; i < sets.size(); ++i) {
        const std::set<std::string> own = names_in(alternative.flavors[i]);
        same = same && (sets[i]->name != assigned.name ||
                        std::includes(own.begin(), own.end(), flavors.begin(), flavors.end()));
      }
    }
    if (same) {
      return &alternative;
    }
  }
  return nullptr;
}

// A piece is cut where a slice ends, so that each part belongs to one slice of every layer.
std::vector<Piece> cut(const Piece& piece, const std::vector<Slice>& slices) {
  const int size = slices.empty() ? 0 : slices.back().size;
  if (size == 0) {
    return {piece};
  }
  std::vector<Piece> parts;
  for (int rank = piece.first; rank < piece.first + piece.count;) {
    const int end = std::min(piece.first + piece.count, (rank / size + 1) * size);
    parts.push_back({.set = piece.set, .domain = piece.domain, .first = rank, .count = end - rank});
    rank = end;
  }
  return parts;
}

// The hosts by rank; nothing for those that are lost.
std::vector<std::optional<NodeId>> ranks_of(const TopologyAssignment& assignment, const std::set<std::size_t>& lost,
                                            const Inventory& inventory) {
  std::vector<std::optional<NodeId>> ranks;
  for (std::size_t i = 0; i < assignment.domains.size(); ++i) {
    const AssignedDomain& domain = assignment.domains[i];
    const auto node = lost.contains(i) ? std::nullopt : inventory.find(node_named(inventory, domain.values.back()));
    ranks.insert(ranks.end(), static_cast<std::size_t>(domain.count), node);
  }
  return ranks;
}

std::vector<NodeId> hosts_in(const std::vector<std::optional<NodeId>>& ranks, int first, int end) {
  std::vector<NodeId> hosts;
  for (int rank = first; rank < std::min(end, static_cast<int>(ranks.size())); ++rank) {
    if (const auto& host = ranks[static_cast<std::size_t>(rank)]) {
      hosts.push_back(*host);
    }
  }
  return hosts;
}

// Keeps a piece where its pod set, and its slice in every layer, are already.
void confine_piece(PodSet& pods, const Piece& piece, const Constraint& asked, TopologyId topology,
                   const std::vector<std::optional<NodeId>>& ranks, Cluster& cluster) {
  const auto stay = [&](int level, int first, int end) {
    const std::vector<NodeId> hosts = hosts_in(ranks, first, end);
    if (const auto path = hosts.empty() ? std::nullopt : common_domain(cluster.engine(), topology, level, hosts)) {
      confine(pods.shape, cluster.engine().topology(topology), *path, cluster.inventory().strings());
    }
  };
  if (asked.required) {
    stay(*asked.required, 0, static_cast<int>(ranks.size()));
  }
  for (const Slice& slice : asked.slices) {
    const int first = piece.first / slice.size * slice.size;
    stay(slice.level, first, first + slice.size);
  }
}

// Whether it needs more pods than those that are over, and those that are, or go, where there is nothing wrong. An
// empty host that goes takes nothing away.
bool misses_pods(const Ledger& ledger, const Entry& entry, const SetAssignment& set,
                 const std::set<std::string>& lost) {
  const auto over = entry.object.reclaimable.find(set.name);
  int there = over == entry.object.reclaimable.end() ? 0 : over->second;
  for (const std::string& key : ledger.pods_of(entry.key())) {
    const StartedPod& pod = ledger.pods.at(key);
    const auto pinned = pod.selector.find(kHostnameLabel);
    const std::string node = pod.node.empty() && pinned != pod.selector.end()
                                 ? node_named(ledger.cluster.inventory(), pinned->second)
                                 : pod.node;
    there += pod.set == set.name && !pod.ended && !pod.deleting && !pod.gated && !lost.contains(node) ? 1 : 0;
  }
  return there < set.count;
}

// A domain that pods must not leave.
struct Home {
  TopologyId topology;
  std::vector<std::string> path;  // of label values
};

// The lost ranks of a pod set as a group of pieces, each of which stays where its neighbours are.
void add_pieces(Group& parent, const PodSet& set, TopologyId topology, std::size_t position,
                const TopologyAssignment& assignment, const std::set<std::size_t>& domains,
                const std::optional<Home>& home, std::vector<Piece>& pieces, Cluster& cluster) {
  const Constraint& asked = set.constraint;
  const auto ranks = ranks_of(assignment, domains, cluster.inventory());
  Group& group = parent.groups.emplace_back();
  group.constraint.topology = topology;
  group.constraint.required = asked.required;
  group.constraint.packing = Packing::kPack;
  int rank = 0;
  for (std::size_t d = 0; d < assignment.domains.size(); rank += assignment.domains[d++].count) {
    const Piece whole{.set = position, .domain = d, .first = rank, .count = assignment.domains[d].count};
    for (const Piece& piece : domains.contains(d) ? cut(whole, asked.slices) : std::vector<Piece>()) {
      PodSet& pods = group.pod_sets.emplace_back(set);
      pods.name = fmt::format("{}-{}", set.name, piece.first);
      pods.count = piece.count;
      pods.min_count = piece.count;
      pods.constraint = {};
      pods.constraint.topology = topology;
      pods.constraint.required = asked.slices.empty() ? std::nullopt : std::optional(asked.slices.back().level);
      pods.constraint.packing = Packing::kPack;
      confine_piece(pods, piece, asked, topology, ranks, cluster);
      if (home) {
        confine(pods.shape, cluster.engine().topology(home->topology), home->path, cluster.inventory().strings());
      }
      pieces.push_back(piece);
    }
  }
}

// The gang of what is lost, built as the one that was admitted.
class Remainder {
 public:
  Remainder(const Alternative& alternative, const Admission& admission, const HostReplacement::Lost& lost,
            Cluster& cluster)
      : admission_(admission), lost_(lost), cluster_(cluster) {
    gang_.key = alternative.gang.key;
    gang_.topology = alternative.gang.topology;
    add(gang_.root, alternative.gang.root.pod_sets, std::nullopt);
    for (const Group& group : alternative.gang.root.groups) {
      if (loses(group.pod_sets)) {
        Group& outer = gang_.root.groups.emplace_back();
        outer.constraint.topology = group.constraint.topology;
        outer.constraint.required = group.constraint.required;
        outer.constraint.packing = Packing::kPack;
        add(outer, group.pod_sets, home_of(group));
      }
    }
  }

  [[nodiscard]] const Gang& gang() const { return gang_; }
  // By pod set of the gang, in depth-first order.
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  // Whether all that is lost is in it.
  [[nodiscard]] bool complete() const { return found_.size() == lost_.size(); }

 private:
  [[nodiscard]] std::optional<std::size_t> position(const PodSet& set) const {
    for (std::size_t i = 0; i < admission_.sets.size(); ++i) {
      if (admission_.sets[i].name == set.name && admission_.sets[i].topology) {
        return i;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] bool loses(const std::vector<PodSet>& sets) const {
    return std::any_of(sets.begin(), sets.end(), [&](const PodSet& set) {
      const auto at = position(set);
      return at && lost_.contains(*at);
    });
  }

  // Where the group is as a whole: by what is left of all its pod sets. Nothing where nothing is, or where it may be
  // anywhere.
  [[nodiscard]] std::optional<Home> home_of(const Group& group) const {
    if (!group.constraint.required) {
      return std::nullopt;
    }
    const TopologyId topology = group.constraint.topology.value_or(gang_.topology);
    std::vector<NodeId> hosts;
    for (const PodSet& set : group.pod_sets) {
      if (const auto at = position(set)) {
        const auto gone = lost_.find(*at);
        const auto ranks = ranks_of(*admission_.sets[*at].topology,
                                    gone == lost_.end() ? std::set<std::size_t>() : gone->second, cluster_.inventory());
        const std::vector<NodeId> left = hosts_in(ranks, 0, static_cast<int>(ranks.size()));
        hosts.insert(hosts.end(), left.begin(), left.end());
      }
    }
    if (hosts.empty()) {
      return std::nullopt;
    }
    auto path = common_domain(cluster_.engine(), topology, *group.constraint.required, hosts);
    return path ? std::optional(Home{.topology = topology, .path = std::move(*path)}) : std::nullopt;
  }

  void add(Group& parent, const std::vector<PodSet>& sets, const std::optional<Home>& home) {
    for (const PodSet& set : sets) {
      const auto at = position(set);
      const auto domains = at ? lost_.find(*at) : lost_.end();
      if (domains != lost_.end()) {
        found_.insert(*at);
        add_pieces(parent, set, set.constraint.topology.value_or(gang_.topology), *at, *admission_.sets[*at].topology,
                   domains->second, home, pieces_, cluster_);
      }
    }
  }

  const Admission& admission_;
  const HostReplacement::Lost& lost_;
  Cluster& cluster_;
  Gang gang_;
  std::vector<Piece> pieces_;
  std::set<std::size_t> found_;
};

}  // namespace

void HostReplacement::touch_users() {
  if (changed_.empty()) {
    return;
  }
  const std::set<std::string> nodes = std::exchange(changed_, {});
  for (const auto& [key, entry] : ledger_.holders) {
    for (const SetAssignment& set : entry->admission()->sets) {
      const std::vector<HostCount> hosts = booking_.hosts_of(*entry, set);
      if (std::any_of(hosts.begin(), hosts.end(), [&](const HostCount& host) { return nodes.contains(host.node); })) {
        ledger_.dirty.insert(key);
      }
    }
  }
}

// Adds to `hosts` those that are of no use any more, and on which it needs pods.
HostReplacement::Lost HostReplacement::lost_domains(const Entry& entry, std::set<std::string>& hosts) const {
  Lost lost;
  const std::vector<SetAssignment>& sets = entry.object.admission->sets;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::optional<TopologyAssignment>& topology = sets[i].topology;
    if (!topology || topology->levels.back() != kHostnameLabel) {
      continue;
    }
    std::set<std::size_t> domains;
    std::set<std::string> nodes;
    for (std::size_t d = 0; d < topology->domains.size(); ++d) {
      const std::string node = node_named(ledger_.cluster.inventory(), topology->domains[d].values.back());
      if (is_lost(ledger_, entry, sets[i], node)) {
        domains.insert(d);
        nodes.insert(node);
      }
    }
    if (!domains.empty() && misses_pods(ledger_, entry, sets[i], nodes)) {
      lost.emplace(i, std::move(domains));
      hosts.merge(nodes);
    }
  }
  return lost;
}

bool HostReplacement::mend(Entry& entry, Time now, Step& step) {
  Admission admission = *entry.object.admission;
  std::set<std::string> hosts;
  const Lost lost = lost_domains(entry, hosts);
  if (lost.empty()) {
    return give_up(entry, now, step);
  }
  const Submission submission = submission_for(entry, ledger_);
  if (submission.alternatives.empty() && submission.rejection && submission.rejection->waits) {
    return false;  // its queue is stopped, or gone: what it has left it may keep
  }
  entry.failed_hosts = entry.object.unhealthy;
  entry.failed_hosts.insert(hosts.begin(), hosts.end());
  const Alternative* alternative = chosen(submission, admission);
  booking_.unbook(entry);  // what it holds on hosts that stay is looked at anew with the rest
  if (alternative == nullptr || !place_again(*alternative, lost, admission, entry)) {
    booking_.book(entry);
    evict(entry, hosts, now, step);
    return true;
  }
  step.news.push_back(fmt::format("workload \"{}\" gets other hosts for {}", entry.key(), fmt::join(hosts, ", ")));
  entry.assumed = std::move(admission);
  entry.sent = false;
  entry.hosts.clear();
  booking_.book(entry);
  grants_.write(entry, now, step);
  return true;
}

void HostReplacement::evict(Entry& entry, const std::set<std::string>& hosts, Time now, Step& step) {
  evictions_.evict(entry,
                   {.reason = "NodeFailures",
                    .message = fmt::format("hosts failed ({}), and no others take their pods where they have to be",
                                           fmt::join(hosts, ", "))},
                   now, step);
  evictions_.write(entry, now, step);
}

// In a domain of several hosts kube-scheduler finds others for them, as long as there is one with room.
bool HostReplacement::give_up(Entry& entry, Time now, Step& step) {
  std::set<std::string> gone;
  for (const SetAssignment& set : entry.object.admission->sets) {
    for (const HostCount& host : is_by_host(set) ? std::vector<HostCount>() : booking_.hosts_of(entry, set)) {
      if (is_lost(ledger_, entry, set, host.node)) {
        gone.insert(host.node);
      }
    }
  }
  if (gone.empty() || !booking_.is_short_of_room(entry)) {
    return false;
  }
  entry.failed_hosts = entry.object.unhealthy;
  entry.failed_hosts.insert(gone.begin(), gone.end());
  evict(entry, gone, now, step);
  return true;
}

// Places the lost pods beside those that stay, and writes it into the admission. The cluster is left as it was.
bool HostReplacement::place_again(const Alternative& alternative, const Lost& lost, Admission& admission,
                                  Entry& entry) {
  book_kept(entry, lost);
  const Remainder remainder(alternative, admission, lost, ledger_.cluster);
  const std::vector<Piece>& pieces = remainder.pieces();
  const Outcome outcome = remainder.complete() ? ledger_.cluster.engine().place(remainder.gang()) : Outcome();
  booking_.unbook(entry);
  if (!outcome.placement) {
    return false;
  }
  // From the last to the first, so that positions stay true.
  for (const auto& [s, domains] : lost) {
    std::vector<AssignedDomain>& list = admission.sets[s].topology->domains;
    for (auto d = domains.rbegin(); d != domains.rend(); ++d) {
      std::vector<AssignedDomain> fresh;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        for (const HostShare& share : outcome.placement->pod_sets[i]) {
          if (pieces[i].set == s && pieces[i].domain == *d) {
            fresh.push_back({.values = {hostname_of(ledger_.cluster.inventory(), share.node)}, .count = share.count});
          }
        }
      }
      const auto at = list.erase(list.begin() + static_cast<std::ptrdiff_t>(*d));
      list.insert(at, fresh.begin(), fresh.end());
    }
  }
  return true;
}

// Holds the room of the domains that stay.
void HostReplacement::book_kept(Entry& entry, const Lost& lost) {
  std::optional<Admission> kept = entry.object.admission;
  for (const auto& [s, domains] : lost) {
    std::vector<AssignedDomain>& list = kept->sets[s].topology->domains;
    for (auto d = domains.rbegin(); d != domains.rend(); ++d) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(*d));
    }
  }
  std::swap(entry.assumed, kept);
  entry.hosts.clear();
  booking_.book(entry);
  std::swap(entry.assumed, kept);
}

}  // namespace gantree::kueue

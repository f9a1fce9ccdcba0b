#include "kueue/remainder.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/gangs.h"
#include "engine/domain_tree.h"
#include "kueue/hosts.h"

namespace gantree::kueue {

namespace {

// The hosts by rank; nothing for those that are lost.
std::vector<std::optional<NodeId>> ranks_of(const TopologyAssignment& assignment, const std::set<int>& lost,
                                            const Ledger& ledger) {
  std::vector<std::optional<NodeId>> ranks;
  for (const AssignedDomain& domain : assignment.domains) {
    const auto node = ledger.cluster.inventory().find(ledger.hostnames.node_named(domain.values.back()));
    for (int i = 0; i < domain.count; ++i) {
      ranks.push_back(lost.contains(static_cast<int>(ranks.size())) ? std::nullopt : node);
    }
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
void confine_piece(PodSet& pods, int rank, const Constraint& asked, TopologyId topology,
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
    const int first = rank / slice.size * slice.size;
    stay(slice.level, first, first + slice.size);
  }
}

void append(std::vector<AssignedDomain>& domains, std::vector<std::string> values, int count) {
  if (!domains.empty() && domains.back().values == values) {
    domains.back().count += count;
  } else if (count > 0) {
    domains.push_back({.values = std::move(values), .count = count});
  }
}

}  // namespace

TopologyAssignment without_ranks(const TopologyAssignment& assignment, const std::set<int>& lost) {
  TopologyAssignment kept{.levels = assignment.levels, .domains = {}};
  int rank = 0;
  for (const AssignedDomain& domain : assignment.domains) {
    const int end = rank + domain.count;
    const auto gone = std::distance(lost.lower_bound(rank), lost.lower_bound(end));
    append(kept.domains, domain.values, domain.count - static_cast<int>(gone));
    rank = end;
  }
  return kept;
}

Remainder::Remainder(const Alternative& alternative, const Admission& admission, const LostRanks& lost, Ledger& ledger)
    : admission_(admission), lost_(lost), ledger_(ledger) {
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

// A piece is cut where a slice ends, so that each part belongs to one slice of every layer.
std::vector<Remainder::Piece> Remainder::cut(const Piece& piece, const std::vector<Slice>& slices) {
  const int size = slices.empty() ? 0 : slices.back().size;
  if (size == 0) {
    return {piece};
  }
  std::vector<Piece> parts;
  for (int rank = piece.first; rank < piece.first + piece.count;) {
    const int end = std::min(piece.first + piece.count, (rank / size + 1) * size);
    parts.push_back({.set = piece.set, .first = rank, .count = end - rank});
    rank = end;
  }
  return parts;
}

std::vector<Remainder::Piece> Remainder::pieces_of(std::size_t set, const std::vector<Slice>& slices) const {
  const std::set<int>& lost = lost_.at(set);
  std::vector<Piece> pieces;
  int end = 0;
  for (const AssignedDomain& domain : admission_.sets[set].topology->domains) {
    int rank = end;
    end += domain.count;
    while (rank < end) {
      const int first = rank;
      while (rank < end && lost.contains(rank)) {
        ++rank;
      }
      const Piece whole{.set = set, .first = first, .count = rank - first};
      const std::vector<Piece> parts = whole.count == 0 ? std::vector<Piece>() : cut(whole, slices);
      pieces.insert(pieces.end(), parts.begin(), parts.end());
      rank += whole.count == 0 ? 1 : 0;
    }
  }
  return pieces;
}

std::optional<std::size_t> Remainder::position(const PodSet& set) const {
  for (std::size_t i = 0; i < admission_.sets.size(); ++i) {
    if (admission_.sets[i].name == set.name && admission_.sets[i].topology) {
      return i;
    }
  }
  return std::nullopt;
}

bool Remainder::loses(const std::vector<PodSet>& sets) const {
  return std::any_of(sets.begin(), sets.end(), [&](const PodSet& set) {
    const auto at = position(set);
    return at && lost_.contains(*at);
  });
}

// Where the group is as a whole: by what is left of all its pod sets. Nothing where nothing is, or where it may be
// anywhere.
std::optional<Remainder::Home> Remainder::home_of(const Group& group) const {
  if (!group.constraint.required) {
    return std::nullopt;
  }
  const TopologyId topology = group.constraint.topology.value_or(gang_.topology);
  std::vector<NodeId> hosts;
  for (const PodSet& set : group.pod_sets) {
    if (const auto at = position(set)) {
      const auto gone = lost_.find(*at);
      const auto ranks =
          ranks_of(*admission_.sets[*at].topology, gone == lost_.end() ? std::set<int>() : gone->second, ledger_);
      const std::vector<NodeId> left = hosts_in(ranks, 0, static_cast<int>(ranks.size()));
      hosts.insert(hosts.end(), left.begin(), left.end());
    }
  }
  if (hosts.empty()) {
    return std::nullopt;
  }
  auto path = common_domain(ledger_.cluster.engine(), topology, *group.constraint.required, hosts);
  return path ? std::optional(Home{.topology = topology, .path = std::move(*path)}) : std::nullopt;
}

void Remainder::add(Group& parent, const std::vector<PodSet>& sets, const std::optional<Home>& home) {
  for (const PodSet& set : sets) {
    if (const auto at = position(set); at && lost_.contains(*at)) {
      found_.insert(*at);
      add_pieces(parent, set, *at, home);
    }
  }
}

// The lost ranks of a pod set as a group of pieces, each of which stays where its neighbours are.
void Remainder::add_pieces(Group& parent, const PodSet& set, std::size_t at, const std::optional<Home>& home) {
  Cluster& cluster = ledger_.cluster;
  const TopologyId topology = set.constraint.topology.value_or(gang_.topology);
  const Constraint& asked = set.constraint;
  const auto ranks = ranks_of(*admission_.sets[at].topology, lost_.at(at), ledger_);
  Group& group = parent.groups.emplace_back();
  group.constraint.topology = topology;
  group.constraint.required = asked.required;
  group.constraint.packing = Packing::kPack;
  const auto add_piece = [&](Group& slice, const Piece& piece) {
    PodSet& pods = slice.pod_sets.emplace_back(set);
    pods.name = fmt::format("{}-{}", set.name, piece.first);
    pods.count = piece.count;
    pods.min_count = piece.count;
    pods.constraint = {};
    pods.constraint.topology = topology;
    pods.constraint.required = asked.slices.empty() ? std::nullopt : std::optional(asked.slices.back().level);
    pods.constraint.packing = Packing::kPack;
    confine_piece(pods, piece.first, asked, topology, ranks, cluster);
    if (home) {
      confine(pods.shape, cluster.engine().topology(home->topology), home->path, cluster.inventory().strings());
    }
    pieces_.push_back(piece);
  };
  const std::vector<Piece> pieces = pieces_of(at, asked.slices);
  add_slices(group, topology, asked.slices, 0, pieces, add_piece);
}

// Pieces of one slice stay together, also where nothing is left of it: a group for each slice of every layer. Of the
// lowest none is needed where every slice is one piece.
void Remainder::add_slices(Group& parent, TopologyId topology, std::span<const Slice> slices, std::size_t layer,
                           std::span<const Piece> pieces, const AddPiece& add_piece) {
  const bool one_each = layer + 1 == slices.size() &&
                        std::adjacent_find(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) {
                          return a.first / slices[layer].size == b.first / slices[layer].size;
                        }) == pieces.end();
  if (layer >= slices.size() || one_each) {
    std::for_each(pieces.begin(), pieces.end(), [&](const Piece& piece) { add_piece(parent, piece); });
    return;
  }
  const int size = slices[layer].size;
  while (!pieces.empty()) {
    const int slice = pieces.front().first / size;
    const auto end =
        std::find_if(pieces.begin(), pieces.end(), [&](const Piece& piece) { return piece.first / size != slice; });
    const auto count = static_cast<std::size_t>(end - pieces.begin());
    Group& group = parent.groups.emplace_back();
    group.constraint.topology = topology;
    group.constraint.required = slices[layer].level;
    group.constraint.packing = Packing::kPack;
    add_slices(group, topology, slices, layer + 1, pieces.first(count), add_piece);
    pieces = pieces.subspan(count);
  }
}

Admission Remainder::mended(const Placement& placement) const {
  Admission mended = admission_;
  for (const auto& [set, lost] : lost_) {
    const TopologyAssignment& before = *admission_.sets[set].topology;
    std::vector<AssignedDomain> domains;
    std::size_t at = 0;  // the next piece
    int rank = 0;
    for (const AssignedDomain& domain : before.domains) {
      for (const int end = rank + domain.count; rank < end;) {
        if (!lost.contains(rank)) {
          append(domains, domain.values, 1);
          ++rank;
          continue;
        }
        while (pieces_[at].set != set || pieces_[at].first != rank) {
          ++at;
        }
        for (const HostShare& share : placement.pod_sets[at]) {
          const std::string& node = ledger_.cluster.inventory().node(share.node).name;
          append(domains, domain_of(ledger_.cluster.inventory(), node, before), share.count);
        }
        rank += pieces_[at].count;
      }
    }
    mended.sets[set].topology->domains = std::move(domains);
  }
  return mended;
}

}  // namespace gantree::kueue

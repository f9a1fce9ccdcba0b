// What a Workload has lost of its hosts: by rank, as a gang that is built like the one that was admitted, and put back
// into its assignment.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kueue/ledger.h"
#include "model/decision.h"
#include "model/gang.h"
#include "queue/submission.h"

namespace gantree::kueue {

// Ranks that have to be elsewhere, by pod set of the admission.
using LostRanks = std::map<std::size_t, std::set<int>>;

// The assignment without them.
[[nodiscard]] TopologyAssignment without_ranks(const TopologyAssignment& assignment, const std::set<int>& lost);

class Remainder {
 public:
  // All of them must outlive it. The ranks that are left keep the others where they have to be.
  Remainder(const Alternative& alternative, const Admission& admission, const LostRanks& lost, Ledger& ledger);

  [[nodiscard]] const Gang& gang() const { return gang_; }
  // Whether all that is lost is in it.
  [[nodiscard]] bool complete() const { return found_.size() == lost_.size(); }
  // The admission with the hosts that were found for the gang.
  [[nodiscard]] Admission mended(const Placement& placement) const;

 private:
  // Consecutive ranks of one domain that have lost their host.
  struct Piece {
    std::size_t set = 0;  // of the admission
    int first = 0;        // rank
    int count = 0;
  };
  // A domain that pods must not leave.
  struct Home {
    TopologyId topology;
    std::vector<std::string> path;  // of label values
  };

  [[nodiscard]] static std::vector<Piece> cut(const Piece& piece, const std::vector<Slice>& slices);
  [[nodiscard]] std::vector<Piece> pieces_of(std::size_t set, const std::vector<Slice>& slices) const;
  [[nodiscard]] std::optional<std::size_t> position(const PodSet& set) const;
  [[nodiscard]] bool loses(const std::vector<PodSet>& sets) const;
  [[nodiscard]] std::optional<Home> home_of(const Group& group) const;
  void add(Group& parent, const std::vector<PodSet>& sets, const std::optional<Home>& home);
  void add_pieces(Group& parent, const PodSet& set, std::size_t at, const std::optional<Home>& home);
  using AddPiece = std::function<void(Group& slice, const Piece& piece)>;
  static void add_slices(Group& parent, TopologyId topology, std::span<const Slice> slices, std::size_t layer,
                         std::span<const Piece> pieces, const AddPiece& add_piece);

  const Admission& admission_;
  const LostRanks& lost_;
  Ledger& ledger_;
  Gang gang_;
  std::vector<Piece> pieces_;  // by pod set of the gang, in depth-first order
  std::set<std::size_t> found_;
};

}  // namespace gantree::kueue

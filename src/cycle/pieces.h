// Running gangs as they may be evicted: whole, or without the pods above their minimum.
//
// Each of the latter is a candidate by itself, and so is what remains of a gang without them. Who chooses that has the
// whole gang go.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "model/running.h"
#include "queue/victims.h"

namespace gantree {

struct Piece {
  const RunningGang* gang = nullptr;
  VictimCandidate victim = {};  // with `spare` of a piece above the minimum
};

class Pieces {
 public:
  // `running` must outlive it, and stay as it is.
  Pieces(std::span<const RunningGang> running, std::span<const VictimCandidate> offered);

  // Those above the minimum of their gangs.
  [[nodiscard]] const std::vector<Piece>& spare() const { return spare_; }
  // These first, then what is left of their gangs, and the gangs that have none.
  [[nodiscard]] const std::vector<Piece>& all() const { return all_; }
  // The same choice, where gangs that go below their minimum go whole.
  [[nodiscard]] std::vector<Piece> whole_or_spare(std::span<const Piece> chosen) const;
  // Whether that is another choice.
  [[nodiscard]] bool is_torn(std::span<const Piece> chosen) const;

 private:
  std::span<const RunningGang> running_;
  std::deque<RunningGang> made_;
  std::vector<Piece> spare_;
  std::vector<Piece> all_;
};

// By position, each gang once.
[[nodiscard]] std::vector<VictimCandidate> victims_of(std::span<const Piece> chosen);

}  // namespace gantree

#include "cycle/pieces.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace gantree {

namespace {

// Beyond so many in all, several go at a time.
constexpr std::size_t kMostPieces = 512;

// The positions of gangs that go below their minimum.
std::set<std::size_t> ended(std::span<const Piece> chosen) {
  std::set<std::size_t> gangs;
  for (const Piece& piece : chosen) {
    if (piece.victim.spare.empty()) {
      gangs.insert(piece.victim.position);
    }
  }
  return gangs;
}

}  // namespace

Pieces::Pieces(std::span<const RunningGang> running, std::span<const VictimCandidate> offered) : running_(running) {
  std::size_t total = 0;
  for (const VictimCandidate& victim : offered) {
    total += running[victim.position].spare.size();
  }
  const std::size_t stride = std::max<std::size_t>(1, (total + kMostPieces - 1) / kMostPieces);
  std::vector<Piece> rest;
  for (const VictimCandidate& victim : offered) {
    const RunningGang& gang = running[victim.position];
    for (std::size_t first = 0; first < gang.spare.size(); first += stride) {
      std::vector<std::size_t> which(std::min(stride, gang.spare.size() - first));
      std::iota(which.begin(), which.end(), first);
      VictimCandidate part = victim;
      part.spare = which;
      spare_.push_back({.gang = &made_.emplace_back(only_spare(gang, which)), .victim = std::move(part)});
    }
    if (gang.spare.empty()) {
      rest.push_back({.gang = &gang, .victim = victim});
      continue;
    }
    RunningGang least = gang;
    std::vector<std::size_t> every(gang.spare.size());
    std::iota(every.begin(), every.end(), std::size_t{0});
    take_spare_off(least, every);
    if (!least.holdings.empty()) {
      least.more_pods = gang.pods() - least.pods();
      rest.push_back({.gang = &made_.emplace_back(std::move(least)), .victim = victim});
    }
  }
  all_ = spare_;
  all_.insert(all_.end(), rest.begin(), rest.end());
}

bool Pieces::is_torn(std::span<const Piece> chosen) const {
  const std::set<std::size_t> gone = ended(chosen);
  std::map<std::size_t, std::size_t> spare;
  for (const Piece& piece : chosen) {
    spare[piece.victim.position] += piece.victim.spare.size();
  }
  return std::any_of(gone.begin(), gone.end(),
                     [&](std::size_t position) { return spare[position] < running_[position].spare.size(); });
}

std::vector<Piece> Pieces::whole_or_spare(std::span<const Piece> chosen) const {
  const std::set<std::size_t> gone = ended(chosen);
  std::vector<Piece> closed;
  for (const Piece& piece : chosen) {
    if (piece.victim.spare.empty()) {
      closed.push_back({.gang = &running_[piece.victim.position], .victim = piece.victim});
    } else if (!gone.contains(piece.victim.position)) {
      closed.push_back(piece);
    }
  }
  return closed;
}

std::vector<VictimCandidate> victims_of(std::span<const Piece> chosen) {
  const std::set<std::size_t> gone = ended(chosen);
  std::map<std::size_t, VictimCandidate> victims;
  for (const Piece& piece : chosen) {
    const auto [it, fresh] = victims.try_emplace(piece.victim.position, piece.victim);
    std::vector<std::size_t>& spare = it->second.spare;
    if (gone.contains(piece.victim.position)) {
      spare.clear();
    } else if (!fresh) {
      spare.insert(spare.end(), piece.victim.spare.begin(), piece.victim.spare.end());
      std::sort(spare.begin(), spare.end());
    }
  }
  std::vector<VictimCandidate> found;
  for (auto& [position, victim] : victims) {
    found.push_back(std::move(victim));
  }
  return found;
}

}  // namespace gantree

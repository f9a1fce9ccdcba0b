#include "cycle/obstacle.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace gantree {

namespace {

// In the order in which waiting is worth while: for a release, for a better search, for quota; the
// last two never lift by themselves.
enum Rank : int { kBusyRank, kSearchLimitRank, kQuotaInUseRank, kTooLargeRank, kQuotaTooSmallRank };

std::string flavors_of(const Alternative& alternative) {
  std::vector<std::string> names = alternative.flavors;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::erase(names, "");
  if (names.empty()) {
    return "no flavor";
  }
  return fmt::format("{} \"{}\"", names.size() == 1 ? "flavor" : "flavors", fmt::join(names, "\", \""));
}

}  // namespace

bool Obstacle::is_for_ever() const {
  return rank >= kTooLargeRank;
}

Obstacle obstacle(const Outcome& refused, const Alternative& alternative) {
  Obstacle found{.message = refused.message, .flavors = flavors_of(alternative)};
  switch (refused.refusal) {
    case Refusal::kBusy:
      found.reason = Reason::kTopologyBusy;
      found.rank = kBusyRank;
      break;
    case Refusal::kSearchLimit:
      found.reason = Reason::kSearchLimit;
      found.rank = kSearchLimitRank;
      break;
    case Refusal::kTooLarge:
      found.reason = Reason::kTopologyTooLarge;
      found.rank = kTooLargeRank;
      break;
  }
  return found;
}

Obstacle obstacle(Shortage shortage, const Alternative& alternative) {
  return {.reason = Reason::kQuotaExceeded,
          .rank = shortage.ever ? kQuotaInUseRank : kQuotaTooSmallRank,
          .message = std::move(shortage.message),
          .flavors = flavors_of(alternative)};
}

const Obstacle& nearest(const std::vector<Obstacle>& obstacles) {
  GANTREE_CHECK(!obstacles.empty());
  return *std::min_element(obstacles.begin(), obstacles.end(),
                           [](const Obstacle& a, const Obstacle& b) { return a.rank < b.rank; });
}

std::string explain(const std::vector<Obstacle>& obstacles) {
  const Obstacle& first = nearest(obstacles);
  if (obstacles.size() == 1) {
    return first.message;
  }
  constexpr std::size_t kShown = 3;
  // A quota message names its flavor itself.
  std::string message =
      first.reason == Reason::kQuotaExceeded ? first.message : fmt::format("{}: {}", first.flavors, first.message);
  std::size_t shown = 0;
  for (const Obstacle& other : obstacles) {
    if (&other == &first) {
      continue;
    }
    if (shown == kShown) {
      message += fmt::format("; and {} more", obstacles.size() - 1 - kShown);
      break;
    }
    message += fmt::format("{}{}: {}", shown == 0 ? " (tried too: " : "; ", other.flavors, to_string(other.reason));
    ++shown;
  }
  return message + ")";
}

}  // namespace gantree

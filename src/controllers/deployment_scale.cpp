// A new size while a rollout is under way: every ReplicaSet keeps its part of the whole.
#include <algorithm>

#include "controllers/deployment_state.h"

namespace gantree::controllers {

namespace {

// Those that have pods; the newest one first.
std::vector<const Revision*> with_pods(const Rollout& rollout) {
  std::vector<const Revision*> found;
  if (rollout.current && rollout.current->wanted > 0) {
    found.push_back(&*rollout.current);
  }
  for (auto revision = rollout.old.rbegin(); revision != rollout.old.rend(); ++revision) {
    if (revision->wanted > 0) {
      found.push_back(&*revision);
    }
  }
  return found;
}

// How many pods more one would have if all grew alike. Halves are rounded away from zero.
std::int64_t growth(const Rollout& rollout, const Revision& revision) {
  if (rollout.replicas == 0) {
    return -revision.wanted;
  }
  const std::int64_t before = revision.most > 0 ? revision.most : whole_at(rollout.root, {"status", "replicas"});
  if (before <= 0) {
    return 0;
  }
  // Both may be near 2^31, and twice their product is more than 64 bits hold.
  __extension__ using Wide = __int128;
  const Wide grown = (Wide(2) * revision.wanted * rollout.most() + before) / (Wide(2) * before);
  return static_cast<std::int64_t>(grown) - revision.wanted;
}

void share(const Rollout& rollout, std::vector<const Revision*> active, Turn& turn) {
  const std::int64_t allowed = rollout.replicas > 0 ? rollout.most() : 0;
  const std::int64_t missing = allowed - rollout.total_wanted();
  // The largest first. Among equals the newest grows first, and the oldest shrinks first.
  if (missing < 0) {
    std::reverse(active.begin(), active.end());
  }
  std::stable_sort(active.begin(), active.end(),
                   [](const Revision* a, const Revision* b) { return a->wanted > b->wanted; });
  std::vector<std::int64_t> sizes;
  std::int64_t shared = 0;
  for (const Revision* revision : active) {
    const std::int64_t left = missing - shared;
    const std::int64_t part = left == 0     ? 0
                              : missing > 0 ? std::min(growth(rollout, *revision), left)
                                            : std::max(growth(rollout, *revision), left);
    sizes.push_back(revision->wanted + part);
    shared += part;
  }
  sizes.front() = std::max<std::int64_t>(sizes.front() + missing - shared, 0);
  for (std::size_t i = 0; i < active.size(); ++i) {
    set_scale(rollout, *active[i], sizes[i], turn);
  }
}

}  // namespace

bool resized(const Rollout& rollout) {
  const auto active = with_pods(rollout);
  return std::any_of(active.begin(), active.end(), [&](const Revision* revision) {
    return revision->desired && *revision->desired != rollout.replicas;
  });
}

bool share_new_size(const Rollout& rollout, Turn& turn) {
  const auto active = with_pods(rollout);
  if (active.size() <= 1) {
    const Revision* only = !active.empty()       ? active.front()
                           : rollout.current     ? &*rollout.current
                           : rollout.old.empty() ? nullptr
                                                 : &rollout.old.back();
    if (only == nullptr || (only->wanted == rollout.replicas && only->desired == rollout.replicas)) {
      return false;
    }
    set_scale(rollout, *only, rollout.replicas, turn);
    return true;
  }
  if (!resized(rollout)) {
    return false;
  }
  const bool saturated = rollout.current && rollout.current->wanted == rollout.replicas &&
                         rollout.current->desired == rollout.replicas && rollout.current->available == rollout.replicas;
  if (saturated) {
    for (const Revision* revision : active) {
      if (revision != &*rollout.current) {
        set_scale(rollout, *revision, 0, turn);
      }
    }
  } else if (!rollout.recreate) {
    share(rollout, active, turn);
  }
  return saturated || !rollout.recreate;
}

}  // namespace gantree::controllers

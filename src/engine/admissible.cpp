#include "engine/admissible.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace gantree {

namespace {

constexpr std::size_t kMostGroupsToChooseFrom = 256;

bool alike_sets(const PodSet& a, const PodSet& b) {
  return a.count == b.count && a.min_count == b.min_count && a.constraint == b.constraint && a.shape == b.shape;
}

bool alike_groups(const Group& a, const Group& b) {
  return a.min_pods == b.min_pods && a.min_groups == b.min_groups && a.constraint == b.constraint &&
         std::equal(a.pod_sets.begin(), a.pod_sets.end(), b.pod_sets.begin(), b.pod_sets.end(), alike_sets) &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(), alike_groups);
}

// Shares `extra` pods out among the positions [begin, end).
void share_out(Counts& counts, const Counts& most, std::size_t begin, std::size_t end, std::int64_t extra,
               Sharing sharing) {
  std::int64_t room = 0;
  for (std::size_t s = begin; s < end; ++s) {
    room += most[s] - counts[s];
  }
  extra = std::min(extra, room);
  if (sharing == Sharing::kEvenly && room > 0) {
    const std::int64_t whole = extra;
    for (std::size_t s = begin; s < end; ++s) {
      const std::int64_t share = (most[s] - counts[s]) * whole / room;
      counts[s] += static_cast<int>(share);
      extra -= share;
    }
  }
  for (std::size_t i = begin; i < end && extra > 0; ++i) {
    const std::size_t s = sharing == Sharing::kLastSets ? end - 1 - (i - begin) : i;
    const std::int64_t share = std::min<std::int64_t>(extra, most[s] - counts[s]);
    counts[s] += static_cast<int>(share);
    extra -= share;
  }
}

// The largest part of what a pod set can spare that it goes without, in thousandths.
std::int64_t unevenness(const Box& box, const Counts& counts) {
  std::int64_t worst = 0;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    const std::int64_t spare = box.most[s] - box.least[s];
    worst = std::max(worst, spare == 0 ? 0 : (box.most[s] - counts[s]) * std::int64_t{1000} / spare);
  }
  return worst;
}

bool meets_pools(const Box& box, const Counts& counts) {
  return std::all_of(box.pools.begin(), box.pools.end(), [&](const Pool& pool) {
    return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(pool.begin),
                           counts.begin() + static_cast<std::ptrdiff_t>(pool.end), std::int64_t{0}) >= pool.least;
  });
}

}  // namespace

std::int64_t total(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

Counts smallest(const Box& box, Sharing sharing) {
  Counts counts = box.least;
  for (const Pool& pool : box.pools) {
    std::int64_t have = 0;
    for (std::size_t s = pool.begin; s < pool.end; ++s) {
      have += counts[s];
    }
    share_out(counts, box.most, pool.begin, pool.end, pool.least - have, sharing);
  }
  return counts;
}

Counts grown(const Counts& from, const Counts& to, std::int64_t extra, Sharing sharing) {
  Counts counts = from;
  if (sharing != Sharing::kEvenly) {
    share_out(counts, to, 0, counts.size(), extra, sharing);
    return counts;
  }
  // Rounded down for every set alike: then a larger `extra` never takes a pod away from any.
  const std::int64_t room = total(to) - total(from);
  for (std::size_t s = 0; s < counts.size() && room > 0; ++s) {
    counts[s] += static_cast<int>((to[s] - from[s]) * extra / room);
  }
  return counts;
}

std::optional<std::vector<Counts>> all_counts(const Box& box, std::size_t limit) {
  std::size_t number = 1;
  for (std::size_t s = 0; s < box.least.size(); ++s) {
    number *= static_cast<std::size_t>(box.most[s] - box.least[s]) + 1;
    if (number > limit) {
      return std::nullopt;
    }
  }
  std::vector<Counts> all;
  Counts counts = box.least;
  while (true) {
    if (total(counts) > 0 && meets_pools(box, counts)) {
      all.push_back(counts);
    }
    std::size_t s = 0;
    while (s < counts.size() && counts[s] == box.most[s]) {
      counts[s] = box.least[s];
      ++s;
    }
    if (s == counts.size()) {
      break;
    }
    ++counts[s];
  }
  std::stable_sort(all.begin(), all.end(), [&](const Counts& a, const Counts& b) {
    return std::tuple(-total(a), unevenness(box, a)) < std::tuple(-total(b), unevenness(box, b));
  });
  return all;
}

Admissible::Admissible(const Group& root) {
  add(root, kNone, 0);
}

void Admissible::add(const Group& group, std::size_t parent, std::size_t own_kind) {
  const std::size_t own = groups_.size();
  groups_.emplace_back();
  Flat flat{.group = &group, .parent = parent, .kind = own_kind, .first_set = sets_};
  for (const PodSet& set : group.pod_sets) {
    flat.pods += set.count;
  }
  sets_ += group.pod_sets.size();
  flat.own_end = sets_;
  const int needed = std::max(group.min_groups.value_or(static_cast<int>(group.groups.size())), 0);
  flat.spare = group.groups.size() - std::min(group.groups.size(), static_cast<std::size_t>(needed));
  std::vector<std::size_t> kinds;  // one of each
  for (const Group& nested : group.groups) {
    const auto like = std::find_if(kinds.begin(), kinds.end(),
                                   [&](std::size_t other) { return alike_groups(*groups_[other].group, nested); });
    const std::size_t at = groups_.size();
    const std::size_t kind = like == kinds.end() ? at : *like;
    if (kind == at) {
      kinds.push_back(at);
    }
    add(nested, own, kind);
    flat.pods += groups_[at].pods;
  }
  flat.next = groups_.size();
  flat.sets_end = sets_;
  groups_[own] = flat;
}

// The minima of one group's own pod sets.
void Admissible::fill(std::size_t group, Box& box) const {
  const Flat& flat = groups_[group];
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (std::size_t s = flat.first_set; s < flat.own_end; ++s) {
    const PodSet& set = flat.group->pod_sets[s - flat.first_set];
    box.most[s] = std::max(set.count, 0);
    box.least[s] = std::clamp(set.min_count, 0, box.most[s]);
    least += box.least[s];
    most += box.most[s];
  }
  const std::int64_t needed = flat.group->min_pods.value_or(0);
  if (needed > most) {
    box.short_of_pods = flat.group;
  } else if (needed > least) {
    box.pools.push_back({flat.first_set, flat.own_end, needed});
  }
}

Box Admissible::box(const LeftOut& left_out) const {
  Box box{Counts(sets_, 0), Counts(sets_, 0), {}, nullptr};
  for (std::size_t g = 0; g < groups_.size();) {
    if (left_out[g]) {
      g = groups_[g].next;
      continue;
    }
    fill(g, box);
    ++g;
  }
  return box;
}

Box Admissible::only(std::size_t group) const {
  Box box{Counts(sets_, 0), Counts(sets_, 0), {}, nullptr};
  for (std::size_t g = group; g < groups_[group].next; ++g) {
    fill(g, box);
  }
  return box;
}

bool Admissible::may_leave(const LeftOut& left_out, std::size_t group) const {
  const std::size_t parent = groups_[group].parent;
  if (parent == kNone || left_out[group]) {
    return false;
  }
  for (std::size_t above = parent; above != kNone; above = groups_[above].parent) {
    if (left_out[above]) {
      return false;
    }
  }
  std::size_t left = 0;
  for (std::size_t g = parent + 1; g < groups_[parent].next; g = groups_[g].next) {
    left += left_out[g] ? 1 : 0;
  }
  return left < groups_[parent].spare;
}

std::vector<std::size_t> Admissible::order_of_leaving(bool largest_first, const LeftOut& first) const {
  std::vector<std::size_t> order;
  for (std::size_t g = groups_.size(); g-- > 1;) {
    if (groups_[groups_[g].parent].spare > 0) {
      order.push_back(g);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto rank = [&](std::size_t g) {
      return std::pair(first[g] ? 0 : 1, largest_first ? -groups_[g].pods : groups_[g].pods);
    };
    return rank(a) < rank(b);
  });
  LeftOut left_out = nothing_left_out();
  std::erase_if(order, [&](std::size_t g) {
    if (!may_leave(left_out, g)) {
      return true;
    }
    left_out[g] = true;
    return false;
  });
  return order;
}

std::vector<std::size_t> Admissible::optional_kinds() const {
  std::vector<std::size_t> kinds;
  for (std::size_t g = 1; g < groups_.size(); ++g) {
    if (groups_[g].kind == g && groups_[groups_[g].parent].spare > 0) {
      kinds.push_back(g);
    }
  }
  return kinds;
}

std::vector<std::size_t> Admissible::alike(std::size_t group) const {
  std::vector<std::size_t> found;
  const std::size_t parent = groups_[group].parent;
  for (std::size_t g = parent + 1; g < groups_[parent].next; g = groups_[g].next) {
    if (groups_[g].kind == groups_[group].kind) {
      found.push_back(g);
    }
  }
  return found;
}

bool Admissible::choose(std::size_t group, LeftOut& left_out, std::size_t limit, std::vector<LeftOut>& out) const {
  if (group == groups_.size()) {
    out.push_back(left_out);
    return out.size() <= limit;
  }
  const Flat& flat = groups_[group];
  // Of equal siblings the first ones are kept.
  bool earlier_left = false;
  for (std::size_t g = flat.kind; flat.parent != kNone && g < group; g = groups_[g].next) {
    earlier_left |= groups_[g].kind == flat.kind && left_out[g];
  }
  if (!earlier_left && !choose(group + 1, left_out, limit, out)) {
    return false;
  }
  if (!may_leave(left_out, group)) {
    return true;
  }
  left_out[group] = true;
  const bool within_limit = choose(flat.next, left_out, limit, out);
  left_out[group] = false;
  return within_limit;
}

std::optional<std::vector<LeftOut>> Admissible::choices(std::size_t limit) const {
  LeftOut left_out = nothing_left_out();
  if (optional_kinds().empty()) {
    return std::vector<LeftOut>(1, left_out);
  }
  if (groups_.size() > kMostGroupsToChooseFrom) {
    return std::nullopt;
  }
  std::vector<LeftOut> all;
  if (!choose(0, left_out, limit, all)) {
    return std::nullopt;
  }
  return all;
}

}  // namespace gantree

#include "engine/matching.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace gantree {

namespace {

constexpr std::uint32_t kUnreached = ~std::uint32_t{0};

// Calls `look` with the position of every bit until it answers true.
template <class Words, class Look>
bool any_bit(std::size_t words, Words word, Look look) {
  for (std::size_t w = 0; w < words; ++w) {
    for (std::uint64_t left = word(w); left != 0; left &= left - 1) {
      if (look(static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(left)))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Matching::Matching(std::size_t places, std::vector<int> wanted, Choices choices, Budget& budget)
    : missing_(std::move(wanted)),
      choices_(std::move(choices)),
      budget_(budget),
      allowed_(missing_.size(), Bits((places + 63) / 64, 0)),
      usable_((places + 63) / 64, 0),
      open_((places + 63) / 64, 0),
      free_((places + 63) / 64, ~std::uint64_t{0}),
      owner_(places, kNobody),
      reached_by_(places, kUnreached) {}

void Matching::open(std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t place = begin; place < end; ++place) {
    set(open_, place);
  }
}

void Matching::close_all() {
  std::fill(open_.begin(), open_.end(), 0);
  std::fill(free_.begin(), free_.end(), ~std::uint64_t{0});
  for (std::uint32_t& owner : owner_) {
    if (owner != kNobody) {
      ++missing_[owner];
      owner = kNobody;
    }
  }
}

std::size_t Matching::usable(std::uint32_t begin, std::uint32_t end) const {
  std::size_t count = 0;
  for (std::uint32_t place = begin; place < end; ++place) {
    count += has(usable_, place) ? 1 : 0;
  }
  return count;
}

std::size_t Matching::open_to(std::size_t kind) const {
  std::size_t count = 0;
  for (std::size_t w = 0; w < open_.size(); ++w) {
    count += static_cast<std::size_t>(std::popcount(allowed_[kind][w] & open_[w]));
  }
  return count;
}

bool Matching::confirmed(std::size_t kind, std::uint32_t place) {
  if (!choices_.confirms || choices_.confirms(kind, place)) {
    return true;
  }
  clear(allowed_[kind], place);
  return false;
}

void Matching::own(std::size_t kind, std::uint32_t place) {
  owner_[place] = static_cast<std::uint32_t>(kind);
  clear(free_, place);
  --missing_[kind];
}

// What it likes best of what is free, as far as there is any.
void Matching::take_best(std::size_t kind) {
  while (missing_[kind] > 0 && !budget_.exhausted()) {
    std::vector<std::uint32_t> places;
    any_bit(
        open_.size(), [&](std::size_t w) { return allowed_[kind][w] & open_[w] & free_[w]; },
        [&](std::uint32_t place) {
          places.push_back(place);
          return false;
        });
    budget_.spend(static_cast<std::int64_t>(places.size() + open_.size()));
    if (places.empty()) {
      return;
    }
    for (const std::uint32_t place : choices_.best(kind, places, static_cast<std::size_t>(missing_[kind]))) {
      if (confirmed(kind, place)) {
        own(kind, place);
      }
    }
  }
}

// The free place at the end of a chain that begins at a kind: it takes a place of another kind, that one takes one of a
// third, and so on. kNobody where there is none.
std::uint32_t Matching::end_of_chain(std::size_t kind) {
  std::fill(reached_by_.begin(), reached_by_.end(), kUnreached);
  reached_at_.assign(missing_.size(), kUnreached);
  std::vector<std::size_t> queue{kind};
  std::vector<bool> queued(missing_.size());
  queued[kind] = true;
  std::uint32_t end = kNobody;
  for (std::size_t next = 0; next < queue.size() && end == kNobody; ++next) {
    const std::size_t from = queue[next];
    std::int64_t looked = static_cast<std::int64_t>(open_.size());
    any_bit(
        open_.size(), [&](std::size_t w) { return allowed_[from][w] & open_[w]; },
        [&](std::uint32_t place) {
          ++looked;
          if (reached_by_[place] != kUnreached) {
            return false;
          }
          reached_by_[place] = static_cast<std::uint32_t>(from);
          const std::uint32_t owner = owner_[place];
          if (owner == kNobody) {
            end = place;
            return true;
          }
          if (!queued[owner]) {
            queued[owner] = true;
            reached_at_[owner] = place;
            queue.push_back(owner);
          }
          return false;
        });
    if (!budget_.spend(looked)) {
      return kNobody;
    }
  }
  return end;
}

// Moves all along the chain that was found. False where one of them turns out not to do.
bool Matching::shift(std::uint32_t free) {
  for (std::uint32_t place = free; place != kUnreached; place = reached_at_[reached_by_[place]]) {
    if (!confirmed(reached_by_[place], place)) {
      return false;
    }
  }
  clear(free_, free);
  for (std::uint32_t place = free; place != kUnreached; place = reached_at_[reached_by_[place]]) {
    owner_[place] = reached_by_[place];
  }
  return true;
}

bool Matching::move_along(std::size_t kind) {
  while (!budget_.exhausted()) {
    const std::uint32_t free = end_of_chain(kind);
    if (free == kNobody) {
      return false;
    }
    if (shift(free)) {
      --missing_[kind];
      return true;
    }
  }
  return false;
}

bool Matching::complete() {
  std::vector<std::pair<std::size_t, std::size_t>> order;  // (open places, kind)
  for (std::size_t kind = 0; kind < missing_.size(); ++kind) {
    if (missing_[kind] > 0) {
      order.emplace_back(open_to(kind), kind);
    }
  }
  budget_.spend(static_cast<std::int64_t>(order.size() * open_.size()));
  std::sort(order.begin(), order.end());
  for (const auto& [places, kind] : order) {
    take_best(kind);
  }
  return std::all_of(order.begin(), order.end(), [&](const auto& entry) {
    const std::size_t kind = entry.second;
    while (missing_[kind] > 0) {
      if (!move_along(kind)) {
        return false;
      }
    }
    return true;
  });
}

}  // namespace gantree

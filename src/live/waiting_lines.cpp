#include "live/waiting_lines.h"

#include <limits>
#include <tuple>
#include <vector>

#include "queue/order.h"

namespace gantree {

Rank rank_of(const Submission& submission) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  return {.begun = submission.begun,
          .priority = submission.priority,
          .created_seconds = submission.created_seconds == 0 ? kLast : submission.created_seconds,
          .known_as = submission.made_for.value_or(submission.key),
          .own_name = submission.made_for ? submission.key.name : std::string()};
}

bool operator<(const Rank& a, const Rank& b) {
  if (a.begun != b.begun) {
    return a.begun < b.begun;
  }
  if (a.priority != b.priority) {
    return a.priority > b.priority;
  }
  if (a.created_seconds != b.created_seconds) {
    return a.created_seconds < b.created_seconds;
  }
  const auto known = name_order(a.known_as, b.known_as);
  return known != 0 ? known < 0 : natural_order(a.own_name, b.own_name) < 0;
}

void WaitingLines::put(Waiter& waiter, const Place& place) {
  aside_.erase(waiter.id);
  if (waiter.place != place) {
    take_out(waiter);
    waiter.place = place;
  }
  WaitingLine& line = lines_[place.line];
  if (place.line.in_order) {
    in_order_.insert(place.line);
  }
  line.waiters.try_emplace(place.rank, &waiter);
  if (!waiter.verdict) {
    line.fresh.try_emplace(place.rank, &waiter);
  }
  if (place.line.in_order && &line.first() == &waiter) {
    open(place.line);
  } else if (line.hope == Hope::kTurn || !waiter.verdict) {
    open_.insert(place.line);
  }
}

void WaitingLines::set_aside(Waiter& waiter) {
  take_out(waiter);
  aside_.emplace(waiter.id, &waiter);
}

void WaitingLines::take_out(Waiter& waiter) {
  aside_.erase(waiter.id);
  if (!waiter.place) {
    return;
  }
  const Place place = *waiter.place;
  waiter.place.reset();
  const auto it = lines_.find(place.line);
  WaitingLine& line = it->second;
  const bool first = &line.first() == &waiter;
  line.waiters.erase(place.rank);
  line.fresh.erase(place.rank);
  if (line.waiters.empty()) {
    open_.erase(place.line);
    short_of_room_.erase(place.line);
    in_order_.erase(place.line);
    lines_.erase(it);
  } else if (first && place.line.in_order) {
    open(place.line);
  }
}

void WaitingLines::open(const LineKey& key) {
  lines_.at(key).hope = Hope::kTurn;
  open_.insert(key);
}

void WaitingLines::clear(const Family& family) {
  std::vector<Waiter*> waiting;
  for (const auto& [key, line] : lines_) {
    for (const auto& [rank, waiter] : line.waiters) {
      waiting.push_back(waiter);
    }
  }
  for (const auto& [id, waiter] : aside_) {
    waiting.push_back(waiter);
  }
  for (Waiter* waiter : waiting) {
    if (waiter->family == &family) {
      take_out(*waiter);
    }
  }
}

void WaitingLines::close(const LineKey& key, Hope hope) {
  lines_.at(key).hope = hope;
  if (lines_.at(key).fresh.empty()) {
    open_.erase(key);
  }
  if (hope == Hope::kRoom) {
    short_of_room_.insert(key);
  } else {
    short_of_room_.erase(key);
  }
}

void WaitingLines::told(Waiter& waiter) {
  if (WaitingLine* line = waiter.place ? find(waiter.place->line) : nullptr) {
    line->fresh.erase(waiter.place->rank);
  }
}

WaitingLine* WaitingLines::find(const LineKey& key) {
  const auto it = lines_.find(key);
  return it == lines_.end() ? nullptr : &it->second;
}

}  // namespace gantree

#include "kueue/waiting_lines.h"

#include <limits>
#include <tuple>

#include "queue/order.h"

namespace gantree::kueue {

Rank rank_of(const Submission& submission) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  return {.priority = submission.priority,
          .created_seconds = submission.created_seconds == 0 ? kLast : submission.created_seconds,
          .key = submission.key};
}

bool operator<(const Rank& a, const Rank& b) {
  if (a.priority != b.priority) {
    return a.priority > b.priority;
  }
  return a.created_seconds != b.created_seconds ? a.created_seconds < b.created_seconds : named_before(a.key, b.key);
}

void WaitingLines::put(Entry& entry, const Place& place) {
  aside_.erase(entry.key());
  if (entry.place != place) {
    take_out(entry);
    entry.place = place;
  }
  Line& line = lines_[place.line];
  if (place.line.in_order) {
    in_order_.insert(place.line);
  }
  line.entries.try_emplace(place.rank, &entry);
  if (!entry.verdict) {
    line.fresh.try_emplace(place.rank, &entry);
  }
  if (place.line.in_order && &line.first() == &entry) {
    open(place.line);
  } else if (line.hope == Hope::kTurn || !entry.verdict) {
    open_.insert(place.line);
  }
}

void WaitingLines::set_aside(Entry& entry) {
  take_out(entry);
  aside_.emplace(entry.key(), &entry);
}

void WaitingLines::take_out(Entry& entry) {
  aside_.erase(entry.key());
  if (!entry.place) {
    return;
  }
  const Place place = *entry.place;
  entry.place.reset();
  const auto it = lines_.find(place.line);
  Line& line = it->second;
  const bool first = &line.first() == &entry;
  line.entries.erase(place.rank);
  line.fresh.erase(place.rank);
  if (line.entries.empty()) {
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

void WaitingLines::clear() {
  for (auto& [key, line] : lines_) {
    for (auto& [rank, entry] : line.entries) {
      entry->place.reset();
    }
  }
  lines_.clear();
  open_.clear();
  short_of_room_.clear();
  in_order_.clear();
  aside_.clear();
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

void WaitingLines::told(Entry& entry) {
  if (Line* line = entry.place ? find(entry.place->line) : nullptr) {
    line->fresh.erase(entry.place->rank);
  }
}

Line* WaitingLines::find(const LineKey& key) {
  const auto it = lines_.find(key);
  return it == lines_.end() ? nullptr : &it->second;
}

}  // namespace gantree::kueue

#include "apiserver/event_lives.h"

#include <algorithm>

#include "apiserver/core.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kEvents = "events";
constexpr std::chrono::hours kLife{1};
constexpr std::size_t kMostPerSweep = 5'000;

// When it was last written, as far as it tells.
std::chrono::system_clock::time_point last_written(const Object& event) {
  std::int64_t latest = 0;
  for (const std::string_view time :
       {text_at(event, {"metadata", "creationTimestamp"}), text_at(event, {"lastTimestamp"}),
        text_at(event, {"eventTime"}), text_at(event, {"series", "lastObservedTime"})}) {
    latest = std::max(latest, parse_time(time).value_or(0));
  }
  return std::chrono::system_clock::time_point(std::chrono::seconds(latest));
}

}  // namespace

void EventLives::begin() {
  const Table* table = core_.store.find_table(kEvents);
  if (table == nullptr) {
    return;
  }
  const Time now = core_.time();
  for (const auto& [key, entry] : table->entries) {
    if (const auto event = core_.read(kEvents, key)) {
      lives_.push_back({std::min(last_written(*event), now), key, entry.revision});
    }
  }
  std::stable_sort(lives_.begin(), lives_.end(), [](const Life& a, const Life& b) { return a.since < b.since; });
}

void EventLives::written(const Key& key, std::uint64_t revision) {
  lives_.push_back({core_.time(), key, revision});
}

void EventLives::sweep() {
  const KindPtr kind = core_.registry.stored_kind(kEvents);
  const Time until = core_.time() - kLife;
  for (std::size_t done = 0; done < kMostPerSweep && !lives_.empty() && lives_.front().since <= until; ++done) {
    const Life life = std::move(lives_.front());
    lives_.pop_front();
    const Entry* entry = core_.store.find(kEvents, life.key);
    if (kind == nullptr || entry == nullptr || entry->revision != life.revision) {
      continue;
    }
    if (auto event = core_.read(kEvents, life.key)) {
      core_.remove(*kind, std::move(*event));
    }
  }
}

}  // namespace gantree::apiserver

#include "apiserver/snapshots.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"
#include "base/whole_number.h"

namespace gantree::apiserver {

namespace {

constexpr std::chrono::minutes kLife{5};
// Of one that was read to its end: whoever lost the last page may ask again.
constexpr std::chrono::seconds kLifeAfterTheEnd{15};
constexpr std::size_t kMost = 100;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

}  // namespace

Snapshots::Page Snapshots::page(const Snapshot& snapshot, std::size_t from, std::size_t limit) {
  Page result;
  const std::size_t begin = std::min(from, snapshot.entries.size());
  const std::size_t end = std::min(begin + limit, snapshot.entries.size());
  result.entries.assign(snapshot.entries.begin() + static_cast<std::ptrdiff_t>(begin),
                        snapshot.entries.begin() + static_cast<std::ptrdiff_t>(end));
  result.revision = snapshot.revision;
  result.left = snapshot.entries.size() - end;
  if (result.left > 0) {
    result.next = to_base64(fmt::format("{}.{}.{}", snapshot.id, end, snapshot.revision));
  }
  return result;
}

Snapshots::Page Snapshots::begin(std::string scope, std::vector<Entry> entries, std::uint64_t revision,
                                 std::size_t limit, Clock::time_point now) {
  clear(now);
  Snapshot snapshot{++last_id_, std::move(scope), std::move(entries), revision, now + kLife};
  Page first = page(snapshot, 0, limit);
  if (first.left > 0) {
    for (const Entry& entry : snapshot.entries) {
      snapshot.bytes += entry.bytes->size();
    }
    bytes_ += snapshot.bytes;
    snapshots_.push_back(std::move(snapshot));
    // The newest is kept, however large it is: else nobody could read it.
    while (snapshots_.size() > kMost || (snapshots_.size() > 1 && bytes_ > kMostBytes)) {
      bytes_ -= snapshots_.front().bytes;
      snapshots_.pop_front();
    }
  }
  return first;
}

void Snapshots::clear(Clock::time_point now) {
  std::erase_if(snapshots_, [&](const Snapshot& snapshot) {
    const bool over = snapshot.until < now;
    bytes_ -= over ? snapshot.bytes : 0;
    return over;
  });
}

std::optional<Snapshots::Page> Snapshots::go_on(std::string_view scope, std::string_view token, std::size_t limit,
                                                Clock::time_point now) {
  clear(now);
  const std::string text = from_base64(token).value_or("");
  const std::size_t first = text.find('.');
  const std::size_t second = text.find('.', first == std::string::npos ? first : first + 1);
  if (second == std::string::npos) {
    return std::nullopt;
  }
  const auto id = whole_number<std::uint64_t>(std::string_view(text).substr(0, first));
  const auto from = whole_number<std::size_t>(std::string_view(text).substr(first + 1, second - first - 1));
  const auto it =
      std::find_if(snapshots_.begin(), snapshots_.end(), [&](const Snapshot& snapshot) { return id == snapshot.id; });
  if (!from || it == snapshots_.end() || it->scope != scope) {
    return std::nullopt;
  }
  Page next = page(*it, *from, limit);
  if (next.left == 0) {
    it->until = std::min(it->until, now + kLifeAfterTheEnd);
  }
  return next;
}

}  // namespace gantree::apiserver

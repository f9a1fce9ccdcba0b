// Those that wait, in lines: where one of a line is turned down, so are those behind it. So very many can wait, and
// what is looked at is what came, what went, and the first of those lines for which something may have come free.
//
// Waiters are borrowed: take one out before it is destroyed. One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "live/place.h"
#include "live/waiter.h"

namespace gantree {

// What a line waits for.
enum class Hope : std::uint8_t {
  kTurn,   // to be tried
  kRoom,   // room on hosts, or quota for another way to start
  kQuota,  // quota: no way to start is within it
  kSetup,  // that its queue, or whatever else stands against it, changes
};

struct WaitingLine {
  std::map<Rank, Waiter*> waiters = {};  // never empty
  std::map<Rank, Waiter*> fresh = {};    // those of them that were never told anything
  Hope hope = Hope::kTurn;
  std::optional<Verdict> verdict = {};  // what the last one that was turned down was told
  std::optional<Rank> head = {};        // the first of the line by then
  Time tried_at = {};                   // the same

  [[nodiscard]] Waiter& first() const { return *waiters.begin()->second; }
};

class WaitingLines {
 public:
  using Lines = std::map<LineKey, WaitingLine>;

  // It waits there from now on. Its line is open where it was not tried yet, where it is the first of a strict queue,
  // and where it has still to be told why it waits.
  void put(Waiter& waiter, const Place& place);
  // It waits, and cannot be tried for now: it is in nobody's way, and has to be put again.
  void set_aside(Waiter& waiter);
  // It does not wait. Those behind the first of a strict queue are looked at again.
  void take_out(Waiter& waiter);
  // None of a family waits.
  void clear(const Family& family);

  // Somebody in it may start. Requires: somebody is in it.
  void open(const LineKey& key);
  // Nobody in it starts before what it hopes for has come. It stays open where somebody has still to be told why it
  // waits. Requires: somebody is in it.
  void close(const LineKey& key, Hope hope);
  // It was told why it waits.
  void told(Waiter& waiter);

  [[nodiscard]] const Lines& lines() const { return lines_; }
  // nullptr where nobody is in it.
  [[nodiscard]] WaitingLine* find(const LineKey& key);
  [[nodiscard]] const std::set<LineKey>& open_lines() const { return open_; }
  // Those that wait for room on hosts.
  [[nodiscard]] const std::set<LineKey>& short_of_room() const { return short_of_room_; }
  // The lines of a queue: from the first up to the second.
  [[nodiscard]] Lines::const_iterator begin_of(QueueId queue) const { return lines_.lower_bound({.queue = queue}); }
  [[nodiscard]] const std::map<std::string, Waiter*>& aside() const { return aside_; }
  // Those of strict queues.
  [[nodiscard]] const std::set<LineKey>& in_order() const { return in_order_; }

 private:
  Lines lines_;
  std::set<LineKey> open_;
  std::set<LineKey> short_of_room_;
  std::set<LineKey> in_order_;
  std::map<std::string, Waiter*> aside_;  // by id
};

}  // namespace gantree

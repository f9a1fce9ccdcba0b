// Who watches what. Changes are gathered for each watcher when they are durable, and sent in one go. Api thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apiserver/api.h"
#include "apiserver/selection.h"
#include "apiserver/store.h"
#include "apiserver/task.h"

namespace gantree::apiserver {

class Core;

struct Watcher {
  using Clock = std::chrono::steady_clock;
  std::string table;
  Form form;
  Selection selection;
  std::uint64_t from = 0;  // changes up to this revision are known
  bool bookmarks = false;
  Clock::time_point until = Clock::time_point::max();
  Clock::time_point next_bookmark = Clock::time_point::max();
  std::shared_ptr<WatchSink> sink;
  std::vector<WatchEvent> initial;  // sent first
  std::uint64_t batch = 0;          // what it begins with is durable when this one is
  bool began = false;
  bool ends = false;  // after what waits
  std::vector<WatchEvent> waiting;
};

class WatchHub {
 public:
  explicit WatchHub(Core& core) : core_(core) {}

  void add(std::unique_ptr<Watcher> watcher);
  // What was done until now goes to the disk together: the number of that batch.
  [[nodiscard]] std::uint64_t seal() { return ++sealed_; }
  // Takes note of changes that are durable.
  void gather(std::span<const Store::Change> changes);
  // All batches up to this one are, and with them all changes up to the revision.
  void durable(std::uint64_t batch, std::uint64_t revision);
  // Sends what was gathered, and what is due by the clock.
  void flush(Watcher::Clock::time_point now);
  void forget(const WatchSink* sink);
  [[nodiscard]] std::size_t size() const { return watchers_.size(); }

  // What a watcher gets to see of a change, if anything.
  void note(Watcher& watcher, const Event& event) const;

 private:
  // Changes that have to be converted by somebody else before a version's watchers can see them, in order.
  struct Feed {
    KindPtr kind;
    std::deque<Event> waiting;
    bool busy = false;
  };
  void feed(const KindPtr& kind, const Event& event);
  [[nodiscard]] Task<Answer> pump(std::string version);
  void deliver(const KindPtr& kind, std::span<const Event> events);
  void give_up(const KindPtr& kind, const Failure& why);
  bool send(Watcher& watcher, Watcher::Clock::time_point now);
  [[nodiscard]] bool has_all(const Watcher& watcher) const;

  Core& core_;
  std::uint64_t sealed_ = 0;
  std::uint64_t durable_ = 0;
  std::uint64_t durable_revision_ = 0;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  std::map<std::string, Feed> feeds_;  // by table and version
};

[[nodiscard]] WatchEvent bookmark(const Form& form, std::uint64_t revision, bool initial_end);
[[nodiscard]] WatchEvent error_event(const Failure& failure);

}  // namespace gantree::apiserver

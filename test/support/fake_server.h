// An API server in memory: objects with uids, versions and generations, writes with their preconditions, and watches
// that are late, each in its own way.
//
// Events of one object come in order; those of different objects do not.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/write.h"
#include "live/object.h"
#include "support/tree.h"

namespace gantree::test {

struct Stored {
  std::string group;
  std::string version;
  std::string kind;
  std::string ns;
  std::string name;
  Tree tree;

  [[nodiscard]] std::string uid() const { return tree.str({"metadata", "uid"}); }
};

struct ServerEvent {
  std::string group;
  std::string kind;
  std::string ns;
  std::string name;
  std::optional<LiveObject> object;  // nothing: it was removed
};

enum class WriteResult : std::uint8_t { kOk, kConflict, kNotFound, kInvalid };

class FakeServer {
 public:
  // Creates it, or replaces what is there of that name.
  void put(std::string_view group, std::string_view version, std::string_view kind, Tree tree);
  // Changes an object that is there.
  void change(const std::string& key, const std::function<void(Tree&)>& how);
  void remove(const std::string& key);
  [[nodiscard]] WriteResult apply(const Write& write);

  [[nodiscard]] static std::string key(std::string_view kind, std::string_view ns, std::string_view name);
  [[nodiscard]] const Stored* find(const std::string& key) const;
  [[nodiscard]] std::vector<const Stored*> all(std::string_view kind) const;
  [[nodiscard]] std::string fresh_uid() { return "uid-" + std::to_string(++uids_); }

  // From now on pods have the conditions that are written to them.
  void keep_pod_conditions() { keeps_conditions_ = true; }

  // Told of every change in order, in place of the watches below: the object as it is, or as it was with the version of
  // its end.
  using Listener = std::function<void(const Stored& object, bool gone)>;
  void listen(Listener listener) { listener_ = std::move(listener); }
  // The newest of all objects.
  [[nodiscard]] std::uint64_t version() const { return versions_; }

  // Somebody else watches from now on: knows nothing, and is told everything. The number of that watch; the first is 0.
  std::size_t add_watch();
  [[nodiscard]] bool has_events(std::size_t watch = 0) const { return !watches_[watch].pending.empty(); }
  [[nodiscard]] bool has_events_of(std::string_view kind, std::size_t watch = 0) const;
  [[nodiscard]] bool has_events_for(const std::string& key, std::size_t watch = 0) const {
    return watches_[watch].pending.contains(key);
  }
  // The next event of a random object. Requires that there is one.
  [[nodiscard]] ServerEvent next_event(std::mt19937& random, std::size_t watch = 0);
  // The watch of a kind starts anew: events are left out, and what is there is told once more.
  void list_again(std::string_view kind, std::size_t watch = 0);
  // All of it starts anew, by somebody who knows nothing.
  void list_all_again(std::size_t watch = 0);

 private:
  struct Watch {
    std::map<std::string, std::deque<ServerEvent>> pending = {};  // by key
    std::map<std::string, ServerEvent> known = {};                // last told of, by key
  };

  void tell(const Stored& stored);
  void send(const std::string& key, const ServerEvent& event);
  // Whether an object may become what a write makes of it.
  [[nodiscard]] static bool is_allowed(const Stored& before, const Tree& after);
  [[nodiscard]] WriteResult patch(Stored& stored, const Write& write);
  [[nodiscard]] static WriteResult patch_pod(Tree& pod, const Tree& patch);

  std::map<std::string, Stored> objects_;  // by key
  std::vector<Watch> watches_ = std::vector<Watch>(1);
  Listener listener_;
  bool keeps_conditions_ = false;
  std::uint64_t versions_ = 0;
  std::uint64_t uids_ = 0;
};

}  // namespace gantree::test

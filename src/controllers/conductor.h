// The controllers together, as one state machine: events in, intended writes out, the clock passed in.
//
//   changed/removed/answered ──► view ──► dirty keys ──► next(now) ──► controllers ──► writes
//                                             ▲                                           │
//                                             └── due times, refused writes (backoff) ◄───┘
//
// Level-triggered: a controller looks at an object as it is, never at what happened. A key whose writes are not all
// answered is not looked at; the answers are put into the view first. So nothing is created twice from a stale view.
// Keys whose writes are refused are looked at again with growing pauses.
//
// One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "controllers/duties.h"
#include "controllers/turn.h"
#include "controllers/view.h"

namespace gantree::controllers {

// What the API server said to a write. `text` is the object after it, or a Status that says why not.
struct Answer {
  int status = 0;
  Text text = nullptr;
};

class Conductor {
 public:
  explicit Conductor(Options options);

  // An object as it is now. Fails where it cannot be read; then what was known of it stays.
  [[nodiscard]] Result<> changed(Kind kind, Text text);
  void removed(Kind kind, std::string_view ns, std::string_view name);
  // Every object of the kind that is not named is gone: after a new list.
  void keep_only(Kind kind, const std::set<std::string>& keys);

  // These parts do nothing until they are no longer among them; then they go on with what they missed.
  void pause(Parts parts);

  // What is to be written now. At most so many keys are looked at; more() tells whether there are others.
  [[nodiscard]] std::vector<Write> next(Time now, std::size_t most = 1000);
  [[nodiscard]] bool more(Time now) const;
  // To be called for every write. Status 0: not carried out.
  void answered(std::uint64_t id, const Answer& answer, Time now);
  // When to call next() although nothing happened.
  [[nodiscard]] std::optional<Time> due() const;

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] std::size_t open_writes() const { return open_.size(); }

 private:
  struct Key {
    Task task = Task::kKubelet;
    Kind kind = Kind::kPod;
    std::string name;  // Item::key()
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // Keys by namespace first, so that they are served in turn: a busy one delays only itself.
  struct Namespace {
    std::string_view name;  // "" of what is in none
  };
  struct ByNamespace {
    using is_transparent = void;
    static std::string_view of(const Key& key) {
      const std::size_t slash = key.name.find('/');
      return slash == std::string::npos ? std::string_view() : std::string_view(key.name).substr(0, slash);
    }
    bool operator()(const Key& a, const Key& b) const {
      const int order = of(a).compare(of(b));
      return order != 0 ? order < 0 : a < b;
    }
    bool operator()(Namespace a, const Key& b) const { return a.name < of(b); }
    bool operator()(const Key& a, Namespace b) const { return of(a) < b.name; }
  };
  struct State {
    std::size_t open = 0;  // writes not answered
    bool dirty = false;    // and waits for them
    int refused = 0;       // times in a row
    Time not_before = {};
  };
  struct Open {
    Key key;
    Verb verb = Verb::kCreate;
    Kind kind = Kind::kPod;
    std::string uid;
    std::shared_ptr<Notice> notice = nullptr;
    std::string ns = {};  // of what is created, and its size
    std::size_t bytes = 0;
  };

  void touch(const Item* before, const Item& now);
  void touch_pod(const Item* before, const Item& pod);
  void touch_finished();
  void touch_node(const Item* before, const Item& node);
  void touch_storage(const Item& item);
  void touch_adopters(const Item* before, const Item& item);
  void retry_bindings();
  void retry_making(const std::string& ns);
  void mark(Task task, Kind kind, std::string name);
  void mark(Task task, const Item& item) { mark(task, item.kind, item.key()); }
  void wake(Key key, Time at);
  void run(const Key& key, Time now, std::vector<Write>& out);
  // Gives the write a number, and notes what follows from it and from its answer.
  void send(const Key& key, State& state, Write& write);
  void note_binding_of(const Key& pod, const Turn& turn);
  void forget(Kind kind, const std::string& name);
  void tell_answer(Notice& notice, const Answer& answer, bool done, Time now);
  void note_counting(const Write& write);

  Options options_;
  View view_;
  Room room_;
  TimeZones zones_;
  std::mt19937_64 random_;
  Parts paused_;
  std::set<Key, ByNamespace> missed_;          // by parts that are paused
  std::set<Key> unbound_;                      // pods for which the plain scheduler found no node
  std::map<Key, int, ByNamespace> held_back_;  // that found no room for what they make, and how often
  std::set<Key, ByNamespace> dirty_;
  std::string served_;  // the namespace whose turn was last
  std::set<std::pair<Time, Key>> timers_;
  std::map<Key, Time> timer_of_;
  std::map<Key, State> states_;  // of keys that have something to remember
  std::unordered_map<std::uint64_t, Open> open_;
  std::vector<Write> events_;  // that follow from answers
  std::uint64_t last_id_ = 0;
  Events told_;
  std::unordered_map<std::uint64_t, std::string>
      counting_;  // writes that count an event up, by what they have in common
};

}  // namespace gantree::controllers

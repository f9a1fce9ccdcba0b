// How much memory the objects of one namespace may take that wait to be started: pods without a node, PodGroups of
// which nothing runs, suspended jobs in queues. Who may write them could fill the process otherwise.
//
// What does not fit is set aside: nobody is told of it, and only its name is kept. When others of its namespace have
// left it is read again, in the order in which they came. What was handed on once stays, however it grows, and what
// runs or holds quota is never set aside: it has to be accounted for.
//
//   comes ──fits──► kept ──started, or gone──► not counted
//     │               ▲
//     └──► set aside ─┘ read again, once there is room
//
// Pure; one thread owns it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "live/object.h"

namespace gantree {

// What it takes to keep an object that waits, in bytes: an estimate. Nothing of one that does not wait.
[[nodiscard]] std::size_t cost_of_waiting(const LiveObject& object);

class NamespaceBudget {
 public:
  using Clock = std::chrono::steady_clock;

  // What is to be read again: by these it is found.
  struct Aside {
    std::string group;
    std::string version;
    std::string kind;
    std::string ns;
    std::string name;
  };

  // `most`: bytes of each namespace; 0: as much as they like.
  explicit NamespaceBudget(std::size_t most) : most_(most) {}

  // An object as a watch told of it; `needed`: it has to be kept whatever it costs. Whether it is to be handed on.
  [[nodiscard]] bool take(const LiveObject& object, bool needed = false);
  // One that was read again. Not to be handed on where a watch has told of it since.
  [[nodiscard]] bool take_back(const LiveObject& object);
  // It is gone. Whether somebody was told of it, and is to be told that.
  [[nodiscard]] bool lose(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name);
  // Something holds quota for the object of that uid: it is needed, if it was set aside.
  void need(const std::string& uid);

  // Those to be read again now. They count as kept until they come, or a while has passed.
  [[nodiscard]] std::vector<Aside> to_read(Clock::time_point now);
  [[nodiscard]] std::size_t most() const { return most_; }
  // How many are set aside.
  [[nodiscard]] std::size_t set_aside() const { return aside_.size(); }

 private:
  using Key = std::pair<std::string, std::string>;  // namespace; kind and name

  struct Waiting {
    Aside object;
    std::string uid;
    std::size_t cost = 0;
    std::uint64_t number = 0;                // in the order of coming
    std::optional<Clock::time_point> asked;  // to be read
  };
  struct Space {
    std::size_t used = 0;
    std::map<std::string, std::size_t> kept;        // costs
    std::map<std::uint64_t, std::string> in_order;  // set aside, by number
  };

  static Key key_of(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name);
  void keep(const Key& key, std::size_t cost);
  void drop_aside(const Key& key);
  void read_again(Waiting& waiting, Clock::time_point now, std::vector<Aside>& found);

  std::size_t most_;
  std::map<std::string, Space> spaces_;  // by namespace; none is empty
  std::map<Key, Waiting> aside_;
  std::map<std::string, Key> by_uid_;  // set aside
  std::set<Key> needed_;               // set aside
  std::uint64_t last_ = 0;
};

}  // namespace gantree

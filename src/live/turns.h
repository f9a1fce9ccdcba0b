// Who is looked at in a cycle: of every namespace so much that nobody else has to wait long behind it.
//
// Looking at a gang reads its objects, so it costs what they weigh. What has changed is looked at, and, where room came
// free, all that waits, namespace by namespace: each has a share of every cycle, and what is beyond it comes in the
// next cycles, until all have had their turn. While a namespace is being gone through, the first of its line are looked
// at in every cycle, so that what comes free goes to them before it goes to those further down.
//
// With at most as many gangs as a share holds, all are looked at at once.
//
// Pure; one thread owns it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "live/gang_table.h"

namespace gantree {

class Turns {
 public:
  // A look costs one, and one more for so many bytes of text.
  static constexpr std::size_t kBytesPerUnit = 16 * 1024;
  // What one cycle may cost, what of it one namespace may have at most, and what it has at least. One gang may cost
  // more than that: then it is the last of its namespace.
  static constexpr std::size_t kMostUnits = 1024;
  static constexpr std::size_t kMostShare = 256;
  static constexpr std::size_t kLeastShare = 16;

  [[nodiscard]] static std::size_t cost(std::size_t bytes) { return 1 + bytes / kBytesPerUnit; }

  // Looks at a gang, by id, if that costs at most so much. What it cost: 0 where there was nothing to look at; nothing
  // where it would be too much.
  using Look = std::function<std::optional<std::size_t>(const std::string& id, std::size_t most)>;

  // Room came free: all that waits is to be looked at once from now on.
  void start_round(const std::map<std::string, Line, std::less<>>& lines);
  // One cycle. Takes out of `changed` what was looked at. Whether there is more to look at at once.
  [[nodiscard]] bool go_round(const std::map<std::string, Line, std::less<>>& lines, GangTable& table,
                              std::set<std::string>& changed, const Look& look);

 private:
  struct Round {
    std::optional<LinePlace> after;  // looked at up to here; nothing: from the first on
    bool again = false;              // room came free meanwhile
  };
  using Places = std::vector<LinePlace>;

  // What a namespace costs in this cycle.
  [[nodiscard]] std::size_t serve(const std::string& ns, const Line* line, const Places& changed, std::size_t share,
                                  std::set<std::string>& unseen, const Look& look);
  [[nodiscard]] static std::size_t look_at_first(const Line& line, std::size_t share, const Look& look);

  std::map<std::string, Round> rounds_;  // by namespace; those that are not through
  std::string next_;                     // the namespace to begin with
};

}  // namespace gantree

// Whose objects are read in a cycle: of every namespace so much that nobody else has to wait long behind it.
//
// Reading a gang costs what its objects weigh. What has changed is read, namespace by namespace: each has a share of
// every cycle, and what is beyond it comes in the next cycles. With at most as many gangs as a share holds, all are
// read at once.
//
// Pure; one thread owns it.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "pods/gang_table.h"

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

  // Looks at a gang, by id. What it cost: 0 where there was nothing to look at.
  using Look = std::function<std::size_t(const std::string& id)>;

  // One cycle. Takes out of `changed` what was looked at; what is left is to be looked at in the next ones.
  void go_round(GangTable& table, std::set<std::string>& changed, const Look& look);

 private:
  std::string next_;  // the namespace to begin with
};

}  // namespace gantree

// The one account of a live cluster: capacity, quota, who waits, and what came free. All families work on it.
//
// One thread owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "live/budgets.h"
#include "live/family.h"
#include "live/waiting_lines.h"
#include "queue/quota.h"
#include "state/cluster.h"

namespace gantree {

struct Account {
  explicit Account(Cluster& shared) : cluster(shared) {}

  Cluster& cluster;
  Quota quota = {};
  WaitingLines lines = {};
  Budgets budgets = {};
  std::vector<Family*> families = {};  // borrowed; each outlives it or leaves

  bool room_changed = true;            // room or quota may have come free
  std::set<QuotaId> freed_quota = {};  // roots of trees in which some came free
  bool refused = false;                // somebody was told to wait: others may have to leave for it
  std::uint64_t ended = 0;             // how many gangs have ended, or were deleted
  std::uint64_t orders = 0;            // how many were given, of all families: each has its number

  [[nodiscard]] QuotaId root_of(QuotaId cell) const {
    while (quota.cell(cell).parent) {
      cell = *quota.cell(cell).parent;
    }
    return cell;
  }
  // Whether that one is still on its way out: see Leaver.
  [[nodiscard]] bool still_leaves(const std::string& id) const {
    for (const Family* family : families) {
      if (family->still_leaves(id)) {
        return true;
      }
    }
    return false;
  }
  // Those that leave, of all families. A pod that two families know of leaves once.
  [[nodiscard]] std::vector<Leaver> leavers(Time now) const {
    std::vector<Leaver> leaving;
    for (Family* family : families) {
      family->add_leavers(now, leaving);
    }
    std::set<std::string> counted;
    for (Leaver& leaver : leaving) {
      std::erase_if(leaver.pods, [&](const std::string& pod) { return !counted.insert(pod).second; });
    }
    return leaving;
  }
  // Whether anybody's room is held until that one has left.
  [[nodiscard]] bool is_waited_for(const std::string& id) const {
    return std::any_of(families.begin(), families.end(), [&](const Family* family) { return family->waits_for(id); });
  }
};

}  // namespace gantree

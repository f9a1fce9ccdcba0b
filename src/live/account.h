// The one account of a live cluster: capacity, quota, who waits, and what came free. All families work on it.
//
// One thread owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
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

  // Cells of quota are made anew, those of all families together: how often that was done, and that some family has
  // other queues now, so that it has to be done in the next step.
  std::uint64_t quota_version = 1;
  bool queues_changed = false;

  bool room_changed = true;            // room or quota may have come free
  std::set<QuotaId> freed_quota = {};  // roots of trees in which some came free
  bool refused = false;                // somebody was told to wait: others may have to leave for it
  std::uint64_t ended = 0;             // how many gangs have ended, or were deleted
  std::uint64_t orders = 0;            // how many were given, of all families: each has its number

  // A gang was evicted for another. One to which that happened several times since any has ended evicts nobody for now:
  // by quota A may evict B, by priority B evicts C of another family, and C evicts A, and so on for ever.
  void displace(const std::string& id) {
    static_cast<void>(is_restless(id));
    ++displaced[id];
  }
  [[nodiscard]] bool is_restless(const std::string& id) {
    if (std::exchange(displaced_by, ended) != ended) {
      displaced.clear();
    }
    const auto known = displaced.find(id);
    return known != displaced.end() && known->second >= kMostDisplacements;
  }
  // Whether that holds of anybody.
  [[nodiscard]] bool has_restless() const {
    return displaced_by == ended && std::any_of(displaced.begin(), displaced.end(),
                                                [](const auto& item) { return item.second >= kMostDisplacements; });
  }
  static constexpr int kMostDisplacements = 3;
  std::map<std::string, int> displaced = {};  // how often, by id
  std::uint64_t displaced_by = 0;             // `ended` by then

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

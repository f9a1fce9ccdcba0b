// Reads what administrators set up, all of it anew whenever a piece has changed: topologies, flavors, queues, cohorts,
// priorities.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "dialects/object.h"
#include "json/value.h"
#include "kueue/booking.h"
#include "kueue/ledger.h"
#include "live/order.h"

namespace gantree::kueue {

// The administrators' kinds, in the versions read.
[[nodiscard]] const std::vector<ApiKind>& admin_kinds();

class SetupReader {
 public:
  SetupReader(Ledger& ledger, Booking& booking, bool ignore_checks)
      : ledger_(ledger), booking_(booking), ignore_checks_(ignore_checks) {}

  // Where something has changed: reads it, and books again what was given. What is wrong is remarked once.
  void read(Step& step);

 private:
  void read_objects(Step& step);
  // A hash of what decides about evictions in the tree of each ClusterQueue, by its name.
  [[nodiscard]] std::map<std::string, std::size_t> trees() const;
  [[nodiscard]] bool keeps_its_place(Entry& entry, const std::map<std::string, std::size_t>& before) const;
  void stop_queues_that_leave(const std::vector<std::string>& names);
  void stop_queues_with_checks(Step& step);
  void remark(const Error& error, Step& step);

  Ledger& ledger_;
  Booking& booking_;
  bool ignore_checks_;
  std::vector<json::Document> documents_;  // what the setup points into
  std::set<std::string> remarked_;
  std::map<std::string, std::size_t> trees_;
};

}  // namespace gantree::kueue

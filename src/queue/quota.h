// Quota: how much of a resource a queue may use of a flavor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "model/quota_demand.h"
#include "model/resources.h"

namespace gantree {

// One cell: (queue, flavor, resource).
struct QuotaCell {
  std::string queue;  // as messages name it: ClusterQueue "team-a"
  std::string flavor;
  std::string resource;
  Unit unit = Unit::kOne;
  std::int64_t nominal = 0;
  std::int64_t used = 0;
};

// A cell that a demand would exceed.
struct Shortage {
  std::string message;  // one sentence: who has how much left of what, and how much more is needed
  bool ever = true;     // false: the demand is larger than the nominal quota itself
};

class Quota {
 public:
  QuotaId add(QuotaCell cell);
  [[nodiscard]] const QuotaCell& cell(QuotaId id) const { return cells_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }

  // The first cell (in order of the cells) that the sum of demands (per pod, times count) would
  // exceed; nullopt where all fit. A cell that can never hold its part goes first.
  [[nodiscard]] std::optional<Shortage> lacking(const std::vector<QuotaDemand>& demands,
                                                const std::vector<int>& counts) const;
  void take(const std::vector<QuotaDemand>& demands, const std::vector<int>& counts);

 private:
  // Needed by cell, sorted by cell; saturates at the 64-bit range.
  [[nodiscard]] static QuotaDemand sum(const std::vector<QuotaDemand>& demands, const std::vector<int>& counts);

  std::vector<QuotaCell> cells_;
};

}  // namespace gantree

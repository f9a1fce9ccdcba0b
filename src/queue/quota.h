// Quota: how much of a resource a queue may use of a flavor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "model/resources.h"

namespace gantree {

using QuotaId = Id<struct QuotaTag>;

// One cell: (queue, flavor, resource).
struct QuotaCell {
  std::string queue;
  std::string flavor;
  std::string resource;
  Unit unit = Unit::kOne;
  std::int64_t nominal = 0;
  std::int64_t used = 0;
};

// What one pod of a set costs.
using QuotaDemand = std::vector<std::pair<QuotaId, std::int64_t>>;

class Quota {
 public:
  QuotaId add(QuotaCell cell);
  [[nodiscard]] const QuotaCell& cell(QuotaId id) const { return cells_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }

  // The first cell that the sum of demands (per pod, times count) would exceed, in one
  // sentence; nullopt where all fit.
  [[nodiscard]] std::optional<std::string> lacking(const std::vector<QuotaDemand>& demands,
                                                   const std::vector<int>& counts) const;
  void take(const std::vector<QuotaDemand>& demands, const std::vector<int>& counts);

 private:
  std::vector<QuotaCell> cells_;
};

}  // namespace gantree

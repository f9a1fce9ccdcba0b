// What queues and cohorts of a world may use, told anew from the promises: cells of queues hang on cells of cohorts,
// and those on others; what a cell uses beyond its own part counts at the one above it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gantree::test {

struct QuotaNumbers {
  int nominal = 0;
  std::optional<int> borrowing = {};
  std::optional<int> lending = {};
};

struct QueueSetup {
  std::map<std::string, QuotaNumbers> quota = {};  // by flavor
  std::string cohort = {};                         // "": none
  std::string stop = {};                           // the policy; "": it runs
  std::string local_stop = {};                     // that of its LocalQueue
};

struct CohortSetup {
  std::string parent = {};                         // "": it is a root
  std::map<std::string, QuotaNumbers> quota = {};  // by flavor
};

struct QuotaSetup {
  std::vector<QueueSetup> queues = {};
  std::map<std::string, CohortSetup> cohorts = {};  // those with an object of their own
};

// CellAmounts by cell: name and flavor, "c0 f1" or "left f1".
using CellAmounts = std::map<std::string, int>;

// What every cell uses, by what the queues do.
[[nodiscard]] CellAmounts spread(const QuotaSetup& setup, const CellAmounts& of_queues);

// The first cell that uses more than it may, and more than before; "" where none does.
[[nodiscard]] std::string excess(const QuotaSetup& setup, const CellAmounts& used, const CellAmounts& before);

}  // namespace gantree::test

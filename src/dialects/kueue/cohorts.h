// Cohorts: ClusterQueues that lend to each other, and cohorts of cohorts.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "dialects/kueue/resource_groups.h"
#include "model/resources.h"
#include "queue/quota.h"

namespace gantree::kueue {

// A Cohort object. One that only others name needs none.
struct Cohort {
  std::string name;
  json::Place place;
  std::string parent_name;  // "" where it is a root
  std::vector<ResourceGroup> groups;
  std::int64_t weight = 1000;  // thousandths, of its share in what its parent lends
};
using Cohorts = std::map<std::string, Cohort, std::less<>>;

// Fails where cohorts are their own ancestors, or nest too deep.
[[nodiscard]] Result<> check_nesting(const Cohorts& cohorts);

// The name of the outermost cohort. Requires that check_nesting() passed.
[[nodiscard]] std::string_view root_of(std::string_view cohort, const Cohorts& cohorts);

// Opens the quota cells of cohorts as they are needed. Requires that check_nesting() passed.
class CohortCells {
 public:
  // All are borrowed.
  CohortCells(const Cohorts& cohorts, const ResourceNames& names, Quota& quota);

  // The cell of a cohort, with those around it.
  [[nodiscard]] QuotaId cell(std::string_view cohort, std::string_view flavor, ResourceId resource);
  // Opens those for which cohorts have quota of their own.
  void open_all();

 private:
  struct Own {
    const FlavorQuota* quota = nullptr;
    std::size_t at = 0;  // in its lists
  };
  using Key = std::tuple<std::string, std::string, ResourceId>;  // cohort, flavor, resource

  const Cohorts& cohorts_;
  const ResourceNames& names_;
  Quota& quota_;
  std::map<Key, Own> own_;
  std::map<Key, QuotaId> cells_;
};

}  // namespace gantree::kueue

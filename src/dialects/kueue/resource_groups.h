// The quotas of a ClusterQueue or a Cohort.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/decode.h"
#include "model/quota_demand.h"
#include "model/resources.h"

namespace gantree::kueue {

struct Flavor;

// The quota of one flavor in a resource group; lists are by covered resource.
struct FlavorQuota {
  std::string flavor_name;
  json::Place place;
  std::vector<std::int64_t> nominal;
  std::vector<std::optional<std::int64_t>> borrowing_limit;
  std::vector<std::optional<std::int64_t>> lending_limit;
  const Flavor* flavor = nullptr;
  std::vector<QuotaId> cells;
};

struct ResourceGroup {
  std::vector<ResourceId> covered;
  std::vector<FlavorQuota> flavors;  // in order of preference
};

// What may stand in the groups of a queue, and of a cohort.
struct GroupRules {
  bool has_parent = false;    // limits need somebody from which to borrow, or to which to lend
  bool lends_its_own = true;  // no more than nominalQuota; a cohort passes on what others lend, too
};

// Of `spec.resourceGroups`.
[[nodiscard]] std::vector<ResourceGroup> read_resource_groups(json::Reader& read, std::string_view file,
                                                              json::Value spec, const GroupRules& rules,
                                                              ResourceNames& names);

}  // namespace gantree::kueue

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

// Of `spec.resourceGroups`. Limits need a parent from which to borrow, or to which to lend.
[[nodiscard]] std::vector<ResourceGroup> read_resource_groups(json::Reader& read, std::string_view file,
                                                              json::Value spec, bool has_parent, ResourceNames& names);

}  // namespace gantree::kueue

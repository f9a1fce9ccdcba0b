// What is served, as clients ask for it: groups, versions and resources, one by one or all at once. Pure.
#pragma once

#include <string_view>

#include "apiserver/json.h"
#include "apiserver/kind.h"

namespace gantree::apiserver {

[[nodiscard]] Object api_versions();                            // /api
[[nodiscard]] Object api_group_list(const Registry& registry);  // /apis
// Empty where there is no such group or version.
[[nodiscard]] Object api_group(const Registry& registry, std::string_view group);  // /apis/GROUP
[[nodiscard]] Object api_resource_list(const Registry& registry, std::string_view group, std::string_view version);

// APIGroupDiscoveryList: of the core group, or of all others.
[[nodiscard]] Object aggregated_discovery(const Registry& registry, bool core_group);
inline constexpr std::string_view kAggregatedType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

}  // namespace gantree::apiserver

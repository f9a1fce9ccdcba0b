// What pods ask for, read from objects as the server stores them: their defaults are filled in. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "apiserver/canonical.h"
#include "apiserver/json.h"

namespace gantree::apiserver {

using AmountsByName = std::map<std::string, Amount, std::less<>>;

// `part` is "requests" or "limits", here and below. Of all containers at the time when they ask for most.
[[nodiscard]] AmountsByName container_amounts(const Object& spec, std::string_view part);

// Of the pod: as kube-scheduler counts requests, and ResourceQuotas both. Overhead is added to those limits only that
// there are.
[[nodiscard]] AmountsByName pod_amounts(const Object& spec, std::string_view part);

}  // namespace gantree::apiserver

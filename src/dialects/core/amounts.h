// Resource lists and pod requests as kube-scheduler counts them.
#pragma once

#include "json/decode.h"
#include "model/resources.h"

namespace gantree {

// A resource list of a node: cpu in milli, all else in ones. Complains about malformed and negative quantities.
[[nodiscard]] Amounts read_amounts(json::Reader& read, json::Value parent, std::string_view key, ResourceNames& names,
                                   Round round);

// One quantity, a string or a number; 0 after a complaint.
[[nodiscard]] std::int64_t read_quantity(json::Reader& read, json::Value value, std::string_view what, Unit unit,
                                         Round round);

// What a pod of this spec takes of a host, `pods: 1` included, by the rule of PodTotal. Limits stand in for requests
// that are not given, as the API server would fill them in.
[[nodiscard]] Amounts read_pod_requests(json::Reader& read, json::Value spec, ResourceNames& names);

}  // namespace gantree

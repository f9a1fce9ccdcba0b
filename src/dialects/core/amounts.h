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

// What a pod of this spec takes of a host, `pods: 1` included:
//   - the sum of its containers, or what its init containers need at the worst moment if that is
//     more; restartable init containers (sidecars) run on, so they count beside all that follows;
//   - limits stand in for requests that are not given;
//   - pod-level resources override that sum for the resources they name;
//   - overhead comes on top.
[[nodiscard]] Amounts read_pod_requests(json::Reader& read, json::Value spec, ResourceNames& names);

}  // namespace gantree

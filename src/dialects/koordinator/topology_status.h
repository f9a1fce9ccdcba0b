// The network of a cluster written as a ClusterNetworkTopology: what the nodes' labels make of its layers.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "dialects/object.h"
#include "dialects/write.h"
#include "json/value.h"
#include "json/write.h"
#include "state/cluster.h"

namespace gantree::koordinator {

// The object of that kind in the input with its status filled in: an entry for the cluster and for
// every domain of every layer above the nodes, depth first, names sorted. Where the input has none,
// one is made of the cluster's first topology, with layers named after its labels. Fails where there
// is no topology at all. Requires that the cluster was read from these documents.
[[nodiscard]] Result<json::Out> cluster_network_topology(const std::vector<json::Document>& documents,
                                                         Cluster& cluster);

// The patch that makes the status of that object true; nothing where it is, or where the object is not valid.
[[nodiscard]] std::optional<Write> network_topology_status(const NamedObject& named, Cluster& cluster);

}  // namespace gantree::koordinator

// The objects of a cluster, for commands that read manifests as well.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cluster_access.h"
#include "dialects/object.h"
#include "json/value.h"

namespace gantree {

// All objects of those kinds that the server has, as lists. Of kinds that whoever asks may not list a line is written
// on stderr, unless there is nothing else: then it fails. `label_selector`: "" for all.
[[nodiscard]] Result<std::vector<json::Document>> list_objects(ClusterAccess& cluster,
                                                               const std::vector<ApiKind>& kinds,
                                                               const std::string& label_selector = {});

// Every kind that a dialect reads.
[[nodiscard]] std::vector<ApiKind> all_kinds();

}  // namespace gantree

// What a server says it serves: replies of /api, /apis and /apis/GROUP/VERSION, in the old form and in the aggregated
// one (apidiscovery.k8s.io).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kube/resource.h"

namespace gantree::kube {

struct GroupVersion {
  std::string group;
  std::string version;

  friend bool operator==(const GroupVersion&, const GroupVersion&) = default;
};

struct Served {
  std::vector<Resource> resources;           // that can be listed and watched; no subresources
  std::vector<GroupVersion> group_versions;  // whose resources have to be asked for one by one
  std::vector<GroupVersion> stale;           // of which the server itself does not know for sure
};

// The Accept header that prefers the aggregated form.
[[nodiscard]] std::string discovery_accept();

[[nodiscard]] Result<Served> read_served(const std::string& body);

}  // namespace gantree::kube

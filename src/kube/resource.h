// One kind of API object as the server serves it, and the paths of its requests.
#pragma once

#include <string>
#include <string_view>

namespace gantree::kube {

struct Resource {
  std::string group;  // "" for the core group
  std::string version;
  std::string plural;  // "pods"
  std::string kind;    // "Pod"
  bool namespaced = true;

  [[nodiscard]] std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  // "/api/v1/namespaces/NS/pods/NAME/SUB". No namespace: the collection over all namespaces. Names are escaped.
  [[nodiscard]] std::string path(std::string_view name_space = {}, std::string_view name = {},
                                 std::string_view subresource = {}) const;

  friend bool operator==(const Resource&, const Resource&) = default;
};

// "podgroups.scheduling.sigs.k8s.io/v1alpha1", for messages.
[[nodiscard]] std::string to_string(const Resource& resource);

// A value for a query or a segment of a path, escaped.
[[nodiscard]] std::string escape(std::string_view text);

// What every server has.
[[nodiscard]] const Resource& pods();
[[nodiscard]] const Resource& nodes();
[[nodiscard]] const Resource& leases();
[[nodiscard]] const Resource& events();  // events.k8s.io/v1

}  // namespace gantree::kube

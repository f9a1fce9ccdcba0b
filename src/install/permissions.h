// What `gantree run` does to the API: the one list that the roles in deploy/ and `gantree doctor` are checked against.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gantree {

struct Permission {
  std::string group;  // "" for the core group
  std::string resource;
  std::string subresource;
  std::string verb;
  std::string name;          // "" for all of them
  bool own = false;          // only in the namespace that Gantree runs in
  bool certificate = false;  // only where Gantree makes the certificate of its webhook
  std::string reason;        // what becomes impossible without it

  // "list pods", "patch podgroups/status in scheduling.sigs.k8s.io", "update leases \"gantree\" in
  // coordination.k8s.io".
  [[nodiscard]] std::string title() const;
};

// The names by which an installation goes. The webhook's Service, Secret and configuration share one.
struct Installation {
  std::string ns = "gantree-system";
  std::string name = "gantree";
  [[nodiscard]] std::string webhook() const { return name + "-webhook"; }
};

// Sorted by group, resource, subresource and verb.
[[nodiscard]] std::vector<Permission> run_permissions(const Installation& installation);

}  // namespace gantree

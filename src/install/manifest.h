// What `gantree install` puts into a cluster: deploy/gantree.yaml, changed by a few options.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/write.h"

namespace gantree {

struct InstallOptions {
  std::string ns = "gantree-system";
  std::string image = {};                    // "": as the manifest says
  std::optional<int> replicas = {};          // the same
  std::vector<std::string> schedulers = {};  // the same where empty
  bool definitions = true;                   // the CustomResourceDefinitions too
  bool default_queues = false;               // KAI's default-parent-queue and default-queue
};

struct ManifestObject {
  std::string api_version;
  std::string kind;
  std::string ns;  // "" where the kind is not namespaced
  std::string name;
  json::Out body;
  bool lasting = false;  // the users' once it is made: one that is there stays as it is, and it is never taken away

  [[nodiscard]] std::string title() const;  // Deployment "gantree-system/gantree"
};

// In the order in which they are to be applied: namespace and definitions first, whoever uses the others last.
[[nodiscard]] Result<std::vector<ManifestObject>> manifest(const InstallOptions& options);

// The same from another text, whose namespace is `from`.
[[nodiscard]] Result<std::vector<ManifestObject>> manifest_of(std::string_view text, std::string_view from,
                                                              const InstallOptions& options);

// As documents of YAML.
[[nodiscard]] std::string to_yaml(const std::vector<ManifestObject>& objects);

}  // namespace gantree

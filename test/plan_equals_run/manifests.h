// A file of manifests, as objects that an API server can store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dialects/object.h"
#include "json/value.h"
#include "queue/quota.h"
#include "support/tree.h"

namespace gantree::test {

struct Manifest {
  std::string group;
  std::string version;
  std::string kind;
  std::string ns;  // "" where there is none, or it is not said
  std::string name;
  Tree tree;
};

struct ManifestFile {
  std::vector<json::Document> documents;
  std::vector<Manifest> objects;      // in order, lists taken apart
  std::vector<ShareStrategy> shares;  // by the options of `gantree plan` that its first comment names
};

// Requires that the file can be read, and makes sense.
[[nodiscard]] ManifestFile read_manifests(const std::string& path);

}  // namespace gantree::test

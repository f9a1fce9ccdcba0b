// Kubeconfig files, merged but not yet chosen from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "json/value.h"

namespace gantree::kube {

// An entry of a file: the object behind "cluster", "user" or "context".
struct KubeconfigEntry {
  json::Value body;
  std::string file;  // that it stands in; relative paths start at its folder
};

struct Kubeconfig {
  std::map<std::string, KubeconfigEntry, std::less<>> clusters;
  std::map<std::string, KubeconfigEntry, std::less<>> users;
  std::map<std::string, KubeconfigEntry, std::less<>> contexts;
  std::string current_context;
  std::vector<std::string> files;         // that were there
  std::vector<json::Document> documents;  // what the entries point into
};

// Adds a file: what an earlier one said stands.
[[nodiscard]] Result<void> merge(Kubeconfig& config, const std::string& file, std::string bytes);

}  // namespace gantree::kube

// The roles and bindings that every cluster has from its beginning, and ClusterRoles that gather the rules of others by
// labels (aggregationRule). Api thread only.
#pragma once

#include <string_view>

namespace gantree::apiserver {

class Core;

// Lists of objects, as YAML documents.
[[nodiscard]] std::string_view builtin_role_text();

class Roles {
 public:
  explicit Roles(Core& core) : core_(core) {}

  // Makes those that are missing. What somebody has made of the others stays.
  void begin();
  void changed(std::string_view table);

 private:
  void gather();

  Core& core_;
  bool scheduled_ = false;
};

}  // namespace gantree::apiserver

// What identifies an API object and its version. The views are valid as long as whoever made them says.
#pragma once

#include <string_view>

namespace gantree::kube {

struct ObjectRef {
  std::string_view name_space;  // empty for what is cluster-wide
  std::string_view name;
  std::string_view uid;
  std::string_view resource_version;
};

}  // namespace gantree::kube

// Core objects that several dialects look up by name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gantree {

using LabelMap = std::map<std::string, std::string, std::less<>>;

struct CoreObjects {
  std::map<std::string, LabelMap, std::less<>> namespaces;  // labels by name
  // Values by name. The two system classes that every cluster has are in it from the start.
  std::map<std::string, std::int64_t, std::less<>> priority_classes = {{"system-cluster-critical", 2'000'000'000},
                                                                       {"system-node-critical", 2'000'001'000}};
  bool has_priority_classes = false;             // whether the input has any
  std::optional<std::int64_t> default_priority;  // of the class marked globalDefault
  int nodes = 0;
};

}  // namespace gantree

// The topologies there are, by name, so that what a workload asks of them can be checked when it is grouped.
//
// One thread owns it: the grouper's.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kai/pod_group_object.h"
#include "live/object.h"

namespace gantree::kai {

class TopologyNames {
 public:
  // KAI's, and Kueue's under the same names.
  [[nodiscard]] static std::vector<ApiKind> kinds();
  [[nodiscard]] static bool knows(std::string_view group, std::string_view kind);

  // Fails where it is malformed; then it is not known.
  [[nodiscard]] Result<> changed(const LiveObject& object);
  void removed(std::string_view group, std::string_view name);

  // What is wrong with a request, in one sentence; "" where nothing is.
  [[nodiscard]] std::string objection(const LevelNames& levels) const;

 private:
  struct Level {
    std::string label;
    std::string alias;
  };
  using Known = std::map<std::string, std::vector<Level>, std::less<>>;

  [[nodiscard]] const std::vector<Level>* find(std::string_view name) const;
  [[nodiscard]] std::string names() const;

  Known own_;
  Known kueue_;
};

}  // namespace gantree::kai

// What a pod cannot start without: the claims, ConfigMaps and Secrets that its volumes and variables name.
#pragma once

#include <optional>
#include <string>

#include "controllers/view.h"

namespace gantree::controllers {

struct Lack {
  std::string volume;   // "": a variable of a container
  std::string message;  // configmap "a" not found
};

// The first thing that is not there and not optional.
[[nodiscard]] std::optional<Lack> find_lack(const Object& pod, const std::string& ns, const View& view);
// The same of claims alone, without which no node is looked for.
[[nodiscard]] std::optional<std::string> find_missing_claim(const Object& pod, const std::string& ns, const View& view);

}  // namespace gantree::controllers

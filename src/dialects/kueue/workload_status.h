// What of the status of a Workload makes no sense where somebody writes it by hand. What Gantree itself writes is not
// judged by this.
#pragma once

#include <optional>
#include <string>

#include "dialects/object.h"

namespace gantree::kueue {

// One sentence that names the field; nothing where the status may take the place of that of `old`:
//   - quota is reserved by an admission, for pod sets that there are, with the same amounts for each of their pods;
//   - what was given does not change while it is given, but for where its pods go;
//   - reclaimable pods are of pod sets that there are, not more than these have, and come back only with the quota;
//   - what admission checks add to pods can be added, and stays once the check is ready.
// What was wrong before and did not change is let through.
[[nodiscard]] std::optional<std::string> wrong_in_status(const NamedObject& named, const Object& old);

}  // namespace gantree::kueue

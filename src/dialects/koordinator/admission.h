// The rules by which this family reads its objects, as rules for storing them.
#pragma once

#include "dialects/admission.h"

namespace gantree::koordinator {

[[nodiscard]] Admission validate_pod_group(const NamedObject& named);
[[nodiscard]] Admission validate_topology(const NamedObject& named);

}  // namespace gantree::koordinator

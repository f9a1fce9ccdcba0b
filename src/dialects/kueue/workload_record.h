// What objects of kind Workload say of the jobs that they were made for.
#pragma once

#include <optional>

#include "dialects/object.h"
#include "model/record.h"

namespace gantree::kueue {

// Nothing where it is nobody's, or cannot be read: whatever is wrong with it, its job speaks for itself.
[[nodiscard]] std::optional<GangRecord> read_record(const NamedObject& named);

}  // namespace gantree::kueue

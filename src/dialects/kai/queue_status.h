// The status of a Queue of KAI: what its gangs use and ask for, those of the queues below it included.
#pragma once

#include <span>

#include "dialects/live.h"

namespace gantree::kai {

// A merge patch of the status.
[[nodiscard]] Write queue_status(const NamedObject& named, std::span<const CellFigures> cells);

}  // namespace gantree::kai

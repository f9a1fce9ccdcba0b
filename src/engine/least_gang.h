// The fewest pods with which a gang may start, as a gang of its own.
#pragma once

#include "model/gang.h"

namespace gantree {

// No one is evicted for more pods than the gang needs to start: its pod sets count their minima, where these leave
// nothing open.
[[nodiscard]] Gang least_of(Gang gang);

// Whether a gang made by least_of() has more pods than it needs.
[[nodiscard]] bool has_spare_pods(const Gang& gang);

}  // namespace gantree

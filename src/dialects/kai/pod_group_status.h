// The status of a PodGroup of KAI: that it cannot be scheduled now, and why.
#pragma once

#include <optional>
#include <string_view>

#include "dialects/live.h"

namespace gantree::kai {

// A merge patch of the status; nothing where the object says so already.
[[nodiscard]] std::optional<Write> pod_group_status(const GangReport& report);

// Why a gang waits, in KAI's words: for events.
[[nodiscard]] std::string_view reason_of(const Verdict& verdict);

}  // namespace gantree::kai

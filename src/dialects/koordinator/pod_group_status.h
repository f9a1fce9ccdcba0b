// The status of a PodGroup: how far its pods are, and why they wait.
//
//   Pending ──► PreScheduling ──► Scheduled ──► Running ──► Finished
//   (too few      (enough pods,     (its minimum   (as many      (as many
//    pods)         no place yet)     has nodes)     run)          succeeded)
//                                        └──────────┴──────────► Failed (all have ended, too few succeeded)
#pragma once

#include <optional>
#include <string_view>

#include "dialects/live.h"

namespace gantree::koordinator {

// A merge patch of the status; nothing where the object says so already.
[[nodiscard]] std::optional<Write> pod_group_status(const GangReport& report);

// By the counts alone.
[[nodiscard]] std::string_view phase_of(const MemberCounts& members, int min);

}  // namespace gantree::koordinator

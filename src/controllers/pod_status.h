// The status of a pod as a kubelet writes it.
#pragma once

#include "controllers/turn.h"

namespace gantree::controllers {

// All containers run and are ready; `restarts` more than before.
[[nodiscard]] Object running_status(const Object& pod, const Item* node, std::string_view uid, bool restarted,
                                    Time now);
// All containers have ended with that code.
[[nodiscard]] Object ended_status(const Object& pod, int exit_code, Time now);
// Only the condition Ready (and ContainersReady) changes.
[[nodiscard]] Object readiness_status(const Object& pod, bool ready, std::string_view reason, std::string_view message,
                                      Time now);
// When the containers were last started; 0 where they were not.
[[nodiscard]] std::int64_t started_at(const Object& pod);

}  // namespace gantree::controllers

// The status of a pod as a kubelet writes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "controllers/turn.h"

namespace gantree::controllers {

// How often in a row the containers have ended after a short life: the next start waits the longer for it.
using Crashes = std::int64_t;

// All containers run and are ready.
[[nodiscard]] Object running_status(const Object& pod, const Item* node, const std::string& address, Time now);
// They cannot be started yet, and why; with no address where its volumes are not there.
[[nodiscard]] Object creating_status(const Object& pod, const Item* node, const std::string& address,
                                     std::string_view reason, std::string_view message, Time now);
// They run again, after an end that the status tells of already (waiting_status) or with that code just now.
[[nodiscard]] Object restarted_status(const Object& pod, int exit_code, Crashes crashes, Time now);
// All containers have ended with that code, and wait that long to be started again.
[[nodiscard]] Object waiting_status(const Object& pod, int exit_code, std::chrono::seconds pause, Time now);
// All containers have ended with that code.
[[nodiscard]] Object ended_status(const Object& pod, int exit_code, Time now);
// Only the condition Ready (and ContainersReady) changes.
[[nodiscard]] Object readiness_status(const Object& pod, bool ready, std::string_view reason, std::string_view message,
                                      Time now);
// When the containers were last started, to the millisecond where we started them. The zero of time where they were
// not.
[[nodiscard]] Time started_at(const Object& pod);
// When they ended, and whether they wait to be started again.
[[nodiscard]] std::optional<Time> waiting_since(const Object& pod);
[[nodiscard]] Crashes crashes_of(const Object& pod);

}  // namespace gantree::controllers

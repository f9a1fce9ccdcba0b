// How Workloads stand with their queues. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "kueue/ledger.h"
#include "kueue/queue_status.h"

namespace gantree::kueue {

// The LocalQueue that it names, or the one that counts where it names none.
[[nodiscard]] std::string_view local_queue_of(const Entry& entry);
// Why a Workload that has quota has to go because its queue is stopped; nothing where it may stay.
[[nodiscard]] std::optional<Drain> drain(const Entry& entry, const Setup& setup);
// Whether it was sent away by a stopped queue that runs again, or for a while that is over, and has not been told.
[[nodiscard]] std::optional<Wanted> queued_again(const Entry& entry, const Setup& setup, Time now);
// What every queue should say of itself now.
[[nodiscard]] QueueStatuses queue_statuses(const Ledger& ledger);

}  // namespace gantree::kueue

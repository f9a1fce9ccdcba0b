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
// Whether one that was evicted, and whose pods are gone, is in its queue again.
[[nodiscard]] Wanted requeued(const Entry& entry, const Setup& setup, Time now);
// Whether what kept it out of its queue is over (the queue is stopped, it was deactivated or suspended, it had to
// pause) and it has not been told.
[[nodiscard]] std::optional<Wanted> queued_again(const Entry& entry, const Setup& setup, Time now);
// What every queue should say of itself now.
[[nodiscard]] QueueStatuses queue_statuses(const Ledger& ledger);

}  // namespace gantree::kueue

// What a submission asks for, in short: the same number where the same is asked for.
#pragma once

#include <cstdint>

#include "queue/submission.h"

namespace gantree {

// Names, priorities and ages do not count: who asks for the same waits in one line, in their order.
[[nodiscard]] std::uint64_t shape_of(const Submission& submission);

}  // namespace gantree

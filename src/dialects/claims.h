// Who made which pod, and which dialect speaks for which workload.
#pragma once

#include <memory>
#include <span>

#include "base/error.h"
#include "dialects/dialects.h"

namespace gantree {

// When all is read and connected: finds the parent of every workload and the topmost workload of
// every pod, makes workloads of pending pods that nothing in the input made, and asks the dialects
// for their claims. What carries marks of several families is noted for the user.
[[nodiscard]] Result<> settle_claims(std::span<const std::unique_ptr<Dialect>> dialects, Intake& intake);

}  // namespace gantree

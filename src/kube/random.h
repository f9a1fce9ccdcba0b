// Jitter: numbers in [0, 1). Not for secrets.
#pragma once

#include <functional>

namespace gantree::kube {

using Random = std::function<double()>;

// A generator of its own, seeded by the system. Not to be shared between threads.
[[nodiscard]] Random make_random();

}  // namespace gantree::kube

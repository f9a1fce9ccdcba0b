// Makes a failing instance small enough to understand.
#pragma once

#include <functional>

#include "support/instance.h"

namespace gantree::test {

// Drops and simplifies parts as long as `fails` holds for what is left. Requires
// that it holds for the instance itself. Asks it some thousand times at most.
[[nodiscard]] Instance shrink(Instance instance, const std::function<bool(const Instance&)>& fails);

}  // namespace gantree::test

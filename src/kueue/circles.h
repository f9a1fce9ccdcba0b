// Cohorts that are their own ancestors. Among files that is a mistake to be told at once; on a live cluster other
// queues must go on.
#pragma once

#include <map>
#include <string>

#include "dialects/kueue/admin.h"

namespace gantree::kueue {

// Takes those cohorts out of each other, and those that are nested too deep. What is wrong with each, by name.
// Afterwards check_nesting() passes.
[[nodiscard]] std::map<std::string, std::string, std::less<>> break_circles(Cohorts& cohorts);

// Queues under such cohorts admit nothing.
void stop_queues_below(const std::map<std::string, std::string, std::less<>>& broken, Setup& setup);

}  // namespace gantree::kueue

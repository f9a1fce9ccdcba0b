// Which pods have to go so that a more important one gets a node, for the plain scheduler.
#pragma once

#include <string>
#include <vector>

#include "controllers/fitting.h"

namespace gantree::controllers {

struct Preemption {
  std::string node;                  // "": nothing helps
  std::vector<const Item*> victims;  // least important first
  bool waits = false;                // for pods that are on their way out already
};

// Of the nodes on which other pods are in the way: the one whose victims matter least, by what budgets forbid, by the
// priority of the highest, by their number. Only pods of a lower priority go, and none more than needed.
[[nodiscard]] Preemption find_victims(const Fitting& fitting, const std::vector<const Host*>& taken, Turn& turn);
void evict_victims(const Item& pod, const Preemption& preemption, Turn& turn);

}  // namespace gantree::controllers

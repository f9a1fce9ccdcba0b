// Amounts of resources: what pods request and nodes have, in thousandths.
#pragma once

#include "controllers/item.h"

namespace gantree::controllers {

// Of a map of names to quantities; what is none is passed over.
[[nodiscard]] Amounts amounts_in(const Object* quantities);
// What a pod takes of a node, as every scheduler counts it; one of "pods".
[[nodiscard]] Amounts requests_of(const Value& pod);

}  // namespace gantree::controllers

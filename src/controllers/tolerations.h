// Taints and tolerations, as far as controllers need them.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "controllers/item.h"

namespace gantree::controllers {

[[nodiscard]] bool tolerates(const Value& toleration, const Taint& taint);
// Is there a toleration for each of the taints that have one of these effects?
[[nodiscard]] bool tolerates_all(const Array* tolerations, const std::vector<Taint>& taints,
                                 std::initializer_list<std::string_view> effects);
// How long a pod may stay on a node with these taints; nothing where it may stay for ever.
[[nodiscard]] std::optional<std::chrono::seconds> how_long_tolerated(const Array* tolerations,
                                                                     const std::vector<Taint>& taints);

// Does the node meet all requirements of a term of node affinity? A term without any matches nothing.
[[nodiscard]] bool matches_node(const Value& term, const Item& node);
// Does the pod's nodeSelector and required node affinity match the node?
[[nodiscard]] bool wants_node(const Object& pod_spec, const Item& node);

}  // namespace gantree::controllers

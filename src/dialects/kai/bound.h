// Gangs of which a part runs already: what is missing, and where the rest is.
#pragma once

#include <span>
#include <vector>

#include "dialects/intake.h"
#include "dialects/kai/draft.h"

namespace gantree::kai {

// Takes the pods that run off the sets of a draft, by role, replica and index as far as labels tell. Minima
// shrink by what runs; sets of which nothing is missing go. Segments are laid out one by one before, so that a pod
// that is missing joins the rest of its own.
void subtract_bound(const Workload& workload, std::span<const PodRecord* const> bound, Inventory& inventory,
                    DraftGroup& root);

// Drops sets of no pods, and groups that have none left. What runs of a group counts towards its minima.
void drop_complete(DraftGroup& group);

// The number by which a pod is known among its equals; nothing where no label tells and the name has none.
[[nodiscard]] std::optional<int> index_of(const PodRecord& pod);

// Whether a pod is one of that template, as far as labels tell; and of which replica of a replicated job it is.
[[nodiscard]] bool in_role(const Workload& workload, const PodTemplate& role, const PodRecord& pod);
[[nodiscard]] std::optional<int> replica_of(const PodRecord& pod);

// The number in a label of a pod; nothing where there is none.
[[nodiscard]] std::optional<int> number_at(json::Value labels, std::string_view key);

// Whether a comes before b, numbers in names counted as such: pod-2 before pod-10.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

}  // namespace gantree::kai

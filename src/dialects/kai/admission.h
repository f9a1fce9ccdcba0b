// Whether a PodGroup, Queue or Topology of KAI that somebody is about to store makes sense: as KAI's own webhook
// judges, and what Gantree would reject later. Pure.
#pragma once

#include <optional>
#include <string>

#include "dialects/admission.h"

namespace gantree::kai {

[[nodiscard]] Admission validate_pod_group(const NamedObject& named);
[[nodiscard]] Admission validate_queue(const NamedObject& named);
[[nodiscard]] Admission validate_topology(const NamedObject& named);

// Why a workload or a pod may not be stored: its pods ask for parts of GPUs, and are Gantree's to bind. `serves_kai`:
// those of KAI's scheduler are, too.
[[nodiscard]] std::optional<std::string> refuse_fractions(const NamedObject& named, bool serves_kai);

// Why a queue may not be deleted, in one sentence: others are below it.
[[nodiscard]] std::optional<std::string> queue_is_needed(const NamedObject& named);

}  // namespace gantree::kai

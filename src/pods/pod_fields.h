// Single fields of pods that more than one part reads.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/whole_number.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "dialects/object.h"
#include "json/value.h"

namespace gantree {

// The node where room is made for it.
[[nodiscard]] inline std::string_view nominated_node(json::Value pod) {
  const json::Value status = pod["status"];
  return status ? text_in(status, "nominatedNodeName") : std::string_view();
}

[[nodiscard]] inline std::int64_t priority_in(json::Value spec) {
  const json::Value priority = spec ? spec["priority"] : json::Value();
  return priority && priority.kind() == json::Kind::kNumber ? whole_number<std::int64_t>(priority.text()).value_or(0)
                                                            : 0;
}

// It waits in, or came from, a queue, which may keep room for it.
[[nodiscard]] inline bool is_of_queue(const Object& pod) {
  return text_at(map_at(pod.metadata(), "annotations"), kueue::kWorkloadAnnotation).present();
}

}  // namespace gantree

#include "controllers/adopt.h"

#include <utility>

#include "controllers/names.h"
#include "controllers/objects.h"

namespace gantree::controllers {

Object adopted_node(const Object& node, Time now) {
  Object made{{"apiVersion", "v1"}, {"kind", "Node"}};
  Object& metadata = object_in(made, "metadata");
  for (const std::string_view key : {"name", "labels", "annotations"}) {
    if (const Value* part = find(node, {"metadata", key})) {
      metadata[key] = *part;
    }
  }
  for (const std::string_view key : {"spec", "status"}) {
    if (const Value* part = find(node, {key})) {
      made[key] = *part;
    }
  }
  set_annotation(made, kSimulated, "true");
  const Value* ready = find_condition(node, "Ready");
  if (ready != nullptr && text_at(*ready, {"status"}) != "True") {
    set_annotation(made, kFailedSince, rfc3339(now));
  }
  return made;
}

}  // namespace gantree::controllers

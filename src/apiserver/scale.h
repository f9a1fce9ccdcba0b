// The scale subresource: one number of an object, seen as autoscaling/v1 Scale. Pure.
#pragma once

#include "apiserver/json.h"
#include "apiserver/kind.h"

namespace gantree::apiserver {

// Requires kind.scale.
[[nodiscard]] Object scale_of(const Kind& kind, const Object& object);
// What a scale makes of the object it is of: its replicas and, where given, the version that it must have.
void set_scale(const Kind& kind, const Object& scale, Object& object);

// ".spec.replicas": nullptr where it is not there.
[[nodiscard]] const Value* value_at_path(const Object& object, std::string_view path);

}  // namespace gantree::apiserver

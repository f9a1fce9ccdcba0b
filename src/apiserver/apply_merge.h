// The steps of server-side apply that change the object.
#pragma once

#include <optional>
#include <string>

#include "apiserver/field_set.h"
#include "apiserver/json.h"
#include "apiserver/schema.h"

namespace gantree::apiserver {

// The object with the configuration put over it: maps member by member, lists by their type. Items that both have come
// in the configuration's order.
[[nodiscard]] Value merge_applied(const Schema& schema, const Value& live, const Value& config);

// Takes out what is in `last` and in `owned` no more.
void remove_unowned(const Schema* schema, Value& value, const FieldSet& last, const FieldSet& owned);

// A list of the configuration whose items cannot be distinguished: ".spec.ports: duplicate entries for key [port=80]".
[[nodiscard]] std::optional<std::string> unusable_items(const Schema& schema, const Value& config);

}  // namespace gantree::apiserver

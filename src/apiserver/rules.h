// What the real server demands of objects beyond their schema: the rules that users meet.
//
// All pure. Objects have their defaults. Paths and messages are those of the real server.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/defaults.h"
#include "apiserver/field_error.h"
#include "apiserver/json.h"

namespace gantree::apiserver {

// Of any kind, custom ones too: name, labels, annotations, owners, finalizers.
[[nodiscard]] FieldErrors check_metadata(std::string_view group, std::string_view kind, const Object& object);

// Of a built-in kind, metadata excepted. Kinds without rules have no errors.
[[nodiscard]] FieldErrors check_create(std::string_view group, std::string_view kind, const Object& object);
// The same for a change of the main resource; calls check_create's rules on the new object too.
[[nodiscard]] FieldErrors check_update(std::string_view group, std::string_view kind, const Object& old_object,
                                       const Object& new_object);

// The same for a change of the status alone.
[[nodiscard]] FieldErrors check_status(std::string_view group, std::string_view kind, const Object& old_object,
                                       const Object& new_object);
// Of what the containers of a pod ask for, which alone may be another through pods/resize.
[[nodiscard]] FieldErrors check_resize(const Object& old_pod, const Object& new_pod);

// Why a pod cannot be bound (code 409, reason Conflict, on pods/binding): gated, bound already, going away.
[[nodiscard]] std::optional<std::string> binding_problem(const Object& pod);

// Why a PriorityClass cannot be the default one: another is (code 403).
[[nodiscard]] std::optional<std::string> second_default_problem(const Object& priority_class,
                                                                std::span<const PriorityClassFacts> classes);

}  // namespace gantree::apiserver

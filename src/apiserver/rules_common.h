// What the rules of several kinds share.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/field_error.h"
#include "apiserver/json.h"

namespace gantree::apiserver {

void check_labels(const Value* labels, const std::string& path, FieldErrors& errors);
void check_pod_spec(const Object& spec, const std::string& path, FieldErrors& errors);
// What check_pod_spec() leaves out.
void check_pod_parts(const Object& spec, const std::string& path, FieldErrors& errors);
void check_pod_update(const Object& old_pod, const Object& new_pod, FieldErrors& errors);
void check_workload(std::string_view kind, const Object& object, FieldErrors& errors);
void check_workload_update(std::string_view kind, const Object& old_object, const Object& new_object,
                           FieldErrors& errors);
void check_definition(const Object& definition, FieldErrors& errors);
void check_schemas(const Array& versions, FieldErrors& errors);  // of a definition
void check_definition_update(const Object& old_definition, const Object& new_definition, FieldErrors& errors);
void check_taints(const Object& node, FieldErrors& errors);
void check_service(const Object& service, FieldErrors& errors);
void check_role(std::string_view kind, const Object& object, FieldErrors& errors);  // and bindings
void check_webhooks(const Object& configuration, FieldErrors& errors);
void check_admission_policy(std::string_view kind, const Object& object, FieldErrors& errors);  // and bindings
void check_budget(const Object& object, FieldErrors& errors);
void check_lease(const Object& object, FieldErrors& errors);
void check_secret(const Object& secret, FieldErrors& errors);  // what its type demands

// The value at the keys, null where there is none.
[[nodiscard]] const Value& value_at(const Object& object, std::initializer_list<std::string_view> keys);
[[nodiscard]] bool same_at(const Object& a, const Object& b, std::initializer_list<std::string_view> keys);
void check_unchanged(const Object& old_object, const Object& new_object, std::initializer_list<std::string_view> keys,
                     FieldErrors& errors);
// "must be greater than or equal to 0".
void check_not_negative(const Object& object, std::string_view parent, std::string_view key, FieldErrors& errors);
void check_one_of(const Object& object, std::string_view parent, std::string_view key,
                  const std::vector<std::string>& choices, FieldErrors& errors);

// Whether the selector (matchLabels, matchExpressions) takes the labels.
[[nodiscard]] bool selects(const Object& selector, const Object* labels);

}  // namespace gantree::apiserver

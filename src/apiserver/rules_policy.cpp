// What ValidatingAdmissionPolicies and their bindings must be like: rules that can be evaluated above all, since one
// that cannot would refuse everything, or nothing.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/cel.h"
#include "apiserver/rules_common.h"

namespace gantree::apiserver {

namespace {

const std::vector<std::string> kReasons = {"Forbidden", "Invalid", "RequestEntityTooLarge"};
const std::vector<std::string> kActions = {"Audit", "Deny", "Warn"};

void check_expression(const Value& holder, std::string_view key, const std::string& path, bool needed,
                      FieldErrors& errors) {
  const std::string_view text = text_at(holder, {key});
  const std::string field = child_path(path, key);
  if (text.empty()) {
    if (needed) {
      errors.push_back(required(field));
    }
    return;
  }
  if (const auto program = CelProgram::compile(text); !program) {
    errors.push_back(invalid_value(field, Value(text), program.error().message));
  }
}

void check_policy(const Object& policy, FieldErrors& errors) {
  const Array* validations = array_at(policy, {"spec", "validations"});
  const Array* annotations = array_at(policy, {"spec", "auditAnnotations"});
  if ((validations == nullptr || validations->empty()) && (annotations == nullptr || annotations->empty())) {
    for (const std::string_view field : {"spec.validations", "spec.auditAnnotations"}) {
      errors.push_back(required(std::string(field), "a policy has one or the other"));
    }
  }
  const Array* rules = array_at(policy, {"spec", "matchConstraints", "resourceRules"});
  if (rules == nullptr || rules->empty()) {
    errors.push_back(required(object_at(policy, {"spec", "matchConstraints"}) == nullptr
                                  ? "spec.matchConstraints"
                                  : "spec.matchConstraints.resourceRules"));
  }
  for (std::size_t i = 0; validations != nullptr && i < validations->size(); ++i) {
    const std::string path = index_path("spec.validations", i);
    const Value& validation = (*validations)[i];
    check_expression(validation, "expression", path, true, errors);
    check_expression(validation, "messageExpression", path, false, errors);
    if (validation.is_object()) {
      check_one_of(validation.get_object(), path, "reason", kReasons, errors);
    }
  }
  for (const std::string_view key : {"variables", "matchConditions"}) {
    const Array* list = array_at(policy, {"spec", key});
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      check_expression((*list)[i], "expression", index_path(child_path("spec", key), i), true, errors);
    }
  }
}

void check_policy_binding(const Object& binding, FieldErrors& errors) {
  if (text_at(binding, {"spec", "policyName"}).empty()) {
    errors.push_back(required("spec.policyName"));
  }
  const Array* actions = array_at(binding, {"spec", "validationActions"});
  if (actions == nullptr || actions->empty()) {
    errors.push_back(required("spec.validationActions"));
    return;
  }
  bool denies = false;
  bool warns = false;
  for (std::size_t i = 0; i < actions->size(); ++i) {
    const std::string_view action = text_of((*actions)[i]);
    denies |= action == "Deny";
    warns |= action == "Warn";
    if (action != "Deny" && action != "Warn" && action != "Audit") {
      errors.push_back(not_supported(index_path("spec.validationActions", i), (*actions)[i], kActions));
    }
  }
  if (denies && warns) {
    errors.push_back(invalid_value("spec.validationActions", Value(*actions), "Deny and Warn do not go together"));
  }
}

}  // namespace

void check_admission_policy(std::string_view kind, const Object& object, FieldErrors& errors) {
  kind.ends_with("Binding") ? check_policy_binding(object, errors) : check_policy(object, errors);
}

}  // namespace gantree::apiserver

#include "apiserver/policies.h"

#include <algorithm>
#include <utility>

#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kPolicies = "validatingadmissionpolicies.admissionregistration.k8s.io";
constexpr std::string_view kBindings = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

const Array& list_at(const Object& object, std::initializer_list<std::string_view> keys) {
  static const Array kNone;
  const Array* list = array_at(object, keys);
  return list == nullptr ? kNone : *list;
}

std::shared_ptr<const CelProgram> program_of(const Value& value, std::string_view key) {
  const std::string_view text = text_at(value, {key});
  return text.empty() ? nullptr : CelProgram::compile(text).value_or(nullptr);
}

void read_policy(const Object& object, BoundPolicy& bound) {
  const Value& spec = object.at("spec");
  bound.policy = text_at(object, {"metadata", "name"});
  bound.asked = read_match(find(spec, {"matchConstraints"}));
  bound.asked.name = bound.policy;
  bound.asked.must_succeed = text_at(spec, {"failurePolicy"}) != "Ignore";
  read_conditions(spec, bound.asked);
  for (const Value& variable : list_at(object, {"spec", "variables"})) {
    bound.variables.emplace_back(text_at(variable, {"name"}), program_of(variable, "expression"));
  }
  for (const Value& rule : list_at(object, {"spec", "validations"})) {
    bound.rules.push_back({std::string(text_at(rule, {"expression"})), std::string(text_at(rule, {"message"})),
                           std::string(text_at(rule, {"reason"})), program_of(rule, "expression"),
                           program_of(rule, "messageExpression")});
  }
  if (object_at(spec, {"paramKind"}) != nullptr) {
    BoundPolicy::Parameters parameters;
    parameters.api_version = text_at(spec, {"paramKind", "apiVersion"});
    parameters.kind = text_at(spec, {"paramKind", "kind"});
    bound.parameters = std::move(parameters);
  }
}

void read_binding(const Object& object, BoundPolicy& bound) {
  const Value& spec = object.at("spec");
  bound.binding = text_at(object, {"metadata", "name"});
  bound.bound = read_match(find(spec, {"matchResources"}));
  for (const Value& action : list_at(object, {"spec", "validationActions"})) {
    bound.denies |= text_of(action) == "Deny";
    bound.warns |= text_of(action) == "Warn";
  }
  if (!bound.parameters) {
    return;
  }
  bound.parameters->name = text_at(spec, {"paramRef", "name"});
  bound.parameters->ns = text_at(spec, {"paramRef", "namespace"});
  bound.parameters->may_be_missing = text_at(spec, {"paramRef", "parameterNotFoundAction"}) == "Allow";
  if (const Value* selector = find(spec, {"paramRef", "selector"})) {
    bound.parameters->selector = LabelSelector::from_object(selector).value_or(LabelSelector());
  }
}

}  // namespace

const std::vector<std::shared_ptr<const BoundPolicy>>& Policies::all() {
  if (all_) {
    return *all_;
  }
  all_.emplace();
  const Table* bindings = core_.store.find_table(kBindings);
  if (bindings == nullptr) {
    return *all_;
  }
  for (const auto& [key, entry] : bindings->entries) {
    const auto binding = core_.read(kBindings, key);
    const std::string name(binding ? text_at(*binding, {"spec", "policyName"}) : "");
    const auto policy = core_.read(kPolicies, {"", name});
    if (policy && object_at(*policy, {"spec"}) != nullptr) {
      auto bound = std::make_shared<BoundPolicy>();
      read_policy(*policy, *bound);
      read_binding(*binding, *bound);
      all_->push_back(std::move(bound));
    }
  }
  std::stable_sort(all_->begin(), all_->end(), [](const auto& a, const auto& b) { return a->policy < b->policy; });
  return *all_;
}

void Policies::changed(std::string_view table) {
  if (table == kPolicies || table == kBindings) {
    all_.reset();
  }
}

}  // namespace gantree::apiserver

#include "apiserver/hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apiserver/admission.h"
#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

std::vector<std::string> texts(const Value& value, std::string_view key) {
  std::vector<std::string> result;
  if (const Array* array = array_at(value, {key})) {
    for (const Value& item : *array) {
      result.emplace_back(text_of(item));
    }
  }
  return result;
}

// An absent selector selects all; one that cannot be read too, since it was accepted once.
LabelSelector selector_at(const Value& value, std::string_view key) {
  const Value* given = find(value, {key});
  if (given == nullptr) {
    return {};
  }
  auto selector = LabelSelector::from_object(given);
  return selector ? std::move(*selector) : LabelSelector();
}

std::vector<Hook::Rule> rules_at(const Value& value, std::string_view key) {
  std::vector<Hook::Rule> rules;
  const Array* list = array_at(value, {key});
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Value& rule = (*list)[i];
    const std::string_view scope = text_at(rule, {"scope"});
    rules.push_back({texts(rule, "operations"), texts(rule, "apiGroups"), texts(rule, "apiVersions"),
                     texts(rule, "resources"), texts(rule, "resourceNames"), scope.empty() ? "*" : std::string(scope)});
  }
  return rules;
}

void read_selection(const Value& value, Hook& hook) {
  hook.namespaces = selector_at(value, "namespaceSelector");
  hook.objects = selector_at(value, "objectSelector");
  hook.equivalent = text_at(value, {"matchPolicy"}) != "Exact";
}

bool lists(const std::vector<std::string>& list, std::string_view text) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& item) { return item == "*" || item == text; });
}

bool lists_resource(const std::vector<std::string>& list, const std::string& resource, const std::string& subresource) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& item) {
    const std::size_t slash = item.find('/');
    const std::string_view first = std::string_view(item).substr(0, slash);
    const std::string_view second =
        slash == std::string::npos ? std::string_view() : std::string_view(item).substr(slash + 1);
    return (first == "*" || first == resource) && (second == subresource || (second == "*"));
  });
}

bool matches_rule(const Hook::Rule& rule, const Kind& kind, const Request& request, Operation operation) {
  const bool scope = rule.scope == "*" || (rule.scope == "Namespaced") == kind.namespaced;
  return scope && lists(rule.operations, name_of(operation)) && lists(rule.groups, kind.group) &&
         lists(rule.versions, kind.version) && lists_resource(rule.resources, kind.resource, request.subresource) &&
         (rule.names.empty() || lists(rule.names, request.name));
}

bool matches_namespace(const Core& core, const Hook& hook, const Request& request, const Admission& admission) {
  if (hook.namespaces.all()) {
    return true;
  }
  if (request.kind->table == "namespaces") {
    const Object* object = admission.object != nullptr ? admission.object : admission.old;
    return object == nullptr || hook.namespaces.matches(pairs_of(object_at(*object, {"metadata", "labels"})));
  }
  const Entry* ns = request.kind->namespaced ? core.store.find("namespaces", {"", request.ns}) : nullptr;
  return ns == nullptr || hook.namespaces.matches(ns->facts->labels);
}

bool matches_object(const Hook& hook, const Admission& admission) {
  const auto fits = [&](const Object* object) {
    return object != nullptr && hook.objects.matches(pairs_of(object_at(*object, {"metadata", "labels"})));
  };
  return hook.objects.all() || fits(admission.object) || fits(admission.old);
}

}  // namespace

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::kCreate:
      return "CREATE";
    case Operation::kUpdate:
      return "UPDATE";
    case Operation::kDelete:
      return "DELETE";
    case Operation::kConnect:
      break;
  }
  return "CONNECT";
}

std::shared_ptr<const Hook> read_hook(const Value& value) {
  auto hook = std::make_shared<Hook>();
  hook->name = text_at(value, {"name"});
  hook->rules = rules_at(value, "rules");
  read_selection(value, *hook);
  hook->must_succeed = text_at(value, {"failurePolicy"}) != "Ignore";
  hook->again = text_at(value, {"reinvocationPolicy"}) == "IfNeeded";
  const std::string_view effects = text_at(value, {"sideEffects"});
  hook->has_side_effects = effects != "None" && effects != "NoneOnDryRun";
  if (const Value* seconds = find(value, {"timeoutSeconds"}); seconds != nullptr && seconds->is_int64()) {
    hook->timeout = std::chrono::seconds(seconds->get_int64());
  }
  read_conditions(value, *hook);
  if (const Object* client = object_at(value, {"clientConfig"})) {
    hook->client = *client;
  }
  return hook;
}

void read_conditions(const Value& value, Hook& hook) {
  const Array* conditions = array_at(value, {"matchConditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    if (auto program = CelProgram::compile(text_at((*conditions)[i], {"expression"}))) {
      hook.conditions.emplace_back(text_at((*conditions)[i], {"name"}), std::move(*program));
    }
  }
}

Hook read_match(const Value* resources) {
  Hook hook;
  if (resources != nullptr) {
    hook.rules = rules_at(*resources, "resourceRules");
    hook.excluded = rules_at(*resources, "excludeResourceRules");
    read_selection(*resources, hook);
  }
  if (hook.rules.empty()) {
    hook.rules.push_back({{"*"}, {"*"}, {"*"}, {"*/*"}, {}, "*"});
  }
  return hook;
}

KindPtr matched_kind(const Core& core, const Hook& hook, const Request& request, Operation operation) {
  const auto any_of = [&](const std::vector<Hook::Rule>& rules, const Kind& kind) {
    return std::any_of(rules.begin(), rules.end(),
                       [&](const Hook::Rule& rule) { return matches_rule(rule, kind, request, operation); });
  };
  const auto matches = [&](const Kind& kind) { return any_of(hook.rules, kind) && !any_of(hook.excluded, kind); };
  if (request.kind->group == "admissionregistration.k8s.io") {
    return nullptr;  // else nobody could mend a webhook that refuses everything
  }
  if (matches(*request.kind)) {
    return request.kind;
  }
  if (hook.equivalent) {
    for (const KindPtr& kind : core.registry.all()) {
      if (kind->table == request.kind->table && matches(*kind)) {
        return kind;
      }
    }
  }
  return nullptr;
}

bool selects(const Core& core, const Hook& hook, const Request& request, const Admission& admission) {
  return matches_namespace(core, hook, request, admission) && matches_object(hook, admission);
}

Outcome<bool> meets_conditions(const Hook& hook, std::span<const CelName> names) {
  std::optional<Failure> failed;
  for (const auto& [name, program] : hook.conditions) {
    const auto value = program->evaluate(names);
    if (!value || !value->is_bool()) {
      const std::string why = value ? "it is neither true nor false" : value.error().message;
      failed =
          bad_request(fmt::format("\"{}\": the matchCondition \"{}\" cannot be decided: {}", hook.name, name, why));
    } else if (!value->get_bool()) {
      return false;
    }
  }
  if (!failed) {
    return true;
  }
  return hook.must_succeed ? Outcome<bool>(tl::unexpected(std::move(*failed))) : Outcome<bool>(false);
}

}  // namespace gantree::apiserver

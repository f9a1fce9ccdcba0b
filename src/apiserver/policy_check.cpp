#include "apiserver/policy_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "apiserver/admission_review.h"
#include "apiserver/policies.h"

namespace gantree::apiserver {

namespace {

// Of all policies on one request.
constexpr std::size_t kMaxCost = 20'000'000;

std::string denial_of(const BoundPolicy& policy, std::string_view why) {
  return fmt::format("policy \"{}\" refuses it, bound by \"{}\": {}", policy.policy, policy.binding, why);
}

Failure denial(const Request& request, const Admission& admission, std::string_view reason, const std::string& why) {
  static constexpr auto kCodes =
      std::to_array<std::pair<std::string_view, int>>({{"Forbidden", 403}, {"RequestEntityTooLarge", 413}});
  const auto code = std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& one) { return one.first == reason; });
  Failure failed = failure(code == kCodes.end() ? 422 : code->second, code == kCodes.end() ? "Invalid" : reason, why,
                           request.what(), admission.name);
  add_cause(failed, "", why, "");
  return failed;
}

// What the rules of one policy are asked with.
struct Names {
  const Value* question;
  const Value* ns;
  const Value* parameters;
  const Value* variables;

  [[nodiscard]] std::array<CelName, 6> all() const {
    return {{{"request", question},
             {"object", find(*question, {"object"})},
             {"oldObject", find(*question, {"oldObject"})},
             {"namespaceObject", ns},
             {"params", parameters},
             {"variables", variables}}};
  }
};

// Those that fail are missed only by who uses them.
Value evaluated_variables(const BoundPolicy& policy, Names names, CelCost& cost) {
  Value variables = Object();
  names.variables = &variables;
  for (const auto& [name, program] : policy.variables) {
    const auto all = names.all();
    auto value = program == nullptr ? Result<Value>(invalid("no program")) : program->evaluate(all, &cost);
    if (value) {
      variables.get_object()[name] = std::move(*value);
    }
  }
  return variables;
}

// Why the rule refuses; nothing where it does not.
std::optional<std::string> complaint_of(const BoundPolicy& policy, const BoundPolicy::Rule& rule, const Names& names,
                                        CelCost& cost) {
  const auto all = names.all();
  const auto holds = rule.condition == nullptr ? Result<Value>(invalid("it cannot be evaluated here"))
                                               : rule.condition->evaluate(all, &cost);
  if (holds && holds->is_bool() && holds->get_bool()) {
    return std::nullopt;
  }
  if (!holds || !holds->is_bool()) {
    const std::string why = holds ? "it is neither true nor false" : holds.error().message;
    return policy.asked.must_succeed ? std::optional(fmt::format("\"{}\": {}", rule.text, why)) : std::nullopt;
  }
  if (rule.says != nullptr) {
    if (const auto said = rule.says->evaluate(all, &cost); said && !text_of(*said).empty()) {
      return std::string(text_of(*said));
    }
  }
  return rule.message.empty() ? "the rule does not hold: " + rule.text : rule.message;
}

// The objects that a binding names as parameters.
std::vector<Value> parameters_of(const Core& core, const BoundPolicy& policy, const Request& request) {
  const BoundPolicy::Parameters& wanted = *policy.parameters;
  const std::size_t slash = wanted.api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : wanted.api_version.substr(0, slash);
  const std::string version = slash == std::string::npos ? wanted.api_version : wanted.api_version.substr(slash + 1);
  const KindPtr kind = core.registry.find_kind(group, version, wanted.kind);
  std::vector<Value> found;
  const Table* table = kind == nullptr ? nullptr : core.store.find_table(kind->table);
  const std::string ns = kind == nullptr || !kind->namespaced ? "" : wanted.ns.empty() ? request.ns : wanted.ns;
  if (table != nullptr) {
    for (const auto& [key, entry] : table->entries) {
      const bool named = wanted.selector ? wanted.selector->matches(entry.facts->labels) : key.name == wanted.name;
      if (key.ns == ns && named) {
        if (auto object = core.read(kind->table, key)) {
          found.emplace_back(std::move(*object));
        }
      }
    }
  }
  return found;
}

// What comes of a complaint, by what the binding says.
Outcome<> act_on(std::string_view complaint, std::string_view reason, const BoundPolicy& policy, Request& request,
                 const Admission& admission) {
  const std::string why = denial_of(policy, complaint);
  if (policy.warns) {
    request.warnings.push_back(why);
  }
  return policy.denies ? Outcome<>(tl::unexpected(denial(request, admission, reason, why))) : Outcome<>();
}

Outcome<> judge(const BoundPolicy& policy, Request& request, const Admission& admission, Names names, CelCost& cost) {
  const auto all = names.all();
  const auto meets = meets_conditions(policy.asked, all);
  if (!meets) {
    return act_on(text_at(meets.error().status, {"message"}), "", policy, request, admission);
  }
  if (!*meets) {
    return {};
  }
  const Value variables = evaluated_variables(policy, names, cost);
  names.variables = &variables;
  for (const BoundPolicy::Rule& rule : policy.rules) {
    if (const auto complaint = complaint_of(policy, rule, names, cost)) {
      if (auto heeded = act_on(*complaint, rule.reason, policy, request, admission); !heeded) {
        return heeded;
      }
    }
  }
  return {};
}

// Judges by each of the parameters that the binding names.
Outcome<> judge_with_parameters(const Core& core, const BoundPolicy& policy, Request& request,
                                const Admission& admission, Names names, CelCost& cost) {
  const std::vector<Value> parameters = parameters_of(core, policy, request);
  if (parameters.empty() && !policy.parameters->may_be_missing && policy.asked.must_succeed) {
    const std::string why = fmt::format("its parameters, a {}, are not there", policy.parameters->kind);
    return tl::unexpected(denial(request, admission, "", denial_of(policy, why)));
  }
  for (const Value& one : parameters) {
    names.parameters = &one;
    if (auto judged = judge(policy, request, admission, names, cost); !judged) {
      return judged;
    }
  }
  return {};
}

// The namespace in which it happens; null where it is in none.
Value namespace_of(const Core& core, const Request& request) {
  if (!request.kind->namespaced) {
    return {};
  }
  auto object = core.read("namespaces", {"", request.ns});
  return object ? Value(std::move(*object)) : Value();
}

}  // namespace

bool concern_policies(Core& core, const Request& request, Operation operation) {
  const auto& all = core.policies.all();
  return std::any_of(all.begin(), all.end(), [&](const auto& policy) {
    return matched_kind(core, policy->asked, request, operation) != nullptr;
  });
}

Task<Outcome<>> obey_policies(Core& core, RequestPtr request, std::shared_ptr<Admission> admission) {
  const auto policies = core.policies.all();  // they may change meanwhile
  CelCost cost(kMaxCost);
  for (const auto& policy : policies) {
    const KindPtr kind = matched_kind(core, policy->asked, *request, admission->operation);
    if (kind == nullptr || matched_kind(core, policy->bound, *request, admission->operation) == nullptr ||
        !selects(core, policy->asked, *request, *admission) || !selects(core, policy->bound, *request, *admission)) {
      continue;
    }
    const auto review = co_await review_for(core, request, admission, kind);
    if (!review) {
      co_return Outcome<>(tl::unexpected(review.error()));
    }
    const Value ns = namespace_of(core, *request);
    const Value none;
    const Names names{find(*review, {"request"}), &ns, &none, &none};
    const auto judged = policy->parameters ? judge_with_parameters(core, *policy, *request, *admission, names, cost)
                                           : judge(*policy, *request, *admission, names, cost);
    if (!judged) {
      co_return judged;
    }
  }
  co_return Outcome<>();
}

}  // namespace gantree::apiserver

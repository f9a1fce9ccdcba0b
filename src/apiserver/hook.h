// Which requests a webhook or a policy is asked about. Api thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/cel.h"
#include "apiserver/json.h"
#include "apiserver/kind.h"
#include "apiserver/selector.h"
#include "apiserver/status.h"

namespace gantree::apiserver {

class Core;
struct Admission;
struct Request;
enum class Operation : std::uint8_t;

// One webhook of a configuration, or what a policy says of the same.
struct Hook {
  struct Rule {
    std::vector<std::string> operations, groups, versions, resources;
    std::vector<std::string> names;  // of objects; none: all
    std::string scope;               // "*", "Cluster" or "Namespaced"
  };
  std::string name;
  std::vector<Rule> rules;
  std::vector<Rule> excluded;  // what of it is left out
  LabelSelector namespaces;
  LabelSelector objects;
  bool equivalent = true;    // matchPolicy
  bool must_succeed = true;  // failurePolicy
  bool again = false;        // reinvocationPolicy IfNeeded
  bool has_side_effects = false;
  std::chrono::milliseconds timeout{10'000};
  // matchConditions; those beyond the part of CEL that is known here are taken to hold.
  std::vector<std::pair<std::string, std::shared_ptr<const CelProgram>>> conditions;  // by name
  Object client;
};

// One of `webhooks` in a configuration.
[[nodiscard]] std::shared_ptr<const Hook> read_hook(const Value& webhook);
// What a policy says of resources (matchConstraints) or its binding (matchResources), which says nothing of most.
[[nodiscard]] Hook read_match(const Value* resources);
void read_conditions(const Value& value, Hook& hook);

[[nodiscard]] std::string_view name_of(Operation operation);

// The version in which the object is to be shown; null where the request is none of its concern.
[[nodiscard]] KindPtr matched_kind(const Core& core, const Hook& hook, const Request& request, Operation operation);
// Whether it selects the namespace and the labels of the object.
[[nodiscard]] bool selects(const Core& core, const Hook& hook, const Request& request, const Admission& admission);

// What a name in CEL stands for.
using CelName = std::pair<std::string_view, const Value*>;
// Whether the conditions let it be asked. One that is false decides; else one that fails does, as a call that fails.
[[nodiscard]] Outcome<bool> meets_conditions(const Hook& hook, std::span<const CelName> names);

}  // namespace gantree::apiserver

#include "apiserver/quota_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "apiserver/defaults.h"

namespace gantree::apiserver {

namespace {

__extension__ using Nanos = __int128;
constexpr Nanos kOne = 1'000'000'000;
// Of the core group, which have names of their own besides "count/...".
constexpr std::array<std::string_view, 6> kOldNames = {
    "services", "secrets", "configmaps", "replicationcontrollers", "resourcequotas", "persistentvolumeclaims"};

void add(QuotaAmounts& amounts, const std::string& name, const Amount& more) {
  const auto [it, fresh] = amounts.emplace(name, more);
  if (!fresh) {
    it->second += more;
  }
}

void add_count(QuotaAmounts& amounts, const std::string& name, std::size_t count = 1) {
  if (count > 0) {
    add(amounts, name, {static_cast<Nanos>(count) * kOne, Amount::Style::kDecimal});
  }
}

bool is_over(const Object& pod) {
  const std::string_view phase = text_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

void use_pod(const Object& pod, QuotaUse& use) {
  static const Object kEmpty;
  const Object* given = object_at(pod, {"spec"});
  const Object& spec = given == nullptr ? kEmpty : *given;
  use.scopes.pod = true;
  const Value* deadline = spec.if_contains("activeDeadlineSeconds");
  use.scopes.terminating = deadline != nullptr && deadline->is_int64();
  use.scopes.best_effort = quality_of(spec) == "BestEffort";
  use.scopes.priority_class = text_at(spec, {"priorityClassName"});
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    const Value* affinity = find(spec, {"affinity", kind});
    const std::string text = affinity == nullptr ? std::string() : to_json(*affinity);
    use.scopes.across_namespaces |= text.find("\"namespaces\":[\"") != std::string::npos ||
                                    text.find("\"namespaceSelector\":{") != std::string::npos;
  }
  if (is_over(pod)) {
    return;
  }
  add_count(use.amounts, "pods");
  for (const auto& [name, amount] : pod_amounts(spec, "requests")) {
    add(use.amounts, "requests." + name, amount);
    if (name.find('/') == std::string::npos) {
      add(use.amounts, name, amount);
    }
  }
  for (const auto& [name, amount] : pod_amounts(spec, "limits")) {
    add(use.amounts, "limits." + name, amount);
  }
}

void use_service(const Object& service, QuotaUse& use) {
  const std::string_view type = text_at(service, {"spec", "type"});
  const Array* ports = array_at(service, {"spec", "ports"});
  const Value* allocates = find(service, {"spec", "allocateLoadBalancerNodePorts"});
  const bool balancer = type == "LoadBalancer";
  if (balancer) {
    add_count(use.amounts, "services.loadbalancers");
  }
  const bool opens = !balancer || allocates == nullptr || !allocates->is_bool() || allocates->get_bool();
  if ((balancer || type == "NodePort") && opens && ports != nullptr) {
    add_count(use.amounts, "services.nodeports", ports->size());
  }
}

void use_claim(const Object& claim, QuotaUse& use) {
  const std::string of_class =
      fmt::format("{}.storageclass.storage.k8s.io/", text_at(claim, {"spec", "storageClassName"}));
  const bool has_class = !of_class.starts_with('.');
  if (has_class) {
    add_count(use.amounts, of_class + "persistentvolumeclaims");
  }
  const Value* storage = find(claim, {"spec", "resources", "requests", "storage"});
  const auto amount = storage == nullptr ? std::nullopt : parse_amount(*storage);
  if (amount) {
    add(use.amounts, "requests.storage", *amount);
    if (has_class) {
      add(use.amounts, of_class + "requests.storage", *amount);
    }
  }
}

bool covers(std::string_view scope, const QuotaScopes& of) {
  return scope == "Terminating"                 ? of.terminating
         : scope == "NotTerminating"            ? !of.terminating
         : scope == "BestEffort"                ? of.best_effort
         : scope == "NotBestEffort"             ? !of.best_effort
         : scope == "CrossNamespacePodAffinity" ? of.across_namespaces
         : scope == "PriorityClass"             ? !of.priority_class.empty()
                                                : false;
}

bool covers(const Value& expression, const QuotaScopes& of) {
  const std::string_view op = text_at(expression, {"operator"});
  const bool holds = covers(text_at(expression, {"scopeName"}), of);
  const Array* values = array_at(expression, {"values"});
  const bool among = values != nullptr && std::any_of(values->begin(), values->end(), [&](const Value& value) {
                       return text_of(value) == of.priority_class;
                     });
  return op == "In" ? holds && among : op == "NotIn" ? !among : op == "DoesNotExist" ? !holds : holds;
}

}  // namespace

bool is_measured(std::string_view table) {
  return table == "pods" || table == "services" || table == "persistentvolumeclaims";
}

QuotaUse quota_use(std::string_view table, const Object& object) {
  QuotaUse use;
  add_count(use.amounts, "count/" + std::string(table));
  if (std::find(kOldNames.begin(), kOldNames.end(), table) != kOldNames.end()) {
    add_count(use.amounts, std::string(table));
  }
  if (table == "pods") {
    use_pod(object, use);
  } else if (table == "services") {
    use_service(object, use);
  } else if (table == "persistentvolumeclaims") {
    use_claim(object, use);
  }
  return use;
}

bool quota_covers(const Object& spec, const QuotaScopes& scopes) {
  const Array* names = array_at(spec, {"scopes"});
  const Array* expressions = array_at(spec, {"scopeSelector", "matchExpressions"});
  if (!scopes.pod) {
    return (names == nullptr || names->empty()) && (expressions == nullptr || expressions->empty());
  }
  return (names == nullptr || std::all_of(names->begin(), names->end(),
                                          [&](const Value& name) { return covers(text_of(name), scopes); })) &&
         (expressions == nullptr || std::all_of(expressions->begin(), expressions->end(),
                                                [&](const Value& expression) { return covers(expression, scopes); }));
}

std::vector<std::string> left_unsaid(const QuotaAmounts& hard, const Object& pod) {
  std::set<std::string> missing;
  if (const Object* whole = object_at(pod, {"spec", "resources"}); whole != nullptr && !whole->empty()) {
    return {};
  }
  for (const std::string_view name :
       {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}) {
    if (!hard.contains(name)) {
      continue;
    }
    const std::size_t dot = name.find('.');
    const std::string_view part = dot == std::string_view::npos ? "requests" : name.substr(0, dot);
    const std::string_view resource = dot == std::string_view::npos ? name : name.substr(dot + 1);
    for (const std::string_view list : {"containers", "initContainers"}) {
      const Array* containers = array_at(pod, {"spec", list});
      for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
        if (find((*containers)[i], {"resources", part, resource}) == nullptr) {
          missing.emplace(name);
        }
      }
    }
  }
  return {missing.begin(), missing.end()};
}

}  // namespace gantree::apiserver

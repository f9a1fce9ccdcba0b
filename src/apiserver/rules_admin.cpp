// Kinds of those who run a cluster: roles, webhooks, budgets, leases, secrets of known types.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "apiserver/names.h"
#include "apiserver/rules_common.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::int64_t kLongestWait = 30;

std::size_t count_at(const Value& value, std::string_view key) {
  const Array* array = array_at(value, {key});
  return array == nullptr ? 0 : array->size();
}

void require(const Value& value, std::string_view key, const std::string& path, FieldErrors& errors) {
  if (count_at(value, key) == 0) {
    errors.push_back(required(child_path(path, key)));
  }
}

// --- roles ---

void check_rule_of_role(const Value& rule, const std::string& path, bool namespaced, FieldErrors& errors) {
  require(rule, "verbs", path, errors);
  if (count_at(rule, "nonResourceURLs") > 0) {
    const std::string urls = child_path(path, "nonResourceURLs");
    if (namespaced) {
      errors.push_back(invalid_value(urls, value_at(rule.get_object(), {"nonResourceURLs"}),
                                     "a role of a namespace gives rights to resources alone"));
    }
    if (count_at(rule, "apiGroups") + count_at(rule, "resources") + count_at(rule, "resourceNames") > 0) {
      errors.push_back(invalid_value(urls, value_at(rule.get_object(), {"nonResourceURLs"}),
                                     "a rule is for resources or for other paths, not for both"));
    }
    return;
  }
  require(rule, "apiGroups", path, errors);
  require(rule, "resources", path, errors);
}

void check_subject(const Value& subject, const std::string& path, FieldErrors& errors) {
  const std::string_view kind = text_at(subject, {"kind"});
  const std::string_view group = text_at(subject, {"apiGroup"});
  if (text_at(subject, {"name"}).empty()) {
    errors.push_back(required(child_path(path, "name")));
  }
  if (kind == "ServiceAccount") {
    if (!group.empty()) {
      errors.push_back(not_supported(child_path(path, "apiGroup"), Value(group), {""}));
    }
    if (text_at(subject, {"namespace"}).empty()) {
      errors.push_back(required(child_path(path, "namespace")));
    }
  } else if (kind == "User" || kind == "Group") {
    if (group != kRbac) {
      errors.push_back(not_supported(child_path(path, "apiGroup"), Value(group), {std::string(kRbac)}));
    }
  } else {
    errors.push_back(not_supported(child_path(path, "kind"), Value(kind), {"ServiceAccount", "User", "Group"}));
  }
}

// --- webhooks ---

void check_rule_of_webhook(const Value& rule, const std::string& path, FieldErrors& errors) {
  static const std::vector<std::string> kOperations{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
  for (const std::string_view key : {"operations", "apiGroups", "apiVersions", "resources"}) {
    require(rule, key, path, errors);
    const Array* words = array_at(rule, {key});
    for (std::size_t i = 0; words != nullptr && i < words->size(); ++i) {
      const std::string_view word = text_of((*words)[i]);
      const std::string where = child_path(path, key);
      if (word == "*" && words->size() > 1) {
        errors.push_back(invalid_value(where, Value(*words), "'*' stands alone"));
      } else if (key == "operations" && std::find(kOperations.begin(), kOperations.end(), word) == kOperations.end()) {
        errors.push_back(not_supported(index_path(where, i), Value(word), kOperations));
      } else if (word.empty() && key != "apiGroups") {
        errors.push_back(required(index_path(where, i)));
      }
    }
  }
  if (rule.is_object()) {
    check_one_of(rule.get_object(), path, "scope", {"*", "Cluster", "Namespaced"}, errors);
  }
}

void check_webhook(const Object& webhook, const std::string& path, FieldErrors& errors) {
  const std::string_view name = text_at(webhook, {"name"});
  if (name.empty()) {
    errors.push_back(required(child_path(path, "name")));
  } else if (not_dns_subdomain(name) || std::count(name.begin(), name.end(), '.') < 2) {
    errors.push_back(invalid_value(child_path(path, "name"), Value(name), "a domain of three parts or more"));
  }
  const Value* url = find(webhook, {"clientConfig", "url"});
  const Value* service = find(webhook, {"clientConfig", "service"});
  if ((url == nullptr) == (service == nullptr)) {
    errors.push_back(required(child_path(path, "clientConfig"), "exactly one of url or service is required"));
  }
  check_one_of(webhook, path, "failurePolicy", {"Fail", "Ignore"}, errors);
  check_one_of(webhook, path, "matchPolicy", {"Equivalent", "Exact"}, errors);
  check_one_of(webhook, path, "reinvocationPolicy", {"IfNeeded", "Never"}, errors);
  if (text_at(webhook, {"sideEffects"}).empty()) {
    errors.push_back(required(child_path(path, "sideEffects")));
  } else {
    check_one_of(webhook, path, "sideEffects", {"None", "NoneOnDryRun"}, errors);
  }
  const Value& wait = value_at(webhook, {"timeoutSeconds"});
  if (wait.is_int64() && (wait.get_int64() < 1 || wait.get_int64() > kLongestWait)) {
    errors.push_back(invalid_value(child_path(path, "timeoutSeconds"), wait, "between 1 and 30 seconds"));
  }
  const Array* versions = array_at(webhook, {"admissionReviewVersions"});
  if (versions == nullptr || versions->empty()) {
    errors.push_back(required(child_path(path, "admissionReviewVersions")));
  } else if (std::none_of(versions->begin(), versions->end(), [](const Value& version) {
               return text_of(version) == "v1" || text_of(version) == "v1beta1";
             })) {
    errors.push_back(
        invalid_value(child_path(path, "admissionReviewVersions"), Value(*versions), "one of them must be v1"));
  }
  const Array* rules = array_at(webhook, {"rules"});
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    check_rule_of_webhook((*rules)[i], index_path(child_path(path, "rules"), i), errors);
  }
}

// A count, or a share of all as "30%".
void check_count_or_share(const Object& spec, std::string_view key, FieldErrors& errors) {
  const Value& value = value_at(spec, {key});
  const std::string path = child_path("spec", key);
  if (value.is_int64() && value.get_int64() < 0) {
    errors.push_back(invalid_value(path, value, "must be greater than or equal to 0"));
  } else if (value.is_string()) {
    const std::string_view text = text_of(value);
    const std::string_view digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
    const bool share = text.ends_with('%') && !digits.empty() &&
                       std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!share || digits.size() > 3 || (digits.size() == 3 && digits > "100")) {
      errors.push_back(invalid_value(path, value, "a percentage of at most 100%, or a number"));
    }
  }
}

}  // namespace

void check_role(std::string_view kind, const Object& object, FieldErrors& errors) {
  if (!kind.ends_with("Binding")) {
    const Array* rules = array_at(object, {"rules"});
    for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
      check_rule_of_role((*rules)[i], index_path("rules", i), kind == "Role", errors);
    }
    return;
  }
  static const Object kNone;
  const Object* role = object_at(object, {"roleRef"});
  const Object& reference = role == nullptr ? kNone : *role;
  if (const std::string_view group = text_at(reference, {"apiGroup"}); group != kRbac) {
    errors.push_back(not_supported("roleRef.apiGroup", Value(group), {std::string(kRbac)}));
  }
  const std::string_view target = text_at(reference, {"kind"});
  const bool fits = target == "ClusterRole" || (target == "Role" && kind == "RoleBinding");
  if (!fits) {
    errors.push_back(not_supported("roleRef.kind", Value(target),
                                   kind == "RoleBinding" ? std::vector<std::string>{"Role", "ClusterRole"}
                                                         : std::vector<std::string>{"ClusterRole"}));
  }
  if (text_at(reference, {"name"}).empty()) {
    errors.push_back(required("roleRef.name"));
  }
  const Array* subjects = array_at(object, {"subjects"});
  for (std::size_t i = 0; subjects != nullptr && i < subjects->size(); ++i) {
    check_subject((*subjects)[i], index_path("subjects", i), errors);
  }
}

void check_webhooks(const Object& configuration, FieldErrors& errors) {
  const Array* webhooks = array_at(configuration, {"webhooks"});
  for (std::size_t i = 0; webhooks != nullptr && i < webhooks->size(); ++i) {
    if ((*webhooks)[i].is_object()) {
      check_webhook((*webhooks)[i].get_object(), index_path("webhooks", i), errors);
    }
  }
}

void check_budget(const Object& object, FieldErrors& errors) {
  const Object* spec = object_at(object, {"spec"});
  if (spec == nullptr) {
    return;
  }
  if (!value_at(*spec, {"minAvailable"}).is_null() && !value_at(*spec, {"maxUnavailable"}).is_null()) {
    errors.push_back(invalid_value("spec", Value(*spec), "either minAvailable or maxUnavailable, not both"));
  }
  check_count_or_share(*spec, "minAvailable", errors);
  check_count_or_share(*spec, "maxUnavailable", errors);
  check_one_of(*spec, "spec", "unhealthyPodEvictionPolicy", {"AlwaysAllow", "IfHealthyBudget"}, errors);
}

void check_lease(const Object& object, FieldErrors& errors) {
  const Object* spec = object_at(object, {"spec"});
  if (spec == nullptr) {
    return;
  }
  const Value& duration = value_at(*spec, {"leaseDurationSeconds"});
  if (duration.is_int64() && duration.get_int64() <= 0) {
    errors.push_back(invalid_value("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  check_not_negative(*spec, "spec", "leaseTransitions", errors);
}

void check_secret(const Object& secret, FieldErrors& errors) {
  struct Known {
    std::string_view type;
    std::vector<std::string_view> keys;
  };
  static const std::array<Known, 4> kKnown{{{"kubernetes.io/tls", {"tls.crt", "tls.key"}},
                                            {"kubernetes.io/dockerconfigjson", {".dockerconfigjson"}},
                                            {"kubernetes.io/dockercfg", {".dockercfg"}},
                                            {"kubernetes.io/ssh-auth", {"ssh-privatekey"}}}};
  const std::string_view type = text_at(secret, {"type"});
  for (const Known& known : kKnown) {
    for (const std::string_view key : known.keys) {
      if (type == known.type && find(secret, {"data", key}) == nullptr) {
        errors.push_back(required(key_path("data", key)));
      }
    }
  }
  if (type == "kubernetes.io/service-account-token" &&
      text_at(secret, {"metadata", "annotations", "kubernetes.io/service-account.name"}).empty()) {
    errors.push_back(required("metadata.annotations[kubernetes.io/service-account.name]"));
  }
}

}  // namespace gantree::apiserver

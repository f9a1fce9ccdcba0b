#include "apiserver/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "apiserver/names.h"
#include "apiserver/rules_common.h"

namespace gantree::apiserver {

namespace {

constexpr std::size_t kMaxAnnotationBytes = 256 * 1024;
constexpr std::int64_t kHighestUserPriority = 1'000'000'000;
constexpr std::size_t kMostData = std::size_t{1} << 20;

std::optional<std::string> name_problem(std::string_view group, std::string_view kind, std::string_view name) {
  if (group == "rbac.authorization.k8s.io") {
    return not_path_segment(name);
  }
  if (group.empty() && kind == "Namespace") {
    return not_dns_label(name);
  }
  if (group.empty() && kind == "Service") {
    return not_dns_label(name);
  }
  return not_dns_subdomain(name);
}

void check_annotations(const Value* annotations, FieldErrors& errors) {
  const Object* object = annotations == nullptr ? nullptr : annotations->if_object();
  if (object == nullptr) {
    return;
  }
  std::size_t bytes = 0;
  for (const auto& member : *object) {
    std::string lower(member.key());
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    if (auto problem = not_qualified_name(lower)) {
      errors.push_back(invalid_value("metadata.annotations", Value(member.key()), *problem));
    }
    bytes += member.key().size() + text_of(member.value()).size();
  }
  if (bytes > kMaxAnnotationBytes) {
    errors.push_back(too_long("metadata.annotations", kMaxAnnotationBytes));
  }
}

void check_owners(const Array* owners, FieldErrors& errors) {
  std::size_t controllers = 0;
  for (std::size_t i = 0; owners != nullptr && i < owners->size(); ++i) {
    for (const std::string_view key : {"apiVersion", "kind", "name", "uid"}) {
      if (text_at((*owners)[i], {key}).empty()) {
        errors.push_back(invalid_value(child_path("metadata.ownerReferences", key), Value(""),
                                       std::string(key) + " must not be empty"));
      }
    }
    const Value* controller = find((*owners)[i], {"controller"});
    controllers += controller != nullptr && controller->is_bool() && controller->get_bool() ? 1 : 0;
  }
  if (controllers > 1) {
    errors.push_back(
        invalid_value("metadata.ownerReferences", Value(*owners), "no more than one owner may be the controller"));
  }
}

void check_priority_class(const Object& object, FieldErrors& errors) {
  const std::string_view name = text_at(object, {"metadata", "name"});
  const Value& value = value_at(object, {"value"});
  const bool critical = name == "system-node-critical" || name == "system-cluster-critical";
  if (name.starts_with("system-") && !critical) {
    errors.push_back(forbidden(
        "metadata.name",
        "names that begin with 'system-' are the system's own, and it knows none called " + std::string(name)));
  } else if (!critical && value.is_int64() && value.get_int64() > kHighestUserPriority) {
    errors.push_back(forbidden("value", fmt::format("users' classes go up to {}", kHighestUserPriority)));
  }
  check_one_of(object, "", "preemptionPolicy", {"Never", "PreemptLowerPriority"}, errors);
}

void check_data_keys(const Object& object, FieldErrors& errors) {
  for (const std::string_view field : {"data", "binaryData"}) {
    const Object* data = object_at(object, {field});
    if (data == nullptr) {
      continue;
    }
    for (const auto& member : *data) {
      const std::string_view key = member.key();
      const bool good = !key.empty() && key.size() <= 253 && key != "." && key != ".." &&
                        std::all_of(key.begin(), key.end(), [](unsigned char c) {
                          return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                        });
      if (!good) {
        errors.push_back(invalid_value(key_path(field, key), Value(key),
                                       "keys have letters, digits, '-', '_' and '.' alone, at most 253 of them"));
      }
    }
  }
}

// No more than a MiB of values, as a ConfigMap or Secret must fit where everybody reads it.
void check_data_size(std::string_view kind, const Object& object, FieldErrors& errors) {
  std::size_t size = 0;
  for (const std::string_view field : {"data", "binaryData"}) {
    const Object* data = object_at(object, {field});
    for (std::size_t i = 0; data != nullptr && i < data->size(); ++i) {
      const std::string_view value = text_of((data->begin() + static_cast<std::ptrdiff_t>(i))->value());
      const bool encoded = kind == "Secret" || field == "binaryData";
      // Four letters of base64 are three bytes, less what fills up the end.
      size += encoded ? value.size() / 4 * 3 - (value.ends_with("==")  ? 2
                                                : value.ends_with('=') ? 1
                                                                       : 0)
                      : value.size();
    }
  }
  if (size > kMostData) {
    errors.push_back(too_long(kind == "Secret" ? "data" : "", kMostData));
  }
}

void check_kept_data(const Object& old_object, const Object& new_object, FieldErrors& errors) {
  const Value& immutable = value_at(old_object, {"immutable"});
  if (!immutable.is_bool() || !immutable.get_bool()) {
    return;
  }
  const Value& still = value_at(new_object, {"immutable"});
  if (!still.is_bool() || !still.get_bool()) {
    errors.push_back(forbidden("immutable", "cannot change, since `immutable` is set"));
  }
  for (const std::string_view key : {"data", "binaryData"}) {
    if (!same_at(old_object, new_object, {key})) {
      errors.push_back(forbidden(std::string(key), "cannot change, since `immutable` is set"));
    }
  }
}

void check_core(std::string_view kind, const Object& object, FieldErrors& errors) {
  if (kind == "Pod") {
    static const Object kEmpty;
    const Object* spec = object_at(object, {"spec"});
    check_pod_spec(spec == nullptr ? kEmpty : *spec, "spec", errors);
  } else if (kind == "Node") {
    check_taints(object, errors);
  } else if (kind == "Service") {
    check_service(object, errors);
  } else if (kind == "ConfigMap" || kind == "Secret") {
    check_data_keys(object, errors);
    check_data_size(kind, object, errors);
    if (kind == "Secret") {
      check_secret(object, errors);
    }
  } else if (kind == "ReplicationController") {
    check_workload(kind, object, errors);
  }
}

bool is_workload(std::string_view group, std::string_view kind) {
  return (group == "apps" && kind != "ControllerRevision") || group == "batch";
}

}  // namespace

FieldErrors check_metadata(std::string_view group, std::string_view kind, const Object& object) {
  FieldErrors errors;
  const std::string_view name = text_at(object, {"metadata", "name"});
  const std::string_view prefix = text_at(object, {"metadata", "generateName"});
  if (name.empty() && prefix.empty()) {
    errors.push_back(required("metadata.name", "name or generateName is required"));
  } else if (const auto problem = name.empty() ? std::nullopt : name_problem(group, kind, name)) {
    errors.push_back(invalid_value("metadata.name", Value(name), *problem));
  }
  check_labels(find(object, {"metadata", "labels"}), "metadata.labels", errors);
  check_annotations(find(object, {"metadata", "annotations"}), errors);
  check_owners(array_at(object, {"metadata", "ownerReferences"}), errors);
  const Array* finalizers = array_at(object, {"metadata", "finalizers"});
  for (std::size_t i = 0; finalizers != nullptr && i < finalizers->size(); ++i) {
    if (auto problem = not_qualified_name(text_of((*finalizers)[i]))) {
      for (const std::string& path : {std::string("metadata.finalizers"), index_path("metadata.finalizers", i)}) {
        errors.push_back(invalid_value(path, (*finalizers)[i], *problem));
      }
    }
  }
  return errors;
}

FieldErrors check_create(std::string_view group, std::string_view kind, const Object& object) {
  FieldErrors errors;
  if (group.empty()) {
    check_core(kind, object, errors);
  } else if (is_workload(group, kind)) {
    check_workload(kind, object, errors);
  } else if (group == "scheduling.k8s.io") {
    check_priority_class(object, errors);
  } else if (group == "policy") {
    check_budget(object, errors);
  } else if (group == "apiextensions.k8s.io") {
    check_definition(object, errors);
  } else if (group == "coordination.k8s.io" && kind == "Lease") {
    check_lease(object, errors);
  } else if (group == "rbac.authorization.k8s.io") {
    check_role(kind, object, errors);
  } else if (group == "admissionregistration.k8s.io" && kind.starts_with("ValidatingAdmissionPolicy")) {
    check_admission_policy(kind, object, errors);
  } else if (group == "admissionregistration.k8s.io") {
    check_webhooks(object, errors);
  }
  return errors;
}

FieldErrors check_update(std::string_view group, std::string_view kind, const Object& old_object,
                         const Object& new_object) {
  FieldErrors errors = check_create(group, kind, new_object);
  if (group.empty() && kind == "Pod") {
    // The spec was good when the pod was made: what counts is the change.
    errors.clear();
    check_pod_update(old_object, new_object, errors);
  } else if (group.empty() && (kind == "ConfigMap" || kind == "Secret")) {
    check_kept_data(old_object, new_object, errors);
    if (kind == "Secret") {
      check_unchanged(old_object, new_object, {"type"}, errors);
    }
  } else if (group.empty() && kind == "Service" && text_at(old_object, {"spec", "type"}) != "ExternalName" &&
             text_at(new_object, {"spec", "type"}) != "ExternalName") {
    if (!text_at(old_object, {"spec", "clusterIP"}).empty() &&
        !same_at(old_object, new_object, {"spec", "clusterIP"})) {
      errors.push_back(invalid_value("spec.clusterIPs[0]", Array{Value(text_at(new_object, {"spec", "clusterIP"}))},
                                     "may not change once set"));
    }
  } else if (is_workload(group, kind)) {
    check_workload_update(kind, old_object, new_object, errors);
  } else if (group == "apiextensions.k8s.io") {
    // The name was right when it was made: what counts is the change.
    std::erase_if(errors, [](const FieldError& error) { return error.field == "metadata.name"; });
    check_definition_update(old_object, new_object, errors);
  } else if (group == "scheduling.k8s.io") {
    if (!same_at(old_object, new_object, {"value"})) {
      errors.push_back(forbidden("value", "cannot change"));
    }
    check_unchanged(old_object, new_object, {"preemptionPolicy"}, errors);
  } else if (group == "rbac.authorization.k8s.io" && kind.ends_with("Binding") &&
             !same_at(old_object, new_object, {"roleRef"})) {
    errors.push_back(invalid_value("roleRef", value_at(new_object, {"roleRef"}), "cannot change roleRef"));
  }
  return errors;
}

std::optional<std::string> binding_problem(const Object& pod) {
  const std::string_view name = text_at(pod, {"metadata", "name"});
  const std::string_view node = text_at(pod, {"spec", "nodeName"});
  if (!text_at(pod, {"metadata", "deletionTimestamp"}).empty()) {
    return fmt::format("pod {} is going: it gets no node any more", name);
  }
  if (!node.empty()) {
    return fmt::format("pod {} has its node already, \"{}\"", name, node);
  }
  const Array* gates = array_at(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty()) {
    return fmt::format("pod {} still has scheduling gates", name);
  }
  return std::nullopt;
}

std::optional<std::string> second_default_problem(const Object& priority_class,
                                                  std::span<const PriorityClassFacts> classes) {
  const Value& wants = value_at(priority_class, {"globalDefault"});
  if (!wants.is_bool() || !wants.get_bool()) {
    return std::nullopt;
  }
  for (const PriorityClassFacts& other : classes) {
    if (other.global_default && other.name != text_at(priority_class, {"metadata", "name"})) {
      return fmt::format("PriorityClass {} is the default already, and there can be one only", other.name);
    }
  }
  return std::nullopt;
}

}  // namespace gantree::apiserver

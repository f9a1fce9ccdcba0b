// Nodes, Services, and definitions of kinds.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apiserver/names.h"
#include "apiserver/rules_common.h"

namespace gantree::apiserver {

namespace {

bool flag_at(const Value& value, std::string_view key) {
  const Value* flag = find(value, {key});
  return flag != nullptr && flag->is_bool() && flag->get_bool();
}

void check_versions(const Object& spec, FieldErrors& errors) {
  const Array* versions = array_at(spec, {"versions"});
  std::size_t stored = 0;
  std::set<std::string> seen;
  for (std::size_t i = 0; versions != nullptr && i < versions->size(); ++i) {
    const std::string path = index_path("spec.versions", i);
    const std::string name(text_at((*versions)[i], {"name"}));
    if (auto problem = not_dns_1035_label(name)) {
      errors.push_back(invalid_value(child_path(path, "name"), Value(name), *problem));
    } else if (!seen.insert(name).second) {
      errors.push_back(invalid_value("spec.versions", Value(*versions), "no two versions have one name"));
    }
    stored += flag_at((*versions)[i], "storage") ? 1 : 0;
    if (object_at((*versions)[i], {"schema", "openAPIV3Schema"}) == nullptr) {
      errors.push_back(required(child_path(path, "schema.openAPIV3Schema"), "schemas are required"));
    }
  }
  if (stored != 1) {
    errors.push_back(invalid_value("spec.versions", versions == nullptr ? Value() : Value(*versions),
                                   "one version, and only one, must be the one that is stored"));
    errors.push_back(invalid_value("status.storedVersions", Value(), "names the version that is stored"));
  }
}

}  // namespace

void check_definition(const Object& definition, FieldErrors& errors) {
  const Object* spec = object_at(definition, {"spec"});
  if (spec == nullptr) {
    errors.push_back(required("spec"));
    return;
  }
  const std::string group(text_at(*spec, {"group"}));
  const std::string plural(text_at(*spec, {"names", "plural"}));
  const std::string_view name = text_at(definition, {"metadata", "name"});
  if (name != plural + "." + group) {
    errors.push_back(invalid_value("metadata.name", Value(name), "must be the plural name, a dot and the group"));
  }
  if (group.empty()) {
    errors.push_back(required("spec.group"));
  } else if (group.find('.') == std::string::npos) {
    errors.push_back(invalid_value("spec.group", Value(group), "should be a domain with at least one dot"));
  } else if (auto problem = not_dns_subdomain(group)) {
    errors.push_back(invalid_value("spec.group", Value(group), *problem));
  }
  if (text_at(*spec, {"scope"}).empty()) {
    errors.push_back(required("spec.scope"));
  }
  check_one_of(*spec, "spec", "scope", {"Cluster", "Namespaced"}, errors);
  for (const std::string_view key : {"plural", "kind"}) {
    if (text_at(*spec, {"names", key}).empty()) {
      errors.push_back(required(child_path("spec.names", key)));
    }
  }
  check_versions(*spec, errors);
  if (const Array* versions = array_at(*spec, {"versions"})) {
    check_schemas(*versions, errors);
  }
}

void check_definition_update(const Object& old_definition, const Object& new_definition, FieldErrors& errors) {
  for (const std::string_view key : {"group", "scope"}) {
    check_unchanged(old_definition, new_definition, {"spec", key}, errors);
  }
  for (const std::string_view key : {"plural", "kind"}) {
    check_unchanged(old_definition, new_definition, {"spec", "names", key}, errors);
  }
}

void check_taints(const Object& node, FieldErrors& errors) {
  const Array* taints = array_at(node, {"spec", "taints"});
  std::set<std::string> seen;
  // The path is the real server's.
  for (std::size_t i = 0; taints != nullptr && i < taints->size(); ++i) {
    const std::string path = index_path("metadata.taints", i);
    const std::string_view key = text_at((*taints)[i], {"key"});
    const std::string_view effect = text_at((*taints)[i], {"effect"});
    if (auto problem = not_qualified_name(key)) {
      errors.push_back(invalid_value(child_path(path, "key"), Value(key), *problem));
    }
    if (auto problem = not_label_value(text_at((*taints)[i], {"value"}))) {
      errors.push_back(invalid_value(child_path(path, "value"), Value(text_at((*taints)[i], {"value"})), *problem));
    }
    if (effect.empty()) {
      errors.push_back(required(child_path(path, "effect")));
    } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      errors.push_back(
          not_supported(child_path(path, "effect"), Value(effect), {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    }
    if (!seen.insert(fmt::format("{}:{}", key, effect)).second) {
      errors.push_back(duplicate(path, (*taints)[i]));
    }
  }
}

void check_service(const Object& service, FieldErrors& errors) {
  const std::string_view type = text_at(service, {"spec", "type"});
  const bool headless = text_at(service, {"spec", "clusterIP"}) == "None";
  const Array* ports = array_at(service, {"spec", "ports"});
  const std::size_t count = ports == nullptr ? 0 : ports->size();
  if (count == 0 && !headless && type != "ExternalName") {
    errors.push_back(required("spec.ports"));
  }
  const std::vector<std::string> types = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"};
  if (std::find(types.begin(), types.end(), type) == types.end()) {
    errors.push_back(not_supported("spec.type", Value(type), types));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = index_path("spec.ports", i);
    const std::string name(text_at((*ports)[i], {"name"}));
    if (name.empty() && count > 1) {
      errors.push_back(required(child_path(path, "name")));
    } else if (!name.empty() && !names.insert(name).second) {
      errors.push_back(duplicate(child_path(path, "name"), Value(name)));
    }
    const Value* number = find((*ports)[i], {"port"});
    if (number == nullptr || !number->is_int64() || number->get_int64() < 1 || number->get_int64() > 65535) {
      errors.push_back(invalid_value(child_path(path, "port"), number == nullptr ? Value(0) : *number,
                                     "must be between 1 and 65535, inclusive"));
    }
    const Value* target = find((*ports)[i], {"targetPort"});
    if (target != nullptr && target->is_int64() && (target->get_int64() < 1 || target->get_int64() > 65535)) {
      errors.push_back(
          invalid_value(child_path(path, "targetPort"), *target, "must be between 1 and 65535, inclusive"));
    }
  }
}

}  // namespace gantree::apiserver

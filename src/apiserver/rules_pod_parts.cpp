// The smaller parts of pods: volumes, probes, environment, ports, spreading, names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "apiserver/names.h"
#include "apiserver/rules_common.h"

namespace gantree::apiserver {

namespace {

constexpr auto kHandlers = std::to_array<std::string_view>({"exec", "httpGet", "tcpSocket", "grpc"});
constexpr auto kStandardResources = std::to_array<std::string_view>({"cpu", "memory", "ephemeral-storage"});
// What of a pod its containers can be told.
constexpr auto kPodFields = std::to_array<std::string_view>(
    {"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
     "status.hostIPs", "status.podIP", "status.podIPs"});

template <class Check>
void for_each(const Value& parent, std::string_view key, const std::string& path, Check check) {
  const Array* list = array_at(parent, {key});
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if ((*list)[i].is_object()) {
      check((*list)[i].get_object(), index_path(child_path(path, key), i));
    }
  }
}

void check_volume(const Object& volume, const std::string& path, FieldErrors& errors) {
  bool found = false;
  for (const auto& member : volume) {
    if (member.key() == "name" || member.value().is_null()) {
      continue;
    }
    if (found) {
      errors.push_back(forbidden(child_path(path, member.key()), "a volume is of one type"));
    }
    found = true;
  }
}

void check_port_number(const Value* port, const std::string& path, FieldErrors& errors) {
  if (port != nullptr && port->is_int64() && (port->get_int64() < 1 || port->get_int64() > 65535)) {
    errors.push_back(invalid_value(path, *port, "must be between 1 and 65535, inclusive"));
  }
}

void check_probe(const Object& container, std::string_view key, const std::string& parent, FieldErrors& errors) {
  const Object* probe = object_at(container, {key});
  if (probe == nullptr) {
    return;
  }
  const std::string path = child_path(parent, key);
  bool found = false;
  for (const std::string_view handler : kHandlers) {
    if (object_at(*probe, {handler}) == nullptr) {
      continue;
    }
    if (found) {
      errors.push_back(forbidden(child_path(path, handler), "a probe is of one type"));
    } else {
      check_port_number(find(*probe, {handler, "port"}), child_path(child_path(path, handler), "port"), errors);
    }
    found = true;
  }
  if (!found) {
    errors.push_back(required(path, "must say what is probed"));
  }
  for (const std::string_view number :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
    check_not_negative(*probe, path, number, errors);
  }
}

void check_environment(const Object& variable, const std::string& path, FieldErrors& errors) {
  const Object* source = object_at(variable, {"valueFrom"});
  if (source == nullptr) {
    return;
  }
  const std::string from = child_path(path, "valueFrom");
  if (!text_at(variable, {"value"}).empty()) {
    errors.push_back(invalid_value(from, Value(""), "has a value of its own already"));
  }
  const Value* field = find(*source, {"fieldRef", "fieldPath"});
  const std::string_view name = field == nullptr ? std::string_view() : text_of(*field);
  const bool known = std::find(kPodFields.begin(), kPodFields.end(), name) != kPodFields.end() ||
                     name.starts_with("metadata.labels") || name.starts_with("metadata.annotations");
  if (field != nullptr && !known) {
    errors.push_back(invalid_value(child_path(from, "fieldRef.fieldPath"), *field, "nothing that a pod can be told"));
  }
}

void check_resource_names(const Object& container, const std::string& path, FieldErrors& errors) {
  for (const std::string_view part : {"limits", "requests"}) {
    const Object* amounts = object_at(container, {"resources", part});
    if (amounts == nullptr) {
      continue;
    }
    for (const auto& amount : *amounts) {
      const std::string_view name = amount.key();
      const bool standard =
          name.find('/') != std::string_view::npos || name.starts_with("hugepages-") ||
          std::find(kStandardResources.begin(), kStandardResources.end(), name) != kStandardResources.end();
      if (!standard) {
        errors.push_back(invalid_value(key_path(child_path(path, std::string("resources.") + std::string(part)), name),
                                       Value(name), "no resource of that name; others have a domain before a slash"));
      }
    }
  }
}

void check_claims(const Object& container, const std::string& path, const std::set<std::string>& claims,
                  FieldErrors& errors) {
  const Value* resources = container.if_contains("resources");
  if (resources == nullptr) {
    return;
  }
  for_each(*resources, "claims", child_path(path, "resources"), [&](const Object& claim, const std::string& at) {
    const std::string name(text_at(claim, {"name"}));
    if (!claims.contains(name)) {
      errors.push_back(not_found(at, Value(name)));
    }
  });
}

void check_container_parts(const Object& container, const std::string& path, const std::set<std::string>& claims,
                           FieldErrors& errors) {
  for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    check_probe(container, probe, path, errors);
  }
  for_each(Value(container), "env", path,
           [&](const Object& variable, const std::string& at) { check_environment(variable, at, errors); });
  std::set<std::string> names;
  for_each(Value(container), "ports", path, [&](const Object& port, const std::string& at) {
    const std::string name(text_at(port, {"name"}));
    if (!name.empty() && !names.insert(name).second) {
      errors.push_back(duplicate(child_path(at, "name"), Value(name)));
    }
  });
  check_resource_names(container, path, errors);
  check_claims(container, path, claims, errors);
  const Value* privileged = find(container, {"securityContext", "privileged"});
  const Value* escalates = find(container, {"securityContext", "allowPrivilegeEscalation"});
  if (privileged != nullptr && escalates != nullptr && privileged->is_bool() && escalates->is_bool() &&
      privileged->get_bool() && !escalates->get_bool()) {
    errors.push_back(invalid_value(child_path(path, "securityContext"), Value(""),
                                   "a privileged container can become no more than it is"));
  }
}

void check_spread(const Object& constraint, const std::string& path, FieldErrors& errors) {
  const Value& skew = value_at(constraint, {"maxSkew"});
  if (!skew.is_int64() || skew.get_int64() < 1) {
    errors.push_back(invalid_value(child_path(path, "maxSkew"), skew, "must be greater than zero"));
  }
  if (text_at(constraint, {"topologyKey"}).empty()) {
    errors.push_back(required(child_path(path, "topologyKey")));
  }
  check_one_of(constraint, path, "whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway"}, errors);
}

void check_pod_affinity(const Value& spec, const std::string& path, FieldErrors& errors) {
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    const Value* terms = find(spec, {"affinity", kind});
    if (terms == nullptr) {
      continue;
    }
    for_each(*terms, "requiredDuringSchedulingIgnoredDuringExecution", fmt::format("{}.affinity.{}", path, kind),
             [&](const Object& term, const std::string& at) {
               const std::string_view key = text_at(term, {"topologyKey"});
               if (key.empty()) {
                 errors.push_back(required(child_path(at, "topologyKey")));
               }
               if (auto problem = not_qualified_name(key)) {
                 errors.push_back(invalid_value(child_path(at, "topologyKey"), Value(key), *problem));
               }
             });
  }
}

}  // namespace

void check_pod_parts(const Object& spec, const std::string& path, FieldErrors& errors) {
  const Value whole(spec);
  for_each(whole, "volumes", path,
           [&](const Object& volume, const std::string& at) { check_volume(volume, at, errors); });
  std::set<std::string> claims;
  for_each(whole, "resourceClaims", path,
           [&](const Object& claim, const std::string&) { claims.emplace(text_at(claim, {"name"})); });
  for (const std::string_view key : {"initContainers", "containers"}) {
    for_each(whole, key, path, [&](const Object& container, const std::string& at) {
      check_container_parts(container, at, claims, errors);
    });
  }
  for_each(whole, "topologySpreadConstraints", path,
           [&](const Object& constraint, const std::string& at) { check_spread(constraint, at, errors); });
  check_pod_affinity(whole, path, errors);
  for (const std::string_view key : {"hostname", "subdomain"}) {
    const std::string_view name = text_at(spec, {key});
    const auto problem = name.empty() ? std::nullopt : not_dns_label(name);
    if (problem) {
      errors.push_back(invalid_value(child_path(path, key), Value(name), *problem));
    }
  }
  const Array* ephemeral = array_at(spec, {"ephemeralContainers"});
  if (ephemeral != nullptr && !ephemeral->empty()) {
    errors.push_back(forbidden(child_path(path, "ephemeralContainers"), "pods begin without them"));
  }
}

}  // namespace gantree::apiserver

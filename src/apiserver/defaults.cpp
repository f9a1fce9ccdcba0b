#include "apiserver/defaults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "apiserver/defaults_pod.h"
#include "base/base64.h"

namespace gantree::apiserver {

namespace {

template <class Fill>
void for_each_in(Object& object, std::string_view key, Fill fill) {
  Value* list = object.if_contains(key);
  if (list == nullptr || !list->is_array()) {
    return;
  }
  for (Value& item : list->get_array()) {
    if (item.is_object()) {
      fill(item.get_object());
    }
  }
}

void fill_service(Object& object) {
  Object* spec = object_or_new(object, "spec");
  if (spec == nullptr) {
    return;
  }
  fall_back(*spec, "sessionAffinity", "None");
  fall_back(*spec, "type", "ClusterIP");
  const std::string type(text_at(*spec, {"type"}));
  for_each_in(*spec, "ports", [](Object& port) {
    fall_back(port, "protocol", "TCP");
    if (const Value* number = port.if_contains("port"); number != nullptr) {
      const Value copy = *number;
      Value& target = fall_back(port, "targetPort", copy);
      // As Go holds it where nobody set it.
      if (same(target, Value(0)) || (target.is_string() && target.get_string().empty())) {
        target = copy;
      }
    }
  });
  if (type != "ExternalName") {
    fall_back(*spec, "internalTrafficPolicy", "Cluster");
  }
  if (type == "NodePort" || type == "LoadBalancer") {
    fall_back(*spec, "externalTrafficPolicy", "Cluster");
  }
  if (type == "LoadBalancer") {
    fall_back(*spec, "allocateLoadBalancerNodePorts", true);
  }
}

void fill_secret(Object& secret) {
  fall_back(secret, "type", "Opaque");
  const Object* plain = object_at(secret, {"stringData"});
  if (plain == nullptr) {
    return;
  }
  const Object copy = *plain;
  secret.stable_erase("stringData");
  if (Object* data = object_or_new(secret, "data"); data != nullptr) {
    for (const auto& member : copy) {
      (*data)[member.key()] = to_base64(text_of(member.value()));
    }
  }
}

void fill_definition(Object& definition) {
  Object* spec = object_or_new(definition, "spec");
  if (spec == nullptr) {
    return;
  }
  Object* names = object_or_new(*spec, "names");
  if (names != nullptr) {
    std::string kind(text_at(*names, {"kind"}));
    fall_back(*names, "listKind", kind + "List");
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    fall_back(*names, "singular", kind);
  }
  Object* conversion = object_or_new(*spec, "conversion");
  if (conversion != nullptr) {
    fall_back(*conversion, "strategy", "None");
  }
  if (Value* service = find(*spec, {"conversion", "webhook", "clientConfig", "service"});
      service != nullptr && service->is_object()) {
    fall_back(service->get_object(), "port", 443);
  }
}

void fill_webhooks(Object& configuration, bool mutating) {
  for_each_in(configuration, "webhooks", [&](Object& webhook) {
    fall_back(webhook, "failurePolicy", "Fail");
    fall_back(webhook, "matchPolicy", "Equivalent");
    fall_back(webhook, "namespaceSelector", Object());
    fall_back(webhook, "objectSelector", Object());
    fall_back(webhook, "timeoutSeconds", 10);
    if (mutating) {
      fall_back(webhook, "reinvocationPolicy", "Never");
    }
    for_each_in(webhook, "rules", [](Object& rule) { fall_back(rule, "scope", "*"); });
    if (Value* service = find(webhook, {"clientConfig", "service"}); service != nullptr && service->is_object()) {
      fall_back(service->get_object(), "port", 443);
    }
  });
}

void fill_match(Object& resources) {
  fall_back(resources, "matchPolicy", "Equivalent");
  fall_back(resources, "namespaceSelector", Object());
  fall_back(resources, "objectSelector", Object());
  for (const std::string_view key : {"resourceRules", "excludeResourceRules"}) {
    for_each_in(resources, key, [](Object& rule) { fall_back(rule, "scope", "*"); });
  }
}

void fill_admission_policy(Object& policy) {
  Object* spec = object_or_new(policy, "spec");
  if (spec == nullptr) {
    return;
  }
  if (!policy.at("spec").get_object().contains("policyName")) {
    fall_back(*spec, "failurePolicy", "Fail");
  }
  for (const std::string_view key : {"matchConstraints", "matchResources"}) {
    if (Value* resources = spec->if_contains(key); resources != nullptr && resources->is_object()) {
      fill_match(resources->get_object());
    }
  }
}

void fill_network_policy(Object& policy) {
  Object* spec = object_or_new(policy, "spec");
  if (spec == nullptr) {
    return;
  }
  for (const std::string_view way : {"ingress", "egress"}) {
    for_each_in(*spec, way, [](Object& rule) {
      for_each_in(rule, "ports", [](Object& port) { fall_back(port, "protocol", "TCP"); });
    });
  }
  const Array* egress = array_at(*spec, {"egress"});
  fall_back(*spec, "policyTypes",
            egress != nullptr && !egress->empty() ? Array{"Ingress", "Egress"} : Array{"Ingress"});
}

void fill_node(Object& node) {
  Value* status = node.if_contains("status");
  if (status == nullptr || !status->is_object()) {
    return;
  }
  if (const Object* capacity = object_at(*status, {"capacity"}); capacity != nullptr) {
    const Object copy = *capacity;
    fall_back(status->get_object(), "allocatable", copy);
  }
}

void fill_binding(Object& binding) {
  const std::string api_group = "rbac.authorization.k8s.io";
  if (Value* role = binding.if_contains("roleRef"); role != nullptr && role->is_object()) {
    fall_back(role->get_object(), "apiGroup", api_group);
  }
  for_each_in(binding, "subjects", [&](Object& subject) {
    const std::string_view kind = text_at(subject, {"kind"});
    if (kind == "User" || kind == "Group") {
      fall_back(subject, "apiGroup", api_group);
    }
  });
}

// What may at most be used is what is used at most; what is limited is asked for.
void fill_limit_range(Object& range) {
  Object* spec = object_or_new(range, "spec");
  if (spec == nullptr) {
    return;
  }
  for_each_in(*spec, "limits", [](Object& limit) {
    if (text_at(limit, {"type"}) != "Container") {
      return;
    }
    const auto follow = [&](std::string_view key, std::string_view from) {
      const Object* amounts = object_at(limit, {from});
      const Object copy = amounts == nullptr ? Object() : *amounts;
      for (const auto& amount : copy) {
        fall_back(object_in(limit, key), amount.key(), amount.value());
      }
    };
    follow("default", "max");
    follow("defaultRequest", "default");
    follow("defaultRequest", "min");
  });
}

void fill_core(std::string_view kind, Object& object) {
  if (kind == "Pod") {
    fill_pod(object);
  } else if (kind == "Service") {
    fill_service(object);
  } else if (kind == "Secret") {
    fill_secret(object);
  } else if (kind == "Node") {
    fill_node(object);
  } else if (kind == "LimitRange") {
    fill_limit_range(object);
  } else if (kind == "ReplicationController") {
    fill_workload(kind, object);
  } else if (kind == "PersistentVolumeClaim" || kind == "PersistentVolume") {
    if (Object* spec = object_or_new(object, "spec"); spec != nullptr) {
      fall_back(*spec, "volumeMode", "Filesystem");
      if (kind == "PersistentVolume") {
        fall_back(*spec, "persistentVolumeReclaimPolicy", "Retain");
      }
    }
  } else if (kind == "PodTemplate") {
    if (Value* spec = find(object, {"template", "spec"}); spec != nullptr && spec->is_object()) {
      fill_pod_spec(spec->get_object());
    }
  } else if (kind == "Endpoints") {
    for_each_in(object, "subsets", [](Object& subset) {
      for_each_in(subset, "ports", [](Object& port) { fall_back(port, "protocol", "TCP"); });
    });
  }
}

void begin_status(Object& object, std::string_view phase) {
  Object status;
  status["phase"] = phase;
  object["status"] = std::move(status);
}

// Counts that the real server always shows.
Object empty_status(std::string_view kind) {
  Object status;
  const auto count = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      status[name] = 0;
    }
  };
  if (kind == "ReplicaSet" || kind == "ReplicationController") {
    count({"replicas"});
  } else if (kind == "StatefulSet") {
    count({"replicas", "availableReplicas"});
  } else if (kind == "DaemonSet") {
    count({"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady"});
  } else if (kind == "PodDisruptionBudget") {
    count({"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"});
  }
  return status;
}

void prepare_namespace(Object& object) {
  Object* spec = object_or_new(object, "spec");
  if (spec != nullptr) {
    fall_back(*spec, "finalizers", Array{"kubernetes"});
  }
  begin_status(object, "Active");
}

void prepare_definition(Object& definition) {
  Array stored;
  if (const Array* versions = array_at(definition, {"spec", "versions"}); versions != nullptr) {
    for (const Value& version : *versions) {
      const Value* storage = find(version, {"storage"});
      if (storage != nullptr && storage->is_bool() && storage->get_bool()) {
        stored.push_back(Value(text_at(version, {"name"})));
      }
    }
  }
  Object accepted;
  accepted["plural"] = "";
  accepted["kind"] = "";
  Object status;
  status["conditions"] = nullptr;
  status["acceptedNames"] = std::move(accepted);
  status["storedVersions"] = std::move(stored);
  definition["status"] = std::move(status);
}

// A Job's pods carry its uid, and it selects them by that, unless its owner picks the labels himself.
void prepare_job(Object& job) {
  job["status"] = Object();
  Object* spec = object_or_new(job, "spec");
  const Value* manual = spec == nullptr ? nullptr : spec->if_contains("manualSelector");
  if (spec == nullptr || (manual != nullptr && manual->is_bool() && manual->get_bool())) {
    return;
  }
  const std::string uid(text_at(job, {"metadata", "uid"}));
  const std::string name(text_at(job, {"metadata", "name"}));
  Object* pods = object_or_new(*spec, "template");
  Object* metadata = pods == nullptr ? nullptr : object_or_new(*pods, "metadata");
  Object* labels = metadata == nullptr ? nullptr : object_or_new(*metadata, "labels");
  if (labels == nullptr) {
    return;
  }
  for (const std::string_view prefix : {"batch.kubernetes.io/", ""}) {
    fall_back(*labels, std::string(prefix) + "controller-uid", uid);
    fall_back(*labels, std::string(prefix) + "job-name", name);
  }
  if (Object* selector = object_or_new(*spec, "selector"); selector != nullptr) {
    if (Object* match = object_or_new(*selector, "matchLabels"); match != nullptr) {
      fall_back(*match, "batch.kubernetes.io/controller-uid", uid);
    }
  }
}

// One pod at the least, and four fifths of the CPU where nothing is said (which version 1 has no default for).
void fill_autoscaler(Object& object) {
  Object* spec = object_or_new(object, "spec");
  if (spec == nullptr) {
    return;
  }
  fall_back(*spec, "minReplicas", 1);
  const Array* metrics = array_at(*spec, {"metrics"});
  if (text_at(object, {"apiVersion"}) == "autoscaling/v2" && (metrics == nullptr || metrics->empty())) {
    Object target{{"type", "Utilization"}, {"averageUtilization", 80}};
    Object resource{{"name", "cpu"}, {"target", std::move(target)}};
    (*spec)["metrics"] = Array{Object{{"type", "Resource"}, {"resource", std::move(resource)}}};
  }
}

}  // namespace

void fill_defaults(std::string_view group, std::string_view kind, Object& object) {
  if (group.empty()) {
    fill_core(kind, object);
    if (kind == "Namespace") {
      if (Object* labels = object_or_new(object_in(object, "metadata"), "labels"); labels != nullptr) {
        (*labels)["kubernetes.io/metadata.name"] = std::string(text_at(object, {"metadata", "name"}));
      }
    }
  } else if ((group == "apps" && kind != "ControllerRevision") || group == "batch") {
    fill_workload(kind, object);
  } else if (group == "admissionregistration.k8s.io") {
    if (kind.starts_with("ValidatingAdmissionPolicy")) {
      fill_admission_policy(object);
    } else {
      fill_webhooks(object, kind == "MutatingWebhookConfiguration");
    }
  } else if (group == "apiextensions.k8s.io") {
    fill_definition(object);
  } else if (group == "scheduling.k8s.io") {
    fall_back(object, "preemptionPolicy", "PreemptLowerPriority");
  } else if (group == "rbac.authorization.k8s.io" && kind.ends_with("Binding")) {
    fill_binding(object);
  } else if (group == "networking.k8s.io" && kind == "NetworkPolicy") {
    fill_network_policy(object);
  } else if (group == "autoscaling") {
    fill_autoscaler(object);
  } else if (group == "storage.k8s.io" && kind == "StorageClass") {
    fall_back(object, "reclaimPolicy", "Delete");
    fall_back(object, "volumeBindingMode", "Immediate");
  }
}

void prepare_create(std::string_view group, std::string_view kind, Object& object) {
  if (group.empty() && kind == "Pod") {
    prepare_pod(object);
  } else if (group.empty() && kind == "Namespace") {
    prepare_namespace(object);
  } else if (group.empty() && (kind == "PersistentVolume" || kind == "PersistentVolumeClaim")) {
    begin_status(object, "Pending");
  } else if (group.empty() && kind == "Service") {
    object["status"] = Object{{"loadBalancer", Object()}};
  } else if (group == "batch" && kind == "Job") {
    prepare_job(object);
    fill_workload(kind, object);
  } else if ((group == "apps" && kind != "ControllerRevision") || group == "batch" || group == "policy" ||
             kind == "ReplicationController") {
    object["status"] = empty_status(kind);
  } else if (group == "apiextensions.k8s.io") {
    prepare_definition(object);
  }
}

void prepare_update(std::string_view group, std::string_view kind, Object& object) {
  if (group.empty() && kind == "Pod") {
    add_default_tolerations(object);
  }
}

std::optional<std::string> resolve_priority(Object& pod, std::span<const PriorityClassFacts> classes) {
  Object* spec = object_or_new(pod, "spec");
  if (spec == nullptr) {
    return std::nullopt;
  }
  static const PriorityClassFacts kNone{"", 0, "PreemptLowerPriority", false};
  static const PriorityClassFacts kCritical[] = {
      {"system-node-critical", 2000001000, "PreemptLowerPriority", false},
      {"system-cluster-critical", 2000000000, "PreemptLowerPriority", false}};
  const std::string name(text_at(*spec, {"priorityClassName"}));
  const PriorityClassFacts* chosen = name.empty() ? &kNone : nullptr;
  for (const std::span<const PriorityClassFacts> some : {classes, std::span<const PriorityClassFacts>(kCritical)}) {
    for (const PriorityClassFacts& one : some) {
      if (name.empty() ? one.global_default : one.name == name) {
        chosen = &one;
      }
    }
  }
  if (chosen == nullptr) {
    return fmt::format("no PriorityClass with name {} was found", name);
  }
  const Value* given = spec->if_contains("priority");
  if (given != nullptr && given->is_int64() && given->get_int64() != chosen->value) {
    return fmt::format(
        "the integer value of priority ({}) must not be provided in pod spec; priority admission controller "
        "computed {} from the given PriorityClass name",
        given->get_int64(), chosen->value);
  }
  if (name.empty() && !chosen->name.empty()) {
    (*spec)["priorityClassName"] = chosen->name;
  }
  (*spec)["priority"] = chosen->value;
  fall_back(*spec, "preemptionPolicy",
            chosen->preemption_policy.empty() ? std::string("PreemptLowerPriority") : chosen->preemption_policy);
  return std::nullopt;
}

bool wants_cluster_ip(const Object& service) {
  return text_at(service, {"spec", "type"}) != "ExternalName" && text_at(service, {"spec", "clusterIP"}).empty();
}

void complete_addresses(Object& service) {
  const std::string address(text_at(service, {"spec", "clusterIP"}));
  if (!address.empty()) {
    set_cluster_ip(service, address);
  }
}

void set_cluster_ip(Object& service, std::string_view address) {
  Object* spec = object_or_new(service, "spec");
  if (spec == nullptr) {
    return;
  }
  (*spec)["clusterIP"] = address;
  (*spec)["clusterIPs"] = Array{Value(address)};
  fall_back(*spec, "ipFamilies", Array{"IPv4"});
  fall_back(*spec, "ipFamilyPolicy", "SingleStack");
}

}  // namespace gantree::apiserver

#include "apiserver/defaults_pod.h"

#include "apiserver/canonical.h"
#include "apiserver/defaults.h"
#include "apiserver/pod_amounts.h"

namespace gantree::apiserver {

namespace {

void fill_http(Value* handler) {
  if (handler == nullptr || !handler->is_object()) {
    return;
  }
  fall_back(handler->get_object(), "path", "/");
  fall_back(handler->get_object(), "scheme", "HTTP");
}

void fill_probe(Object& container, std::string_view name) {
  Value* probe = container.if_contains(name);
  if (probe == nullptr || !probe->is_object()) {
    return;
  }
  Object& object = probe->get_object();
  fall_back(object, "timeoutSeconds", 1);
  fall_back(object, "periodSeconds", 10);
  fall_back(object, "successThreshold", 1);
  fall_back(object, "failureThreshold", 3);
  fill_http(object.if_contains("httpGet"));
  if (Value* grpc = object.if_contains("grpc"); grpc != nullptr && grpc->is_object()) {
    fall_back(grpc->get_object(), "service", "");
  }
}

// Images without a tag, or with "latest", are always looked for anew.
std::string_view pull_policy(std::string_view image) {
  if (image.find('@') != std::string_view::npos) {
    return "IfNotPresent";
  }
  const std::string_view name = image.substr(image.rfind('/') + 1);
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos || name.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void fill_field_ref(Value* reference) {
  if (reference != nullptr && reference->is_object()) {
    fall_back(reference->get_object(), "apiVersion", "v1");
  }
}

void fill_field_refs(Array* list) {
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    fill_field_ref(find((*list)[i], {"valueFrom", "fieldRef"}));
    fill_field_ref(find((*list)[i], {"fieldRef"}));
  }
}

void fill_container(Object& container) {
  fall_back(container, "imagePullPolicy", pull_policy(text_at(container, {"image"})));
  fall_back(container, "terminationMessagePath", "/dev/termination-log");
  fall_back(container, "terminationMessagePolicy", "File");
  for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    fill_probe(container, probe);
  }
  for (const std::string_view hook : {"postStart", "preStop"}) {
    fill_http(find(container, {"lifecycle", hook, "httpGet"}));
  }
  if (Value* env = container.if_contains("env"); env != nullptr) {
    fill_field_refs(env->if_array());
  }
  if (Value* ports = container.if_contains("ports"); ports != nullptr && ports->is_array()) {
    for (Value& port : ports->get_array()) {
      if (port.is_object()) {
        fall_back(port.get_object(), "protocol", "TCP");
      }
    }
  }
}

void fill_projected(Object& projected) {
  fall_back(projected, "defaultMode", 420);
  Value* sources = projected.if_contains("sources");
  for (std::size_t i = 0; sources != nullptr && sources->is_array() && i < sources->get_array().size(); ++i) {
    Value& source = sources->get_array()[i];
    if (Value* token = find(source, {"serviceAccountToken"}); token != nullptr && token->is_object()) {
      fall_back(token->get_object(), "expirationSeconds", 3600);
    }
    if (Value* items = find(source, {"downwardAPI", "items"}); items != nullptr) {
      fill_field_refs(items->if_array());
    }
  }
}

void fill_volume(Object& volume) {
  if (volume.size() == 1 && volume.if_contains("name") != nullptr) {
    volume["emptyDir"] = Object();
  }
  for (const std::string_view kind : {"secret", "configMap", "downwardAPI"}) {
    if (Value* source = volume.if_contains(kind); source != nullptr && source->is_object()) {
      fall_back(source->get_object(), "defaultMode", 420);
    }
  }
  if (Value* items = find(volume, {"downwardAPI", "items"}); items != nullptr) {
    fill_field_refs(items->if_array());
  }
  if (Value* projected = volume.if_contains("projected"); projected != nullptr && projected->is_object()) {
    fill_projected(projected->get_object());
  }
  if (Value* path = volume.if_contains("hostPath"); path != nullptr && path->is_object()) {
    fall_back(path->get_object(), "type", "");
  }
  if (Value* claim = find(volume, {"ephemeral", "volumeClaimTemplate", "spec"});
      claim != nullptr && claim->is_object()) {
    fall_back(claim->get_object(), "volumeMode", "Filesystem");
  }
}

template <class Fill>
void for_each_object(Object& spec, std::string_view key, Fill fill) {
  Value* list = spec.if_contains(key);
  if (list == nullptr || !list->is_array()) {
    return;
  }
  for (Value& item : list->get_array()) {
    if (item.is_object()) {
      fill(item.get_object());
    }
  }
}

// The two cover each other: one is the old name of the other.
void mirror_service_account(Object& spec) {
  const std::string name(text_at(spec, {"serviceAccountName"}));
  const std::string old_name(text_at(spec, {"serviceAccount"}));
  if (name.empty() && !old_name.empty()) {
    spec["serviceAccountName"] = old_name;
  } else if (!name.empty()) {
    spec["serviceAccount"] = name;
  }
}

// A pod that names only limits asks for as much.
void fill_requests(Object& holder) {
  Value* resources = holder.if_contains("resources");
  const Object* limits = resources == nullptr ? nullptr : object_at(*resources, {"limits"});
  if (limits == nullptr || limits->empty()) {
    return;
  }
  const Object copy = *limits;
  Object* requests = object_or_new(resources->get_object(), "requests");
  for (const auto& limit : copy) {
    if (requests != nullptr) {
      fall_back(*requests, limit.key(), limit.value());
    }
  }
}

// As far as a pod with limits of its own names no requests, it asks for what its containers ask for together, or else
// for as much as it is limited to.
void fill_pod_level(Object& spec) {
  const Object* limits = object_at(spec, {"resources", "limits"});
  if (limits == nullptr || limits->empty()) {
    return;
  }
  if (Object* requests = object_or_new(spec["resources"].get_object(), "requests")) {
    for (const auto& [name, amount] : container_amounts(spec, "requests")) {
      if (name == "cpu" || name == "memory") {
        fall_back(*requests, name, to_text(amount));
      }
    }
  }
  fill_requests(spec);
}

bool tolerates(const Array& tolerations, std::string_view taint) {
  for (const Value& toleration : tolerations) {
    const std::string_view key = text_at(toleration, {"key"});
    const std::string_view effect = text_at(toleration, {"effect"});
    const bool any_key = key.empty() && text_at(toleration, {"operator"}) == "Exists";
    if ((key == taint || any_key) && (effect.empty() || effect == "NoExecute")) {
      return true;
    }
  }
  return false;
}

void add_tolerations(Object& spec) {
  Value& list = fall_back(spec, "tolerations", Array());
  if (!list.is_array()) {
    return;
  }
  for (const std::string_view taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (tolerates(list.get_array(), taint)) {
      continue;
    }
    Object toleration;
    toleration["key"] = taint;
    toleration["operator"] = "Exists";
    toleration["effect"] = "NoExecute";
    toleration["tolerationSeconds"] = 300;
    list.get_array().push_back(std::move(toleration));
  }
}

struct Qualities {
  bool any = false;  // something is asked for
  bool full = true;  // everything is limited, and asked for as limited
};

void judge_resources(const Value* resources, Qualities& qualities) {
  for (const std::string_view name : {"cpu", "memory"}) {
    const Value* limit = resources == nullptr ? nullptr : find(*resources, {"limits", name});
    const Value* request = resources == nullptr ? nullptr : find(*resources, {"requests", name});
    const auto limited = limit == nullptr ? std::nullopt : parse_amount(*limit);
    const auto requested = request == nullptr ? limited : parse_amount(*request);
    const bool has_limit = limited && limited->nanos > 0;
    const bool has_request = requested && requested->nanos > 0;
    qualities.any |= has_limit || has_request;
    qualities.full &= has_limit && has_request && limited->nanos == requested->nanos;
  }
}

}  // namespace

Object* object_or_new(Object& object, std::string_view key) {
  return fall_back(object, key, Object()).if_object();
}

void fill_pod_spec(Object& spec) {
  fall_back(spec, "restartPolicy", "Always");
  fall_back(spec, "terminationGracePeriodSeconds", 30);
  fall_back(spec, "dnsPolicy", "ClusterFirst");
  fall_back(spec, "securityContext", Object());
  fall_back(spec, "schedulerName", "default-scheduler");
  mirror_service_account(spec);
  for (const std::string_view containers : {"initContainers", "containers", "ephemeralContainers"}) {
    for_each_object(spec, containers, fill_container);
  }
  for_each_object(spec, "volumes", fill_volume);
  const Value* host_network = spec.if_contains("hostNetwork");
  if (host_network == nullptr || !host_network->is_bool() || !host_network->get_bool()) {
    return;
  }
  for_each_object(spec, "containers", [](Object& container) {
    for_each_object(container, "ports", [](Object& port) {
      if (const Value* number = port.if_contains("containerPort"); number != nullptr) {
        fall_back(port, "hostPort", *number);
      }
    });
  });
}

void fill_pod(Object& pod) {
  Object* spec = object_or_new(pod, "spec");
  if (spec == nullptr) {
    return;
  }
  fill_pod_spec(*spec);
  fall_back(*spec, "enableServiceLinks", true);
  for (const std::string_view containers : {"initContainers", "containers"}) {
    for_each_object(*spec, containers, fill_requests);
  }
  fill_pod_level(*spec);
  if (Value* status = pod.if_contains("status"); status != nullptr && status->is_object()) {
    // Times that nobody set are told.
    for_each_object(status->get_object(), "conditions", [](Object& condition) {
      fall_back(condition, "lastProbeTime", nullptr);
      fall_back(condition, "lastTransitionTime", nullptr);
    });
  }
}

void add_default_tolerations(Object& pod) {
  if (Object* spec = object_or_new(pod, "spec"); spec != nullptr) {
    add_tolerations(*spec);
  }
}

void prepare_pod(Object& pod) {
  Object* spec = object_or_new(pod, "spec");
  if (spec == nullptr) {
    return;
  }
  if (text_at(*spec, {"serviceAccountName"}).empty()) {
    (*spec)["serviceAccountName"] = "default";
  }
  mirror_service_account(*spec);
  add_tolerations(*spec);
  Object status;
  status["phase"] = "Pending";
  const Array* gates = array_at(*spec, {"schedulingGates"});
  if (gates != nullptr && !gates->empty()) {
    Object condition;
    condition["type"] = "PodScheduled";
    condition["status"] = "False";
    condition["lastProbeTime"] = nullptr;
    const std::string_view now = text_at(pod, {"metadata", "creationTimestamp"});
    condition["lastTransitionTime"] = now.empty() ? Value() : Value(now);
    condition["reason"] = "SchedulingGated";
    condition["message"] = "Scheduling is blocked due to non-empty scheduling gates";
    status["conditions"] = Array{std::move(condition)};
  }
  status["qosClass"] = quality_of(*spec);
  pod["status"] = std::move(status);
}

std::string_view quality_of(const Object& spec) {
  Qualities qualities;
  if (const Object* whole = object_at(spec, {"resources"}); whole != nullptr && !whole->empty()) {
    judge_resources(spec.if_contains("resources"), qualities);
  } else {
    for (const std::string_view key : {"containers", "initContainers"}) {
      const Array* containers = array_at(spec, {key});
      for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
        judge_resources(find((*containers)[i], {"resources"}), qualities);
      }
    }
  }
  return !qualities.any ? "BestEffort" : qualities.full ? "Guaranteed" : "Burstable";
}

}  // namespace gantree::apiserver

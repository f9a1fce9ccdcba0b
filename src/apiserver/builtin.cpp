#include "apiserver/builtin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "apiserver/protobuf_messages.h"

namespace gantree::apiserver {

namespace {

#define GANTREE_CORE "io.k8s.api.core.v1."
#define GANTREE_API(part) "io.k8s.api." part ".v1."

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr std::string_view kFlow = "flowcontrol.apiserver.k8s.io";
constexpr std::string_view kDevices = "resource.k8s.io";

constexpr auto kKinds = std::to_array<BuiltinKind>({
    {"", "v1", "Binding", "bindings", true, "", "", "", GANTREE_CORE "Binding"},
    {"", "v1", "ConfigMap", "configmaps", true, "cm", "", "", GANTREE_CORE "ConfigMap"},
    {"", "v1", "Endpoints", "endpoints", true, "ep", "", "", GANTREE_CORE "Endpoints"},
    {"", "v1", "Event", "events", true, "ev", "", "", GANTREE_CORE "Event"},
    {"", "v1", "LimitRange", "limitranges", true, "limits", "", "", GANTREE_CORE "LimitRange"},
    {"", "v1", "Namespace", "namespaces", false, "ns", "", "finalize,status", GANTREE_CORE "Namespace"},
    {"", "v1", "Node", "nodes", false, "no", "", "proxy,status", GANTREE_CORE "Node"},
    {"", "v1", "PersistentVolume", "persistentvolumes", false, "pv", "", "status", GANTREE_CORE "PersistentVolume"},
    {"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, "pvc", "", "status",
     GANTREE_CORE "PersistentVolumeClaim"},
    {"", "v1", "Pod", "pods", true, "po", "all",
     "attach,binding,ephemeralcontainers,eviction,exec,log,portforward,proxy,resize,status", GANTREE_CORE "Pod"},
    {"", "v1", "PodTemplate", "podtemplates", true, "", "", "", GANTREE_CORE "PodTemplate"},
    {"", "v1", "ReplicationController", "replicationcontrollers", true, "rc", "all", "scale,status",
     GANTREE_CORE "ReplicationController"},
    {"", "v1", "ResourceQuota", "resourcequotas", true, "quota", "", "status", GANTREE_CORE "ResourceQuota"},
    {"", "v1", "Secret", "secrets", true, "", "", "", GANTREE_CORE "Secret"},
    {"", "v1", "Service", "services", true, "svc", "all", "proxy,status", GANTREE_CORE "Service"},
    {"", "v1", "ServiceAccount", "serviceaccounts", true, "sa", "", "token", GANTREE_CORE "ServiceAccount"},

    {"apps", "v1", "ControllerRevision", "controllerrevisions", true, "", "", "",
     GANTREE_API("apps") "ControllerRevision"},
    {"apps", "v1", "DaemonSet", "daemonsets", true, "ds", "all", "status", GANTREE_API("apps") "DaemonSet"},
    {"apps", "v1", "Deployment", "deployments", true, "deploy", "all", "scale,status",
     GANTREE_API("apps") "Deployment"},
    {"apps", "v1", "ReplicaSet", "replicasets", true, "rs", "all", "scale,status", GANTREE_API("apps") "ReplicaSet"},
    {"apps", "v1", "StatefulSet", "statefulsets", true, "sts", "all", "scale,status",
     GANTREE_API("apps") "StatefulSet"},

    {"batch", "v1", "CronJob", "cronjobs", true, "cj", "all", "status", GANTREE_API("batch") "CronJob"},
    {"batch", "v1", "Job", "jobs", true, "", "all", "status", GANTREE_API("batch") "Job"},

    {"autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, "hpa", "all", "status",
     "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler"},
    {"autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, "hpa", "all", "status",
     GANTREE_API("autoscaling") "HorizontalPodAutoscaler"},
    {"certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", false, "csr", "",
     "approval,status", GANTREE_API("certificates") "CertificateSigningRequest"},

    {"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false, "pc", "", "",
     GANTREE_API("scheduling") "PriorityClass"},
    {"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", true, "pdb", "", "status",
     GANTREE_API("policy") "PodDisruptionBudget"},
    {"coordination.k8s.io", "v1", "Lease", "leases", true, "", "", "", GANTREE_API("coordination") "Lease"},
    {"events.k8s.io", "v1", "Event", "events", true, "ev", "", "", GANTREE_API("events") "Event"},
    {"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", true, "", "", "",
     GANTREE_API("discovery") "EndpointSlice"},
    {"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false, "", "", "", GANTREE_API("node") "RuntimeClass"},

    {kRbac, "v1", "ClusterRole", "clusterroles", false, "", "", "", GANTREE_API("rbac") "ClusterRole"},
    {kRbac, "v1", "ClusterRoleBinding", "clusterrolebindings", false, "", "", "",
     GANTREE_API("rbac") "ClusterRoleBinding"},
    {kRbac, "v1", "Role", "roles", true, "", "", "", GANTREE_API("rbac") "Role"},
    {kRbac, "v1", "RoleBinding", "rolebindings", true, "", "", "", GANTREE_API("rbac") "RoleBinding"},

    {kAdmission, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false, "", "api-extensions", "",
     GANTREE_API("admissionregistration") "MutatingWebhookConfiguration"},
    {kAdmission, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false, "", "api-extensions",
     "", GANTREE_API("admissionregistration") "ValidatingWebhookConfiguration"},
    {kAdmission, "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false, "", "api-extensions",
     "status", GANTREE_API("admissionregistration") "ValidatingAdmissionPolicy"},
    {kAdmission, "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false, "",
     "api-extensions", "", GANTREE_API("admissionregistration") "ValidatingAdmissionPolicyBinding"},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false, "crd,crds",
     "api-extensions", "status", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"},

    {"apiregistration.k8s.io", "v1", "APIService", "apiservices", false, "", "api-extensions", "status",
     "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService"},
    {kFlow, "v1", "FlowSchema", "flowschemas", false, "", "", "status", GANTREE_API("flowcontrol") "FlowSchema"},
    {kFlow, "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", false, "", "", "status",
     GANTREE_API("flowcontrol") "PriorityLevelConfiguration"},
    {kDevices, "v1", "DeviceClass", "deviceclasses", false, "", "", "", GANTREE_API("resource") "DeviceClass"},
    {kDevices, "v1", "ResourceClaim", "resourceclaims", true, "", "", "status",
     GANTREE_API("resource") "ResourceClaim"},
    {kDevices, "v1", "ResourceClaimTemplate", "resourceclaimtemplates", true, "", "", "",
     GANTREE_API("resource") "ResourceClaimTemplate"},
    {kDevices, "v1", "ResourceSlice", "resourceslices", false, "", "", "", GANTREE_API("resource") "ResourceSlice"},

    {"networking.k8s.io", "v1", "IPAddress", "ipaddresses", false, "ip", "", "", GANTREE_API("networking") "IPAddress"},
    {"networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", false, "", "", "status",
     GANTREE_API("networking") "ServiceCIDR"},
    {"networking.k8s.io", "v1", "Ingress", "ingresses", true, "ing", "", "status", GANTREE_API("networking") "Ingress"},
    {"networking.k8s.io", "v1", "IngressClass", "ingressclasses", false, "", "", "",
     GANTREE_API("networking") "IngressClass"},
    {"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", true, "netpol", "", "",
     GANTREE_API("networking") "NetworkPolicy"},

    {"storage.k8s.io", "v1", "CSIDriver", "csidrivers", false, "", "", "", GANTREE_API("storage") "CSIDriver"},
    {"storage.k8s.io", "v1", "CSINode", "csinodes", false, "", "", "", GANTREE_API("storage") "CSINode"},
    {"storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", true, "", "", "",
     GANTREE_API("storage") "CSIStorageCapacity"},
    {"storage.k8s.io", "v1", "StorageClass", "storageclasses", false, "sc", "", "",
     GANTREE_API("storage") "StorageClass"},
    {"storage.k8s.io", "v1", "VolumeAttributesClass", "volumeattributesclasses", false, "vac", "", "",
     GANTREE_API("storage") "VolumeAttributesClass"},
    {"storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", false, "", "", "status",
     GANTREE_API("storage") "VolumeAttachment"},
});

#undef GANTREE_CORE
#undef GANTREE_API

struct SentKind {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view schema;
};

// Kinds that are sent to the server but not stored.
constexpr auto kSentKinds = std::to_array<SentKind>({
    {"autoscaling", "v1", "Scale", "io.k8s.api.autoscaling.v1.Scale"},
    {"policy", "v1", "Eviction", "io.k8s.api.policy.v1.Eviction"},
    {"", "v1", "DeleteOptions", "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"},
});

// Ways into a container, which simulated ones have not; they are listed all the same.
constexpr auto kStreams = std::to_array<std::pair<std::string_view, Subresource>>({
    {"Pod", {"attach", "", "v1", "PodAttachOptions", "create,get"}},
    {"Pod", {"exec", "", "v1", "PodExecOptions", "create,get"}},
    {"Pod", {"portforward", "", "v1", "PodPortForwardOptions", "create,get"}},
    {"Pod", {"proxy", "", "v1", "PodProxyOptions", "create,delete,get,patch,update"}},
    {"Node", {"proxy", "", "v1", "NodeProxyOptions", "create,delete,get,patch,update"}},
    {"Service", {"proxy", "", "v1", "ServiceProxyOptions", "create,delete,get,patch,update"}},
});

const Subresource* stream_of(const BuiltinKind& owner, std::string_view name) {
  const auto found = std::find_if(kStreams.begin(), kStreams.end(),
                                  [&](const auto& one) { return one.first == owner.kind && one.second.name == name; });
  return found == kStreams.end() ? nullptr : &found->second;
}

}  // namespace

std::string BuiltinKind::singular() const {
  std::string text(kind);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return text;
}

std::string_view BuiltinKind::verbs() const {
  if (kind == "Binding") {
    return "create";
  }
  // Namespaces go one by one.
  return kind == "Namespace" ? "create,delete,get,list,patch,update,watch"
                             : "create,delete,deletecollection,get,list,patch,update,watch";
}

std::span<const BuiltinKind> builtin_kinds() {
  return kKinds;
}

const BuiltinKind* find_builtin(std::string_view group, std::string_view version, std::string_view kind) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const BuiltinKind& one) {
    return one.kind == kind && one.group == group && one.version == version;
  });
  return found == kKinds.end() ? nullptr : &*found;
}

Subresource subresource_of(const BuiltinKind& owner, std::string_view name) {
  if (name == "scale") {
    return {name, "autoscaling", "v1", "Scale", "get,patch,update"};
  }
  if (name == "binding") {
    return {name, "", "v1", "Binding", "create"};
  }
  if (name == "eviction") {
    return {name, "policy", "v1", "Eviction", "create"};
  }
  if (name == "token") {
    return {name, "authentication.k8s.io", "v1", "TokenRequest", "create"};
  }
  if (const Subresource* stream = stream_of(owner, name)) {
    return *stream;
  }
  const std::string_view verbs = name == "log" ? "get" : name == "finalize" ? "update" : "get,patch,update";
  return {name, owner.group, owner.version, owner.kind, verbs};
}

namespace {

// How Go shows a member of this type that nobody set, where that is no default of the schema.
std::optional<Value> zero_of(const Schema& schema) {
  if (schema.type == SchemaType::kString && schema.format == "date-time") {
    return Value();
  }
  if (schema.type == SchemaType::kQuantity) {
    return Value("0");
  }
  return schema.type == SchemaType::kIntOrString ? std::optional(Value(0)) : std::nullopt;
}

// Tells the schema what Go makes of each of its members that is zero.
void heed_go(const Message& message, Schema& schema) {
  for (const auto& [number, field] : message) {
    if (field.form == GoForm::kInline) {
      if (const Message* inner = find_message(field.type)) {
        heed_go(*inner, schema);
      }
      continue;
    }
    const auto at = std::find_if(schema.properties.begin(), schema.properties.end(),
                                 [&, &name = field.name](const Property& one) { return one.name == name; });
    if (at == schema.properties.end()) {
      continue;
    }
    at->plain_zero = field.form == GoForm::kPlain;
    if (auto zero = field.form == GoForm::kAlways ? zero_of(*at->schema) : std::nullopt) {
      schema.zeros.emplace_back(at->name, std::move(*zero));
    }
  }
}

// "io.k8s.api.core.v1.Pod" as a schema is "k8s.io.api.core.v1.Pod" as a message.
const Message* message_of_schema(std::string_view name) {
  static constexpr std::string_view kBegin = "io.k8s.";
  if (!name.starts_with(kBegin)) {
    return nullptr;
  }
  std::string message = "k8s.io." + std::string(name.substr(kBegin.size()));
  std::replace(message.begin(), message.end(), '-', '_');
  return find_message(message);
}

}  // namespace

Result<std::unique_ptr<BuiltinSchemas>> BuiltinSchemas::load() {
  auto document = parse_json(builtin_schema_text());
  if (!document || !document->is_object()) {
    return invalid("the schemas that were built in cannot be read");
  }
  std::unique_ptr<BuiltinSchemas> schemas(new BuiltinSchemas());
  for (const auto& member : document->get_object()) {
    if (auto defined = schemas->set_.define(member.key(), member.value()); !defined) {
      return tl::unexpected(defined.error());
    }
  }
  if (const auto missing = schemas->set_.undefined(); !missing.empty()) {
    return invalid(fmt::format("the schemas that were built in refer to {}, which is not among them", missing.front()));
  }
  schemas->set_.for_each_named([](const std::string& name, Schema& schema) {
    if (const Message* message = message_of_schema(name)) {
      heed_go(*message, schema);
    }
  });
  schemas->object_meta_ = schemas->set_.find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  if (schemas->object_meta_ == nullptr) {
    return invalid("the schemas that were built in lack ObjectMeta");
  }
  return schemas;
}

const Schema* BuiltinSchemas::find(std::string_view group, std::string_view version, std::string_view kind) const {
  if (const BuiltinKind* known = find_builtin(group, version, kind); known != nullptr) {
    return set_.find(known->schema);
  }
  const auto sent = std::find_if(kSentKinds.begin(), kSentKinds.end(), [&](const SentKind& one) {
    return one.kind == kind && one.group == group && one.version == version;
  });
  return sent == kSentKinds.end() ? nullptr : set_.find(sent->schema);
}

}  // namespace gantree::apiserver

// Tables of the kinds that are no workloads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "apiserver/table_cells.h"

namespace gantree::apiserver {

namespace {

std::size_t size_at(const Value& object, std::initializer_list<std::string_view> keys) {
  const Value* value = find(object, keys);
  if (value == nullptr) {
    return 0;
  }
  return value->is_object() ? value->get_object().size() : value->is_array() ? value->get_array().size() : 0;
}

// As text, whatever it is: IntOrString, quantities.
std::string shown(const Value* value, std::string_view otherwise) {
  if (value == nullptr || value->is_null()) {
    return std::string(otherwise);
  }
  return value->is_string() ? std::string(text_of(*value)) : to_json(*value);
}

std::string node_status(const Value& node) {
  std::string status = "Unknown";
  const Array* conditions = array_at(node, {"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    if (text_at((*conditions)[i], {"type"}) == "Ready") {
      status = text_at((*conditions)[i], {"status"}) == "True" ? "Ready" : "NotReady";
    }
  }
  const Value* cordoned = find(node, {"spec", "unschedulable"});
  return cordoned != nullptr && cordoned->is_bool() && cordoned->get_bool() ? status + ",SchedulingDisabled" : status;
}

std::string node_roles(const Value& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  if (const Object* labels = object_at(node, {"metadata", "labels"}); labels != nullptr) {
    for (const auto& label : *labels) {
      const std::string_view key = label.key();
      if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) {
        roles.emplace_back(key.substr(kPrefix.size()));
      } else if (key == "kubernetes.io/role" && !text_of(label.value()).empty()) {
        roles.emplace_back(text_of(label.value()));
      }
    }
  }
  std::sort(roles.begin(), roles.end());
  return roles.empty() ? "<none>" : fmt::format("{}", fmt::join(roles, ","));
}

std::string node_address(const Value& node, std::string_view type) {
  const Array* addresses = array_at(node, {"status", "addresses"});
  for (std::size_t i = 0; addresses != nullptr && i < addresses->size(); ++i) {
    if (text_at((*addresses)[i], {"type"}) == type) {
      return std::string(text_at((*addresses)[i], {"address"}));
    }
  }
  return "<none>";
}

std::string or_unknown(std::string_view text) {
  return text.empty() ? "<unknown>" : std::string(text);
}

void node_cells(const Value& node, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(node)));
  cells.push_back(Value(node_status(node)));
  cells.push_back(Value(node_roles(node)));
  cells.push_back(Value(age_of(node, now)));
  cells.push_back(Value(text_at(node, {"status", "nodeInfo", "kubeletVersion"})));
  cells.push_back(Value(node_address(node, "InternalIP")));
  cells.push_back(Value(node_address(node, "ExternalIP")));
  cells.push_back(Value(or_unknown(text_at(node, {"status", "nodeInfo", "osImage"}))));
  cells.push_back(Value(or_unknown(text_at(node, {"status", "nodeInfo", "kernelVersion"}))));
  cells.push_back(Value(or_unknown(text_at(node, {"status", "nodeInfo", "containerRuntimeVersion"}))));
}

std::string service_ports(const Value& service) {
  std::string text;
  const Array* ports = array_at(service, {"spec", "ports"});
  for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    const std::int64_t node_port = number_at((*ports)[i], {"nodePort"});
    text += fmt::format("{}{}{}/{}", i == 0 ? "" : ",", number_at((*ports)[i], {"port"}),
                        node_port > 0 ? fmt::format(":{}", node_port) : "", text_at((*ports)[i], {"protocol"}));
  }
  return text.empty() ? "<none>" : text;
}

std::string external_address(const Value& service) {
  const std::string_view type = text_at(service, {"spec", "type"});
  if (type == "ExternalName") {
    return std::string(text_at(service, {"spec", "externalName"}));
  }
  std::vector<std::string> addresses;
  if (const Array* given = array_at(service, {"spec", "externalIPs"}); given != nullptr) {
    for (const Value& address : *given) {
      addresses.emplace_back(text_of(address));
    }
  }
  if (type == "LoadBalancer" && addresses.empty()) {
    return "<pending>";
  }
  return addresses.empty() ? "<none>" : fmt::format("{}", fmt::join(addresses, ","));
}

void service_cells(const Value& service, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(service)));
  cells.push_back(Value(text_at(service, {"spec", "type"})));
  cells.push_back(Value(or_none(text_at(service, {"spec", "clusterIP"}))));
  cells.push_back(Value(external_address(service)));
  cells.push_back(Value(service_ports(service)));
  cells.push_back(Value(age_of(service, now)));
  cells.push_back(Value(text_of_labels(object_at(service, {"spec", "selector"}))));
}

void namespace_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(text_at(object, {"status", "phase"})));
  cells.push_back(Value(age_of(object, now)));
}

// Events of core have lastTimestamp and count; those of events.k8s.io eventTime and series.
void event_cells(const Value& event, std::int64_t now, Array& cells) {
  const auto first_text = [&](std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      if (const std::string_view text = text_at(event, {key}); !text.empty()) {
        return text;
      }
    }
    return std::string_view();
  };
  const std::string_view first = first_text({"firstTimestamp", "deprecatedFirstTimestamp", "eventTime"});
  std::string_view last = text_at(event, {"series", "lastObservedTime"});
  last = last.empty() ? first_text({"lastTimestamp", "deprecatedLastTimestamp"}) : last;
  last = last.empty() ? first : last;
  const Value* regarding = find(event, {"involvedObject"});
  regarding = regarding == nullptr ? find(event, {"regarding"}) : regarding;
  std::string kind(regarding == nullptr ? "" : text_at(*regarding, {"kind"}));
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::int64_t count =
      number_at(event, {"series", "count"}, number_at(event, {"count"}, number_at(event, {"deprecatedCount"})));
  count = count == 0 ? 1 : count;
  std::string_view source = text_at(event, {"source", "component"});
  source = source.empty() ? text_at(event, {"reportingComponent"}) : source;
  std::string_view message = text_at(event, {"message"});
  message = message.empty() ? text_at(event, {"note"}) : message;
  cells.push_back(Value(age_of(last, now)));
  cells.push_back(Value(text_at(event, {"type"})));
  cells.push_back(Value(text_at(event, {"reason"})));
  cells.push_back(Value(fmt::format("{}/{}", kind, regarding == nullptr ? "" : text_at(*regarding, {"name"}))));
  cells.push_back(Value(regarding == nullptr ? "" : text_at(*regarding, {"fieldPath"})));
  cells.push_back(Value(source));
  cells.push_back(Value(message));
  cells.push_back(Value(age_of(first, now)));
  cells.push_back(Value(count));
  cells.push_back(Value(name_of(event)));
}

void config_map_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(static_cast<std::int64_t>(size_at(object, {"data"}) + size_at(object, {"binaryData"}))));
  cells.push_back(Value(age_of(object, now)));
}

void secret_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(text_at(object, {"type"})));
  cells.push_back(Value(static_cast<std::int64_t>(size_at(object, {"data"}))));
  cells.push_back(Value(age_of(object, now)));
}

void plain_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(age_of(object, now)));
}

void lease_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(text_at(object, {"spec", "holderIdentity"})));
  cells.push_back(Value(age_of(object, now)));
}

void priority_class_cells(const Value& object, std::int64_t now, Array& cells) {
  const Value* is_default = find(object, {"globalDefault"});
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(number_at(object, {"value"})));
  cells.push_back(Value(is_default != nullptr && is_default->is_bool() && is_default->get_bool()));
  cells.push_back(Value(age_of(object, now)));
  cells.push_back(Value(text_at(object, {"preemptionPolicy"})));
}

void budget_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(shown(find(object, {"spec", "minAvailable"}), "N/A")));
  cells.push_back(Value(shown(find(object, {"spec", "maxUnavailable"}), "N/A")));
  cells.push_back(Value(number_at(object, {"status", "disruptionsAllowed"})));
  cells.push_back(Value(age_of(object, now)));
}

void webhook_cells(const Value& object, std::int64_t now, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(static_cast<std::int64_t>(size_at(object, {"webhooks"}))));
  cells.push_back(Value(age_of(object, now)));
}

void admission_policy_cells(const Value& object, std::int64_t now, Array& cells) {
  const std::string_view kind = text_at(object, {"spec", "paramKind", "kind"});
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(static_cast<std::int64_t>(size_at(object, {"spec", "validations"}))));
  cells.push_back(kind.empty() ? Value("<unset>")
                               : Value(std::string(text_at(object, {"spec", "paramKind", "apiVersion"})) + "/" +
                                       std::string(kind)));
  cells.push_back(Value(age_of(object, now)));
}

void policy_binding_cells(const Value& object, std::int64_t now, Array& cells) {
  const std::string_view name = text_at(object, {"spec", "paramRef", "name"});
  const std::string ns(text_at(object, {"spec", "paramRef", "namespace"}));
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(text_at(object, {"spec", "policyName"})));
  cells.push_back(object_at(object, {"spec", "paramRef"}) == nullptr ? Value("<unset>")
                  : name.empty()                                     ? Value("<selector>")
                  : ns.empty()                                       ? Value(name)
                                                                     : Value(ns + "/" + std::string(name)));
  cells.push_back(Value(age_of(object, now)));
}

void binding_cells(const Value& object, std::int64_t now, Array& cells) {
  std::array<std::string, 3> subjects;
  const Array* list = array_at(object, {"subjects"});
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string_view kind = text_at((*list)[i], {"kind"});
    std::string& names = subjects[kind == "User" ? 0 : kind == "Group" ? 1 : 2];
    names += names.empty() ? "" : ", ";
    names += kind == "ServiceAccount" ? fmt::format("{}/", text_at((*list)[i], {"namespace"})) : "";
    names += text_at((*list)[i], {"name"});
  }
  cells.push_back(Value(name_of(object)));
  cells.push_back(
      Value(fmt::format("{}/{}", text_at(object, {"roleRef", "kind"}), text_at(object, {"roleRef", "name"}))));
  cells.push_back(Value(age_of(object, now)));
  for (const std::string& names : subjects) {
    cells.push_back(Value(names));
  }
}

constexpr auto kNode =
    std::to_array<TableColumn>({kName,
                                {"Status", "string", 0, "Whether the node is ready, and takes pods."},
                                {"Roles", "string", 0, "The node's roles."},
                                kAge,
                                {"Version", "string", 0, "The version of its kubelet."},
                                {"Internal-IP", "string", 1, "Its address inside the cluster."},
                                {"External-IP", "string", 1, "Its address outside."},
                                {"OS-Image", "string", 1, "Its operating system."},
                                {"Kernel-Version", "string", 1, "Its kernel."},
                                {"Container-Runtime", "string", 1, "What runs its containers."}});
constexpr auto kService = std::to_array<TableColumn>({kName,
                                                      {"Type", "string", 0, "How the service is reached."},
                                                      {"Cluster-IP", "string", 0, "Its address inside the cluster."},
                                                      {"External-IP", "string", 0, "Its addresses outside."},
                                                      {"Port(s)", "string", 0, "Its ports."},
                                                      kAge,
                                                      {"Selector", "string", 1, "Labels that choose the pods."}});
constexpr auto kNamespace =
    std::to_array<TableColumn>({kName, {"Status", "string", 0, "Active or Terminating."}, kAge});
constexpr auto kEvent = std::to_array<TableColumn>({{"Last Seen", "string", 0, "How long ago it happened last."},
                                                    {"Type", "string", 0, "Normal or Warning."},
                                                    {"Reason", "string", 0, "Why, in a word."},
                                                    {"Object", "string", 0, "What it is about."},
                                                    {"Subobject", "string", 1, "The part of the object."},
                                                    {"Source", "string", 1, "Who says so."},
                                                    {"Message", "string", 0, "What happened."},
                                                    {"First Seen", "string", 1, "How long ago it happened first."},
                                                    {"Count", "string", 1, "How often it happened."},
                                                    {"Name", "string", 1, "Name of the event."}});
constexpr auto kConfigMap = std::to_array<TableColumn>({kName, {"Data", "string", 0, "How many keys it has."}, kAge});
constexpr auto kSecret = std::to_array<TableColumn>(
    {kName, {"Type", "string", 0, "What it is for."}, {"Data", "string", 0, "How many keys it has."}, kAge});
constexpr auto kPlain = std::to_array<TableColumn>({kName, kAge});
constexpr auto kLease = std::to_array<TableColumn>({kName, {"Holder", "string", 0, "Who holds it."}, kAge});
constexpr auto kPriorityClass =
    std::to_array<TableColumn>({kName,
                                {"Value", "integer", 0, "The priority: higher goes first."},
                                {"Global-Default", "boolean", 0, "Whether pods without a class get it."},
                                kAge,
                                {"PreemptionPolicy", "string", 0, "Whether others have to go for it."}});
constexpr auto kBudget = std::to_array<TableColumn>({kName,
                                                     {"Min Available", "string", 0, "Pods that must stay."},
                                                     {"Max Unavailable", "string", 0, "Pods that may be gone."},
                                                     {"Allowed Disruptions", "integer", 0, "Pods that may go now."},
                                                     kAge});
constexpr auto kWebhooks = std::to_array<TableColumn>({kName, {"Webhooks", "integer", 0, "How many there are."}, kAge});
constexpr auto kAdmissionPolicy = std::to_array<TableColumn>({kName,
                                                              {"Validations", "integer", 0, "How many rules it has."},
                                                              {"ParamKind", "string", 0, "What its parameters are."},
                                                              kAge});
constexpr auto kPolicyBinding = std::to_array<TableColumn>(
    {kName, {"PolicyName", "string", 0, "The policy."}, {"ParamRef", "string", 0, "Its parameters."}, kAge});
constexpr auto kBinding =
    std::to_array<TableColumn>({kName,
                                {"Role", "string", 0, "The role that is given."},
                                kAge,
                                {"Users", "string", 1, "Users that get it."},
                                {"Groups", "string", 1, "Groups that get it."},
                                {"ServiceAccounts", "string", 1, "Service accounts that get it."}});

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kAdmission = "admissionregistration.k8s.io";

constexpr auto kOtherTables = std::to_array<KindTable>({
    {"", "Node", kNode, node_cells},
    {"", "Service", kService, service_cells},
    {"", "Namespace", kNamespace, namespace_cells},
    {"", "Event", kEvent, event_cells},
    {"events.k8s.io", "Event", kEvent, event_cells},
    {"", "ConfigMap", kConfigMap, config_map_cells},
    {"", "Secret", kSecret, secret_cells},
    {"", "ServiceAccount", kPlain, plain_cells},
    {"coordination.k8s.io", "Lease", kLease, lease_cells},
    {"scheduling.k8s.io", "PriorityClass", kPriorityClass, priority_class_cells},
    {"policy", "PodDisruptionBudget", kBudget, budget_cells},
    {kAdmission, "MutatingWebhookConfiguration", kWebhooks, webhook_cells},
    {kAdmission, "ValidatingWebhookConfiguration", kWebhooks, webhook_cells},
    {kAdmission, "ValidatingAdmissionPolicy", kAdmissionPolicy, admission_policy_cells},
    {kAdmission, "ValidatingAdmissionPolicyBinding", kPolicyBinding, policy_binding_cells},
    {kRbac, "RoleBinding", kBinding, binding_cells},
    {kRbac, "ClusterRoleBinding", kBinding, binding_cells},
});

}  // namespace

std::span<const KindTable> other_tables() {
  return kOtherTables;
}

}  // namespace gantree::apiserver

#include "controllers/item.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/timestamp.h"
#include "controllers/amounts.h"
#include "controllers/names.h"
#include "controllers/objects.h"

namespace gantree::controllers {

namespace {

std::int64_t number_in(std::string_view text, std::int64_t otherwise) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : otherwise;
}

Labels read_map(const Object& map) {
  Labels labels;
  for (const auto& [key, value] : map) {
    labels.emplace_back(std::string(key), std::string(text_of(value)));
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

Labels read_labels(const Value& root) {
  const Object* all = object_at(root, {"metadata", "labels"});
  return all == nullptr ? Labels() : read_map(*all);
}

void read_owner(const Value& root, Item& item) {
  const Array* owners = array_at(root, {"metadata", "ownerReferences"});
  for (std::size_t i = 0; owners != nullptr && i < owners->size(); ++i) {
    const Value* controls = find((*owners)[i], {"controller"});
    if (controls != nullptr && controls->is_bool() && controls->get_bool()) {
      item.owner = text_at((*owners)[i], {"uid"});
      item.owner_kind = text_at((*owners)[i], {"kind"});
      item.owner_name = text_at((*owners)[i], {"name"});
    }
  }
}

Phase phase_of(std::string_view text) {
  if (text == "Running") {
    return Phase::kRunning;
  }
  if (text == "Succeeded") {
    return Phase::kSucceeded;
  }
  return text == "Failed" ? Phase::kFailed : Phase::kPending;
}

std::vector<std::string> host_ports_of(const Value& root) {
  std::vector<std::string> taken;
  for (const std::string_view list : {"containers", "initContainers"}) {
    const Array* containers = array_at(root, {"spec", list});
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      const Value& container = (*containers)[i];
      const Array* ports = array_at(container, {"ports"});
      const bool stays = list == "containers" || text_at(container, {"restartPolicy"}) == "Always";
      for (std::size_t j = 0; stays && ports != nullptr && j < ports->size(); ++j) {
        if (const std::int64_t port = whole_at((*ports)[j], {"hostPort"}); port > 0) {
          const std::string_view protocol = text_at((*ports)[j], {"protocol"});
          taken.push_back(fmt::format("{} {}", protocol.empty() ? "TCP" : protocol, port));
        }
      }
    }
  }
  return taken;
}

std::unique_ptr<PodFacts> read_pod(const Value& root) {
  auto pod = std::make_unique<PodFacts>();
  pod->node = text_at(root, {"spec", "nodeName"});
  pod->address = text_at(root, {"status", "podIP"});
  pod->phase = phase_of(text_at(root, {"status", "phase"}));
  pod->ours = text_at(root, {"spec", "schedulerName"}) == kPlainScheduler;
  pod->requests = requests_of(root);
  pod->priority = whole_at(root, {"spec", "priority"});
  pod->nominated = text_at(root, {"status", "nominatedNodeName"});
  if (const Array* terms =
          array_at(root, {"spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"})) {
    for (const Value& term : *terms) {
      pod->repels.push_back(apiserver::to_json(term));
    }
  }
  pod->host_ports = host_ports_of(root);
  const Array* gates = array_at(root, {"spec", "schedulingGates"});
  pod->gated = gates != nullptr && !gates->empty();
  if (const Value* ready = find_condition(root, "Ready")) {
    pod->ready = text_at(*ready, {"status"}) == "True";
    pod->ready_since = time_at(*ready, {"lastTransitionTime"});
  }
  const Array* finalizers = array_at(root, {"metadata", "finalizers"});
  pod->tracked = finalizers != nullptr && std::any_of(finalizers->begin(), finalizers->end(),
                                                      [](const Value& one) { return text_of(one) == kJobTracking; });
  pod->completion_index = number_in(text_at(root, {"metadata", "annotations", kCompletionIndex}), -1);
  const Array* statuses = array_at(root, {"status", "containerStatuses"});
  for (std::size_t i = 0; statuses != nullptr && i < statuses->size(); ++i) {
    pod->restarts += whole_at((*statuses)[i], {"restartCount"});
    pod->finished = std::max(pod->finished, time_at((*statuses)[i], {"state", "terminated", "finishedAt"}));
  }
  return pod;
}

// What a Deployment, a ReplicaSet and the like look for.
void read_selector(const Value& root, Item& item) {
  const bool plain = item.kind == Kind::kReplicationController;  // its selector is a map of labels
  const Object* selector = object_at(root, {"spec", "selector"});
  const Object* labels = selector == nullptr || plain ? selector : object_at(*selector, {"matchLabels"});
  if (labels != nullptr) {
    item.wanted_labels = read_map(*labels);
  }
  item.more_selection = selector != nullptr && !plain && array_at(*selector, {"matchExpressions"}) != nullptr;
}

bool has_selector(Kind kind) {
  return kind == Kind::kReplicaSet || kind == Kind::kReplicationController || kind == Kind::kDeployment ||
         kind == Kind::kStatefulSet || kind == Kind::kDaemonSet;
}

std::unique_ptr<NodeFacts> read_node(const Value& root) {
  auto node = std::make_unique<NodeFacts>();
  if (const Value* ready = find_condition(root, "Ready")) {
    node->ready = text_at(*ready, {"status"});
    node->ready_since = time_at(*ready, {"lastTransitionTime"});
  }
  node->allocatable = amounts_in(object_at(root, {"status", "allocatable"}));
  node->unschedulable = flag_at(root, {"spec", "unschedulable"});
  if (const std::string_view since = text_at(root, {"metadata", "annotations", kFailedSince}); !since.empty()) {
    node->failed_since = parse_time(since).value_or(1);
  }
  node->not_ready = find(root, {"metadata", "annotations", kNotReady}) != nullptr;
  const Array* taints = array_at(root, {"spec", "taints"});
  for (std::size_t i = 0; taints != nullptr && i < taints->size(); ++i) {
    const Value& taint = (*taints)[i];
    node->taints.push_back({.key = std::string(text_at(taint, {"key"})),
                            .value = std::string(text_at(taint, {"value"})),
                            .effect = std::string(text_at(taint, {"effect"})),
                            .added = time_at(taint, {"timeAdded"})});
  }
  return node;
}

}  // namespace

std::int64_t time_at(const Value& value, std::initializer_list<std::string_view> keys) {
  return parse_time(text_at(value, keys)).value_or(0);
}

std::int64_t time_at(const Object& object, std::initializer_list<std::string_view> keys) {
  return parse_time(text_at(object, keys)).value_or(0);
}

std::string_view Item::label(std::string_view wanted) const {
  const auto at = std::lower_bound(labels.begin(), labels.end(), wanted,
                                   [](const auto& label, std::string_view key) { return label.first < key; });
  return at != labels.end() && at->first == wanted ? std::string_view(at->second) : std::string_view();
}

Object Item::value() const {
  Result<Value> parsed = apiserver::parse_json(*text);
  return parsed && parsed->is_object() ? std::move(parsed->get_object()) : Object();
}

Result<Item> read_item(Kind kind, Text text) {
  const Result<Value> root = apiserver::parse_json(*text);
  if (!root) {
    return tl::unexpected(root.error());
  }
  Item item;
  item.kind = kind;
  item.name = text_at(*root, {"metadata", "name"});
  item.ns = text_at(*root, {"metadata", "namespace"});
  item.uid = text_at(*root, {"metadata", "uid"});
  if (item.name.empty() || item.uid.empty()) {
    return invalid(fmt::format("a {} without name or uid", facts(kind).name));
  }
  item.version = static_cast<std::uint64_t>(number_in(text_at(*root, {"metadata", "resourceVersion"}), 0));
  item.generation = whole_at(*root, {"metadata", "generation"});
  item.created = time_at(*root, {"metadata", "creationTimestamp"});
  if (!text_at(*root, {"metadata", "deletionTimestamp"}).empty()) {
    item.deleted = time_at(*root, {"metadata", "deletionTimestamp"});
  }
  const Array* finalizers = array_at(*root, {"metadata", "finalizers"});
  item.finalizers = finalizers != nullptr && !finalizers->empty();
  item.labels = read_labels(*root);
  read_owner(*root, item);
  if (has_selector(kind)) {
    read_selector(*root, item);
  }
  if (kind == Kind::kPersistentVolumeClaim) {
    item.volume = text_at(*root, {"spec", "volumeName"});
  }
  if (kind == Kind::kPod) {
    item.pod = read_pod(*root);
  }
  if (kind == Kind::kNode) {
    item.node = read_node(*root);
  }
  if (kind == Kind::kService && text_at(*root, {"spec", "type"}) != "ExternalName") {
    const Object* selector = object_at(*root, {"spec", "selector"});
    item.selector = selector == nullptr ? Labels() : read_map(*selector);
  }
  item.text = std::move(text);
  return item;
}

}  // namespace gantree::controllers

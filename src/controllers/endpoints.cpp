// Services to the pods that they select: Endpoints, and EndpointSlices of a hundred each.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "controllers/names.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr std::size_t kMostInSlice = 100;
constexpr std::size_t kMostInEndpoints = 1000;
constexpr std::string_view kServiceName = "kubernetes.io/service-name";
constexpr std::string_view kHeadless = "service.kubernetes.io/headless";
constexpr std::string_view kManagedBy = "endpoints.kubernetes.io/managed-by";
constexpr std::string_view kEndpointController = "endpoint-controller";
constexpr std::string_view kSliceManagedBy = "endpointslice.kubernetes.io/managed-by";
constexpr std::string_view kSliceController = "endpointslice-controller.k8s.io";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

bool selects_pod(const Item& service, const Item& pod) {
  return std::all_of(service.selector.begin(), service.selector.end(),
                     [&](const auto& label) { return pod.label(label.first) == label.second; });
}

// The pods behind it that have an address, in order of their names.
std::vector<const Item*> pods_behind(const Item& service, Turn& turn) {
  std::vector<const Item*> pods;
  std::size_t looked_at = 0;
  turn.view().each_in_namespace(Kind::kPod, service.ns, [&](const Item& pod) {
    ++looked_at;
    if (!pod.finished() && !pod.pod->address.empty() && selects_pod(service, pod)) {
      pods.push_back(&pod);
    }
  });
  turn.looked_at(looked_at);
  std::sort(pods.begin(), pods.end(), [](const Item* a, const Item* b) { return a->name < b->name; });
  return pods;
}

// The number of a port as the pod's containers know it; 0 where they know no such name.
std::int64_t port_of(const Value& service_port, const Object& pod) {
  const Value* target = find(service_port, {"targetPort"});
  if (target == nullptr || target->is_int64()) {
    const std::int64_t number = target == nullptr ? 0 : target->get_int64();
    return number > 0 ? number : whole_at(service_port, {"port"});
  }
  const Array* containers = array_at(pod, {"spec", "containers"});
  for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    const Array* ports = array_at((*containers)[i], {"ports"});
    for (std::size_t j = 0; ports != nullptr && j < ports->size(); ++j) {
      if (text_at((*ports)[j], {"name"}) == text_of(*target)) {
        return whole_at((*ports)[j], {"containerPort"});
      }
    }
  }
  return 0;
}

// As pods of one shape have them: names, numbers, protocols.
Array ports_of(const Object& service, const Item& pod) {
  Array made;
  const Array* ports = array_at(service, {"spec", "ports"});
  const bool by_name = ports != nullptr && std::any_of(ports->begin(), ports->end(), [](const Value& one) {
                         const Value* target = find(one, {"targetPort"});
                         return target != nullptr && target->is_string();
                       });
  const Object root = by_name ? pod.value() : Object();
  for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    if (const std::int64_t number = port_of((*ports)[i], root); number > 0) {
      const std::string_view protocol = text_at((*ports)[i], {"protocol"});
      made.push_back(Object{{"name", text_at((*ports)[i], {"name"})},
                            {"port", number},
                            {"protocol", protocol.empty() ? "TCP" : protocol}});
    }
  }
  return made;
}

Object reference_to(const Item& pod) {
  return Object{{"kind", "Pod"}, {"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}};
}

// Labels of the Service, and ours.
Object labels_for(const Item& service, bool headless, std::string_view key, std::string_view value) {
  Object labels;
  for (const auto& [name, text] : service.labels) {
    labels[name] = text;
  }
  labels[key] = value;
  if (headless) {
    labels[kHeadless] = "";
  }
  return labels;
}

struct Service {
  const Item& item;
  const Object& root;
  bool headless = false;
  bool all_count = false;  // also pods that are not ready
};

// Pods whose ports have the same numbers.
struct Group {
  Array ports;
  std::vector<const Item*> pods;
};

std::vector<Group> groups_of(const Service& service, const std::vector<const Item*>& pods) {
  std::map<std::string, Group> groups;
  for (const Item* pod : pods) {
    Array ports = ports_of(service.root, *pod);
    Group& group = groups[apiserver::to_json(Value(ports))];
    group.ports = std::move(ports);
    group.pods.push_back(pod);
  }
  std::vector<Group> all;
  for (auto& [text, group] : groups) {
    all.push_back(std::move(group));
  }
  return all;
}

Array subsets_of(const Service& service, const std::vector<Group>& groups) {
  Array subsets;
  std::size_t left = kMostInEndpoints;
  for (const Group& group : groups) {
    Array ready;
    Array not_ready;
    for (const Item* pod : group.pods) {
      if (pod->deleting() || left == 0) {
        continue;
      }
      --left;
      Object address{{"ip", pod->pod->address}, {"nodeName", pod->pod->node}, {"targetRef", reference_to(*pod)}};
      (pod->pod->ready || service.all_count ? ready : not_ready).push_back(std::move(address));
    }
    Object subset;
    if (!ready.empty()) {
      subset["addresses"] = std::move(ready);
    }
    if (!not_ready.empty()) {
      subset["notReadyAddresses"] = std::move(not_ready);
    }
    if (subset.empty()) {
      continue;
    }
    if (!group.ports.empty()) {
      Array ports = group.ports;
      for (Value& port : ports) {
        if (text_at(port, {"name"}).empty()) {
          port.get_object().erase("name");
        }
      }
      subset["ports"] = std::move(ports);
    }
    subsets.push_back(std::move(subset));
  }
  return subsets;
}

void keep_endpoints(const Service& service, const std::vector<Group>& groups, Turn& turn) {
  const Item* known = turn.view().find(Kind::kEndpoints, service.item.ns, service.item.name);
  Array subsets = subsets_of(service, groups);
  Object labels = labels_for(service.item, service.headless, kManagedBy, kEndpointController);
  if (known == nullptr) {
    Object made{{"apiVersion", "v1"}, {"kind", "Endpoints"}};
    made["metadata"] =
        Object{{"name", service.item.name}, {"namespace", service.item.ns}, {"labels", std::move(labels)}};
    if (!subsets.empty()) {
      made["subsets"] = std::move(subsets);
    }
    turn.create(service.item, Kind::kEndpoints, made);
    return;
  }
  const Object root = known->value();
  const Array* before = array_at(root, {"subsets"});
  if (before == nullptr ? subsets.empty() : means_the_same(Value(*before), Value(subsets))) {
    return;
  }
  turn.patch(*known, Object{{"subsets", subsets.empty() ? Value() : Value(std::move(subsets))}});
}

Object endpoint_of(const Service& service, const Item& pod, const View& view) {
  const bool serves = pod.pod->ready || service.all_count;
  Object endpoint{{"addresses", Array{Value(pod.pod->address)}},
                  {"conditions", Object{{"ready", serves && (!pod.deleting() || service.all_count)},
                                        {"serving", serves},
                                        {"terminating", pod.deleting()}}},
                  {"nodeName", pod.pod->node},
                  {"targetRef", reference_to(pod)}};
  const Item* node = view.find(Kind::kNode, "", pod.pod->node);
  if (const std::string_view zone = node == nullptr ? std::string_view() : node->label(kZone); !zone.empty()) {
    endpoint["zone"] = zone;
  }
  return endpoint;
}

// What every slice should say; at least one, which may be empty.
std::vector<Object> wanted_slices(const Service& service, const std::vector<Group>& groups, const View& view) {
  std::vector<Object> slices;
  for (const Group& group : groups) {
    for (std::size_t from = 0; from < group.pods.size(); from += kMostInSlice) {
      Array endpoints;
      for (std::size_t i = from; i < std::min(from + kMostInSlice, group.pods.size()); ++i) {
        endpoints.push_back(endpoint_of(service, *group.pods[i], view));
      }
      Object slice;
      slice["endpoints"] = std::move(endpoints);
      slice["ports"] = group.ports.empty() ? Value() : Value(group.ports);
      slices.push_back(std::move(slice));
    }
  }
  if (slices.empty()) {
    slices.push_back(Object{{"endpoints", Value()}, {"ports", Value()}});
  }
  return slices;
}

bool says(const Object& slice, const Object& wanted, std::string_view member) {
  const Value* has = slice.if_contains(member);
  const Value& should = wanted.at(member);
  const bool empty = has == nullptr || has->is_null() || (has->is_array() && has->get_array().empty());
  return should.is_null() ? empty : has != nullptr && means_the_same(*has, should);
}

void keep_slices(const Service& service, const std::vector<Group>& groups, Turn& turn) {
  std::vector<const Item*> known = turn.view().controlled_by(service.item, Kind::kEndpointSlice);
  std::erase_if(known, [](const Item* slice) { return slice->label(kSliceManagedBy) != kSliceController; });
  std::vector<Object> wanted = wanted_slices(service, groups, turn.view());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i < known.size()) {
      const Object root = known[i]->value();
      if (!says(root, wanted[i], "endpoints") || !says(root, wanted[i], "ports")) {
        turn.patch(*known[i], std::move(wanted[i]));
      }
      continue;
    }
    Object labels = labels_for(service.item, service.headless, kServiceName, service.item.name);
    labels[kSliceManagedBy] = kSliceController;
    Object made{{"apiVersion", "discovery.k8s.io/v1"}, {"kind", "EndpointSlice"}, {"addressType", "IPv4"}};
    made["metadata"] = Object{{"name", fmt::format("{}-{}", service.item.name, turn.suffix())},
                              {"generateName", service.item.name + "-"},
                              {"namespace", service.item.ns},
                              {"labels", std::move(labels)},
                              {"ownerReferences", Array{owner_reference(service.item)}}};
    made["endpoints"] = wanted[i]["endpoints"].is_null() ? Value(Array()) : wanted[i]["endpoints"];
    if (!wanted[i]["ports"].is_null()) {
      made["ports"] = wanted[i]["ports"];
    }
    turn.create(service.item, Kind::kEndpointSlice, made);
  }
  for (std::size_t i = wanted.size(); i < known.size(); ++i) {
    turn.remove(*known[i]);
  }
}

}  // namespace

bool leads_to(const Item& service, const Item& pod) {
  return !service.selector.empty() && selects_pod(service, pod);
}

void sync_service(const Item& service, Turn& turn) {
  if (service.deleting() || service.selector.empty()) {
    return;
  }
  const Object root = service.value();
  const Service facts_of_service{.item = service,
                                 .root = root,
                                 .headless = text_at(root, {"spec", "clusterIP"}) == "None",
                                 .all_count = flag_at(root, {"spec", "publishNotReadyAddresses"})};
  const std::vector<Group> groups = groups_of(facts_of_service, pods_behind(service, turn));
  keep_endpoints(facts_of_service, groups, turn);
  keep_slices(facts_of_service, groups, turn);
}

void sync_endpoints(const Item& endpoints, Turn& turn) {
  if (endpoints.label(kManagedBy) == kEndpointController && !endpoints.deleting() &&
      turn.view().find(Kind::kService, endpoints.ns, endpoints.name) == nullptr) {
    turn.remove(endpoints);
  }
}

}  // namespace gantree::controllers

#include "dialects/kueue/admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dialects/core/amounts.h"
#include "dialects/core/node.h"
#include "dialects/core/pod.h"
#include "dialects/kueue/names.h"
#include "dialects/topologies.h"

namespace gantree::kueue {

namespace {

Result<> verdict(const json::Reader& read) {
  if (!read.ok()) {
    return read.error();
  }
  return {};
}

// "" for queues that run.
std::string read_stop_policy(json::Reader& read, json::Value spec) {
  const std::string_view policy = read.text(spec, "stopPolicy").value_or("None");
  if (policy == "None" || policy.empty()) {
    return "";
  }
  if (policy != "Hold" && policy != "HoldAndDrain") {
    read.complain(spec["stopPolicy"], fmt::format("stopPolicy \"{}\" is not None, Hold or HoldAndDrain", policy));
  }
  return std::string(policy);
}

FlavorQuota read_flavor_quota(json::Reader& read, std::string_view file, json::Value value, const ResourceGroup& group,
                              ResourceNames& names) {
  FlavorQuota quota;
  quota.flavor_name = read.require_text(value, "name");
  quota.place = {file, value.line()};
  quota.nominal.assign(group.covered.size(), -1);
  if (const json::Value resources = read.array(value, "resources")) {
    for (const json::NodeData& item : resources.items()) {
      const json::Value resource(&item);
      const std::string_view name = read.require_text(resource, "name");
      const ResourceId id = names.intern(name);
      const auto it = std::find(group.covered.begin(), group.covered.end(), id);
      if (it == group.covered.end()) {
        read.complain(resource, fmt::format("flavor \"{}\" has quota for {}, which is not in coveredResources",
                                            quota.flavor_name, name));
        break;
      }
      const json::Value nominal = resource["nominalQuota"];
      if (!nominal) {
        read.complain(resource, fmt::format("nominalQuota of {} is missing", name));
        break;
      }
      quota.nominal[static_cast<std::size_t>(it - group.covered.begin())] =
          read_quantity(read, nominal, "nominalQuota", ResourceNames::unit(id), Round::kDown);
    }
  }
  for (std::size_t i = 0; i < group.covered.size(); ++i) {
    if (quota.nominal[i] < 0) {
      read.complain(value, fmt::format("flavor \"{}\" has no quota for {}, which is in coveredResources",
                                       quota.flavor_name, names.name(group.covered[i])));
      quota.nominal[i] = 0;
    }
  }
  return quota;
}

// The list at a key; absent, after a complaint, where it is longer than allowed.
json::Value read_list(json::Reader& read, json::Value parent, std::string_view key, std::size_t most) {
  const json::Value list = read.array(parent, key);
  if (list && list.items().size() > most) {
    read.complain(list, fmt::format("{} has {} entries; {} are allowed", key, list.items().size(), most));
    return {};
  }
  return list;
}

ResourceGroup read_resource_group(json::Reader& read, std::string_view file, json::Value value, ResourceNames& names) {
  ResourceGroup group;
  if (const json::Value covered = read_list(read, value, "coveredResources", kMaxCoveredResources)) {
    for (const json::NodeData& item : covered.items()) {
      group.covered.push_back(names.intern(read.as_text(json::Value(&item), "a covered resource")));
    }
  }
  if (group.covered.empty()) {
    read.complain(value, "coveredResources is empty");
  }
  if (const json::Value flavors = read_list(read, value, "flavors", kMaxFlavors)) {
    for (const json::NodeData& item : flavors.items()) {
      group.flavors.push_back(read_flavor_quota(read, file, json::Value(&item), group, names));
    }
  }
  if (group.flavors.empty()) {
    read.complain(value, "a resource group needs at least one flavor");
  }
  return group;
}

// A resource or a flavor belongs to one group only, else it would be unclear whose quota counts.
void check_disjoint(json::Reader& read, json::Value spec, const ClusterQueue& queue, const ResourceNames& names) {
  std::vector<ResourceId> resources;
  std::vector<std::string> flavors;
  for (const ResourceGroup& group : queue.groups) {
    for (const ResourceId id : group.covered) {
      if (std::find(resources.begin(), resources.end(), id) != resources.end()) {
        read.complain(spec, fmt::format("{} is covered twice", names.name(id)));
      }
      resources.push_back(id);
    }
    for (const FlavorQuota& quota : group.flavors) {
      if (std::find(flavors.begin(), flavors.end(), quota.flavor_name) != flavors.end()) {
        read.complain(spec, fmt::format("flavor \"{}\" is in it twice", quota.flavor_name));
      }
      flavors.push_back(quota.flavor_name);
    }
  }
}

void find_partial_topologies(Setup& setup, Intake& intake) {
  std::vector<TopologyId> all;
  for (const auto& [name, id] : setup.topologies) {
    all.push_back(id);
  }
  if (intake.levels) {
    all.push_back(*intake.levels);
  }
  for (const TopologyId id : all) {
    if (leaves_nodes_out(intake.cluster.engine().topology(id), intake.cluster.inventory())) {
      setup.partial.insert(id);
    }
  }
}

Result<> connect_flavors(Setup& setup) {
  for (auto& [name, flavor] : setup.flavors) {
    if (flavor.topology_name.empty()) {
      continue;
    }
    const auto topology = setup.topologies.find(flavor.topology_name);
    if (topology == setup.topologies.end()) {
      return fail(Errc::kNotFound, fmt::format("{}: ResourceFlavor \"{}\": there is no Topology \"{}\"",
                                               json::to_string(flavor.place), name, flavor.topology_name));
    }
    flavor.topology = topology->second;
  }
  return {};
}

Result<> connect_cluster_queue(ClusterQueue& queue, const Setup& setup, const ResourceNames& names, Quota& quota) {
  for (ResourceGroup& group : queue.groups) {
    for (FlavorQuota& entry : group.flavors) {
      const auto flavor = setup.flavors.find(entry.flavor_name);
      if (flavor == setup.flavors.end()) {
        return fail(Errc::kNotFound, fmt::format("{}: ClusterQueue \"{}\": there is no ResourceFlavor \"{}\"",
                                                 json::to_string(entry.place), queue.name, entry.flavor_name));
      }
      entry.flavor = &flavor->second;
      for (std::size_t i = 0; i < group.covered.size(); ++i) {
        entry.cells.push_back(quota.add({.queue = fmt::format("ClusterQueue \"{}\"", queue.name),
                                         .flavor = entry.flavor_name,
                                         .resource = std::string(names.name(group.covered[i])),
                                         .unit = ResourceNames::unit(group.covered[i]),
                                         .nominal = entry.nominal[i]}));
      }
    }
  }
  return {};
}

}  // namespace

Result<> read_topology(const NamedObject& named, Intake& intake, Setup& setup) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("Topology \"{}\"", named.name));
  Topology topology{.name = std::string(named.name), .levels = {}};
  const json::Value spec = read.require_object(object.value, "spec");
  if (const json::Value levels = read.array(spec, "levels")) {
    for (const json::NodeData& item : levels.items()) {
      topology.levels.emplace_back(read.require_text(json::Value(&item), "nodeLabel"));
    }
  }
  if (!read.ok()) {
    return read.error();
  }
  if (auto valid = validate(topology); !valid) {
    return invalid(fmt::format("{}: {}", json::to_string({object.file, spec.line()}), valid.error().message));
  }
  if (intake.levels && intake.cluster.engine().topology(*intake.levels).name == topology.name) {
    return invalid(fmt::format("{}: Topology \"{}\" has the name that --levels gives to its own topology",
                               json::to_string(object.place()), topology.name));
  }
  const TopologyId id = shared_topology(intake.cluster.engine(), std::move(topology));
  setup.topologies.emplace(named.name, id);
  intake.topologies.add({.family = std::string(kFamily), .name = std::string(named.name), .id = id, .aliases = {}});
  return {};
}

Result<> read_flavor(const NamedObject& named, Intake& intake, Setup& setup) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("ResourceFlavor \"{}\"", named.name));
  Interner& strings = intake.cluster.inventory().strings();
  const json::Value spec = read.object(object.value, "spec");
  Flavor flavor;
  flavor.name = named.name;
  flavor.place = object.place();
  flavor.node_labels = read_interned_labels(read, spec, "nodeLabels", strings);
  flavor.node_taints = read_taints(read, spec, "nodeTaints", strings);
  flavor.tolerations = read_tolerations(read, spec, strings);
  flavor.topology_name = read.text(spec, "topologyName").value_or("");
  if (!flavor.topology_name.empty()) {
    flavor.place.line = spec["topologyName"].line();
    if (flavor.node_labels.empty()) {
      read.complain(spec["topologyName"], "a flavor with a topologyName needs at least one of nodeLabels");
    }
  }
  if (!read.ok()) {
    return read.error();
  }
  setup.flavors.emplace(named.name, std::move(flavor));
  return {};
}

Result<> read_cluster_queue(const NamedObject& named, Intake& intake, Setup& setup) {
  const Object& object = named.object;
  ResourceNames& names = intake.cluster.inventory().resources();
  json::Reader read(object.file, object.value, fmt::format("ClusterQueue \"{}\"", named.name));
  const json::Value spec = read.require_object(object.value, "spec");
  ClusterQueue queue;
  queue.name = named.name;
  queue.stop_policy = read_stop_policy(read, spec);
  queue.namespace_selector = read_label_selector(read, spec, "namespaceSelector");
  if (const json::Value groups = read_list(read, spec, "resourceGroups", kMaxResourceGroups)) {
    for (const json::NodeData& item : groups.items()) {
      queue.groups.push_back(read_resource_group(read, object.file, json::Value(&item), names));
    }
    check_disjoint(read, groups, queue, names);
  }
  setup.cluster_queues.emplace(named.name, std::move(queue));
  return verdict(read);
}

Result<> read_local_queue(const NamedObject& named, Setup& setup) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("LocalQueue \"{}/{}\"", named.ns, named.name));
  const json::Value spec = read.require_object(object.value, "spec");
  LocalQueue queue;
  queue.cluster_queue_name = read.require_text(spec, "clusterQueue");
  queue.place = {object.file, spec["clusterQueue"].line()};
  queue.stop_policy = read_stop_policy(read, spec);
  setup.local_queues.emplace(std::pair(named.ns, named.name), std::move(queue));
  return verdict(read);
}

Result<> read_priority_class(const NamedObject& named, Setup& setup) {
  json::Reader read(named.object.file, named.object.value, fmt::format("WorkloadPriorityClass \"{}\"", named.name));
  const auto value = read.integer(named.object.value, "value", std::numeric_limits<std::int32_t>::min(),
                                  std::numeric_limits<std::int32_t>::max());
  setup.priority_classes.emplace(named.name, value.value_or(0));
  return verdict(read);
}

Result<> connect(Setup& setup, Intake& intake) {
  find_partial_topologies(setup, intake);
  if (auto connected = connect_flavors(setup); !connected) {
    return connected;
  }
  for (auto& [name, queue] : setup.cluster_queues) {
    if (auto connected = connect_cluster_queue(queue, setup, intake.cluster.inventory().resources(), intake.quota);
        !connected) {
      return connected;
    }
  }
  for (auto& [key, queue] : setup.local_queues) {
    const auto cluster_queue = setup.cluster_queues.find(queue.cluster_queue_name);
    if (cluster_queue == setup.cluster_queues.end()) {
      return fail(Errc::kNotFound,
                  fmt::format("{}: LocalQueue \"{}/{}\": there is no ClusterQueue \"{}\"", json::to_string(queue.place),
                              key.first, key.second, queue.cluster_queue_name));
    }
    queue.cluster_queue = &cluster_queue->second;
  }
  return {};
}

}  // namespace gantree::kueue

#include "dialects/kueue/admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>
#include <span>
#include <utility>

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
    read.complain(spec["stopPolicy"], fmt::format("spec.stopPolicy \"{}\" is not None, Hold or HoldAndDrain", policy));
  }
  return std::string(policy);
}

// The cohort around it, by the name of the field in either version; "" where there is none.
std::string read_parent(json::Reader& read, json::Value spec, std::initializer_list<std::string_view> keys) {
  std::string name;
  for (const std::string_view key : keys) {
    if (name.empty()) {
      name = read.text(spec, key).value_or("");
    }
  }
  return name;
}

void check_taints(json::Reader& read, json::Value taints) {
  if (!taints || taints.kind() != json::Kind::kArray) {
    return;
  }
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const json::NodeData& item : taints.items()) {
    const json::Value taint(&item);
    const std::string_view key = read.require_text(taint, "key");
    if (!is_label_key(key)) {
      read.complain(taint, fmt::format("{}.key is \"{}\", which is not a label key", read.path(taint), key));
    }
    if (!seen.emplace(key, read.require_text(taint, "effect")).second) {
      read.complain(taint, fmt::format("{}: taint \"{}\" is there twice with the same effect", read.path(taint), key));
    }
  }
}

// What is wrong with the admission checks of a queue, which are not run: for the user to know.
void remark_checks(json::Reader& read, json::Value spec, ClusterQueue& queue, Intake& intake) {
  std::vector<std::string>& notes = intake.reading.notes;
  const json::Value plain = read.any(spec, "admissionChecks");
  const json::Value strategy = read.any(spec, "admissionChecksStrategy");
  const json::Value listed = read.array(read.object(spec, "admissionChecksStrategy"), "admissionChecks");
  queue.has_checks =
      (listed && !listed.items().empty()) || (plain && plain.kind() == json::Kind::kArray && !plain.items().empty());
  if (strategy || queue.has_checks) {
    notes.push_back(fmt::format(
        "ClusterQueue \"{}\": {}", queue.name,
        intake.quota_alone ? "nobody runs admission checks: it admits nothing, unless Gantree is to ignore them"
                           : "admission checks are taken to pass"));
  }
  const auto has = [&](std::string_view flavor) {
    return std::any_of(queue.groups.begin(), queue.groups.end(), [&](const ResourceGroup& group) {
      return std::any_of(group.flavors.begin(), group.flavors.end(),
                         [&](const FlavorQuota& quota) { return quota.flavor_name == flavor; });
    });
  };
  for (const json::NodeData& item : listed ? listed.items() : std::span<const json::NodeData>()) {
    const json::Value flavors = read.array(json::Value(&item), "onFlavors");
    for (const json::NodeData& flavor : flavors ? flavors.items() : std::span<const json::NodeData>()) {
      const json::Value value(&flavor);
      const std::string_view name = read.as_text(value, "a flavor");
      if (!has(name)) {
        notes.push_back(fmt::format("ClusterQueue \"{}\": {} is \"{}\", which is no flavor of the queue", queue.name,
                                    read.path(value), name));
      }
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

void connect_flavors(Setup& setup) {
  for (auto& [name, flavor] : setup.flavors) {
    if (flavor.topology_name.empty()) {
      continue;
    }
    const auto topology = setup.topologies.find(flavor.topology_name);
    if (topology == setup.topologies.end()) {
      flavor.broken = fmt::format("{}: ResourceFlavor \"{}\": there is no Topology \"{}\"",
                                  json::to_string(flavor.place), name, flavor.topology_name);
    } else {
      flavor.topology = topology->second;
    }
  }
}

// What of the flavors is not there, in a sentence; "" where all is.
std::string find_flavors(std::vector<ResourceGroup>& groups, std::string_view owner, const Setup& setup) {
  std::string missing;
  for (ResourceGroup& group : groups) {
    for (FlavorQuota& entry : group.flavors) {
      const auto flavor = setup.flavors.find(entry.flavor_name);
      if (flavor != setup.flavors.end()) {
        entry.flavor = &flavor->second;
        missing = missing.empty() ? flavor->second.broken : missing;
      } else if (missing.empty()) {
        missing = fmt::format("{}: {}: there is no ResourceFlavor \"{}\"", json::to_string(entry.place), owner,
                              entry.flavor_name);
      }
    }
  }
  return missing;
}

void open_cells(ClusterQueue& queue, const ResourceNames& names, CohortCells& cohorts, Quota& quota) {
  for (ResourceGroup& group : queue.groups) {
    for (FlavorQuota& entry : group.flavors) {
      for (std::size_t i = 0; i < group.covered.size(); ++i) {
        QuotaCell cell{.queue = queue.policy.rules.name,
                       .flavor = entry.flavor_name,
                       .resource = std::string(names.name(group.covered[i])),
                       .unit = ResourceNames::unit(group.covered[i]),
                       .nominal = entry.nominal[i],
                       .borrowing_limit = entry.borrowing_limit[i],
                       .lending_limit = entry.lending_limit[i],
                       .owner = queue.id};
        if (!queue.cohort_name.empty()) {
          cell.parent = cohorts.cell(queue.cohort_name, entry.flavor_name, group.covered[i]);
        }
        entry.cells.push_back(quota.add(std::move(cell)));
      }
    }
  }
}

Result<> connect_queues(Setup& setup, const ResourceNames& names, Quota& quota) {
  if (auto nested = check_nesting(setup.cohorts); !nested) {
    return nested;
  }
  CohortCells cohorts(setup.cohorts, names, quota);
  cohorts.open_all();
  for (auto& [name, queue] : setup.cluster_queues) {
    QueueRules& rules = queue.policy.rules;
    rules.name = fmt::format("ClusterQueue \"{}\"", name);
    rules.tree = queue.cohort_name.empty() ? fmt::format("kueue queue {}", name)
                                           : fmt::format("kueue cohort {}", root_of(queue.cohort_name, setup.cohorts));
    queue.inactive = find_flavors(queue.groups, rules.name, setup);
    queue.id = quota.add_queue(rules);
    open_cells(queue, names, cohorts, quota);
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
  check_labels(read, spec["nodeLabels"]);
  check_taints(read, spec["nodeTaints"]);
  flavor.topology_name = read.text(spec, "topologyName").value_or("");
  if (!flavor.topology_name.empty()) {
    flavor.place.line = spec["topologyName"].line();
    if (flavor.node_labels.empty()) {
      read.complain(spec["topologyName"], "spec.topologyName needs at least one of nodeLabels");
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
  const json::Value selector = read.any(spec, "namespaceSelector");
  queue.no_namespace = !selector || selector.kind() == json::Kind::kNull;
  if (!queue.no_namespace) {
    check_label_selector(read, selector);
  }
  queue.cohort_name = read_parent(read, spec, {"cohort", "cohortName"});
  queue.policy = read_policy(read, spec);
  queue.groups = read_resource_groups(read, object.file, spec, {.has_parent = !queue.cohort_name.empty()}, names);
  remark_checks(read, spec, queue, intake);
  setup.cluster_queues.emplace(named.name, std::move(queue));
  return verdict(read);
}

Result<> read_cohort(const NamedObject& named, Intake& intake, Setup& setup) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("Cohort \"{}\"", named.name));
  const json::Value spec = read.object(object.value, "spec");
  Cohort cohort;
  cohort.name = named.name;
  cohort.place = object.place();
  cohort.parent_name = read_parent(read, spec, {"parent", "parentName"});
  cohort.groups =
      read_resource_groups(read, object.file, spec, {.has_parent = !cohort.parent_name.empty(), .lends_its_own = false},
                           intake.cluster.inventory().resources());
  cohort.weight = read_weight(read, spec);
  setup.cohorts.emplace(named.name, std::move(cohort));
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
  connect_flavors(setup);
  if (auto connected = connect_queues(setup, intake.cluster.inventory().resources(), intake.quota); !connected) {
    return connected;
  }
  std::vector<std::string>& notes = intake.reading.notes;
  for (const auto& [name, queue] : setup.cluster_queues) {
    if (!queue.inactive.empty()) {
      notes.push_back(fmt::format("{}: the jobs of ClusterQueue \"{}\" wait", queue.inactive, name));
    }
  }
  for (auto& [key, queue] : setup.local_queues) {
    const auto cluster_queue = setup.cluster_queues.find(queue.cluster_queue_name);
    if (cluster_queue != setup.cluster_queues.end()) {
      queue.cluster_queue = &cluster_queue->second;
      queue.inactive = cluster_queue->second.inactive;
      continue;
    }
    queue.inactive = fmt::format("{}: LocalQueue \"{}/{}\": there is no ClusterQueue \"{}\"",
                                 json::to_string(queue.place), key.first, key.second, queue.cluster_queue_name);
    notes.push_back(fmt::format("{}: its jobs wait", queue.inactive));
  }
  for (const auto& [name, queue] : setup.cluster_queues) {
    if (queue.no_namespace) {
      notes.push_back(
          fmt::format("ClusterQueue \"{}\" has no namespaceSelector: on a cluster no namespace may use it "
                      "({{}} is for all); planned as if every one might",
                      name));
    }
  }
  return {};
}

}  // namespace gantree::kueue

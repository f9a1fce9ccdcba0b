#include "view/tree_report.h"

namespace gantree::view {

namespace {

json::Out values_of(const DomainTree& tree, Domain domain) {
  json::Out values = json::Out::array();
  for (int level = 0; level <= domain.level; ++level) {
    values.push(tree.name({level, tree.ancestor(domain.level, domain.index, level)}));
  }
  return values;
}

// The label of a level; that of the hosts where the topology does not name them.
std::string_view label_of(const Topology& topology, int level) {
  const auto at = static_cast<std::size_t>(level);
  return at < topology.levels.size() ? std::string_view(topology.levels[at]) : std::string_view(kHostnameLabel);
}

json::Out amounts_of(const TreeReport& report, const DomainRoom& room) {
  const Unit unit = ResourceNames::unit(report.scene.resource);
  json::Out amounts = json::Out::object();
  amounts.add("total", format_quantity(room.totals.total, unit));
  amounts.add("used", format_quantity(room.totals.before, unit));
  amounts.add("free", format_quantity(room.free, unit));
  json::Out resources = json::Out::object();
  resources.add(report.scene.resource_name, std::move(amounts));
  return resources;
}

void add_room(const TreeReport& report, const DomainRoom& room, json::Out& out) {
  out.add("hosts", room.totals.hosts);
  out.add("usableHosts", room.eligible);
  out.add("wholeHosts", room.empty);
  out.add("resources", amounts_of(report, room));
  out.add("pods", room.pods);
}

json::Out domain_of(const TreeReport& report, const DomainRoom& room) {
  json::Out out = json::Out::object();
  out.add("values", values_of(*report.scene.tree, room.domain));
  add_room(report, room, out);
  if (!room.domains.empty()) {
    json::Out domains = json::Out::array();
    for (const DomainRoom& inside : room.domains) {
      domains.push(domain_of(report, inside));
    }
    out.add("domains", std::move(domains));
  }
  return out;
}

json::Out level_of(const TreeReport& report, const LevelRoom& room) {
  json::Out out = json::Out::object();
  if (room.level >= 0) {
    out.add("level", label_of(*report.scene.topology, room.level));
  }
  out.add("pods", room.pods);
  if (room.level >= 0 && room.pods > 0) {
    out.add("values", values_of(*report.scene.tree, room.pods_in));
  }
  out.add("podsIfAllWereFree", room.pods_when_empty);
  out.add("wholeHosts", room.empty);
  if (room.level >= 0 && room.empty > 0) {
    out.add("wholeHostsValues", values_of(*report.scene.tree, room.empty_in));
  }
  return out;
}

}  // namespace

json::Out tree_to_json(const TreeReport& report, const ResourceNames& names) {
  json::Out levels = json::Out::array();
  for (const std::string& level : report.scene.topology->levels) {
    levels.push(level);
  }
  json::Out request = json::Out::object();
  for (const auto& [resource, amount] : report.request.entries()) {
    request.add(names.name(resource), format_quantity(amount, ResourceNames::unit(resource)));
  }
  json::Out tolerated = json::Out::array();
  for (const std::string& key : report.tolerated) {
    tolerated.push(key);
  }
  json::Out largest = json::Out::array();
  for (const LevelRoom& room : report.levels) {
    largest.push(level_of(report, room));
  }
  json::Out domains = json::Out::array();
  for (const DomainRoom& room : report.root.domains) {
    domains.push(domain_of(report, room));
  }
  json::Out out = json::Out::object();
  out.add("topology", report.scene.topology->name).add("levels", std::move(levels));
  out.add("request", std::move(request)).add("tolerated", std::move(tolerated));
  out.add("nodesOutside", report.scene.outside);
  add_room(report, report.root, out);
  out.add("largest", std::move(largest)).add("domains", std::move(domains));
  return out;
}

}  // namespace gantree::view

#include "view/present_json.h"

#include <algorithm>
#include <utility>

#include "view/decision_json.h"

namespace gantree::view {

namespace {

json::Out texts(const std::vector<std::string>& items) {
  json::Out list = json::Out::array();
  for (const std::string& item : items) {
    list.push(item);
  }
  return list;
}

json::Out assignment_to_json(const AdmittedSet& set) {
  json::Out domains = json::Out::array();
  for (const AdmittedDomain& domain : set.domains) {
    domains.push(json::Out::object().add("values", texts(domain.values)).add("count", domain.count));
  }
  return json::Out::object().add("levels", texts(set.levels)).add("domains", std::move(domains));
}

}  // namespace

json::Out pod_sets_to_json(const PresentGang& gang, Cluster& cluster) {
  json::Out sets = json::Out::array();
  for (const PodSetDecision& set : gang.pod_sets) {
    json::Out one = pod_set_to_json(set, cluster);
    const auto admitted = std::find_if(gang.domains.begin(), gang.domains.end(),
                                       [&](const AdmittedSet& other) { return other.name == set.name; });
    if (set.hosts.empty() && admitted != gang.domains.end()) {
      one.add("topologyAssignment", assignment_to_json(*admitted));
    }
    sets.push(std::move(one));
  }
  return sets;
}

json::Out gang_to_json(const PresentGang& gang, Cluster& cluster) {
  json::Out out = json::Out::object();
  out.add("namespace", gang.key.ns).add("name", gang.key.name).add("kind", gang.key.kind);
  out.add("dialect", gang.dialect).add("state", to_string(gang.state));
  for (const auto& [key, value] : {std::pair("reason", &gang.why.reason), std::pair("message", &gang.why.message),
                                   std::pair("since", &gang.why.since), std::pair("flavors", &gang.flavors)}) {
    if (!value->empty()) {
      out.add(key, *value);
    }
  }
  return std::move(out.add("podSets", pod_sets_to_json(gang, cluster)));
}

json::Out present_to_json(const Present& present, Cluster& cluster) {
  json::Out gangs = json::Out::array();
  for (const PresentGang& gang : present.gangs) {
    gangs.push(gang_to_json(gang, cluster));
  }
  for (const Decision& decision : present.planned.decisions) {
    gangs.push(std::move(decision_to_json(decision, cluster).add("planned", true)));
  }
  json::Out evictions = json::Out::array();
  for (const Eviction& eviction : present.planned.evictions) {
    evictions.push(eviction_to_json(eviction));
  }
  return json::Out::object().add("gangs", std::move(gangs)).add("evictions", std::move(evictions));
}

}  // namespace gantree::view

#include "dialects/koordinator/koordinator_live.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/koordinator/gang_rules.h"
#include "dialects/koordinator/koordinator.h"
#include "dialects/koordinator/names.h"
#include "dialects/koordinator/pod_group_status.h"
#include "dialects/koordinator/topology_status.h"

namespace gantree::koordinator {

std::span<const ApiKind> KoordinatorLive::kinds() const {
  static const KoordinatorDialect kReader;
  return kReader.kinds();
}

std::unique_ptr<Dialect> KoordinatorLive::reader() const {
  return std::make_unique<KoordinatorDialect>(schedulers_);
}

std::string KoordinatorLive::gang_of(std::string_view ns, json::Value metadata) const {
  const std::string_view name = gang_name(map_at(metadata, "labels"), map_at(metadata, "annotations"));
  return name.empty() ? std::string() : gang_id(ns, name);
}

std::string KoordinatorLive::gang_named(std::string_view ns, std::string_view name) const {
  return gang_id(ns, name);
}

std::string KoordinatorLive::defines(const NamedObject& named) const {
  return named.object.kind == "PodGroup" ? gang_id(named.ns, named.name) : std::string();
}

std::vector<std::string> KoordinatorLive::partners(const NamedObject& named) const {
  Unused unused;
  GangRules rules;
  const json::Value metadata = named.object.metadata();
  if (named.object.kind == "PodGroup") {
    if (auto read = read_pod_group(named, unused)) {
      rules = std::move(*read);
    }
  } else if (has_rules(map_at(metadata, "labels"), map_at(metadata, "annotations"))) {
    rules = read_pod_rules(named.ns, named.object.file, metadata, unused);
  }
  std::erase(rules.group, rules.id());
  return rules.group;
}

std::optional<Write> KoordinatorLive::report(const GangReport& report) const {
  return pod_group_status(report);
}

std::optional<Write> KoordinatorLive::report(const NamedObject& named, Cluster& cluster) const {
  if (named.object.kind != kTopologyKind || named.name != kTopologyName) {
    return std::nullopt;
  }
  return network_topology_status(named, cluster);
}

}  // namespace gantree::koordinator

#include "kai/topology_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kai/names.h"
#include "dialects/kueue/names.h"
#include "live/parsed.h"

namespace gantree::kai {

std::vector<ApiKind> TopologyNames::kinds() {
  return {{.group = kTopologyGroup, .kind = "Topology", .versions = {"v1alpha1"}, .namespaced = false},
          {.group = kueue::kGroup, .kind = "Topology", .versions = {"v1beta2", "v1beta1"}, .namespaced = false}};
}

bool TopologyNames::knows(std::string_view group, std::string_view kind) {
  return kind == "Topology" && (group == kTopologyGroup || group == kueue::kGroup);
}

Result<> TopologyNames::changed(const LiveObject& object) {
  Known& known = object.group == kTopologyGroup ? own_ : kueue_;
  known.erase(object.name);
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  std::vector<Level> levels;
  for (const json::NodeData& item : items_of(map_at(parsed->object.value, "spec")["levels"])) {
    const json::Value level(&item);
    const json::Value label = level.kind() == json::Kind::kObject ? text_at(level, "nodeLabel") : json::Value();
    if (!label) {
      return invalid(fmt::format("Topology \"{}\": a level has no nodeLabel", object.name));
    }
    const json::Value alias = text_at(level, "alias");
    levels.push_back({.label = std::string(label.text()), .alias = alias ? std::string(alias.text()) : ""});
  }
  known.insert_or_assign(object.name, std::move(levels));
  return {};
}

void TopologyNames::removed(std::string_view group, std::string_view name) {
  Known& known = group == kTopologyGroup ? own_ : kueue_;
  if (const auto it = known.find(name); it != known.end()) {
    known.erase(it);
  }
}

const std::vector<TopologyNames::Level>* TopologyNames::find(std::string_view name) const {
  for (const Known* known : {&own_, &kueue_}) {
    if (const auto it = known->find(name); it != known->end()) {
      return &it->second;
    }
  }
  return nullptr;
}

std::string TopologyNames::names() const {
  std::set<std::string> all;
  for (const Known* known : {&own_, &kueue_}) {
    for (const auto& [name, levels] : *known) {
      all.insert(fmt::format("\"{}\"", name));
    }
  }
  return all.empty() ? "the cluster has none" : fmt::format("there are {}", fmt::join(all, ", "));
}

std::string TopologyNames::objection(const LevelNames& levels) const {
  if (levels.required.empty() && levels.preferred.empty()) {
    return "";
  }
  // Without a name the only one there is counts, which is the scheduler's to find.
  if (levels.topology.empty()) {
    return "";
  }
  const std::vector<Level>* topology = find(levels.topology);
  if (topology == nullptr) {
    return fmt::format("there is no Topology \"{}\"; {}", levels.topology, names());
  }
  const auto level_of = [&](const std::string& name) {
    return std::find_if(topology->begin(), topology->end(),
                        [&](const Level& level) { return level.label == name || level.alias == name; });
  };
  for (const std::string* name : {&levels.required, &levels.preferred}) {
    if (!name->empty() && level_of(*name) == topology->end()) {
      std::vector<std::string> known;
      for (const Level& level : *topology) {
        known.push_back(level.alias.empty() ? level.label : fmt::format("{} ({})", level.label, level.alias));
      }
      return fmt::format("Topology \"{}\" has no level \"{}\"; it has {}", levels.topology, *name,
                         fmt::join(known, ", "));
    }
  }
  if (!levels.required.empty() && !levels.preferred.empty() && level_of(levels.preferred) < level_of(levels.required)) {
    return fmt::format("the preferred level \"{}\" is above the required one, \"{}\": it must lie inside",
                       levels.preferred, levels.required);
  }
  return "";
}

}  // namespace gantree::kai

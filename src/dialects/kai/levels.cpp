#include "dialects/kai/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dialects/kai/names.h"
#include "dialects/topologies.h"
#include "json/decode.h"

namespace gantree::kai {

namespace {

void check_aliases(json::Reader& read, json::Value levels, const Topology& topology,
                   const std::vector<std::string>& aliases) {
  for (auto it = aliases.begin(); it != aliases.end(); ++it) {
    const json::Value at(&levels.items()[static_cast<std::size_t>(it - aliases.begin())]);
    if (it->empty()) {
      continue;
    }
    if (std::find(aliases.begin(), it, *it) != it) {
      read.complain(at, fmt::format("the alias \"{}\" is given to two levels", *it));
    }
    if (topology.level(*it) >= 0) {
      read.complain(at, fmt::format("the alias \"{}\" is the nodeLabel of a level", *it));
    }
  }
}

std::string known_topologies(const Intake& intake) {
  std::vector<std::string> names;
  for (const NamedTopology& topology : intake.topologies.all()) {
    const std::string name = fmt::format("\"{}\"", topology.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names.empty() ? "the input has none" : fmt::format("there are {}", fmt::join(names, ", "));
}

// A topology that needs no name: that of --levels, or the only one.
std::optional<NamedTopology> implied(const Intake& intake) {
  if (intake.levels) {
    return NamedTopology{.family = {}, .name = "levels", .id = *intake.levels, .aliases = {}};
  }
  std::optional<NamedTopology> only;
  for (const NamedTopology& topology : intake.topologies.all()) {
    // Families may define one and the same topology; then the one that has aliases is ours.
    if (only && only->id != topology.id) {
      return std::nullopt;
    }
    if (!only || topology.family == kFamily) {
      only = topology;
    }
  }
  return only;
}

std::string where(const LevelRequest& request, json::Value value) {
  return json::to_string({request.file, value.line()});
}

Result<NamedTopology> find_topology(const LevelRequest& request, const Intake& intake, Remarks& remarks) {
  const auto only = implied(intake);
  if (request.topology) {
    const std::string_view name = request.topology.text();
    const NamedTopology* found = intake.topologies.find(kFamily, name);
    if (found == nullptr) {
      found = intake.topologies.find("kueue", name);
    }
    if (found != nullptr) {
      return *found;
    }
    if (intake.topologies.all().empty() && only) {
      remarks.add(fmt::format("no Topology \"{}\" is in the input: the levels of --levels are taken", name));
      return *only;
    }
    return invalid(fmt::format("{}: {}: there is no Topology \"{}\" ({})", where(request, request.topology),
                               request.topology_field, name, known_topologies(intake)));
  }
  if (only) {
    remarks.add(
        fmt::format("no {} is given: Topology \"{}\", the only one, is taken", request.topology_field, only->name));
    return *only;
  }
  return invalid(fmt::format("{}: {} needs {} beside it ({})", where(request, request.at()), request.field(),
                             request.topology_field, known_topologies(intake)));
}

std::string known_levels(const Topology& topology, const NamedTopology& named) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < topology.levels.size(); ++i) {
    const bool alias = i < named.aliases.size() && !named.aliases[i].empty();
    names.push_back(alias ? fmt::format("{} ({})", topology.levels[i], named.aliases[i]) : topology.levels[i]);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<int> find_level(const LevelRequest& request, json::Value value, std::string_view field,
                       const NamedTopology& named, const Topology& topology) {
  if (const auto level = named.level(topology, value.text())) {
    return *level;
  }
  return invalid(fmt::format("{}: {}: Topology \"{}\" has no level \"{}\"; it has {}", where(request, value), field,
                             named.name, value.text(), known_levels(topology, named)));
}

}  // namespace

Result<Levels> read_levels(const NamedObject& named) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("Topology \"{}\"", named.name));
  Levels read_so_far{.topology = {.name = std::string(named.name), .levels = {}}, .aliases = {}};
  const json::Value spec = read.require_object(object.value, "spec");
  const json::Value levels = read.array(spec, "levels");
  if (levels) {
    for (const json::NodeData& item : levels.items()) {
      read_so_far.topology.levels.emplace_back(read.require_text(json::Value(&item), "nodeLabel"));
      read_so_far.aliases.emplace_back(read.text(json::Value(&item), "alias").value_or(""));
    }
  }
  check_aliases(read, levels, read_so_far.topology, read_so_far.aliases);
  if (!read.ok()) {
    return read.error();
  }
  if (auto valid = validate(read_so_far.topology); !valid) {
    return invalid(fmt::format("{}: {}", json::to_string({object.file, spec.line()}), valid.error().message));
  }
  return read_so_far;
}

Result<> read_topology(const NamedObject& named, Intake& intake) {
  auto levels = read_levels(named);
  if (!levels) {
    return tl::unexpected(levels.error());
  }
  const TopologyId id = shared_topology(intake.cluster.engine(), std::move(levels->topology));
  intake.topologies.add({.family = std::string(kFamily),
                         .name = std::string(named.name),
                         .id = id,
                         .aliases = std::move(levels->aliases)});
  return {};
}

LevelRequest placement_request(std::string_view file, json::Value first, json::Value second) {
  LevelRequest request{.file = file,
                       .topology = text_at(first, kTopology),
                       .required = text_at(first, kRequired),
                       .preferred = text_at(first, kPreferred),
                       .topology_field = kTopology,
                       .required_field = kRequired,
                       .preferred_field = kPreferred};
  if (!request.topology && !request.asks() && second) {
    return placement_request(file, second);
  }
  return request;
}

LevelRequest segment_request(std::string_view file, json::Value pod_annotations, json::Value owner_annotations) {
  const json::Value own = text_at(pod_annotations, kTopology);
  return {.file = file,
          .topology = own ? own : text_at(owner_annotations, kTopology),
          .required = text_at(pod_annotations, kSegmentRequired),
          .preferred = text_at(pod_annotations, kSegmentPreferred),
          .topology_field = kTopology,
          .required_field = kSegmentRequired,
          .preferred_field = kSegmentPreferred};
}

Result<std::optional<Constraint>> resolve(const LevelRequest& request, Intake& intake, Remarks& remarks) {
  if (!request.asks()) {
    if (request.topology) {
      remarks.add(fmt::format("{} without a level beside it asks for nothing", request.topology_field));
    }
    return std::optional<Constraint>();
  }
  const auto named = find_topology(request, intake, remarks);
  if (!named) {
    return tl::unexpected(named.error());
  }
  const Topology& topology = intake.cluster.engine().topology(named->id);
  Constraint constraint;
  constraint.topology = named->id;
  constraint.packing = Packing::kPack;
  if (request.required) {
    const auto level = find_level(request, request.required, request.required_field, *named, topology);
    if (!level) {
      return tl::unexpected(level.error());
    }
    constraint.required = *level;
  }
  if (request.preferred) {
    const auto level = find_level(request, request.preferred, request.preferred_field, *named, topology);
    if (!level) {
      return tl::unexpected(level.error());
    }
    constraint.preferred = *level;
  }
  if (constraint.required && constraint.preferred && *constraint.preferred < *constraint.required) {
    return invalid(fmt::format("{}: {} \"{}\" is above {} \"{}\": a preferred level lies inside the required one",
                               where(request, request.preferred), request.preferred_field, request.preferred.text(),
                               request.required_field, request.required.text()));
  }
  return std::optional(constraint);
}

}  // namespace gantree::kai

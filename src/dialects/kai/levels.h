// Topologies of the KAI family, and what groups ask of them by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/intake.h"
#include "dialects/kai/remarks.h"
#include "dialects/object.h"
#include "json/value.h"
#include "model/gang.h"

namespace gantree::kai {

// What a Topology of kai.scheduler says.
struct Levels {
  Topology topology;
  std::vector<std::string> aliases;  // one a level, "" where it has none
};

// Fails where its levels or aliases are wrong.
[[nodiscard]] Result<Levels> read_levels(const NamedObject& named);
// Adds it to the book. Fails likewise.
[[nodiscard]] Result<> read_topology(const NamedObject& named, Intake& intake);

// What a group asks of a topology, by names as written. Values that are absent are not asked for.
struct LevelRequest {
  std::string_view file;
  json::Value topology;
  json::Value required;
  json::Value preferred;
  // What the values are called, for messages.
  std::string_view topology_field;
  std::string_view required_field;
  std::string_view preferred_field;

  [[nodiscard]] bool asks() const { return required || preferred; }
  [[nodiscard]] json::Value at() const { return required ? required : preferred; }
  [[nodiscard]] std::string_view field() const { return required ? required_field : preferred_field; }
};

// By the three annotations. Either map may be absent; `second` counts where `first` says nothing at all.
[[nodiscard]] LevelRequest placement_request(std::string_view file, json::Value first, json::Value second = {});
// Of the segments of a pod template; the topology may stand on the owner.
[[nodiscard]] LevelRequest segment_request(std::string_view file, json::Value pod_annotations,
                                           json::Value owner_annotations);

// The request as indices into its topology, which must be known; an unnamed one is that of --levels, or the only
// one there is. Nothing where the request asks for no level. Fails with one sentence, with file:line.
[[nodiscard]] Result<std::optional<Constraint>> resolve(const LevelRequest& request, Intake& intake, Remarks& remarks);

}  // namespace gantree::kai

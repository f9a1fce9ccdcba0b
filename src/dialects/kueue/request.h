// What a pod template asks of the topology, by its annotations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/objection.h"
#include "json/decode.h"
#include "model/gang.h"
#include "model/topology.h"

namespace gantree::kueue {

struct SliceRequest {
  std::string level;
  int size = 1;
  friend bool operator==(const SliceRequest&, const SliceRequest&) = default;
};

// Values point into the document: they know the line for messages.
struct TopologyRequest {
  std::string_view file;
  json::Value required;              // a level's label or `auto`; absent where not asked for
  json::Value preferred;             // the same
  json::Value unconstrained;         // only where it says true
  std::vector<SliceRequest> slices;  // coarse to fine
  json::Value slices_at;
  std::string_view slices_annotation;
  std::string_view group_name;
  json::Value group_at;
  std::optional<Packing> packing;
  json::Value packing_at;

  // Whether one of the topology annotations is there at all.
  [[nodiscard]] bool asks() const { return required || preferred || unconstrained || !slices.empty(); }
  // The first of them, for messages: its annotation and where it stands.
  [[nodiscard]] std::string_view asking_annotation() const;
  [[nodiscard]] json::Value asking_at() const;
  // Every level named (not `auto`).
  [[nodiscard]] std::vector<std::string_view> named_levels() const;
};

// Reads the annotations of a template. `default_slice_size`: where only the slice level is given.
// What contradicts itself whatever the topology is an objection.
[[nodiscard]] TopologyRequest read_topology_request(json::Reader& read, Objection& objection, std::string_view file,
                                                    json::Value annotations, std::optional<int> default_slice_size);

// The request in terms of a topology. Fails, with file:line and the annotation, where that has not
// the levels asked for or has them in the wrong order.
[[nodiscard]] Result<Constraint> resolve(const TopologyRequest& request, TopologyId id, const Topology& topology);

}  // namespace gantree::kueue

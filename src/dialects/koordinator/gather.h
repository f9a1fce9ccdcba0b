// network-topology-spec: how close the pods of a GangGroup want to be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dialects/koordinator/network_topology.h"
#include "dialects/objection.h"
#include "json/decode.h"
#include "model/gang.h"

namespace gantree::koordinator {

// One rule of gatherStrategy.
struct GatherRule {
  std::string layer;  // in lower case
  std::string written;
  bool must = false;  // MustGather, not PreferGather
  int multiple = 1;   // podCountMultiple
  friend bool operator==(const GatherRule& a, const GatherRule& b) {
    return a.layer == b.layer && a.must == b.must && a.multiple == b.multiple;
  }
};

// The rules that an annotation asks for; sorted, so that lists of the same rules are equal.
struct GatherSpec {
  std::vector<GatherRule> rules;
  json::Value at;         // the annotation; absent where there is none
  std::string_view file;  // in which it stands

  [[nodiscard]] bool present() const { return at.present(); }
};

// Reads the annotation, which holds JSON. What is wrong with it is an objection.
[[nodiscard]] GatherSpec read_gather_spec(Objection& objection, std::string_view file, json::Value annotation);

// The spec in terms of the topology; `ignored` gets the layers that it only prefers and that are not
// there. Fails, with file:line, where a layer that it insists on is not there.
//
// The finest layer of MustGather is required; the coarser ones follow from it. The finest layer of
// PreferGather is preferred, and those above it come after it one by one. A multiple is a slice of
// that many pods; where those of two layers do not divide each other, the coarser layer takes the
// least common multiple, which is what both together mean.
[[nodiscard]] Result<Constraint> resolve(const GatherSpec& spec, const NetworkTopology& network,
                                         const Topology& topology, std::vector<std::string>& ignored);

}  // namespace gantree::koordinator

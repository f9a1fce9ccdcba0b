// A pod shape: all that decides on which hosts a pod may run and how many of
// it fit there. Pods of one template have one shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/node.h"
#include "model/resources.h"

namespace gantree {

enum class SelectorOperator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

struct SelectorRequirement {
  StringId key;  // a label key; in match_fields always metadata.name
  SelectorOperator op = SelectorOperator::kIn;
  std::vector<StringId> values;  // sorted
  std::int64_t bound = 0;        // kGt and kLt
  friend auto operator<=>(const SelectorRequirement&, const SelectorRequirement&) = default;
};

// All requirements must hold. A term with none matches nothing.
struct SelectorTerm {
  std::vector<SelectorRequirement> labels;
  std::vector<SelectorRequirement> fields;
  friend auto operator<=>(const SelectorTerm&, const SelectorTerm&) = default;
};

struct PreferredTerm {
  int weight = 1;
  SelectorTerm term;
  friend auto operator<=>(const PreferredTerm&, const PreferredTerm&) = default;
};

enum class TolerationOperator : std::uint8_t { kEqual, kExists };

struct Toleration {
  std::optional<StringId> key;  // none: every key (with kExists)
  TolerationOperator op = TolerationOperator::kEqual;
  StringId value;
  std::optional<TaintEffect> effect;  // none: every effect
  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

struct PodShape {
  Amounts requests;                  // `pods: 1` included
  std::vector<Label> node_selector;  // all must match
  std::vector<Label> flavor_labels;  // of the hosts that its flavors stand for: all must match
  // Required node affinity: any one term must match. nullopt: no requirement;
  // an empty list matches no node.
  std::optional<std::vector<SelectorTerm>> affinity;
  std::vector<PreferredTerm> preferred;  // tie-break among equal placements
  std::vector<Toleration> tolerations;
  friend auto operator<=>(const PodShape&, const PodShape&) = default;
};

// Why a host takes no pod of a shape, whatever is free on it.
enum class Ineligible : std::uint8_t {
  kNo,  // eligible
  kNotReady,
  kCordoned,
  kTainted,
  kSelector,
  kFlavor,
  kAffinity,
};
inline constexpr Ineligible kLastIneligible = Ineligible::kAffinity;

// "not ready", "tainted", ...: of a host that is left out for it. "" for kNo.
[[nodiscard]] const char* to_string(Ineligible reason);

[[nodiscard]] bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);
[[nodiscard]] bool matches(const SelectorTerm& term, const Node& node, const Interner& strings);
[[nodiscard]] Ineligible eligibility(const PodShape& shape, const Node& node, const Interner& strings);

// Preferred terms that match, by weight, less one for every PreferNoSchedule
// taint that is not tolerated. Larger is better.
[[nodiscard]] int preference(const PodShape& shape, const Node& node, const Interner& strings);

}  // namespace gantree

// The exact answer by integer programming: for some forty hosts.
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/problem.h"

namespace gantree::oracle {

struct ProvenAnswer {
  bool proven = false;               // false: the solver ran out of time
  std::optional<Solution> solution;  // none: there is none
};

// The best assignment of exactly `count` pods a pod set: each part of the score
// in turn, with the parts before it held at their best. Every solution is
// checked against the problem; one that the solver got wrong throws std::logic_error.
[[nodiscard]] ProvenAnswer best_by_program(const Problem& problem);
[[nodiscard]] ProvenAnswer any_by_program(const Problem& problem);

enum class Proof : std::uint8_t { kYes, kNo, kUnknown };

// The two questions below are about gangs of many groups. Groups that are alike are counted there, not named: so
// many of a kind in a domain. That loses nothing where the question is whether all of them fit.

// Whether all pods of every pod set fit.
[[nodiscard]] Proof all_fit(const Problem& problem, double seconds);

// The most pods with which the gang may start by the minima of its groups and pod sets. Requires that no pod set has
// slices.
struct MostPods {
  Proof fits = Proof::kUnknown;
  int pods = 0;         // where it fits
  bool proven = false;  // that there are no more
};
[[nodiscard]] MostPods most_pods(const Problem& problem, double seconds);

// Whether a better score than this one is possible for exactly `count` pods a pod set.
struct Improvement {
  Proof possible = Proof::kUnknown;
  std::size_t part = 0;                // of the score: the first that can be better
  int least = 0;                       // how little it can be, as far as is known
  std::optional<Solution> solution{};  // a better one
};
[[nodiscard]] Improvement improve(const Problem& problem, const Score& reached, double seconds);

}  // namespace gantree::oracle

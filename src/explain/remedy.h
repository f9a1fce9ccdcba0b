// The smallest changes that would let a waiting gang start. Each is tried: the gang or the cluster is changed that
// way, the gang placed by the engine, and all put back.
#pragma once

#include <optional>
#include <vector>

#include "explain/survey.h"
#include "explain/why.h"

namespace gantree {

// A gang that waits, and the cluster at its turn.
struct Plight {
  Cluster& cluster;
  const Quota& quota;
  const Submission& submission;
  const Alternative& alternative;       // the way to start that is nearest
  const std::vector<Planned>& planned;  // before it, in order
  // The first so many of them are not to be undone: others were evicted for one of them.
  std::size_t settled = 0;
  const std::vector<QuotaNeed>& needs;  // of quota
};

// What a changed gang would get.
struct Trial {
  Outcome outcome;
  bool quota = true;  // there is enough of it
};

// Tries a gang that has the pod sets of the plight's, perhaps with other counts and constraints; nothing where
// there is no place for it.
[[nodiscard]] std::optional<Trial> try_gang(const Plight& plight, const Gang& gang);

// All that help, in the order of RemedyKind. Cluster and quota are as before, but nodes were added and removed:
// trees of domains, and so the survey, are no longer valid.
[[nodiscard]] std::vector<Remedy> find_remedies(const Plight& plight, const Survey& survey);

// By asking for less: fewer pods, coarser levels.
[[nodiscard]] std::vector<Remedy> remedies_of_request(const Plight& plight, const Measure& measure,
                                                      const HostCensus& hosts);
// The gang without any level that it requires.
[[nodiscard]] Gang without_levels(Gang gang);
// By the turn or the end of other gangs.
[[nodiscard]] std::vector<Remedy> remedies_of_others(const Plight& plight);
[[nodiscard]] std::optional<Remedy> remedy_by_eviction(const Plight& plight);
// By more or better hosts.
[[nodiscard]] std::vector<Remedy> remedies_of_hosts(const Plight& plight, const Survey& survey);

}  // namespace gantree

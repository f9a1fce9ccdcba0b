// From gangs to submissions, for dialects whose gangs need no quota.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dialects/intake.h"
#include "model/gang.h"
#include "queue/submission.h"

namespace gantree {

// The topologies in which a gang that asks for none may be placed, in order of preference: that of
// --levels, or the only one there is; and the hosts alone where those leave nodes out or there is none.
[[nodiscard]] std::vector<TopologyId> open_topologies(Intake& intake);

// Adds a gang as the next alternative of a submission, without quota. The first also gives the
// submission its key, dialect, priority, creation time and pod sets.
void add_alternative(Submission& submission, Gang gang);

// A request that is wrong in itself.
[[nodiscard]] Submission rejected_submission(const GangKey& key, std::string_view dialect, std::string message);

// Whether a part of it has to start, or the whole waits: it has a minimum that is not reached yet.
[[nodiscard]] bool insists(const Group& group);

// Confines the pods of a shape to one domain: node labels with the values of its path.
void confine(PodShape& shape, const Topology& topology, std::span<const std::string> path, Interner& strings);

// The domain of that level in which all these nodes lie, as its path; nothing where there is no such one.
[[nodiscard]] std::optional<std::vector<std::string>> common_domain(Engine& engine, TopologyId topology, int level,
                                                                    std::span<const NodeId> nodes);

}  // namespace gantree

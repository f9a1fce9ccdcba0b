// Which pods of alike groups belong to which group, once it is known where all of them are.
#pragma once

#include <optional>
#include <vector>

#include "engine/alike.h"

namespace gantree {

// By part of the plan. Groups are put together from the hosts up: as many as can be had in one host, then in one
// domain of the level above, and so on. None where some group would lie in several domains of its level.
[[nodiscard]] std::optional<std::vector<Shares>> assemble_groups(const GangPlan& plan, const GangPlan& merged,
                                                                 const AlikePlan::Kind& root,
                                                                 const std::vector<Shares>& shares,
                                                                 const DomainTree& tree);

}  // namespace gantree

// Objects that a cluster has and that Gantree ignores, where their owners may expect something else.
#pragma once

#include "install/finding.h"
#include "kube/client.h"

namespace gantree {

// Jobs that somebody has put into a queue, of kinds that wait nowhere; and objects of Koordinator that are not
// honoured. Kinds that the cluster does not have, or that whoever asks may not list, are skipped. Blocks, as the doctor
// does.
[[nodiscard]] Findings find_without_effect(kube::Client& client);

}  // namespace gantree

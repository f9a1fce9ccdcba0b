// Jobs that somebody has put into a queue, of kinds that wait nowhere.
#pragma once

#include "install/finding.h"
#include "kube/client.h"

namespace gantree {

// Kinds that the cluster does not have, or that whoever asks may not list, are passed over. Blocks, as the doctor does.
[[nodiscard]] Findings find_unsupported_jobs(kube::Client& client);

}  // namespace gantree

// Credentials that an exec plugin gives: it is run at the start, before they expire, and when the server refuses them.
#pragma once

#include <memory>

#include "base/error.h"
#include "kube/config.h"
#include "kube/credentials.h"

namespace gantree::kube {

// Runs the plugin once. Requires config.exec.
[[nodiscard]] Result<std::shared_ptr<Credentials>> make_exec_credentials(const Config& config);

}  // namespace gantree::kube

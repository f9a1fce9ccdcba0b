// The webhook configurations of the scheduler that runs inside `gantree up`: which of them are its own, and what
// becomes of them when it does not run.
#pragma once

#include <span>

#include "apiserver/api.h"
#include "base/error.h"
#include "install/manifest.h"

namespace gantree {

// True of the two kinds of webhook configurations.
[[nodiscard]] bool is_webhook_configuration(const ManifestObject& object);

// Remembers that these configurations were made by this process, and are no others' that it only wrote to.
[[nodiscard]] Result<> own_webhooks(apiserver::Api& api, std::span<const ManifestObject> made);

// Deletes the configurations that a scheduler inside this cluster's process made another time: without it they would
// refuse every job. Those that somebody else made, made again or has written to stay, and all of them stay where a
// scheduler is installed as a Deployment.
[[nodiscard]] Result<> forget_webhooks(apiserver::Api& api);

}  // namespace gantree

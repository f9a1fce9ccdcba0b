// Where a Service that a webhook names is reached from this process. Api thread only.
#pragma once

#include <cstdint>
#include <string>

#include "apiserver/store.h"
#include "base/error.h"

namespace gantree::apiserver {

class Core;

// "host:port" of the Service at that port of it: as the process was told (ApiOptions::services), by an external name,
// or by the first endpoint that is no simulated pod's, since nobody answers there.
[[nodiscard]] Result<std::string> address_of_service(const Core& core, const Key& key, std::int64_t port);

}  // namespace gantree::apiserver

// One connection to an API server, for commands that ask a few questions and end.
#pragma once

#include <memory>

#include "base/error.h"
#include "http/client.h"
#include "kube/client.h"
#include "kube/config.h"

namespace gantree {

struct ClusterAccess {
  kube::Config config;
  std::unique_ptr<http::Client> transport;
  std::unique_ptr<kube::Client> client;
};

// Opens no connection yet. Calls are tried few times: somebody waits for the answer.
[[nodiscard]] Result<ClusterAccess> open_cluster(const kube::ConfigRequest& request);

}  // namespace gantree

#include "cluster_access.h"

#include <utility>

#include "kube/credentials.h"

namespace gantree {

Result<ClusterAccess> open_cluster(const kube::ConfigRequest& request) {
  auto config = kube::load_config(request, kube::process_environment());
  if (!config) {
    return tl::unexpected(config.error());
  }
  auto credentials = kube::make_credentials(*config);
  if (!credentials) {
    return tl::unexpected(credentials.error());
  }
  kube::ClientOptions options;
  options.retry.max_attempts = 3;
  options.timeout = http::Milliseconds(15'000);
  ClusterAccess access;
  access.transport = std::make_unique<http::Client>(kube::make_endpoint(*config, *credentials));
  access.client = std::make_unique<kube::Client>(*access.transport, *credentials, std::move(options));
  access.config = std::move(*config);
  return access;
}

}  // namespace gantree

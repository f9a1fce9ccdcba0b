#include "load_client.h"

#include <errno.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "kube/config.h"
#include "kube/credentials.h"

namespace gantree::load {

namespace {

constexpr int kInFlight = 96;

}  // namespace

void die(const std::string& message) {
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, message);
  std::exit(1);
}

kube::Client::Done Tally::one() {
  ++asked_;
  return [this](const kube::Reply& reply) {
    if (!reply.ok() && reply.reason != "AlreadyExists") {
      die(reply.message);
    }
    ++answered_;
  };
}

void Tally::wait() const {
  while (answered_ < asked_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

LoadClient::LoadClient(const std::string& kubeconfig) {
  const auto config = kube::load_config({.kubeconfig = kubeconfig, .context = ""}, kube::process_environment());
  if (!config) {
    die(config.error().message);
  }
  const auto credentials = kube::make_credentials(*config);
  if (!credentials) {
    die(credentials.error().message);
  }
  transport_ = std::make_unique<http::Client>(kube::make_endpoint(*config, *credentials));
  kube::ClientOptions options;
  options.max_in_flight = kInFlight;
  client_ = std::make_unique<kube::Client>(*transport_, *credentials, options);
}

}  // namespace gantree::load

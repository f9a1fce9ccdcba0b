#include "load_client.h"

#include <errno.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "json/read.h"
#include "kube/config.h"
#include "kube/credentials.h"

namespace gantree::load {

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

LoadClient::LoadClient(const std::string& kubeconfig, int in_flight) {
  const auto config = kube::load_config({.kubeconfig = kubeconfig, .context = ""}, kube::process_environment());
  if (!config) {
    die(config.error().message);
  }
  const auto credentials = kube::make_credentials(*config);
  if (!credentials) {
    die(credentials.error().message);
  }
  transport_ = std::make_unique<http::Client>(kube::make_endpoint(*config, *credentials));
  watching_ = std::make_unique<http::Client>(kube::make_endpoint(*config, *credentials));
  kube::ClientOptions options;
  options.max_in_flight = in_flight;
  client_ = std::make_unique<kube::Client>(*transport_, *credentials, options);
}

std::vector<PodName> list_pods(kube::Client& client, const std::string& ns) {
  std::vector<PodName> pods;
  std::string next;
  do {
    kube::ListOptions options;
    options.continue_token = next;
    std::atomic<bool> done = false;
    client.list_page(kube::pods(), ns, options, [&](const kube::Reply& reply) {
      if (!reply.ok()) {
        die(reply.message);
      }
      const auto read = json::read_documents("list", reply.body);
      if (!read) {
        die(read.error().message);
      }
      const json::Value root = read->front().root();
      for (const json::NodeData& item : root["items"].items()) {
        const json::Value metadata = json::Value(&item)["metadata"];
        pods.push_back({std::string(metadata["name"].text()), std::string(metadata["uid"].text())});
      }
      const json::Value token = root["metadata"]["continue"];
      next = token ? std::string(token.text()) : std::string();
      done = true;
    });
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } while (!next.empty());
  return pods;
}

}  // namespace gantree::load

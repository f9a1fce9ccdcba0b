// `gantree run`: the scheduler as a process in a cluster.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "kube/config.h"
#include "kueue/controller.h"
#include "pods/pod_family.h"
#include "service/log.h"
#include "service/loop.h"

namespace gantree {

struct RunOptions {
  kube::ConfigRequest config;
  std::string act_as;  // a user to impersonate; "": the one of the config
  PodOptions scheduler;
  kueue::ControllerOptions queues;
  bool leader_elect = true;
  std::string ns;  // where the lease and the webhook's Secret are; "": that of the pod, else gantree-system
  std::string lease_name = "gantree";
  std::chrono::milliseconds lease_duration{10'000};
  std::chrono::milliseconds watch_silence{15'000};      // a watch on which nothing comes for so long is dead
  std::chrono::milliseconds catch_up{3'000};            // see kube::ReflectorOptions
  std::chrono::milliseconds longest_hand_over{60'000};  // see LoopSurroundings
  std::size_t namespace_memory = kNamespaceMemory;      // see NamespaceBudget; 0: no limit
  std::string listen = ":8080";                         // health and metrics; "": none
  std::string probe_listen;                    // health for the kubelet, where nobody else reaches it; "": none
  std::chrono::milliseconds patience{10'000};  // for writes under way, when told to stop
  std::string webhook_listen;                  // "": none
  std::string webhook_folder;                  // with the certificate; "": made by ourselves
  std::string webhook_service = "gantree-webhook";
  bool http2_for_writes = false;
};

// Returns when told to stop by SIGTERM or SIGINT. Fails where it cannot start, with one sentence.
[[nodiscard]] Result<> run_service(const RunOptions& options, Log& log);

}  // namespace gantree

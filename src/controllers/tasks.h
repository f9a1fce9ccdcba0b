// The controllers. Each looks at one object as it is in the view and says what has to be written.
//
// Pure: no clock, no I/O, no state of their own.
#pragma once

#include "controllers/turn.h"

namespace gantree::controllers {

void tend_pod(const Item& pod, Turn& turn);      // the simulated kubelet
void bind_pod(const Item& pod, Turn& turn);      // the plain scheduler
void care_for_pod(const Item& pod, Turn& turn);  // what outlived its job or its node, or has to leave it
void care_for_node(const Item& node, Turn& turn);
void sync_job(const Item& job, Turn& turn);
void sync_cron_job(const Item& cron_job, Turn& turn);
void sync_replica_set(const Item& replica_set, Turn& turn);  // and ReplicationControllers
void sync_deployment(const Item& deployment, Turn& turn);
void sync_stateful_set(const Item& stateful_set, Turn& turn);
void sync_daemon_set(const Item& daemon_set, Turn& turn);
void sync_disruption_budget(const Item& budget, Turn& turn);
void sync_claim(const Item& claim, Turn& turn);  // storage, made up
void sync_volume(const Item& volume, Turn& turn);
void sync_service(const Item& service, Turn& turn);      // what it leads to
void sync_endpoints(const Item& endpoints, Turn& turn);  // of a Service that is gone
void sync_job_set(const Item& job_set, Turn& turn);
void sync_leader_worker_set(const Item& set, Turn& turn);
void sync_leader(const Item& pod, Turn& turn);  // the workers of a leader pod

// Whether the Service selects the pod.
[[nodiscard]] bool leads_to(const Item& service, const Item& pod);

}  // namespace gantree::controllers

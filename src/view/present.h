// What is: of every gang what the objects of a cluster say became of it. Nothing is decided anew; only of gangs that
// are in no cluster, but in manifests alone, it is said what a plan would do with them, and that is kept apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dialects/intake.h"
#include "model/decision.h"
#include "model/record.h"
#include "queue/quota.h"
#include "state/cluster.h"

namespace gantree::view {

enum class Presence : std::uint8_t {
  kRunning,   // it has pods that run
  kAdmitted,  // it has its place, and none of its pods has begun
  kEvicting,  // it has to leave, and is not gone yet
  kWaiting,
  kInactive,  // deactivated, or suspended by its user
  kRejected,  // it asks for what makes no sense
};
inline constexpr int kPresences = 6;
[[nodiscard]] const char* to_string(Presence presence);

struct PresentGang {
  GangKey key;
  std::string dialect;
  Presence state = Presence::kWaiting;
  Saying why = {};                            // of that, as whoever schedules it has said it; may be empty
  std::vector<PodSetDecision> pod_sets = {};  // with the hosts that it has, or was admitted to
  std::vector<AdmittedSet> domains = {};      // that it was admitted to, where no hosts are named
  std::string flavors = {};                   // that it was admitted with
};

struct Present {
  std::vector<PresentGang> gangs;  // by state, then by name
  Plan planned;                    // what would become of those that are in no cluster
};

// Where the objects come from. Of those of files some may be manifests that no cluster has.
enum class Source : bool { kFiles, kCluster };

// Of Running, Admitted and Evicting gangs the hosts are told, as far as objects name them. Pods that are nobody's gang
// (those of Deployments) are left out, unless they wait in a queue. Of what is in no cluster it is decided in a cycle,
// and the cluster is as that leaves it; without such gangs it stays as it is. Requires a topology.
[[nodiscard]] Present what_is(Cluster& cluster, Quota& quota, Reading reading, Source source);
// Those that are in a cluster alone; nothing is decided.
[[nodiscard]] std::vector<PresentGang> present_gangs(Cluster& cluster, const Reading& reading, Source source);

// The one of that key; nullptr where there is none. Of a replica of a Deployment, whose pods have names of their own,
// one of these that has no place.
[[nodiscard]] const PresentGang* find(const std::vector<PresentGang>& gangs, const GangKey& key);

// Whether it has hosts, or was admitted to some.
[[nodiscard]] bool has_place(Presence state);

}  // namespace gantree::view

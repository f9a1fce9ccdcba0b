// What the scheduler decided, and why not.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/gang.h"
#include "model/quota_demand.h"

namespace gantree {

struct HostShare {
  NodeId node;
  int count = 0;
};

// Hosts in rank order: the first `count` ranks on the first host, and so on.
// One list a pod set.
struct Placement {
  std::vector<std::vector<HostShare>> pod_sets;
};

enum class Refusal : std::uint8_t {
  kBusy,         // fits once running work ends
  kTooLarge,     // fits nowhere even when all is empty
  kSearchLimit,  // not found within the step budget; neither proven
};

// The closed list of reasons that users see.
enum class Reason : std::uint8_t {
  kTopologyBusy,
  kTopologyTooLarge,
  kQuotaExceeded,
  kQueueStopped,
  kQueueBlocked,
  kGangIncomplete,
  kPreempting,
  kSearchLimit,
  kQueueNotFound,
  kNamespaceMismatch,
  kNoMatchingFlavor,
  kPriorityClassNotFound,
  kUnknownOwner,  // nobody here starts it
  kDeactivated,
  kSuspended,     // by its user
  kGated,         // somebody has to give leave first
  kPodsNotReady,  // the pods of another have to be ready first
  kEvicted,       // it has to leave, and is not gone yet
  kExcessPods,    // it runs with the pods that it was admitted with, and asks for more
  kInvalidRequest,
};
inline constexpr Reason kLastReason = Reason::kInvalidRequest;
[[nodiscard]] const char* to_string(Reason reason);

enum class GangState : std::uint8_t { kPlaced, kWaiting, kRejected };
[[nodiscard]] const char* to_string(GangState state);

struct PodSetDecision {
  std::string name;
  int count = 0;                  // asked for; where placed: the number placed
  int asked = 0;                  // as submitted
  std::string flavor;             // "" where there is none
  TopologyId topology;            // of the assignment; meaningful where placed
  std::vector<HostShare> hosts;   // in rank order; empty unless placed
  std::vector<std::string> pods;  // their names in the same order, where they exist already; else empty
  Amounts requests;               // of one pod; empty unless placed
};

struct Decision {
  GangKey key;
  std::string dialect;
  GangState state = GangState::kWaiting;
  Reason reason = Reason::kTopologyBusy;  // unless placed
  std::string message;                    // unless placed
  std::vector<PodSetDecision> pod_sets;
  QuotaDemand used = {};  // what was booked of quota; empty unless placed
};

enum class EvictionReason : std::uint8_t {
  kPreempted,  // by a gang of higher priority (or an older one, where its queue allows that)
  kReclaimed,  // by a queue that takes back what it lent
  kFairShare,  // by a queue that has a smaller share of what is beyond all quotas
};
[[nodiscard]] const char* to_string(EvictionReason reason);

// A running gang that has to go so that another one starts.
struct Eviction {
  GangKey key;
  std::string dialect;
  GangKey by;  // for whom
  EvictionReason reason = EvictionReason::kPreempted;
  std::string message;  // one sentence: for whom, and what was considered
  std::int64_t priority = 0;
  int pods = 0;
  // Where only pods above its minimum go: those, as namespace/name. Empty: the whole gang.
  std::vector<std::string> spare = {};
  bool to_borrow = false;  // of one that is reclaimed: by a queue that may evict though it borrows
};

// What would happen.
struct Plan {
  std::vector<Decision> decisions;  // in the order decided
  std::vector<Eviction> evictions;  // in the order of the gangs they are for
};

}  // namespace gantree

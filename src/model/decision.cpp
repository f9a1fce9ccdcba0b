#include "model/decision.h"

namespace gantree {

const char* to_string(Reason reason) {
  switch (reason) {
    case Reason::kTopologyBusy:
      return "TopologyBusy";
    case Reason::kTopologyTooLarge:
      return "TopologyTooLarge";
    case Reason::kQuotaExceeded:
      return "QuotaExceeded";
    case Reason::kQueueStopped:
      return "QueueStopped";
    case Reason::kQueueBlocked:
      return "QueueBlocked";
    case Reason::kGangIncomplete:
      return "GangIncomplete";
    case Reason::kPreempting:
      return "Preempting";
    case Reason::kSearchLimit:
      return "SearchLimit";
    case Reason::kQueueNotFound:
      return "QueueNotFound";
    case Reason::kNamespaceMismatch:
      return "NamespaceMismatch";
    case Reason::kNoMatchingFlavor:
      return "NoMatchingFlavor";
    case Reason::kPriorityClassNotFound:
      return "PriorityClassNotFound";
    case Reason::kUnknownOwner:
      return "UnknownOwner";
    case Reason::kDeactivated:
      return "Deactivated";
    case Reason::kSuspended:
      return "Suspended";
    case Reason::kGated:
      return "AdmissionGated";
    case Reason::kPodsNotReady:
      return "PodsNotReady";
    case Reason::kEvicted:
      return "Evicted";
    case Reason::kExcessPods:
      return "ExcessPods";
    case Reason::kInvalidRequest:
      return "InvalidRequest";
  }
  return "?";
}

const char* to_string(GangState state) {
  switch (state) {
    case GangState::kPlaced:
      return "Placed";
    case GangState::kWaiting:
      return "Waiting";
    case GangState::kRejected:
      return "Rejected";
  }
  return "?";
}

const char* to_string(EvictionReason reason) {
  switch (reason) {
    case EvictionReason::kPreempted:
      return "Preempted";
    case EvictionReason::kFairShare:
      return "FairShare";
    case EvictionReason::kReclaimed:
      return "Reclaimed";
  }
  return "?";
}

}  // namespace gantree

// A Workload with all that is known of it: its object, what was decided and not seen yet, what is booked for it, and
// what it was told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "dialects/live.h"
#include "kueue/workload_object.h"
#include "live/guard.h"
#include "live/waiter.h"
#include "queue/quota.h"
#include "queue/submission.h"

namespace gantree::kueue {

// Reasons of the condition Evicted: where a job is not queued again; where its user has suspended the job, so that it
// waits for the user and is in no queue; and where that is over.
inline constexpr std::string_view kGivenUp = "DeactivatedDueToRequeuingLimitExceeded";
inline constexpr std::string_view kTimeIsUp = "DeactivatedDueToMaximumExecutionTimeExceeded";
// The reason of Requeued=False, too, until the pause is over.
inline constexpr std::string_view kPausesForPods = "PodsReadyTimeout";
inline constexpr std::string_view kDeactivatedReason = "Deactivated";
inline constexpr std::string_view kSuspendedByUser = "Suspended";
inline constexpr std::string_view kResumedByUser = "Resumed";

// The reason of QuotaReserved=False where it is in its queue and was not tried yet, or another comes first.
inline constexpr std::string_view kToBeTried = "PendingEvaluation";

// The message of one whose spec.active is false.
inline constexpr const char* kInactive = "The workload is deactivated";

// The messages of Admitted.
inline constexpr const char* kAdmittedMessage = "The workload is admitted";
inline constexpr const char* kNoReservation = "The workload has no reservation";

// The message of PodsReady=False of one that was admitted.
inline constexpr const char* kNotAllReady = "Not all pods are ready or have succeeded";

// The reason of QuotaReserved=False where it asks for what makes no sense.
inline constexpr std::string_view kInadmissible = "Inadmissible";

// So many pods on a host, by name.
struct HostCount {
  std::string node;
  int count = 0;
};

// Why a Workload has to give back what it was given.
struct Removal {
  std::string_view reason;  // of the condition Evicted
  std::string message;
  std::string_view preempted = {};      // reason of the condition Preempted; "" where nobody takes its place
  std::optional<Time> requeue_at = {};  // not to be queued again before, since it did not start in time
};

struct Entry : Waiter {
  explicit Entry(WorkloadObject seen) : object(std::move(seen)) { id = key(); }

  WorkloadObject object;
  std::optional<std::int64_t> class_value = {};  // of its class of priority, when its own priority was last set to it
  std::optional<Admission> assumed = {};         // decided and not seen yet
  bool sent = false;                             // what is assumed was written
  bool may_be_done = false;                      // and an answer says that it was done, or may have been
  bool under_way = false;                        // and was being written when the lease was had
  std::optional<Removal> evicting = {};          // wanted, and not seen yet
  std::map<std::string, std::vector<HostCount>> hosts = {};  // by pod set: where the decision placed them
  std::set<std::string> let_go = {};           // pod sets of which it gave room back, since fewer pods were wanted
  std::vector<std::string> placeholders = {};  // booked
  std::map<std::string, Amounts> pieces = {};  // what those of them hold that are not for a whole pod
  std::uint64_t placeholders_made = 0;         // a number for each
  std::optional<Time> spent_since = {};        // all its pods are over, and it has not ended
  bool lacks_pods = false;                     // it waits, and its group of pods is not complete
  std::set<std::string> failed_hosts = {};     // whose pods are to be elsewhere
  std::optional<LiveObject> unowned = {};      // as it came, where nothing owns it
  Guard guard = {};
  std::optional<Verdict> told = {};
  Time told_at = {};
  std::optional<Time> tell_turn = {};  // when it may be told something, where very many have to be

  [[nodiscard]] std::string key() const { return object.ref.ns + "/" + object.ref.name; }
  [[nodiscard]] const std::optional<Admission>& admission() const { return assumed ? assumed : object.admission; }
  // It is in its queue, or will be: see stays_out().
  [[nodiscard]] bool waits() const;
  // It did not start in time, and is not to be tried for a while.
  [[nodiscard]] bool pauses(Time now) const { return object.requeue_at && *object.requeue_at > now; }
  // It waits and is in no line, so that it is in nobody's way: until its pause is over, or its pods are there.
  [[nodiscard]] bool stays_out(Time now) const { return pauses(now) || lacks_pods; }
  // It was deactivated because what it asks for makes no sense.
  [[nodiscard]] bool is_turned_down() const;
  // It was admitted, and nothing is against its running.
  [[nodiscard]] bool may_run() const;
  // Its user has suspended the job.
  [[nodiscard]] bool suspended() const;
  // It has still to give back what it has. One that has ended gave it back so.
  [[nodiscard]] bool leaves() const;
  // What was decided and not written, or not seen, is no longer so.
  void drop_assumed();
  // nullptr where it has no pod set of that name.
  [[nodiscard]] const PodSetRequest* pod_set(std::string_view name) const;
};

}  // namespace gantree::kueue

// A Workload as the controller keeps it: what it asks for, what it has been given, what it has been told.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "dialects/kueue/assignment.h"
#include "dialects/kueue/job_request.h"
#include "dialects/write.h"
#include "json/decode.h"
#include "json/value.h"
#include "json/write.h"
#include "live/object.h"

namespace gantree::kueue {

// The types of conditions.
inline constexpr std::string_view kQuotaReserved = "QuotaReserved";
inline constexpr std::string_view kAdmitted = "Admitted";
inline constexpr std::string_view kPodsReady = "PodsReady";
inline constexpr std::string_view kEvicted = "Evicted";
inline constexpr std::string_view kPreempted = "Preempted";
inline constexpr std::string_view kRequeued = "Requeued";
inline constexpr std::string_view kFinished = "Finished";
inline constexpr std::string_view kWaitingForPods = "WaitingForReplacementPods";  // of groups of pods

// On a job, or on a Workload that nothing owns: who has to give leave before it is admitted, and takes the annotation
// away then.
inline constexpr std::string_view kGatedBy = "kueue.x-k8s.io/admission-gated-by";

struct Condition {
  std::string type;
  bool holds = false;
  std::string reason;
  std::string message;
  std::string since;                     // RFC 3339
  bool unknown = false;                  // neither holds nor does not; others write such
  std::int64_t observed_generation = 0;  // as others wrote it
};

// A condition as it should be.
struct Wanted {
  std::string_view type;
  bool holds = false;
  std::string_view reason;
  std::string message;
};

struct SetAssignment {
  std::string name;
  std::map<std::string, std::string> flavors;  // by resource
  std::map<std::string, std::string> usage;    // quantities by resource, of all its pods
  int count = 0;
  std::optional<TopologyAssignment> topology;
  friend bool operator==(const SetAssignment&, const SetAssignment&) = default;
};

struct Admission {
  std::string cluster_queue;
  std::vector<SetAssignment> sets;
  friend bool operator==(const Admission&, const Admission&) = default;
};

struct WorkloadObject {
  ObjectRef ref;
  std::string resource_version;
  std::int64_t generation = 0;  // grows when what it asks for changes
  std::string owner_uid;        // of the job; "" where it has none
  bool active = true;
  bool deleting = false;
  bool in_use = false;          // has the finalizer by which Kueue keeps it
  std::string stranger;         // who owns it, where that is nothing that is started here; "" otherwise
  bool unowned = false;         // nothing owns it: its maker starts and stops what it stands for
  bool orphaned = false;        // the same, and a job owned it before
  bool checks_pass = true;      // no admission check that it names has still to pass
  std::string gated_by = {};    // of one that nothing owns: whose leave it waits for; "" where it needs none
  std::string class_name = {};  // the WorkloadPriorityClass that it names; "" where it names none
  std::vector<Condition> conditions;
  std::optional<Admission> admission;
  int requeues = 0;                               // times it was queued again because it did not become ready
  std::optional<Time> requeue_at = {};            // not before
  std::optional<std::int64_t> most_seconds = {};  // it may run so long
  std::int64_t spent_seconds = 0;                 // of those, before it was last admitted
  std::map<std::string, int> reclaimable = {};    // pods by pod set that are over, of those that it asks for
  std::set<std::string> unhealthy = {};           // hosts whose pods are being placed elsewhere, as it is told
  json::Document document;                        // what the request points into
  JobRequest request;

  [[nodiscard]] const Condition* condition(std::string_view type) const;
  [[nodiscard]] bool holds(std::string_view type) const;
  // How many pods of a pod set it asks for; `otherwise` where it has none of that name.
  [[nodiscard]] int asked_of(std::string_view set, int otherwise) const;
  // What it asks for by now: without the pods that are over.
  [[nodiscard]] JobRequest request_left() const;
  // How many of the pods that it was given it does without: what they had is free.
  [[nodiscard]] int given_back(const SetAssignment& set) const;
  // The same by pod set.
  [[nodiscard]] std::map<std::string, int> given_back(const Admission& given) const;
};

[[nodiscard]] Result<WorkloadObject> read_workload(const LiveObject& object, Inventory& inventory);

// Of a status.
[[nodiscard]] std::vector<Condition> read_conditions(json::Reader& read, json::Value status);

// The conditions with some of them as they should be; nothing where they are so already.
[[nodiscard]] std::optional<std::vector<Condition>> with_conditions(std::vector<Condition> conditions,
                                                                    const std::vector<Wanted>& wanted, Time now);

[[nodiscard]] json::Out write_conditions(const std::vector<Condition>& conditions);
[[nodiscard]] json::Out write_admission(const Admission& admission);
// `reclaimablePods` of a status, by pod set.
[[nodiscard]] json::Out write_reclaimable(const std::map<std::string, int>& pods);
// `requeueState` of one whose pause is over: the times count on.
[[nodiscard]] json::Out write_requeues(int times);
// `unhealthyNodes` of a status; null, which removes it, where there are none.
[[nodiscard]] json::Out write_unhealthy(const std::set<std::string>& nodes);

}  // namespace gantree::kueue

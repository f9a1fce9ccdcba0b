// A job that waits in a queue, as it was last seen: an object of some kind, or a group of pods.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/time.h"
#include "dialects/write.h"
#include "kueue/job.h"
#include "kueue/workload_object.h"
#include "live/guard.h"

namespace gantree::kueue {

// Stands for the version of an object that is not seen yet.
inline constexpr std::string_view kMade = "made";

struct JobEntry {
  const JobKind* kind = nullptr;  // of an object; nullptr where pods wait by themselves
  std::string group;              // those pods
  ObjectRef ref;
  std::string resource_version;
  std::string text;
  JobProgress progress;
  Guard guard;
  bool ran = false;            // was seen to run since it was last admitted
  std::string started_for;     // uid of the Workload for which it was started; "" where it was stopped since, by us
  bool waited = false;         // was seen to wait, or to have a Workload: it runs by leave of its queue, or not at all
  std::string priority_class;  // of workloads, that it names; "" where it names none
  std::string gated_by;        // whose leave it waits for; "" where it needs none
  bool was_held = false;       // was seen suspended: who runs it since is known by its mark
  std::string turned_down;     // the version of which was told why it cannot be queued
  bool resumed = false;        // its user suspended it, and wants it queued again
  Time rests_until = {};       // it was started past its queue and stopped: not started before
  std::string told_start;      // for which admission its start was told
  int follows = 0;             // times that its Workload was told of this version of it
  Guard creation;              // of its Workload, which shows in that, and not in the job
};

// Pods by pod set of what a Workload asks for that are over, by the word of its job.
[[nodiscard]] std::map<std::string, int> pods_over(const WorkloadObject& workload, const JobEntry& job);

}  // namespace gantree::kueue

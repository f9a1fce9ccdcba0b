// What the dialects work on: the cluster, and the objects that several of them look at.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dialects/core/objects.h"
#include "dialects/topologies.h"
#include "dialects/workloads/workload.h"
#include "model/record.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree {

// What was read, beside the cluster itself.
struct Reading {
  std::vector<Submission> queue;
  std::vector<std::string> notes;           // for the user: what was taken for granted
  std::map<std::string, int> ignored;       // objects of kinds that no dialect reads, by kind
  std::map<GangKey, GangRecord> records;    // of gangs of which their family keeps some
  std::map<GangKey, GangSigns> signs = {};  // what pods and the like say of their gangs, where that was asked for
  // Those of the queue of which some pods hold room though they never had as many as they need: on a live cluster they
  // may have to give that back, after the time that they name, or that is usual.
  std::map<GangKey, std::optional<std::chrono::milliseconds>> half_started = {};
};

struct Intake {
  Cluster& cluster;
  Quota& quota;
  std::optional<TopologyId> levels = {};  // a topology for jobs to which no other is given
  // Of flavors without a topology only quota is asked, and others find the pods a place: nodes may be yet to come.
  bool quota_alone = false;
  CoreObjects core = {};
  TopologyBook topologies = {};
  std::vector<PodRecord> pods = {};     // all that have not ended
  std::deque<Workload> workloads = {};  // all that make pods; pods that nothing makes are in it too
  Reading reading = {};
};

}  // namespace gantree

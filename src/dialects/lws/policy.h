// What a LeaderWorkerSet asks of the nodes of its groups: the schedulingPolicy of its template, and
// the older annotations that say the same.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "dialects/objection.h"
#include "dialects/workloads/workload.h"
#include "json/decode.h"
#include "model/node.h"

namespace gantree::lws {

struct SubGroups {
  int size = 1;
  bool with_leader = true;  // LeaderWorker: the leader belongs to the first; LeaderExcluded: to none

  // The subgroup of a pod by its index in the group (the leader has 0); nothing where it is in none.
  [[nodiscard]] std::optional<int> of(int worker_index, int group_size) const;
  [[nodiscard]] int count(int group_size) const;
};

struct Policy {
  int size = 1;  // of a group, leader included
  std::optional<SubGroups> subgroups;
  std::string per_replica;           // label of the domain that a group has to itself; "" where there is none
  std::string per_subgroup;          // the same of a subgroup
  std::string unique_node_selector;  // label whose value is the leader's name; "" where there is none
  std::string unique_toleration;     // taint key, the same
  TaintEffect unique_effect = TaintEffect::kNoSchedule;
};

// What is well-formed but wrong is an objection that names the field.
[[nodiscard]] Policy read_policy(json::Reader& read, Objection& objection, const Workload& workload);

}  // namespace gantree::lws

// A gang as it stands in the queue, and the order in which gangs are taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/decision.h"
#include "model/gang.h"
#include "queue/quota.h"

namespace gantree {

// One way to start a gang: with a flavor chosen for each pod set, so that node
// labels, tolerations and levels are resolved.
struct Alternative {
  Gang gang;
  std::vector<QuotaDemand> demand;   // by pod set, per pod
  std::vector<std::string> flavors;  // by pod set; "" where there is none
};

struct Rejection {
  Reason reason = Reason::kInvalidRequest;
  std::string message;
  bool waits = false;  // not the gang's own fault (say, its queue is stopped): Waiting, not Rejected
};

struct Submission {
  GangKey key;
  std::string dialect;
  std::int64_t priority = 0;
  std::int64_t created_seconds = 0;
  std::vector<std::pair<std::string, int>> pod_sets;  // name and count, for reports
  std::vector<Alternative> alternatives;              // in order of preference
  std::optional<Rejection> rejection;                 // then there are no alternatives
};

// Priority (high first), then creation time, then namespace, name and kind. What has no creation
// time is not created yet, so it comes after all that has waited already.
void sort_queue(std::vector<Submission>& queue);

}  // namespace gantree

// What became of the gangs of a cluster: by a plan, or by a run.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan_equals_run/manifests.h"

namespace gantree::test {

struct PodSetAnswer {
  std::vector<std::string> levels = {};  // of the places
  std::vector<std::string> places = {};  // of each pod, in rank order, as value/value/...
  std::vector<std::string> pods = {};    // their names in the same order, where they have existed before
};

struct GangAnswer {
  std::string kind = {};                              // of the object that asks
  bool live = true;                                   // its family is, so far
  std::string state = {};                             // Placed, Waiting, Rejected; of a run also what else it may be
  std::string reason = {};                            // unless placed
  std::map<std::string, PodSetAnswer> pod_sets = {};  // where placed, by name; of a plan always, for their names

  // In a few words.
  [[nodiscard]] std::string text() const;
};

struct Answers {
  std::map<std::string, GangAnswer> gangs;       // by namespace/name
  std::map<std::string, std::string> evictions;  // by namespace/name of who leaves: "for namespace/name: reason"
};

// What `gantree plan` says.
[[nodiscard]] Answers plan_answers(const ManifestFile& file);

}  // namespace gantree::test

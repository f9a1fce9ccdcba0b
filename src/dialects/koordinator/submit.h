// Gangs with their members to submissions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dialects/intake.h"
#include "dialects/koordinator/network_topology.h"
#include "dialects/koordinator/roll.h"
#include "dialects/koordinator/roster.h"
#include "queue/submission.h"

namespace gantree::koordinator {

// The topology in use, where the input has one.
struct UsedTopology {
  NetworkTopology network;
  TopologyId id;
};

class Submitter {
 public:
  Submitter(Intake& intake, const Roll& roll, const std::optional<UsedTopology>& topology)
      : intake_(intake), roll_(roll), topology_(topology) {}

  // Hands over a submission for every bundle and every workload that wants pods placed, and notes
  // for the user.
  void submit(const Rosters& rosters);

 private:
  // One gang of a bundle with its members.
  struct Part {
    const GangRules* rules = nullptr;
    const Roster* roster = nullptr;
    std::string name;
    int need = 0;  // pods that must start now
  };

  void submit_bundle(const Bundle& bundle, const Rosters& rosters);
  void submit_alone(const Workload& workload, const Roster& roster);
  // Why the bundle waits for pods that are not there; nothing where it does not.
  [[nodiscard]] static std::optional<std::string> incomplete(const Bundle& bundle, const std::vector<Part>& parts);
  // A pod of the group had its place, and perhaps has it still.
  static bool has_started(const std::vector<Part>& parts);
  // Some pods of the group have their place, but it never had its minimum, and what it lacks of that waits.
  static bool is_half_started(const std::vector<Part>& parts);
  static void settle_needs(std::vector<Part>& parts);
  // The gang without topology.
  [[nodiscard]] Gang gang_of(const GangKey& key, const std::vector<Part>& parts) const;
  // Sets priority and may_evict.
  [[nodiscard]] Result<> rank(Submission& submission, const std::vector<Part>& parts);
  // Adds the ways to place the gang, or why there are none.
  void add_ways(Submission& submission, const Gang& gang, const GatherSpec* gather, const std::vector<Part>& parts);
  void add_confined(Submission& submission, const Gang& gang, const Constraint& constraint,
                    const std::vector<Part>& parts);
  void add_open(Submission& submission, const Gang& gang);

  Intake& intake_;
  const Roll& roll_;
  const std::optional<UsedTopology>& topology_;
  // The same for all gangs, found when first asked for.
  std::optional<std::vector<TopologyId>> open_;
  std::optional<bool> nodes_outside_;
  int unresolved_priorities_ = 0;
  int no_topology_ = 0;               // bundles that prefer layers where there is no topology
  std::vector<std::string> ignored_;  // layers that are preferred but not there
};

}  // namespace gantree::koordinator

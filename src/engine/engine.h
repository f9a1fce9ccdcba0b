// The placement engine: where does a gang go, or why can it not start?
//
// Pure: no threads, clock, I/O or globals. The same inventory and gang give the
// same answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/budget.h"
#include "engine/domain_tree.h"
#include "engine/inventory.h"
#include "model/decision.h"
#include "model/gang.h"
#include "model/running.h"

namespace gantree {

class SlotCounts;

// What place() answers. Exactly one of placement and refusal is meaningful.
struct Outcome {
  std::optional<Placement> placement;
  std::vector<int> counts;  // pods placed by pod set; below `count` only where the minima allow; 0 in groups left out
  Refusal refusal = Refusal::kBusy;
  std::string message;  // of a refusal: one sentence, with the nearest domains and what each lacks
};

// A placement that was found and broke a rule: a bug. It was not handed out.
struct BrokenAnswer {
  std::string gang;   // namespace/name
  std::string fault;  // which rule, in one sentence
  std::string input;  // gang and hosts, to ask again (replay.h); only the first time, and of few gangs: it is long
};

// The domains of a level that a hold keeps others of its kind out of: every domain with pods of the
// group, and all that lies in the domain which it has to itself.
[[nodiscard]] std::vector<Range> held_domains(const DomainTree& tree, TopologyId topology, const ExclusiveHold& hold,
                                              int level);

class Engine {
 public:
  explicit Engine(Inventory& inventory);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  TopologyId add_topology(Topology topology);
  [[nodiscard]] const Topology& topology(TopologyId id) const;
  [[nodiscard]] std::optional<TopologyId> find_topology(std::string_view name) const;
  [[nodiscard]] std::size_t topologies() const;
  // The tree as it is now. Valid until a node comes, goes or moves.
  [[nodiscard]] const DomainTree& tree(TopologyId id);

  // Finds the best placement; books nothing. What it answers has passed checked().
  [[nodiscard]] Outcome place(const Gang& gang);
  // Whether place() would find one; none where that takes long to find out. Asks neither for the best nor, where there
  // is none, for the reason.
  [[nodiscard]] std::optional<bool> fits(const Gang& gang);
  // The same, with what work (search.h) is left.
  [[nodiscard]] std::optional<bool> fits(const Gang& gang, Budget& work);
  // Holds a placement against the gang and the hosts as they are now. One that breaks a rule is told of and becomes
  // a refusal: the gang waits.
  [[nodiscard]] Outcome checked(const Gang& gang, Outcome outcome);
  // Whom to tell of placements that broke a rule. The engine itself writes nothing.
  void on_broken_answer(std::function<void(const BrokenAnswer&)> tell);
  // Books a placement, or gives it back.
  void take(const Gang& gang, const Placement& placement);
  void give(const Gang& gang, const Placement& placement);

  // Notes the domains that a running gang, whose pods are booked already, has to itself.
  void hold(const RunningGang& gang);
  // Gives back all that a running gang holds, or books it again.
  void evict(const RunningGang& gang);
  void restore(const RunningGang& gang);

  [[nodiscard]] const Inventory& inventory() const;
  // The domains that running gangs have to themselves, and how many groups hold each so.
  [[nodiscard]] const std::map<ExclusiveHold, int>& holds() const;

  // How many pods of a shape fit into each domain now. Valid until the next
  // call of a non-const member.
  [[nodiscard]] const SlotCounts& slots(TopologyId id, const PodShape& shape);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gantree

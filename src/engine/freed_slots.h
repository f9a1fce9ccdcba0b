// The slots of identical pods as they would be once some candidates are gone.
//
// Evictions are tried on a copy of the few columns that matter, host by host:
// the inventory is not touched, and a trial costs what the candidate holds
// inside the domain that is looked at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/part_need.h"
#include "engine/victim_cost.h"

namespace gantree {

// How much the candidates of a pool can help, each by itself.
struct Gains {
  std::vector<std::int64_t> most;  // by position in the pool: no set of them gains more than the sum of these
  std::vector<char> helps;         // by position in the pool: whether it can help at all, with others
  std::int64_t missing = 0;        // slots short now; the part cannot fit before that many are gained
  bool additive = false;           // a set gains exactly the sum, and fits once nothing is missing
};

class FreedSlots {
 public:
  // Reads the free amounts as they are now.
  FreedSlots(Engine& engine, const std::string& exclusive_kind, const Victims& victims, const PartNeed& need);

  [[nodiscard]] const DomainTree& tree() const { return *tree_; }
  [[nodiscard]] int required() const { return need_.required; }

  // Looks at one domain from now on. Requires that nothing is evicted.
  void enter(Domain scope);
  void evict(std::size_t candidate) { change(candidate, 1); }
  void restore(std::size_t candidate) { change(candidate, -1); }
  // Whether the part, by itself, fits into the domain.
  [[nodiscard]] bool holds() const;

  // The domains of a level in which evicting a candidate may help: (domain, candidate), sorted. With
  // level -1 the whole tree is domain 0.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> helped(int level) const;
  // Whether the candidate has the domain to itself, so that nothing fits before it is gone. Asks for
  // a scope not above the exclusive level.
  [[nodiscard]] bool keeps_out(std::size_t candidate) const;
  // Requires that nothing is evicted, and leaves it so.
  [[nodiscard]] Gains gains(std::span<const std::size_t> pool);

  // Entries visited by one eviction inside the scope.
  [[nodiscard]] std::size_t size(std::size_t candidate) const;

 private:
  struct Entries {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  void read_hosts(Engine& engine);
  void read_candidates(const Victims& victims);
  void read_exclusives(const Engine& engine, const std::string& kind, const Victims& victims);
  void change(std::size_t candidate, std::int64_t sign);
  void recount(std::uint32_t host);
  [[nodiscard]] Entries in_scope(std::size_t candidate) const;
  [[nodiscard]] std::int64_t slots_of(std::uint32_t host) const;
  [[nodiscard]] std::int64_t whole(int level, std::int64_t pods) const {
    return pods - pods % unit_[static_cast<std::size_t>(level + 1)];
  }
  [[nodiscard]] std::int64_t capacity(Domain domain) const;
  [[nodiscard]] bool vacant(Domain domain) const;
  [[nodiscard]] std::size_t scarcest(std::uint32_t host) const;
  [[nodiscard]] bool adds_up(std::uint32_t host, std::size_t resource, std::size_t entry) const;

  PartNeed need_;
  const DomainTree* tree_;
  std::vector<std::int64_t> request_;  // by resource asked for
  std::vector<ResourceId> resources_;
  std::vector<std::int64_t> unit_;  // by level + 1: pods come in multiples of it
  Domain scope_ = kWholeTree;
  Range scope_hosts_;

  std::vector<std::int64_t> free_;              // by host, resource
  std::vector<char> eligible_;                  // by host
  std::vector<std::int64_t> slots_;             // by host
  std::vector<std::vector<std::int64_t>> sum_;  // by level + 1 (not for hosts), domain: before rounding

  std::vector<std::size_t> first_entry_;    // by candidate, one more at the end
  std::vector<std::uint32_t> entry_host_;   // sorted within a candidate
  std::vector<std::int64_t> entry_amount_;  // by entry, resource

  std::vector<int> kept_by_;                       // by domain of the exclusive level: holds on it
  std::vector<std::vector<std::uint32_t>> keeps_;  // by candidate: domains of the exclusive level, once a hold
  std::vector<std::int64_t> upper_;                // by host: slots once a whole pool is gone
};

}  // namespace gantree

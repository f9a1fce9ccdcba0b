// The slots of identical pods as they would be once some candidates are gone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/held_room.h"
#include "engine/part_need.h"
#include "engine/victim_cost.h"

namespace gantree {

// How much the candidates of a pool can help, each by itself.
struct Gains {
  std::vector<std::int64_t> most;  // by position in the pool: no set of them gains more than the sum of these
  std::vector<char> helps;         // by position in the pool: whether it can help at all, with others
  std::int64_t missing = 0;        // slots short now; the part cannot fit before that many are gained
  std::int64_t looks = 0;          // at what a candidate holds on a host
  bool additive = false;           // a set gains exactly the sum, and fits once nothing is missing
};

class FreedSlots {
 public:
  // Counts the slots of what is free in the room now. The room outlives this, and stays where it is.
  FreedSlots(Engine& engine, const std::string& exclusive_kind, const Victims& victims, const PartNeed& need,
             HeldRoom& room);
  // About what it takes, the room aside.
  [[nodiscard]] static std::size_t bytes(const DomainTree& tree, const Victims& victims, const PartNeed& need);

  [[nodiscard]] const DomainTree& tree() const { return *tree_; }

  // The room has changed: a candidate went, or came back, with what it holds in the domain.
  void note_evicted(std::size_t candidate, HeldRoom::Entries entries) { recount(candidate, entries, 1); }
  void note_restored(std::size_t candidate, HeldRoom::Entries entries) { recount(candidate, entries, -1); }
  // Whether the part, by itself, fits into the domain that the room looks at.
  [[nodiscard]] bool holds() const;
  // The room looks at another domain.
  void note_scope();

  // Whether an entry of the room holds something that the part could use.
  [[nodiscard]] bool wants(std::size_t entry) const;
  // Domains of the exclusive level that a candidate has to itself.
  [[nodiscard]] std::span<const std::uint32_t> kept(std::size_t candidate) const {
    return keeps_.empty()
               ? std::span<const std::uint32_t>{}
               : std::span(keeps_).subspan(first_kept_[candidate], first_kept_[candidate + 1] - first_kept_[candidate]);
  }
  [[nodiscard]] int exclusive() const { return need_.exclusive; }
  // Whether the candidate has the domain to itself, so that nothing fits before it is gone. Asks for
  // a scope not above the exclusive level.
  [[nodiscard]] bool keeps_out(std::size_t candidate) const;
  // Requires that nothing is evicted, and leaves it so.
  [[nodiscard]] Gains gains(std::span<const std::size_t> pool);

 private:
  void read_hosts(Engine& engine);
  void read_exclusives(const Engine& engine, const std::string& kind, const Victims& victims);
  void recount(std::size_t candidate, HeldRoom::Entries entries, int sign);
  void recount_host(std::uint32_t host);
  [[nodiscard]] std::int32_t slots_of(std::uint32_t host) const;
  [[nodiscard]] std::int64_t whole(int level, std::int64_t pods) const {
    return pods - pods % unit_[static_cast<std::size_t>(level + 1)];
  }
  [[nodiscard]] std::int64_t capacity(Domain domain) const;
  [[nodiscard]] bool vacant(Domain domain) const;
  void note_fitting(std::uint32_t domain);
  [[nodiscard]] std::size_t scarcest(std::uint32_t host) const;
  [[nodiscard]] bool adds_up(std::uint32_t host, std::size_t resource, std::size_t entry) const;
  [[nodiscard]] std::int64_t free(std::uint32_t host, std::size_t resource) const {
    return room_->free(host)[column_[resource]];
  }
  [[nodiscard]] std::int64_t held(std::size_t entry, std::size_t resource) const {
    return room_->held(entry)[column_[resource]];
  }

  PartNeed need_;
  HeldRoom* room_;
  const DomainTree* tree_;
  std::vector<std::int64_t> request_;  // by resource asked for
  std::vector<std::size_t> column_;    // by resource asked for: where the room has it
  std::vector<std::int64_t> unit_;     // by level + 1: pods come in multiples of it

  std::vector<char> eligible_;                  // by host
  std::vector<std::int32_t> slots_;             // by host
  std::vector<std::int32_t> upper_;             // by host: slots once a whole pool is gone
  std::vector<std::vector<std::int64_t>> sum_;  // by level + 1 (not for hosts), domain: before rounding

  // Domains of the level of which one must hold a group are watched, so that no trial looks at all of them.
  int watched_ = -1;
  std::vector<char> fits_;    // by domain of that level: holds one group
  std::int64_t fitting_ = 0;  // of these, within what the room looks at
  Range watched_range_;

  std::vector<int> kept_by_;               // by domain of the exclusive level: holds on it
  std::vector<std::uint32_t> keeps_;       // domains of one candidate after the other, once a hold
  std::vector<std::uint32_t> first_kept_;  // by candidate, one more at the end
};

// The parts of a gang, and what they have room for together.
class FreedParts {
 public:
  FreedParts() = default;
  // As many of the needs, from the first on, as there is time and memory for: at least one.
  FreedParts(Engine& engine, const std::string& exclusive_kind, const Victims& victims,
             std::span<const PartNeed> needs);

  [[nodiscard]] bool empty() const { return parts_.empty(); }
  [[nodiscard]] bool all() const { return all_; }  // none of the needs was left out
  [[nodiscard]] bool single() const { return parts_.size() == 1; }
  [[nodiscard]] std::vector<FreedSlots>& each() { return parts_; }
  // Of the first. Requires that there is one.
  [[nodiscard]] const DomainTree& tree() const { return parts_.front().tree(); }

  // The domain of a level in which a candidate holds something first, and how much it holds of the resource that the
  // first of the needs is about.
  [[nodiscard]] std::uint32_t home(std::size_t candidate, int level) const;
  [[nodiscard]] std::int64_t held(std::size_t candidate) const;

  // Looks at one domain from now on. Requires that nothing is evicted.
  void enter(Domain scope);
  // Returns how much there was to be changed.
  std::int64_t evict(std::size_t candidate);
  std::int64_t restore(std::size_t candidate);
  // Whether each of them, by itself, fits into the domain.
  [[nodiscard]] bool fit() const;
  // The domains of a level in which evicting a candidate may help: (domain, candidate), sorted. With
  // level -1 the whole tree is domain 0.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> helped(int level) const;

 private:
  struct Tree {
    TopologyId topology;
    std::unique_ptr<HeldRoom> room;
    std::vector<std::size_t> parts;
  };

  std::vector<Tree> trees_;
  std::vector<FreedSlots> parts_;
  bool all_ = true;
};

}  // namespace gantree

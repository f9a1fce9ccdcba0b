// The tables of joint.h, from the hosts up: joint.cpp builds them, joint_fronts.cpp adds them up, joint_rules.cpp has
// what rules leave of them and what they cost.
//
// An entry of a table means "up to so many pods of each part fit here, at this cost". Less always fits where more does,
// so only entries that no cheaper one covers are kept: the front. Rounding to whole slices, "all or none" and "alone"
// only ever lower the numbers, so they may be applied to entries too.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <compare>
#include <cstdint>
#include <vector>

#include "engine/combinations.h"
#include "engine/joint.h"

namespace gantree {

inline constexpr std::size_t kMaxTableBytes = std::size_t{16} * 1024 * 1024;  // growing vectors take up to thrice that

class ChildLimit;

class Joint {
 public:
  Joint(const JointProblem& problem, Budget& budget);

  JointAnswer solve();

 private:
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

  // Entries side by side; costs are words_ words each. `from` and `with`: of which an entry was made (see Table).
  struct Front {
    std::vector<std::uint64_t> combination;
    std::vector<std::uint64_t> cost;
    std::vector<std::uint32_t> from;
    std::vector<std::uint32_t> with;
    [[nodiscard]] std::size_t size() const { return combination.size(); }
    void reserve(std::size_t entries, std::size_t words) {
      combination.reserve(entries);
      cost.reserve(entries * words);
      from.reserve(entries);
      with.reserve(entries);
    }
    void clear() {
      combination.clear();
      cost.clear();
      from.clear();
      with.clear();
    }
  };
  // What is needed of a front to find the way back.
  struct Trail {
    std::vector<std::uint32_t> from;
    std::vector<std::uint32_t> with;
  };
  struct Table {
    Domain domain;
    Front front;                  // from: entry of the last step (a host: unused)
    std::vector<Table> children;  // those in which anything fits; without their costs
    std::vector<Trail> steps;     // by child: from: entry of the step before, with: entry of the child
  };

  // Neither steps nor memory are left: the answer will be that it gave up.
  [[nodiscard]] bool stopped() const { return too_large_ || budget_.exhausted(); }
  [[nodiscard]] std::size_t bytes(const Front& front) const {
    return front.size() * (2 + words_) * sizeof(std::uint64_t);
  }
  // Whether a front may grow on beside what is kept.
  bool room_for(const Front& front) {
    too_large_ |= kept_bytes_ + bytes(front) > kMaxTableBytes;
    return !too_large_;
  }
  void keep(const Front& sum, Table&& below, Table& table);

  [[nodiscard]] const std::uint64_t* cost(const Front& front, std::size_t entry) const {
    return &front.cost[entry * words_];
  }
  void append(Front& front, std::uint64_t combination, const std::uint64_t* cost, std::size_t from,
              std::size_t with) const {
    front.combination.push_back(combination);
    front.cost.insert(front.cost.end(), cost, cost + words_);
    front.from.push_back(static_cast<std::uint32_t>(from));
    front.with.push_back(static_cast<std::uint32_t>(with));
  }
  [[nodiscard]] std::strong_ordering compare_costs(const std::uint64_t* a, const std::uint64_t* b,
                                                   std::size_t words) const {
    for (std::size_t w = 0; w < words; ++w) {
      if (a[w] != b[w]) {
        return a[w] <=> b[w];
      }
    }
    return std::strong_ordering::equal;
  }
  void sort_by_cost(const Front& front);
  [[nodiscard]] Front best_of(const Front& front);
  // Where in `sums_` a combination is, or its place to be.
  std::uint32_t& place_of(std::uint64_t combination) {
    return dense_.empty() ? sparse_.try_emplace(combination, kUnknown).first->second : dense_[combination];
  }
  void forget_places();
  Table build(Domain domain);
  bool build_child(Domain child, Table& below);
  Table build_root(Domain domain);
  void build_host(Table& table);
  void enumerate(Front& front, std::uint32_t host, std::size_t part, std::uint64_t combination,
                 std::vector<std::int64_t>& free);
  Front add(const Front& sum, const Front& child, const ChildLimit* limit = nullptr);
  void finish(Table& table, const Front& sum);
  [[nodiscard]] std::uint64_t permitted(Domain domain, std::uint64_t combination) const;
  [[nodiscard]] bool alone_above() const;
  void ways_to_be_alone(Domain domain, std::uint64_t combination, std::size_t next,
                        std::vector<std::uint64_t>& ways) const;
  void charge(Domain domain, std::uint64_t combination, std::uint64_t* cost) const;
  // Pods of a part in each of so many groups.
  [[nodiscard]] int each(std::size_t part, int groups) const { return problem_.parts[part].count / groups; }
  void trace(const Table& table, std::size_t entry, std::uint64_t need, std::vector<Shares>& shares) const;

  const JointProblem& problem_;
  Budget& budget_;
  const DomainTree& tree_;
  PodCombinations combinations_;
  int union_depth_ = 0;
  bool count_union_ = true;
  bool coarse_ = false;  // tightness decides only between entries that are otherwise equal
  std::size_t words_ = 1;
  std::vector<std::uint64_t> none_;  // the cost of nothing
  int exclusive_rules_ = 0;
  bool alike_ = false;  // some units stand for several groups
  std::size_t kept_bytes_ = 0;
  bool too_large_ = false;

  // Space that is used again and again.
  Front sums_;
  Front finished_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> dense_;  // by combination, where these are few
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> sparse_;
};

}  // namespace gantree

// What the domains of a topology offer a gang: level by level, and the nearest ones in detail.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/gang_plan.h"
#include "engine/part_need.h"
#include "engine/slot_counts.h"
#include "explain/why.h"

namespace gantree {

// A gang that this plan placed, as if it ran.
using Planned = RunningGang;

// The pods with which a gang may start, by pod set.
[[nodiscard]] std::vector<int> least_counts(const Gang& gang);

class Survey {
 public:
  // Reads the cluster as it is now, for so many pods by pod set; not all are 0. Of use as long as no node comes,
  // goes or moves, and as the gang lives; what it says is of the moment of its construction.
  Survey(Cluster& cluster, const Gang& gang, const std::vector<int>& counts);
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;

  [[nodiscard]] const Measure& measure() const { return measure_; }
  [[nodiscard]] std::vector<LevelRow> levels() const;
  [[nodiscard]] HostCensus hosts() const;
  [[nodiscard]] int outside() const;
  // The domains of the measure's level (the top level where it has none) that offer most.
  [[nodiscard]] std::vector<Domain> nearest(Fill fill, std::size_t most) const;
  [[nodiscard]] NearDomain describe(Domain domain, const std::vector<Planned>& planned) const;
  // How a placement compares with what else there was.
  [[nodiscard]] Landing landing(const std::vector<PodSetDecision>& pod_sets) const;

  [[nodiscard]] const DomainTree& tree() const { return *tree_; }
  // The shape that is measured.
  [[nodiscard]] const PodShape& shape() const { return *shape_; }

 private:
  // One kind of parts of the gang, with the constraints above it; or all parts together.
  struct Need {
    std::string pod_set;
    const PodShape* shape = nullptr;
    int count = 0;
    std::vector<Slice> slices;
    int required = -1;
    int exclusive = -1;
    TopologyId topology;
  };
  struct Counts {
    const SlotCounts* now = nullptr;
    const SlotCounts* empty = nullptr;
    const std::vector<bool>* taken = nullptr;  // domains of the exclusive level
  };

  void read_needs();
  void count(const Need& need);
  void choose_measure();
  [[nodiscard]] const SlotCounts& counts_of(const Need& need, Fill fill);
  [[nodiscard]] const std::vector<bool>* taken(const Need& need);
  // The level in one domain of which a need must fit, had all to be in one domain of `level`.
  [[nodiscard]] int required_at(const Need& need, int level) const;
  [[nodiscard]] bool holds(std::size_t need, Domain domain, Fill fill) const;
  [[nodiscard]] bool holds_all(Domain domain, Fill fill) const;
  [[nodiscard]] int offers(std::size_t need, Domain domain, Fill fill) const;
  [[nodiscard]] int offers(Domain domain, Fill fill) const { return offers(chosen_, domain, fill); }
  [[nodiscard]] bool all_of_one_set() const;
  [[nodiscard]] Choice choice(Landing& landing, Domain home, std::optional<std::pair<int, Domain>> tightest) const;
  [[nodiscard]] HostCensus census(Range hosts) const;
  [[nodiscard]] ResourceId scarce(const HostCensus& census) const;
  [[nodiscard]] DomainPath path(Domain domain) const;
  [[nodiscard]] int domains_in(int level) const { return level < 0 ? 1 : static_cast<int>(tree_->size(level)); }

  Cluster& cluster_;
  const Gang& gang_;
  GangPlan plan_;
  std::array<std::optional<JointNeed>, 2> joint_;  // of all parts; of groups that each want a domain
  int common_ = -1;                                // the level of which one domain must hold the gang
  std::vector<Need> needs_;
  std::vector<Counts> counts_;  // by need
  std::size_t chosen_ = 0;      // the need that is the measure
  Measure measure_;
  const PodShape* shape_ = nullptr;
  const DomainTree* tree_ = nullptr;
  using Key = std::tuple<TopologyId, Fill, std::vector<Slice>, PodShape>;
  std::map<Key, std::unique_ptr<SlotCounts>> books_;
  std::map<std::pair<TopologyId, int>, std::vector<bool>> taken_;
};

}  // namespace gantree

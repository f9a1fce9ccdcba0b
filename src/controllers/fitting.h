// Whether a pod may be on a node, for the plain scheduler: the rules that kube-scheduler has, one after the other.
//
// Made for one look at one pod, from what the view says then.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/turn.h"

namespace gantree::controllers {

// Why a node will not do, in the order in which it is looked at.
enum class Obstacle : std::uint8_t {
  kNone,
  kUnschedulable,
  kTaint,
  kNodeAffinity,
  kPorts,
  kResources,
  kSpread,
  kSpreadLabel,
  kRepelled,      // by a pod there
  kAntiAffinity,  // its own
  kAffinity,
};
inline constexpr std::size_t kObstacles = 11;

// What stands in the way on how many nodes.
struct Obstacles {
  std::array<std::size_t, kObstacles> counts{};
  std::map<std::string, std::size_t, std::less<>> lacking;  // resources, of nodes that have too little
  // "3 Insufficient cpu, 1 node(s) were unschedulable"
  [[nodiscard]] std::string text() const;
};

class Fitting {
 public:
  // The pod's spec must outlive it.
  Fitting(const Item& pod, const Object& spec, Turn& turn);

  [[nodiscard]] const Item& pod() const { return pod_; }
  [[nodiscard]] const Object& spec() const { return spec_; }
  // Whether it matters where other pods are.
  [[nodiscard]] bool minds_others() const { return minds_others_; }
  // Pods that are alike in all that counts here have the same.
  [[nodiscard]] std::string shape() const;
  [[nodiscard]] bool wants_devices() const;

  // As the node is, or as if it had that much less in use, and without these pods.
  struct Without {
    std::vector<const Item*> pods;
  };
  [[nodiscard]] Obstacle check(const Host& host, const Without* without = nullptr, Obstacles* count = nullptr) const;

  // Whether there is anything to compare nodes by, and how much it likes one: preferred affinity and spreading.
  [[nodiscard]] bool has_preferences() const { return has_preferences_; }
  [[nodiscard]] std::int64_t liking(const Host& host) const;

 private:
  struct Term {
    const PodCounts* counts = nullptr;
    bool selects_itself = false;
    std::int64_t weight = 0;  // of a preference
  };
  struct Spread {
    const PodCounts* counts = nullptr;
    bool selects_itself = false;
    std::int64_t most_skew = 1;
    std::int64_t least = 0;  // of all domains that count
  };

  void read_terms(std::string_view which, std::vector<Term>& required, std::vector<Term>& preferred, int sign);
  void read_spreads();
  [[nodiscard]] std::int64_t least_of(const PodCounts& counts, std::int64_t least_domains) const;
  [[nodiscard]] Term term_of(const Value& term);
  [[nodiscard]] bool has_room(const Host& host, const Without* without, Obstacles* count) const;
  [[nodiscard]] bool has_ports(const Host& host, const Without* without) const;
  [[nodiscard]] Obstacle check_others(const Host& host, const Without* without) const;
  [[nodiscard]] Obstacle check_spread(const Host& host, const Without* without) const;

  const Item& pod_;
  const Object& spec_;
  Turn& turn_;
  Hosts& hosts_;
  std::vector<Term> near_;
  std::vector<Term> apart_;
  std::vector<Term> preferred_;
  std::vector<Spread> spreads_;
  std::vector<Spread> soft_spreads_;
  std::vector<const PodCounts*> repelled_by_;
  bool minds_others_ = false;
  bool has_preferences_ = false;
};

}  // namespace gantree::controllers

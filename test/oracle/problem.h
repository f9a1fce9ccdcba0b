// A gang's question as bare numbers, what answers are right, and how good they are.
//
// Derived from an Instance alone, in the plainest way, so that it can judge the
// engine: it shares no code with it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/instance.h"

namespace gantree::oracle {

using test::GangSpec;
using test::Instance;

// Where a gang's pods went: by pod set, pods by host name.
using Shares = std::vector<std::map<std::string, int>>;

// A gang that was placed and holds its hosts.
struct Booking {
  GangSpec gang;
  Shares shares;
};

// One level more than the instance's where its lowest is not the hostname.
struct Problem {
  struct PodSet {
    std::string name;
    int count = 0;
    int min_count = 0;
    std::vector<std::int64_t> request;  // by resource
    std::vector<bool> allowed;          // by host
    std::vector<Slice> slices;
    std::optional<std::size_t> unit;  // what it asks for itself
  };
  // A group or pod set with a constraint.
  struct Unit {
    std::vector<std::size_t> pod_sets;
    std::optional<int> required;
    std::optional<int> exclusive;  // no other unit with this set, unless one contains the other, in its domain
    bool packed = false;           // its domains count in the score
    int depth = 0;                 // packed units around it
  };

  // The tree of groups.
  struct Group {
    std::optional<std::size_t> unit;  // what it asks for itself
    std::vector<std::size_t> pod_sets;
    std::vector<Group> groups;
    std::optional<int> min_pods;    // of its own pod sets together
    std::optional<int> min_groups;  // of its nested groups; none: all
  };

  int levels = 0;
  std::vector<std::string> hosts;
  std::vector<std::vector<int>> domain;         // [level][host], numbered from 0 in each level
  std::vector<int> domains;                     // how many, by level
  std::vector<std::vector<std::int64_t>> free;  // [host][resource]
  std::vector<PodSet> pod_sets;
  std::vector<Unit> units;
  Group root;
  bool scored = false;  // every pod set is in a packed unit, so that the score tells all
};

enum class Moment : std::uint8_t {
  kNow,
  kEmpty,  // nothing runs and nobody else was placed
};

[[nodiscard]] Problem make_problem(const Instance& instance, const GangSpec& gang, const std::vector<Booking>& booked,
                                   Moment moment);

// Pods by pod set and host.
using Assignment = std::vector<std::vector<int>>;
// What is compared, first to last; smaller is better. For every depth of packed
// units, then for all pods together: the domains used at each level, top first.
using Score = std::vector<int>;

struct Solution {
  Assignment assignment;
  Score score;
};

// What is wrong with an assignment of exactly `count` pods a pod set, in a sentence; or none.
[[nodiscard]] std::optional<std::string> fault(const Problem& problem, const Assignment& assignment);
[[nodiscard]] Score score(const Problem& problem, const Assignment& assignment);

// How many pods of a set its slices put into one domain: whole pieces and, in
// one domain only, the smaller last piece.
[[nodiscard]] bool cut_well(const Problem& problem, std::size_t pod_set, const std::vector<int>& pods_by_host);

// How many more pods of that request fit.
[[nodiscard]] int room(const std::vector<std::int64_t>& free, const std::vector<std::int64_t>& request);

}  // namespace gantree::oracle

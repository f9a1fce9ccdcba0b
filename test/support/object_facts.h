// What objects of a world say of themselves.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/kueue/assignment.h"
#include "support/fake_server.h"

namespace gantree::test {

inline constexpr std::string_view kHostLabel = "kubernetes.io/hostname";
inline constexpr std::string_view kTaint = "maintenance";

// JSON with ' for quotes.
[[nodiscard]] Tree quoted(std::string text);

[[nodiscard]] std::string key_of(const Stored& stored);
// The uid of the first owner; "" where there is none.
[[nodiscard]] std::string owner_of(const Tree& object);
// Whether a condition of that type is true.
[[nodiscard]] bool holds(const Tree& object, std::string_view type);

// Sets a condition, in place of the one of its type.
void set_condition(Tree& object, const Tree& condition);

[[nodiscard]] bool is_over(const Tree& pod);
[[nodiscard]] bool is_going(const Tree& pod);
[[nodiscard]] bool is_gated(const Tree& pod);
[[nodiscard]] bool tolerates_taint(const Tree& pod);
[[nodiscard]] int gpus_of(const Tree& pod);
// The group of plain pods; "" where it is in none.
[[nodiscard]] std::string group_of(const Tree& pod);
// The uid of its job, or the name of its group.
[[nodiscard]] std::string owner_or_group(const Tree& pod);
// The Workload and the pod set that it was started for; "" where it was not.
[[nodiscard]] std::string workload_of(const Tree& pod);
[[nodiscard]] std::string set_of(const Tree& pod);

// A pod set of a Job or JobSet as its controller sees it.
struct Part {
  std::string name;
  int replicas = 1;
  int parallelism = 1;
  int completions = 1;
  const Tree* pod_template = nullptr;

  // So many pods it has at once.
  [[nodiscard]] int pods() const { return replicas * std::min(parallelism, completions); }
};
[[nodiscard]] std::vector<Part> parts_of(const Stored& job);

// Which of the pods of its job a pod is.
struct Seat {
  std::string part;
  int job = 0;
  int index = 0;
  friend auto operator<=>(const Seat&, const Seat&) = default;
};
[[nodiscard]] Seat seat_of(const Tree& pod);

// The assignment of a pod set in an admission, by name; nullptr where there is none.
[[nodiscard]] const Tree* set_in(const Tree& admission, std::string_view set);
// How many pods of a set are over, by what a Workload says.
[[nodiscard]] int pods_over(const Tree& workload, std::string_view set);
// How many pods of a set of its admission a Workload still needs: those that are over count among those asked for.
[[nodiscard]] int pods_left(const Tree& workload, const Tree& set);
// Requires that the set has a topology.
[[nodiscard]] kueue::TopologyAssignment assignment_in(const Tree& set);

}  // namespace gantree::test

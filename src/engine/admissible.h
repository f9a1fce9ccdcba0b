// With how many pods a gang may start.
//
// Minima come from pod sets, from groups over their own pod sets together, and from groups over the
// number of nested groups that start. Once it is settled which groups are left out, what remains is a
// box: a range for every pod set, and pools of pod sets with a minimum together.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/gang.h"

namespace gantree {

using Counts = std::vector<int>;  // by pod set

[[nodiscard]] std::int64_t total(const Counts& counts);

// The own pod sets of one group: positions [begin, end), at least so many pods together.
struct Pool {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t least = 0;
};

struct Box {
  Counts least;
  Counts most;
  std::vector<Pool> pools;       // only those that ask for more than their pod sets do
  const Group* short_of_pods{};  // a group that has fewer pods than its own minimum: nothing is admissible
};

// How extra pods are shared out among pod sets with room for them.
enum class Sharing : std::uint8_t { kEvenly, kFirstSets, kLastSets };

// The smallest counts in a box, extra pods of pools shared out in that way.
[[nodiscard]] Counts smallest(const Box& box, Sharing sharing);
// From one count towards a larger one, by `extra` pods at most.
[[nodiscard]] Counts grown(const Counts& from, const Counts& to, std::int64_t extra, Sharing sharing);
// All counts in a box with at least one pod, the most pods first, then the most even; none where there are more
// than `limit`.
[[nodiscard]] std::optional<std::vector<Counts>> all_counts(const Box& box, std::size_t limit);

// By group in depth-first order; true stands for all that is below, too.
using LeftOut = std::vector<bool>;

// The groups of a gang, and which of them may be left out.
class Admissible {
 public:
  explicit Admissible(const Group& root);

  [[nodiscard]] Box box(const LeftOut& left_out) const;
  [[nodiscard]] LeftOut nothing_left_out() const { return LeftOut(groups_.size(), false); }
  // Zero for all pod sets that are not below a group.
  [[nodiscard]] Box only(std::size_t group) const;

  // The groups that may be left out, as one goes on leaving out as many as may be: those of `first` before
  // others, then the largest or the smallest, of equal ones the last. Every beginning is admissible.
  [[nodiscard]] std::vector<std::size_t> order_of_leaving(bool largest_first, const LeftOut& first) const;
  // One group of every kind that may be left out.
  [[nodiscard]] std::vector<std::size_t> optional_kinds() const;
  // The groups like that one, itself among them.
  [[nodiscard]] std::vector<std::size_t> alike(std::size_t group) const;
  // All choices, of equal groups only one selection each; none where there are more than `limit`.
  [[nodiscard]] std::optional<std::vector<LeftOut>> choices(std::size_t limit) const;
  // Whether a group may be left out beside those that are.
  [[nodiscard]] bool may_leave(const LeftOut& left_out, std::size_t group) const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Flat {
    const Group* group = nullptr;
    std::size_t parent = kNone;
    std::size_t kind = 0;  // the first sibling that is like it
    std::size_t next = 0;  // the first group behind all below it
    std::size_t first_set = 0;
    std::size_t own_end = 0;
    std::size_t sets_end = 0;
    std::size_t spare = 0;  // nested groups that may be left out
    std::int64_t pods = 0;
  };

  void add(const Group& group, std::size_t parent, std::size_t own_kind);
  void fill(std::size_t group, Box& box) const;
  bool choose(std::size_t group, LeftOut& left_out, std::size_t limit, std::vector<LeftOut>& out) const;

  std::vector<Flat> groups_;
  std::size_t sets_ = 0;
};

}  // namespace gantree

// Things of several kinds, each of which goes to a place of its own: a matching, found or ruled out.
//
// Kinds take what they like best first, those with the fewest places before others. One that finds no place left makes
// others move along a chain; where no chain ends at a free place there is no matching, and that is a proof.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/budget.h"

namespace gantree {

class Matching {
 public:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  struct Choices {
    // So many of the places given, the best for that kind first; fewer only where fewer are given.
    std::function<std::vector<std::uint32_t>(std::size_t kind, const std::vector<std::uint32_t>& places,
                                             std::size_t number)>
        best;
    // Whether a place that is allowed really does, looked at before it is used. Empty: it does.
    std::function<bool(std::size_t kind, std::uint32_t place)> confirms;
  };

  // `wanted`: how many places each kind needs.
  Matching(std::size_t places, std::vector<int> wanted, Choices choices, Budget& budget);

  void allow(std::size_t kind, std::uint32_t place) {
    set(allowed_[kind], place);
    set(usable_, place);
  }
  [[nodiscard]] bool allowed(std::size_t kind, std::uint32_t place) const { return has(allowed_[kind], place); }
  // Only places that are open are used. None is at first.
  void open(std::uint32_t begin, std::uint32_t end);
  void close_all();
  // How many of these places were allowed to some kind.
  [[nodiscard]] std::size_t usable(std::uint32_t begin, std::uint32_t end) const;

  // Whether all find places among those that are open, beside what was found before. False also once the budget is
  // exhausted.
  bool complete();
  // The kind that has a place, or kNobody.
  [[nodiscard]] std::uint32_t owner(std::uint32_t place) const { return owner_[place]; }

 private:
  using Bits = std::vector<std::uint64_t>;
  static void set(Bits& bits, std::uint32_t at) { bits[at / 64] |= std::uint64_t{1} << (at % 64); }
  static void clear(Bits& bits, std::uint32_t at) { bits[at / 64] &= ~(std::uint64_t{1} << (at % 64)); }
  [[nodiscard]] static bool has(const Bits& bits, std::uint32_t at) { return ((bits[at / 64] >> (at % 64)) & 1) != 0; }

  [[nodiscard]] std::size_t open_to(std::size_t kind) const;
  [[nodiscard]] bool confirmed(std::size_t kind, std::uint32_t place);
  void own(std::size_t kind, std::uint32_t place);
  void take_best(std::size_t kind);
  bool move_along(std::size_t kind);
  [[nodiscard]] std::uint32_t end_of_chain(std::size_t kind);
  bool shift(std::uint32_t free);

  std::vector<int> missing_;  // by kind: places it still needs
  Choices choices_;
  Budget& budget_;
  std::vector<Bits> allowed_;  // by kind
  Bits usable_;
  Bits open_;
  Bits free_;
  std::vector<std::uint32_t> owner_;
  // Of the search for a chain: the kind by which a place was reached, and the place by which a kind was.
  std::vector<std::uint32_t> reached_by_;
  std::vector<std::uint32_t> reached_at_;
};

}  // namespace gantree

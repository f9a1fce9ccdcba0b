// Amounts by the name of their resource. A name with an amount of zero is not the same as no name.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/saturating.h"

namespace gantree {

// `Amount` knows += and <; sums of plain numbers saturate.
template <class Amount>
class NamedAmounts {
 public:
  using Map = std::map<std::string, Amount, std::less<>>;

  NamedAmounts() = default;
  explicit NamedAmounts(Map map) : map_(std::move(map)) {}

  void set(const std::string& name, const Amount& amount) { map_[name] = amount; }
  void add(const NamedAmounts& other) {
    for (const auto& [name, amount] : other.map_) {
      const auto [own, fresh] = map_.emplace(name, amount);
      if (fresh) {
        continue;
      }
      if constexpr (std::same_as<Amount, std::int64_t>) {
        own->second = saturated_sum(own->second, amount);
      } else {
        own->second += amount;
      }
    }
  }
  void max(const NamedAmounts& other) {
    for (const auto& [name, amount] : other.map_) {
      const auto [own, fresh] = map_.emplace(name, amount);
      if (!fresh && own->second < amount) {
        own->second = amount;
      }
    }
  }
  [[nodiscard]] const Map& map() const { return map_; }

 private:
  Map map_;
};

}  // namespace gantree

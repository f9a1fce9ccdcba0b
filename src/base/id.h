#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace gantree {

// An index into one table. The tag stops a DomainId being used as a NodeId.
template <class Tag>
struct Id {
  std::uint32_t value = 0;

  [[nodiscard]] std::size_t index() const { return value; }
  friend auto operator<=>(Id, Id) = default;
};

template <class Tag>
[[nodiscard]] Id<Tag> make_id(std::size_t index) {
  return Id<Tag>{static_cast<std::uint32_t>(index)};
}

}  // namespace gantree

template <class Tag>
struct std::hash<gantree::Id<Tag>> {
  std::size_t operator()(gantree::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};

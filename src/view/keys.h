// What a terminal sends when keys are pressed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gantree::view {

enum class Key : std::uint8_t { kQuit, kUp, kDown, kPageUp, kPageDown, kTop, kBottom, kOther };

// Takes bytes as they come, many keys at once or a part of one. Arrows and the like are told in both cursor modes.
class KeyReader {
 public:
  // The keys that these bytes complete, in order. What may be the beginning of one is kept.
  [[nodiscard]] std::vector<Key> take(std::string_view bytes);
  // Nothing has come for a while: an escape that nothing followed was the key itself.
  [[nodiscard]] std::vector<Key> settle();

 private:
  std::string begun_;
};

}  // namespace gantree::view

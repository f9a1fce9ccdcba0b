// Made-up addresses of pods, each given once: 10.128.0.0/10.
//
// One thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gantree::controllers {

class Addresses {
 public:
  // One that nobody has; the same for the same uid until it is released.
  [[nodiscard]] std::string take(std::string_view uid);
  // Somebody has it, as its status says. What is none of ours is passed over.
  void note(std::string_view address, std::string_view uid);
  void release(std::string_view address, std::string_view uid);

 private:
  std::unordered_map<std::uint32_t, std::size_t> taken_;  // by whom, as a hash of the uid
};

}  // namespace gantree::controllers

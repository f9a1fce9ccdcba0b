// Keeps the question to which the engine found an illegal placement, so that it can be asked again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "engine/engine.h"

namespace gantree {

// One file a gang, in one folder, and no more than a few: a bug that comes up with every decision fills no disk. What
// is there already is not written to, whoever made it.
// One thread owns it.
class BrokenAnswers {
 public:
  static constexpr std::size_t kMostFiles = 8;

  // Without a folder, that for temporary files.
  explicit BrokenAnswers(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  // Where the input is now, or in parentheses why it is nowhere.
  [[nodiscard]] std::string keep(const BrokenAnswer& broken);

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> kept_;  // files by gang
};

}  // namespace gantree

#include "service/broken_answer.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "base/digest.h"

namespace gantree {

std::string BrokenAnswers::keep(const BrokenAnswer& broken) {
  const std::string name = fmt::format("gantree-broken-answer-{}.txt", sha256_hex(broken.gang).substr(0, 16));
  if (!kept_.contains(name) && kept_.size() >= kMostFiles) {
    return fmt::format("(not kept: there are {} already)", kept_.size());
  }
  std::error_code error;
  const std::filesystem::path folder = folder_.empty() ? std::filesystem::temp_directory_path(error) : folder_;
  if (error) {
    return fmt::format("(not kept: no folder for temporary files: {})", error.message());
  }
  const std::filesystem::path path = folder / name;
  std::ofstream file(path, std::ios::trunc);
  file << "# " << broken.gang << ": " << broken.fault << "\n" << broken.input;
  file.close();
  if (!file) {
    return fmt::format("(not kept: {} cannot be written)", path.string());
  }
  kept_.insert(name);
  return path.string();
}

}  // namespace gantree

#include "service/broken_answer.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/digest.h"

namespace gantree {

std::string BrokenAnswers::keep(const BrokenAnswer& broken) {
  if (const auto known = kept_.find(broken.gang); known != kept_.end()) {
    return known->second;
  }
  if (broken.input.empty() || kept_.size() >= kMostFiles) {
    return fmt::format("(not kept: there are {} already)", kept_.size());
  }
  const std::string digest = sha256_hex(broken.gang + "\n" + broken.input);
  const std::string name = fmt::format("gantree-broken-answer-{}.txt", digest.substr(0, 16));
  std::error_code error;
  const std::filesystem::path folder = folder_.empty() ? std::filesystem::temp_directory_path(error) : folder_;
  if (error) {
    return fmt::format("(not kept: no folder for temporary files: {})", error.message());
  }
  const std::filesystem::path path = folder / name;
  const std::string text = fmt::format("# {}: {}\n{}", broken.gang, broken.fault, broken.input);
  std::FILE* file = std::fopen(path.c_str(), "wxe");
  const bool there = file == nullptr && errno == EEXIST;
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!there && !(written && closed)) {
    return fmt::format("(not kept: {} cannot be written)", path.string());
  }
  return kept_[broken.gang] = path.string();
}

}  // namespace gantree

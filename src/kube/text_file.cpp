#include "kube/text_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace gantree::kube {
namespace {

constexpr std::size_t kMaxFile = std::size_t{10} << 20;

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(Errc::kIo, fmt::format("{}: {}", path, errno != 0 ? std::strerror(errno) : "cannot be opened"));
  }
  std::string bytes;
  std::array<char, 16'384> chunk{};
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > kMaxFile) {
      return fail(Errc::kLimit, fmt::format("{}: is larger than {} bytes", path, kMaxFile));
    }
  }
  if (file.bad()) {
    return fail(Errc::kIo, fmt::format("{}: cannot be read", path));
  }
  return bytes;
}

bool file_exists(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace gantree::kube

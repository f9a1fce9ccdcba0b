#include "input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "json/read.h"

namespace gantree {

namespace {

constexpr std::size_t kMostBytes = std::size_t{2} << 30;
constexpr char kStandardInput[] = "-";

tl::unexpected<Error> cannot_read(const std::string& path, int error) {
  return fail(Errc::kIo, fmt::format("gantree: cannot read \"{}\": {}", path, std::strerror(error)));
}

class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(path == kStandardInput ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ > STDIN_FILENO) {
      ::close(descriptor_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

Result<std::string> read_bytes(const std::string& path) {
  const File file(path);
  struct stat status{};
  if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0) {
    return cannot_read(path, errno);
  }
  // One byte more than the size tells the end without growing; pipes say 0.
  std::string bytes(static_cast<std::size_t>(std::max<off_t>(status.st_size, 0xffff)) + 1, '\0');
  std::size_t size = 0;
  while (true) {
    const ssize_t got = ::read(file.descriptor(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return cannot_read(path, errno);
    }
    if (got == 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
    if (size > kMostBytes) {
      return fail(Errc::kLimit, fmt::format("gantree: \"{}\" is larger than {} MiB", path, kMostBytes >> 20));
    }
    if (size == bytes.size()) {
      bytes.resize(2 * size);
    }
  }
  bytes.resize(size);
  return bytes;
}

// The manifests below a folder. Links to folders are not followed, so there are no circles.
Result<std::vector<std::string>> manifests_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    const std::filesystem::path extension = entry->path().extension();
    const bool manifest = extension == ".yaml" || extension == ".yml" || extension == ".json";
    std::error_code ignored;  // a dangling link is no manifest
    if (manifest && entry->is_regular_file(ignored)) {
      paths.push_back(entry->path().string());
    }
  }
  if (error) {
    return cannot_read(folder, error.value());
  }
  if (paths.empty()) {
    return fail(Errc::kNotFound, fmt::format("gantree: \"{}\" has no .yaml, .yml or .json file in it", folder));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (path != kStandardInput && std::filesystem::is_directory(path, error)) {
    return manifests_in(path);
  }
  return std::vector<std::string>{path};
}

}  // namespace

Result<std::vector<json::Document>> read_inputs(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), kStandardInput) > 1) {
    return invalid("gantree: standard input (\"-\") can be read only once");
  }
  std::vector<json::Document> all;
  for (const std::string& path : paths) {
    const auto files = files_of(path);
    if (!files) {
      return tl::unexpected(files.error());
    }
    for (const std::string& file : *files) {
      auto bytes = read_bytes(file);
      if (!bytes) {
        return tl::unexpected(bytes.error());
      }
      auto documents = json::read_documents(file == kStandardInput ? "stdin" : file, std::move(*bytes));
      if (!documents) {
        return tl::unexpected(documents.error());
      }
      all.insert(all.end(), std::make_move_iterator(documents->begin()), std::make_move_iterator(documents->end()));
    }
  }
  return all;
}

}  // namespace gantree

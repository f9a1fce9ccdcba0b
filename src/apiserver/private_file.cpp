#include "apiserver/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gantree::apiserver {

namespace {

Result<> open_and_close(const std::string& file, int flags) {
  const int opened = ::open(file.c_str(), O_RDWR | O_CLOEXEC | flags, S_IRUSR | S_IWUSR);
  if (opened < 0 && errno == ENOENT && flags == 0) {
    return {};
  }
  if (opened < 0) {
    return fail(Errc::kIo, fmt::format("{}: cannot be opened: {}", file, std::strerror(errno)));
  }
  // Of one that others could read so far, and of one made under an umask that takes too much.
  const bool done = ::fchmod(opened, S_IRUSR | S_IWUSR) == 0;
  const int why = errno;
  ::close(opened);
  return done ? Result<>()
              : fail(Errc::kIo, fmt::format("{}: cannot be kept from other users: {}", file, std::strerror(why)));
}

}  // namespace

Result<> make_private(const std::string& file) {
  return open_and_close(file, O_CREAT);
}

Result<> keep_private(const std::string& file) {
  return open_and_close(file, 0);
}

}  // namespace gantree::apiserver

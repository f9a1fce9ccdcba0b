#include "output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gantree {

bool write_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0 && errno == EPIPE) {
      return true;
    }
    if (written < 0) {
      tell(fmt::format("cannot write the output: {}", std::strerror(errno)));
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void tell(std::string_view message) {
  // Errors of files that could not be read say so themselves, as they are printed beside those that name a line.
  constexpr std::string_view kWho = "gantree: ";
  fmt::print(stderr, "{}{}\n", message.starts_with(kWho) ? "" : kWho, message);
}

}  // namespace gantree

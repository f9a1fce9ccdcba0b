// Runs a command and takes what it prints.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gantree::kube {

struct Command {
  std::string program;  // with a slash a path, else looked for on the PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // besides our own
  std::chrono::milliseconds timeout{60'000};
  int stop_fd = -1;  // the command is ended when this becomes readable
};

// What the command printed to its standard output, at most 1 MiB, once it has ended with 0. Its errors go to ours; it
// has no input. Fails with one sentence that names the program.
[[nodiscard]] Result<std::string> run(const Command& command);

}  // namespace gantree::kube

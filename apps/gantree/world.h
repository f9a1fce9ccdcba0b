// A cluster as some manifests describe it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "dialects/dialects.h"

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace gantree {

// What every command that reads manifests is told.
struct Sources {
  std::vector<std::string> files;
  std::vector<std::string> levels;
};

// Adds -f and --levels to a command.
void add_source_options(CLI::App& command, Sources& sources);

struct World {
  Cluster cluster;
  Quota quota;
  Reading reading;
};

// Fails with one sentence, which names the file where one is to blame.
[[nodiscard]] Result<> read_world(const Sources& sources, World& world);

}  // namespace gantree

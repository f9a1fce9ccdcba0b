#include "world.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "input.h"

namespace gantree {

void add_source_options(CLI::App& command, Sources& sources) {
  command.add_option("-f,--file", sources.files, "A file, a folder, or - for standard input; may be given often")
      ->required()
      ->allow_extra_args(false)
      ->type_name("PATH");
  command
      .add_option("--levels", sources.levels,
                  "Node labels, coarse to fine, as the topology of jobs to which no Topology object applies")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LABEL,LABEL,...");
}

Result<> read_world(const Sources& sources, World& world) {
  // The documents are large; what is needed of them is taken in.
  const auto documents = read_inputs(sources.files);
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  auto taken = take_in(*documents, sources.levels, world.cluster, world.quota);
  if (!taken) {
    return tl::unexpected(taken.error());
  }
  world.reading = std::move(*taken);
  return {};
}

}  // namespace gantree

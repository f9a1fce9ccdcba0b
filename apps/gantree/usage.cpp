#include "usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "base/edit_distance.h"

namespace gantree {

namespace {

const CLI::App& chosen_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
  }
  return *command;
}

// The option that is nearest to what was written; "" where none is near.
std::string nearest_option(const CLI::App& command, std::string_view written) {
  const std::string_view name = written.substr(written.find_first_not_of('-'));
  std::string nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) {
      const std::size_t distance = edit_distance(name, known);
      if (distance < least && is_near(distance, name.size())) {
        least = distance;
        nearest = "--" + known;
      }
    }
  }
  return nearest;
}

}  // namespace

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen_command(app);
  const std::vector<std::string> unknown = command.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || unknown.empty()) {
    return error.what();
  }
  const auto is_option = [](const std::string& word) { return word.find_first_not_of('-') != 0 && word.size() > 2; };
  const auto option = std::find_if(unknown.begin(), unknown.end(), is_option);
  if (option == unknown.end()) {
    return fmt::format("\"{}\" is not expected here", unknown.front());
  }
  const std::string written = option->substr(0, option->find('='));
  const std::string nearest = nearest_option(command, written);
  return fmt::format("there is no option {}{}", written,
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

}  // namespace gantree

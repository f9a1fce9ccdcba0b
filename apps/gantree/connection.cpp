#include "connection.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

#include "base/duration.h"

namespace gantree {

namespace {

// Whole milliseconds, more than 0.
std::optional<std::chrono::milliseconds> read_duration(std::string_view text) {
  const auto duration = parse_duration(text);
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(duration.value_or(std::chrono::nanoseconds(0)));
  return whole.count() > 0 ? std::optional(whole) : std::nullopt;
}

std::string in_words(std::chrono::milliseconds value) {
  return value.count() % 1000 == 0 ? fmt::format("{}s", value.count() / 1000) : fmt::format("{}ms", value.count());
}

}  // namespace

void add_connection_options(CLI::App& command, kube::ConfigRequest& config) {
  command
      .add_option("--kubeconfig", config.kubeconfig,
                  "The kubeconfig file; else $KUBECONFIG, ~/.kube/config, or the pod's service account")
      ->type_name("FILE");
  command.add_option("--context", config.context, "The context of the kubeconfig; else its current one")
      ->type_name("NAME");
}

CLI::Option* add_duration(CLI::App& command, const std::string& name, std::chrono::milliseconds& value,
                          const std::string& description) {
  const CLI::callback_t take = [&value, name](const CLI::results_t& texts) {
    const auto parsed = read_duration(texts.front());
    if (!parsed) {
      throw CLI::ValidationError(name, fmt::format("\"{}\" is no length of time such as 10s or 500ms", texts.front()));
    }
    value = *parsed;
    return true;
  };
  return command.add_option(name, take, description)->type_name("TIME")->type_size(1)->default_str(in_words(value));
}

}  // namespace gantree

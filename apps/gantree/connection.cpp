#include "connection.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

#include "base/whole_number.h"

namespace gantree {

namespace {

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view suffix;
    std::int64_t milliseconds;
  };
  // "ms" before "s" and "m".
  constexpr Unit kUnits[] = {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}};
  for (const Unit& unit : kUnits) {
    if (text.ends_with(unit.suffix)) {
      text.remove_suffix(unit.suffix.size());
      const auto number = whole_number<std::int64_t>(text, 1);
      if (!number || *number > 1'000'000) {
        return std::nullopt;
      }
      return std::chrono::milliseconds(*number * unit.milliseconds);
    }
  }
  return std::nullopt;
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

void add_duration(CLI::App& command, const std::string& name, std::chrono::milliseconds& value,
                  const std::string& description) {
  command
      .add_option_function<std::string>(
          name,
          [&value, name](const std::string& text) {
            const auto parsed = parse_duration(text);
            if (!parsed) {
              throw CLI::ValidationError(name, fmt::format("\"{}\" is no length of time such as 10s or 500ms", text));
            }
            value = *parsed;
          },
          description)
      ->type_name("TIME")
      ->default_str(in_words(value));
}

}  // namespace gantree

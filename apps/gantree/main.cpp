// gantree: a topology-aware gang scheduler.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include "commands.h"
#include "output.h"
#include "usage.h"

namespace {

// As users call it: kubectl runs kubectl-gantree for `kubectl gantree`.
std::string called_as(const char* path) {
  const std::string_view whole = path == nullptr ? "" : path;
  const std::size_t slash = whole.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? whole : whole.substr(slash + 1);
  return name == "kubectl-gantree" || name == "kubectl_gantree" ? "kubectl gantree" : "gantree";
}

bool has_command(CLI::App& app, std::string_view name) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) {
      return true;
    }
  }
  return false;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  gantree::tell(gantree::usage_message(app, error));
  fmt::print(stderr, "Try: {} {}--help\n", app.get_name(), chosen.empty() ? "" : chosen.front()->get_name() + " ");
  return gantree::kBadInput;
}

// The help of a command, or of all where none is named.
int print_help(CLI::App& app, const std::string& topic, const CLI::App* asking) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == topic && command != asking) {
      return gantree::write_output(command->help(app.get_name())) ? gantree::kDone : gantree::kBadInput;
    }
  }
  if (!topic.empty()) {
    gantree::tell(fmt::format("there is no command \"{}\"", topic));
    return gantree::kBadInput;
  }
  // Asked for by its own formatter: App::help would print that of the command chosen, which is `help`.
  const std::string text = app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
  return gantree::write_output(text) ? gantree::kDone : gantree::kBadInput;
}

int run_command(int argc, char** argv) {
  CLI::App app("A topology-aware gang scheduler for Kubernetes", called_as(argc > 0 ? argv[0] : nullptr));
  app.set_version_flag("--version", "gantree " GANTREE_VERSION, "Print the version");
  app.require_subcommand(1);
  std::function<int()> run;
  gantree::add_plan(app, run);
  gantree::add_tree(app, run);
  gantree::add_explain(app, run);
  gantree::add_get(app, run);
  gantree::add_top(app, run);
  gantree::add_node(app, run);
  gantree::add_apply(app, run);
  gantree::add_install(app, run);
  gantree::add_uninstall(app, run);
  gantree::add_doctor(app, run);
  gantree::add_run(app, run);
  gantree::add_up(app, run);
  app.add_subcommand("version", "Print the version")->callback([&run] {
    run = [] { return gantree::write_output("gantree " GANTREE_VERSION "\n") ? gantree::kDone : gantree::kBadInput; };
  });
  std::string topic;
  CLI::App* help = app.add_subcommand("help", "Print this help, or that of a command");
  help->add_option("COMMAND", topic, "Which command");
  help->callback([&] { run = [&] { return print_help(app, topic, help); }; });
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (!first.empty() && !first.starts_with('-') && !has_command(app, first)) {
    // Before CLI11 looks: it would answer --help with the help of the whole.
    gantree::tell(fmt::format("there is no command \"{}\"", first));
    fmt::print(stderr, "Try: {} --help\n", app.get_name());
    return gantree::kBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version come as errors of code 0.
    return error.get_exit_code() == 0 ? app.exit(error) : usage_error(app, error);
  }
  return run();
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away (| head) is noticed when writing fails.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_command(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gantree: %s\n", error.what());
    return gantree::kBadInput;
  }
}

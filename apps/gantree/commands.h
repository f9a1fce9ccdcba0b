// The subcommands. Each adds itself to the command line and sets `run` when it
// is chosen; `run` returns the exit code.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace gantree {

// What every command promises.
enum ExitCode : int {
  kDone = 0,      // everything that asked is placed
  kBadInput = 1,  // bad input or usage; one line on stderr says what
  kNotAll = 2,    // something waits or is rejected
};

void add_plan(CLI::App& app, std::function<int()>& run);
void add_tree(CLI::App& app, std::function<int()>& run);
void add_explain(CLI::App& app, std::function<int()>& run);
void add_install(CLI::App& app, std::function<int()>& run);
void add_uninstall(CLI::App& app, std::function<int()>& run);
void add_doctor(CLI::App& app, std::function<int()>& run);
void add_get(CLI::App& app, std::function<int()>& run);
void add_top(CLI::App& app, std::function<int()>& run);
void add_apply(CLI::App& app, std::function<int()>& run);
void add_node(CLI::App& app, std::function<int()>& run);
void add_run(CLI::App& app, std::function<int()>& run);
void add_up(CLI::App& app, std::function<int()>& run);

}  // namespace gantree

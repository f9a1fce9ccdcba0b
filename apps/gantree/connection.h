// Flags that several commands share: which cluster, and lengths of time.
#pragma once

#include <chrono>
#include <string>

#include "kube/config.h"

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
class Option;
}  // namespace CLI

namespace gantree {

// --kubeconfig and --context. `config` must outlive the parsing.
void add_connection_options(CLI::App& command, kube::ConfigRequest& config);

// A length of time such as 500ms, 10s or 1m; more than 0. `value` is the default.
CLI::Option* add_duration(CLI::App& command, const std::string& name, std::chrono::milliseconds& value,
                          const std::string& description);

}  // namespace gantree

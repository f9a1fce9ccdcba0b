#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
class ParseError;
}  // namespace CLI

namespace gantree {

// What is wrong with a command line, in a sentence: of what is not known the first option, with the nearest one that
// is.
[[nodiscard]] std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace gantree

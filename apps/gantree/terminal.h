#pragma once

#include <memory>
#include <string>

#include "view/terminal_text.h"

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace gantree {

// Adds --color to a command; the value is auto, always or never.
[[nodiscard]] std::shared_ptr<std::string> add_color_option(CLI::App& command);

// How text on standard output looks: as wide as the terminal ($COLUMNS, or 100
// columns, where it is none), colours on a terminal unless $NO_COLOR is set,
// and beyond ASCII only where the locale is UTF-8.
[[nodiscard]] view::TextOptions text_options(const std::string& color);

}  // namespace gantree

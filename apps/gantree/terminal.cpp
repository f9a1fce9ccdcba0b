#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace gantree {

namespace {

constexpr int kDefaultWidth = 100;
constexpr int kLeastWidth = 40;
constexpr int kMostWidth = 240;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

int output_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const std::string_view columns = environment("COLUMNS");
  int width = 0;
  const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  const bool number = error == std::errc() && end == columns.data() + columns.size() && width > 0;
  return number ? width : kDefaultWidth;
}

bool wants_color(const std::string& color) {
  if (color != "auto") {
    return color == "always";
  }
  return ::isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

bool locale_is_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) {
      locale = environment(name);
    }
  }
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

}  // namespace

std::shared_ptr<std::string> add_color_option(CLI::App& command) {
  auto color = std::make_shared<std::string>("auto");
  command.add_option("--color", *color, "Colours in text: auto (on a terminal), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  return color;
}

view::TextOptions text_options(const std::string& color) {
  view::TextOptions options;
  options.width = std::clamp(output_width(), kLeastWidth, kMostWidth);
  options.color = wants_color(color);
  options.unicode = locale_is_utf8();
  return options;
}

}  // namespace gantree

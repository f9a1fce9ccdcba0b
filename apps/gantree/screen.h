// The terminal as a screen to draw on, and its keys.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace gantree {

enum class Key : unsigned char { kNone, kQuit, kUp, kDown, kPageUp, kPageDown, kTop, kBottom, kOther };

// Takes the terminal over (its other screen, keys one by one, no cursor) and gives it back, also on SIGINT and SIGTERM,
// which read as kQuit. At most one at a time.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Is standard output a terminal, and input too?
  [[nodiscard]] static bool possible();
  [[nodiscard]] static int height();

  // Shows as many lines as there is room for, from one on, and below them the footer. Gives how many lines there are.
  int draw(std::string_view text, int first, std::string_view footer) const;
  [[nodiscard]] Key wait(std::chrono::milliseconds patience) const;

 private:
  struct Saved;
  Saved* saved_;
};

}  // namespace gantree

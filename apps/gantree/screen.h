// The terminal as a screen to draw on, and its keys.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "view/keys.h"

namespace gantree {

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

  // Shows as many lines as there is room for, from one on, and below them the footer. Writes those
  // that are other than they were; all of them where the terminal has another size by now.
  void draw(std::string_view text, int first, std::string_view footer);
  // The keys that were pressed, in order; none where the time is over first.
  [[nodiscard]] std::vector<view::Key> wait(std::chrono::milliseconds patience);

 private:
  struct Saved;
  Saved* saved_;
  view::KeyReader keys_;
  std::vector<std::string> shown_;
  int shown_width_ = 0;
};

}  // namespace gantree

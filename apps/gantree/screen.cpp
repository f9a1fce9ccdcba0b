#include "screen.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "output.h"

namespace gantree {

namespace {

constexpr int kDefaultHeight = 40;

volatile std::sig_atomic_t interrupted = 0;

void note_signal(int) {
  interrupted = 1;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

int width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

struct Screen::Saved {
  termios terminal{};
  struct sigaction on_interrupt{};
  struct sigaction on_terminate{};
};

bool Screen::possible() {
  return ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDIN_FILENO) == 1;
}

int Screen::height() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : kDefaultHeight;
}

Screen::Screen() : saved_(new Saved) {
  interrupted = 0;
  ::tcgetattr(STDIN_FILENO, &saved_->terminal);
  termios raw = saved_->terminal;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  struct sigaction action{};
  action.sa_handler = note_signal;
  ::sigaction(SIGINT, &action, &saved_->on_interrupt);
  ::sigaction(SIGTERM, &action, &saved_->on_terminate);
  static_cast<void>(write_output("\x1b[?1049h\x1b[?25l"));
}

Screen::~Screen() {
  static_cast<void>(write_output("\x1b[?25h\x1b[?1049l"));
  ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_->terminal);
  ::sigaction(SIGINT, &saved_->on_interrupt, nullptr);
  ::sigaction(SIGTERM, &saved_->on_terminate, nullptr);
  delete saved_;
}

void Screen::draw(std::string_view text, int first, std::string_view footer) {
  const std::vector<std::string_view> lines = lines_of(text);
  const auto room = static_cast<std::size_t>(std::max(height() - 1, 1));
  std::vector<std::string> rows(room);
  for (std::size_t row = 0; row < room && static_cast<std::size_t>(first) + row < lines.size(); ++row) {
    rows[row] = lines[static_cast<std::size_t>(first) + row];
  }
  rows.emplace_back(footer);
  const int now_width = width();
  if (shown_.size() != rows.size() || shown_width_ != now_width) {
    shown_.clear();
  }
  std::string frame;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row >= shown_.size() || shown_[row] != rows[row]) {
      frame += fmt::format("\x1b[{};1H\x1b[2K{}\x1b[0m", row + 1, rows[row]);
    }
  }
  shown_ = std::move(rows);
  shown_width_ = now_width;
  if (!frame.empty()) {
    static_cast<void>(write_output(frame));
  }
}

std::vector<view::Key> Screen::wait(std::chrono::milliseconds patience) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const int ready = interrupted != 0 ? 0 : ::poll(&input, 1, static_cast<int>(patience.count()));
  if (interrupted != 0) {
    return {view::Key::kQuit};
  }
  if (ready <= 0) {
    return keys_.settle();
  }
  char bytes[256];
  const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
  // A terminal that has gone away has nothing more to say.
  return got <= 0 ? std::vector{view::Key::kQuit} : keys_.take(std::string_view(bytes, static_cast<std::size_t>(got)));
}

}  // namespace gantree

#include "screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

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

Key key_of(std::string_view bytes) {
  if (bytes == "q" || bytes == "Q" || bytes == "\x03" || bytes == "\x1b") {
    return Key::kQuit;
  }
  if (bytes == "k" || bytes == "\x1b[A") {
    return Key::kUp;
  }
  if (bytes == "j" || bytes == "\x1b[B") {
    return Key::kDown;
  }
  if (bytes == "b" || bytes == "\x1b[5~") {
    return Key::kPageUp;
  }
  if (bytes == " " || bytes == "\x1b[6~") {
    return Key::kPageDown;
  }
  if (bytes == "G" || bytes == "\x1b[F") {
    return Key::kBottom;
  }
  return bytes == "g" || bytes == "\x1b[H" ? Key::kTop : Key::kOther;
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

int Screen::draw(std::string_view text, int first, std::string_view footer) const {
  const std::vector<std::string_view> lines = lines_of(text);
  const int room = std::max(height() - 1, 1);
  std::string frame = "\x1b[H";
  for (int row = 0; row < room; ++row) {
    const auto at = static_cast<std::size_t>(first + row);
    frame += at < lines.size() ? lines[at] : std::string_view();
    frame += "\x1b[0m\x1b[K\r\n";
  }
  frame += std::string(footer) + "\x1b[K";
  static_cast<void>(write_output(frame));
  return static_cast<int>(lines.size());
}

Key Screen::wait(std::chrono::milliseconds patience) const {
  if (interrupted != 0) {
    return Key::kQuit;
  }
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&input, 1, static_cast<int>(patience.count()));
  if (interrupted != 0) {
    return Key::kQuit;
  }
  if (ready <= 0) {
    return Key::kNone;
  }
  char bytes[8];
  const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
  // A terminal that has gone away has nothing more to say.
  return got <= 0 ? Key::kQuit : key_of(std::string_view(bytes, static_cast<std::size_t>(got)));
}

}  // namespace gantree

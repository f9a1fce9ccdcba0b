#include "kube/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

extern char** environ;

namespace gantree::kube {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{1} << 20;

// Our own environment, with what the command asks for in place of what has the same name.
std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced =
        std::ranges::any_of(command.environment, [&](const auto& entry) { return entry.first == name; });
    if (!replaced) {
      variables.emplace_back(text);
    }
  }
  for (const auto& [name, value] : command.environment) {
    variables.push_back(name + "=" + value);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) {
    result.push_back(word.data());
  }
  result.push_back(nullptr);
  return result;
}

// Starts the command with its output in `output`; an errno on failure.
int spawn(const Command& command, int output, pid_t& pid) {
  std::vector<std::string> words = {command.program};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> variables = environment_of(command);
  std::vector<char*> argv = pointers(words);
  std::vector<char*> envp = pointers(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own, so that what it starts ends with it; and no signals blocked, whatever our thread does.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawnp(&pid, command.program.c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

enum class End : std::uint8_t { kClosed, kTimeout, kTooLong, kStopped };

End collect(const Command& command, int input, std::string& output) {
  const auto end = std::chrono::steady_clock::now() + command.timeout;
  std::array<char, 4096> chunk{};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      return End::kTimeout;
    }
    std::array<pollfd, 2> wanted = {
        {{.fd = input, .events = POLLIN, .revents = 0}, {.fd = command.stop_fd, .events = POLLIN, .revents = 0}}};
    if (poll(wanted.data(), wanted.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000))) <= 0) {
      continue;  // interrupted, or nothing yet
    }
    if (wanted[1].revents != 0) {
      return End::kStopped;
    }
    const ssize_t count = read(input, chunk.data(), chunk.size());
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return End::kClosed;
    }
    if (count > 0) {
      output.append(chunk.data(), static_cast<std::size_t>(count));
    }
    if (output.size() > kMaxOutput) {
      return End::kTooLong;
    }
  }
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<std::string> run(const Command& command) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    return fail(Errc::kIo, fmt::format("{}: {}", command.program, std::strerror(errno)));
  }
  pid_t pid = -1;
  const int error = spawn(command, pipe_ends[1], pid);
  close(pipe_ends[1]);
  if (error != 0) {
    close(pipe_ends[0]);
    return fail(Errc::kIo, fmt::format("{}: {}", command.program, std::strerror(error)));
  }
  std::string output;
  const End end = collect(command, pipe_ends[0], output);
  close(pipe_ends[0]);
  if (end != End::kClosed) {
    kill(-pid, SIGKILL);
  }
  const int status = wait_for(pid);
  switch (end) {
    case End::kTimeout:
      return fail(Errc::kIo, fmt::format("{}: did not end within {} ms", command.program, command.timeout.count()));
    case End::kTooLong:
      return fail(Errc::kLimit, fmt::format("{}: printed more than {} bytes", command.program, kMaxOutput));
    case End::kStopped:
      return fail(Errc::kIo, fmt::format("{}: was stopped", command.program));
    case End::kClosed:
      break;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return output;
  }
  return fail(Errc::kIo, WIFEXITED(status)
                             ? fmt::format("{}: ended with {}", command.program, WEXITSTATUS(status))
                             : fmt::format("{}: was ended by signal {}", command.program, WTERMSIG(status)));
}

}  // namespace gantree::kube

#include "kube/exec_credentials.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "kube/exec_credential.h"
#include "kube/process.h"
#include "kube/random.h"
#include "kube/retry.h"

namespace gantree::kube {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kEarly{30};          // before the end that the plugin gave
constexpr std::chrono::milliseconds kSpacing{500};  // between two runs, however often the server refuses
constexpr Milliseconds kFirstBackoff{1'000};
constexpr Milliseconds kMaxBackoff{60'000};

// The plugin may take seconds, so it runs on a thread of its own; current() only looks.
class ExecCredentials final : public Credentials {
 public:
  explicit ExecCredentials(const Config& config) : config_(config), stop_fd_(eventfd(0, EFD_CLOEXEC)) {}

  ~ExecCredentials() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (stop_fd_ >= 0) {
      eventfd_write(stop_fd_, 1);
    }
    if (thread_.joinable()) {
      thread_.join();
    }
    if (stop_fd_ >= 0) {
      close(stop_fd_);
    }
  }
  ExecCredentials(const ExecCredentials&) = delete;
  ExecCredentials& operator=(const ExecCredentials&) = delete;

  [[nodiscard]] Result<void> start() {
    Result<ExecCredential> first = run_plugin();
    if (!first.has_value()) {
      return tl::unexpected<Error>(first.error());
    }
    take(std::move(first));
    thread_ = std::thread([this] { work(); });
    return {};
  }

  Result<http::Credential> current() override {
    const std::lock_guard lock(mutex_);
    if (expires_.has_value() && std::chrono::system_clock::now() >= *expires_) {
      return fail(Errc::kIo, failure_.empty() ? config_.exec->command + ": what it gave has expired" : failure_);
    }
    return credential_;
  }

  void renew(std::function<void()> done) override {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(done));
    }
    changed_.notify_all();
  }

 private:
  [[nodiscard]] Result<ExecCredential> run_plugin() const {
    const ExecPlugin& plugin = *config_.exec;
    Command command{.program = plugin.command, .arguments = plugin.arguments, .environment = plugin.environment};
    command.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(config_));
    command.stop_fd = stop_fd_;
    Result<std::string> output = run(command);
    if (!output.has_value()) {
      const std::string hint = plugin.install_hint.empty() ? "" : " (" + plugin.install_hint + ")";
      return fail(output.error().code, output.error().message + hint);
    }
    return read_exec_credential(plugin, std::move(*output));
  }

  void take(Result<ExecCredential> result) {
    const std::lock_guard lock(mutex_);
    ran_at_ = steady_clock::now();
    if (!result.has_value()) {
      ++failures_;
      failure_ = result.error().message;
      next_run_ = ran_at_ + backoff(kFirstBackoff, kMaxBackoff, failures_, random_());
      return;
    }
    failures_ = 0;
    failure_.clear();
    credential_ = std::move(result->credential);
    expires_ = result->expires;
    if (!expires_.has_value()) {
      next_run_ = steady_clock::time_point::max();
      return;
    }
    const auto left = *expires_ - std::chrono::system_clock::now();
    // Early, but for a life shorter than that: then after most of it.
    const auto wait = std::max<steady_clock::duration>(left - kEarly, left * 4 / 5);
    next_run_ = ran_at_ + std::max<steady_clock::duration>(wait, kSpacing);
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      const auto due = waiting_.empty() ? next_run_ : ran_at_ + kSpacing;
      if (steady_clock::now() < due) {
        if (due == steady_clock::time_point::max()) {
          changed_.wait(lock);  // a time so far away would overflow
        } else {
          changed_.wait_until(lock, due);
        }
        continue;
      }
      std::vector<std::function<void()>> waiting = std::exchange(waiting_, {});
      lock.unlock();
      take(run_plugin());
      for (const std::function<void()>& done : waiting) {
        done();
      }
      lock.lock();
    }
  }

  const Config config_;
  const int stop_fd_;
  Random random_ = make_random();
  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  bool stopping_ = false;
  http::Credential credential_;
  std::optional<WallTime> expires_;
  std::string failure_;  // of the last run
  int failures_ = 0;     // in a row
  steady_clock::time_point ran_at_;
  steady_clock::time_point next_run_;
  std::vector<std::function<void()>> waiting_;
  std::thread thread_;
};

}  // namespace

Result<std::shared_ptr<Credentials>> make_exec_credentials(const Config& config) {
  auto credentials = std::make_shared<ExecCredentials>(config);
  if (const Result<void> started = credentials->start(); !started.has_value()) {
    return tl::unexpected<Error>(started.error());
  }
  return std::shared_ptr<Credentials>(std::move(credentials));
}

}  // namespace gantree::kube

#include "kube/leader.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace gantree::kube {

class Leader::Run : public std::enable_shared_from_this<Leader::Run> {
 public:
  Run(Client& client, ElectionOptions options, LeaderHandlers handlers)
      : client_(client),
        transport_(client.transport()),
        key_{options.name_space, options.name},
        election_(std::move(options)),
        handlers_(std::move(handlers)) {}

  void step();
  void stop() {
    stopped_ = true;
    transport_.cancel(timer_);
  }
  void resign(Instant until);
  void step_aside(std::chrono::milliseconds pause) {
    if (!stopped_ && !election_.resigned()) {
      resign(transport_.now() + pause);
    }
  }

  // Any thread.
  [[nodiscard]] bool leading() const { return transport_.now().time_since_epoch().count() < leads_until_; }
  [[nodiscard]] std::string holder() const {
    const std::lock_guard lock(mutex_);
    return holder_;
  }
  void wait_for_release(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    released_.wait_for(lock, patience, [this] { return is_released_; });
  }

 private:
  void request(ElectionStep step);
  void answered(const Reply& reply);
  void publish();
  void release();
  void tell_released();

  Client& client_;
  http::Transport& transport_;
  const ObjectKey key_;
  Election election_;
  const LeaderHandlers handlers_;
  bool led_ = false;  // what the handlers were told last
  bool stopped_ = false;
  bool writing_ = false;  // the request under way
  bool resigning_ = false;
  http::TaskId timer_ = 0;
  std::atomic<Instant::rep> leads_until_{0};
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::string holder_;        // under mutex_
  bool is_released_ = false;  // under mutex_
};

void Leader::Run::step() {
  if (stopped_) {
    return;
  }
  ElectionStep step = election_.tick(transport_.now(), std::chrono::system_clock::now());
  publish();
  transport_.cancel(timer_);
  const auto delay = std::chrono::ceil<http::Milliseconds>(step.wake_at - transport_.now());
  timer_ = transport_.after(std::max(delay, http::Milliseconds(0)), [self = shared_from_this()] { self->step(); });
  if (step.request != ElectionStep::Request::kNone) {
    request(std::move(step));
  }
}

void Leader::Run::request(ElectionStep step) {
  const auto done = [weak = weak_from_this()](const Reply& reply) {
    if (const std::shared_ptr<Run> self = weak.lock(); self != nullptr && !self->stopped_) {
      self->answered(reply);
    }
  };
  writing_ = step.request != ElectionStep::Request::kGet;
  switch (step.request) {
    case ElectionStep::Request::kNone:
      return;
    case ElectionStep::Request::kGet:
      client_.get(leases(), key_, done);
      return;
    case ElectionStep::Request::kCreate:
      client_.create(leases(), key_.name_space, to_json(step.lease), done);
      return;
    case ElectionStep::Request::kUpdate:
      client_.update(leases(), key_, to_json(step.lease), done);
      return;
  }
}

void Leader::Run::answered(const Reply& reply) {
  ElectionReply answer;
  switch (reply.result) {
    case CallResult::kOk:
      if (Result<Lease> lease = read_lease(reply.body); lease.has_value()) {
        answer = {.kind = ElectionReply::Kind::kRecord, .lease = std::move(*lease)};
      }
      break;
    case CallResult::kNotFound:
      answer.kind = ElectionReply::Kind::kMissing;
      break;
    case CallResult::kConflict:
      answer.kind = ElectionReply::Kind::kConflict;
      break;
    default:
      break;
  }
  // That there is no lease yet is no failure; that none can be made is.
  const bool missing = reply.result == CallResult::kNotFound && !writing_;
  if (handlers_.failed && !reply.ok() && reply.result != CallResult::kConflict && !missing) {
    handlers_.failed(reply.message);
  }
  election_.answer(transport_.now(), answer);
  if (resigning_) {
    release();
  }
  step();
}

void Leader::Run::publish() {
  const std::optional<Instant> until = election_.leads_until(transport_.now());
  leads_until_ = until.has_value() ? until->time_since_epoch().count() : 0;
  bool holder_changed = false;
  {
    const std::lock_guard lock(mutex_);
    holder_changed = holder_ != election_.holder();
    holder_ = election_.holder();
  }
  if (holder_changed && handlers_.changed) {
    handlers_.changed(election_.holder());
  }
  if (led_ == until.has_value()) {
    return;
  }
  led_ = until.has_value();
  if (const std::function<void()>& handler = led_ ? handlers_.started : handlers_.stopped) {
    handler();
  }
}

void Leader::Run::resign(Instant until) {
  election_.resign(until);
  {
    const std::lock_guard lock(mutex_);
    is_released_ = false;
  }
  if (std::exchange(resigning_, true)) {
    return;
  }
  publish();
  if (!election_.waiting()) {
    release();
  }
}

void Leader::Run::release() {
  resigning_ = false;
  const std::optional<Lease> lease = election_.release(std::chrono::system_clock::now());
  if (!lease.has_value()) {
    tell_released();
    return;
  }
  client_.update(leases(), key_, to_json(*lease), [weak = weak_from_this()](const Reply&) {
    if (const std::shared_ptr<Run> self = weak.lock()) {
      self->tell_released();  // if it failed, the lease runs out by itself
    }
  });
}

void Leader::Run::tell_released() {
  {
    const std::lock_guard lock(mutex_);
    is_released_ = true;
  }
  released_.notify_all();
}

Leader::Leader(Client& client, ElectionOptions options, LeaderHandlers handlers)
    : transport_(client.transport()), run_(std::make_shared<Run>(client, std::move(options), std::move(handlers))) {
  transport_.post([run = run_] { run->step(); });
}

Leader::~Leader() {
  transport_.run([this] { run_->stop(); });
}

bool Leader::leading() const {
  return run_->leading();
}

std::string Leader::holder() const {
  return run_->holder();
}

void Leader::resign(std::chrono::milliseconds patience) {
  transport_.run([this] { run_->resign(Instant::max()); });
  run_->wait_for_release(patience);
}

void Leader::step_aside(std::chrono::milliseconds pause) {
  transport_.post([run = run_, pause] { run->step_aside(pause); });
}

}  // namespace gantree::kube

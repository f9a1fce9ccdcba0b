// A transport whose answers the test writes and whose clock moves when told to.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "http/transport.h"

namespace gantree::kube {

class FakeTransport final : public http::Transport {
 public:
  struct Sent {
    http::TaskId id = 0;
    http::Request request;
    http::Done done;                // of whole requests
    http::StreamHandlers handlers;  // of streams
    http::Clock::time_point at;
  };

  http::TaskId send(http::Request request, http::Done done) override {
    open_.push_back({++last_, std::move(request), std::move(done), {}, now_});
    return last_;
  }
  http::TaskId stream(http::Request request, http::StreamHandlers handlers) override {
    open_.push_back({++last_, std::move(request), {}, std::move(handlers), now_});
    return last_;
  }
  http::TaskId after(http::Milliseconds delay, std::function<void()> callback) override {
    timers_.emplace(std::pair(now_ + delay, ++last_), std::move(callback));
    return last_;
  }
  void cancel(http::TaskId id) override {
    std::erase_if(open_, [&](const Sent& sent) { return sent.id == id; });
    std::erase_if(timers_, [&](const auto& timer) { return timer.first.second == id; });
  }
  void post(std::function<void()> step) override { after(http::Milliseconds(0), std::move(step)); }
  void run(const std::function<void()>& step) override { step(); }
  [[nodiscard]] http::Clock::time_point now() const override { return now_; }

  // Lets time pass, timer by timer.
  void advance(http::Milliseconds time) {
    const http::Clock::time_point end = now_ + time;
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      auto timer = timers_.extract(timers_.begin());
      now_ = std::max(now_, timer.key().first);
      timer.mapped()();
    }
    now_ = end;
  }
  void settle() { advance(http::Milliseconds(0)); }

  [[nodiscard]] std::size_t open() const { return open_.size(); }
  // The target of the oldest request that is not answered; "" where there is none.
  [[nodiscard]] std::string target() const { return open_.empty() ? "" : open_.front().request.target; }
  [[nodiscard]] std::size_t max_body() const { return open_.front().request.max_body; }
  [[nodiscard]] bool on_fresh_connection() const { return open_.front().request.fresh_connection; }
  [[nodiscard]] http::StreamHandlers& stream() { return open_.front().handlers; }

  void reply(int status, std::string body = {}) {
    http::Outcome outcome;
    outcome.kind = http::Outcome::Kind::kReply;
    outcome.status = status;
    outcome.body = std::move(body);
    end(std::move(outcome));
  }
  // `status`: the reply was cut after its headers.
  void fail(http::Outcome::Kind kind, int status = 0) {
    http::Outcome outcome;
    outcome.kind = kind;
    outcome.status = status;
    outcome.error = "it failed";
    end(std::move(outcome));
  }

 private:
  void end(http::Outcome outcome) {
    Sent sent = std::move(open_.front());
    open_.pop_front();
    if (sent.done) {
      sent.done(std::move(outcome));
      return;
    }
    if (outcome.status != 0 && sent.handlers.on_headers) {
      sent.handlers.on_headers(outcome.status, {});
    }
    sent.handlers.on_end(outcome);
  }

  http::Clock::time_point now_ = http::Clock::time_point{} + std::chrono::hours(1);
  http::TaskId last_ = 0;
  std::deque<Sent> open_;
  std::map<std::pair<http::Clock::time_point, http::TaskId>, std::function<void()>> timers_;
};

}  // namespace gantree::kube

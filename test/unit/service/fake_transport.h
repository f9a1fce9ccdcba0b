// Takes requests, and answers when told to.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "http/transport.h"

namespace gantree {

class FakeTransport final : public http::Transport {
 public:
  http::TaskId send(http::Request request, http::Done done) override {
    sent.push_back(std::move(request));
    answers.push_back(std::move(done));
    if (on_send) {
      on_send(sent.back());
    }
    return ++last_;
  }
  http::TaskId stream(http::Request, http::StreamHandlers) override { return ++last_; }
  http::TaskId after(http::Milliseconds, std::function<void()>) override { return ++last_; }
  void cancel(http::TaskId) override {}
  void post(std::function<void()> step) override { step(); }
  void run(const std::function<void()>& step) override { step(); }
  [[nodiscard]] http::Clock::time_point now() const override { return {}; }

  std::vector<http::Request> sent;
  std::vector<http::Done> answers;
  std::function<void(const http::Request&)> on_send;

 private:
  http::TaskId last_ = 0;
};

}  // namespace gantree

// The network between one replica and the server: late, lossy, and at times silent.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>

#include "http/transport.h"
#include "support/served_api.h"
#include "support/timeline.h"

namespace gantree::test {

// What is wrong with it now.
struct Weather {
  explicit Weather(std::mt19937& drawn) : random(drawn) {}

  std::mt19937& random;
  std::map<std::string, http::Milliseconds> late = {};  // so much later a watch of that kind tells
  bool without_leases = false;                          // what is asked of leases is lost
  int lost = 0;                                         // of a hundred requests
  int unanswered = 0;                                   // of a hundred requests that arrive

  [[nodiscard]] bool chance(int percent) { return std::uniform_int_distribution<int>(0, 99)(random) < percent; }
  [[nodiscard]] http::Milliseconds delay() {
    return http::Milliseconds(std::uniform_int_distribution<int>(1, chance(5) ? 900 : 30)(random));
  }
};

class SimulatedTransport final : public http::Transport {
 public:
  SimulatedTransport(Timeline& timeline, Actor actor, ApiServer& server, Weather& weather)
      : timeline_(timeline), actor_(actor), server_(server), weather_(weather) {}

  http::TaskId send(http::Request request, http::Done done) override;
  http::TaskId stream(http::Request request, http::StreamHandlers handlers) override;
  http::TaskId after(http::Milliseconds delay, std::function<void()> callback) override;
  void cancel(http::TaskId id) override;
  void post(std::function<void()> step) override { after(http::Milliseconds(0), std::move(step)); }
  void run(const std::function<void()>& step) override { step(); }
  [[nodiscard]] http::Clock::time_point now() const override { return timeline_.now(); }

  // Watches of that kind that are open tell nothing more, and nobody learns why.
  void silence(const std::string& kind);

 private:
  struct Task {
    http::TaskId id = 0;
    http::Request request;
    http::Done done;
    http::StreamHandlers handlers;
    std::string kind;  // of a watch
    std::shared_ptr<ServedWatch> served;
    http::Clock::time_point last_byte;  // when something came
    http::Clock::time_point last_sent;  // what comes later was sent later
    bool begun = false;
    bool silent = false;
  };
  using TaskPtr = std::shared_ptr<Task>;

  [[nodiscard]] bool is_lost(const http::Request& request);
  [[nodiscard]] bool is_open(const TaskPtr& task) const { return open_.contains(task->id); }
  void fail(const TaskPtr& task, const char* why);
  void end(const TaskPtr& task, http::Outcome outcome);
  // Something that the server tells a watch reaches us.
  void carry(const TaskPtr& task, std::function<void()> arrives);
  void look_after(const TaskPtr& task);

  Timeline& timeline_;
  const Actor actor_;
  ApiServer& server_;
  Weather& weather_;
  std::map<http::TaskId, TaskPtr> open_;
};

}  // namespace gantree::test

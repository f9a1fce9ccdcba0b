#include "support/simulated_network.h"

#include <algorithm>
#include <utility>

namespace gantree::test {

bool SimulatedTransport::is_lost(const http::Request& request) {
  const bool lease = request.target.find("/leases") != std::string::npos;
  return (lease && weather_.without_leases) || weather_.chance(weather_.lost);
}

void SimulatedTransport::fail(const TaskPtr& task, const char* why) {
  http::Outcome outcome;
  outcome.kind = http::Outcome::Kind::kUnknown;
  outcome.error = why;
  end(task, std::move(outcome));
}

void SimulatedTransport::end(const TaskPtr& task, http::Outcome outcome) {
  if (open_.erase(task->id) == 0) {
    return;
  }
  timeline_.cancel(task->id);
  task->served.reset();
  if (task->done) {
    std::exchange(task->done, {})(std::move(outcome));
  } else {
    std::exchange(task->handlers, {}).on_end(outcome);
  }
}

http::TaskId SimulatedTransport::send(http::Request request, http::Done done) {
  const auto task = std::make_shared<Task>();
  task->done = std::move(done);
  task->id = timeline_.at(now() + request.timeout, actor_, [this, task] { fail(task, "no answer came"); });
  open_.emplace(task->id, task);
  if (is_lost(request)) {
    return task->id;
  }
  const bool unanswered = weather_.chance(weather_.unanswered);
  const auto back = weather_.delay();
  // It arrives also where whoever sent it is dead by then.
  timeline_.at(now() + weather_.delay(), kServer,
               [this, task, unanswered, back, &timeline = timeline_, &server = server_, actor = actor_,
                request = std::move(request)] {
                 http::Outcome outcome = server.handle(request);
                 if (!unanswered && timeline.lives(actor)) {
                   timeline.at(timeline.now() + back, actor,
                               [this, task, outcome = std::move(outcome)] { end(task, outcome); });
                 }
               });
  return task->id;
}

http::TaskId SimulatedTransport::stream(http::Request request, http::StreamHandlers handlers) {
  const auto task = std::make_shared<Task>();
  task->kind = server_.kind_of(request.target);
  task->handlers = std::move(handlers);
  task->last_byte = task->last_sent = now();
  task->request = std::move(request);
  task->id = timeline_.at(now() + std::min(task->request.timeout, task->request.idle_timeout), actor_,
                          [this, task] { look_after(task); });
  open_.emplace(task->id, task);
  if (is_lost(task->request)) {
    return task->id;
  }
  timeline_.at(now() + weather_.delay(), kServer, [this, task, &timeline = timeline_, actor = actor_] {
    if (!timeline.lives(actor) || !is_open(task)) {
      return;
    }
    task->served = std::make_shared<ServedWatch>();
    // The task has the watch, not the other way round.
    const std::weak_ptr<Task> weak = task;
    const auto carry_to = [this, weak](std::function<void(const TaskPtr&)> arrives) {
      if (const TaskPtr mine = weak.lock()) {
        carry(mine, [mine, arrives = std::move(arrives)] { arrives(mine); });
      }
    };
    task->served->begun = [carry_to](int status) {
      carry_to([status](const TaskPtr& mine) {
        mine->begun = true;
        mine->handlers.on_headers(status, {});
      });
    };
    task->served->told = [carry_to](const std::string& line) {
      carry_to([line](const TaskPtr& mine) { mine->handlers.on_bytes(line); });
    };
    task->served->ended = [this, carry_to] {
      carry_to([this](const TaskPtr& mine) {
        http::Outcome outcome;
        outcome.kind = http::Outcome::Kind::kReply;
        outcome.status = 200;
        end(mine, std::move(outcome));
      });
    };
    server_.watch(task->request, task->served);
  });
  return task->id;
}

void SimulatedTransport::carry(const TaskPtr& task, std::function<void()> arrives) {
  const auto late = weather_.late.find(task->kind);
  const auto delay = weather_.delay() + (late == weather_.late.end() ? http::Milliseconds(0) : late->second);
  task->last_sent = std::max(task->last_sent, now() + delay);
  timeline_.at(task->last_sent, actor_, [this, task, arrives = std::move(arrives)] {
    if (is_open(task) && !task->silent) {
      task->last_byte = now();
      arrives();
    }
  });
}

void SimulatedTransport::look_after(const TaskPtr& task) {
  if (!is_open(task)) {
    return;
  }
  const auto patience = task->begun ? task->request.idle_timeout : task->request.timeout;
  if (now() >= task->last_byte + patience) {
    fail(task, "no byte came");
    return;
  }
  timeline_.at(std::min(task->last_byte + patience, now() + task->request.idle_timeout), actor_,
               [this, task] { look_after(task); });
}

http::TaskId SimulatedTransport::after(http::Milliseconds delay, std::function<void()> callback) {
  return timeline_.at(now() + delay, actor_, std::move(callback));
}

void SimulatedTransport::cancel(http::TaskId id) {
  timeline_.cancel(id);
  open_.erase(id);
}

void SimulatedTransport::silence(const std::string& kind) {
  for (const auto& [id, task] : open_) {
    task->silent = task->silent || (task->kind == kind && !task->done);
  }
}

}  // namespace gantree::test

#include "service/loop.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree {

namespace {

using std::chrono::milliseconds;

// While lists are under way nothing tells that the last one is complete.
constexpr milliseconds kSyncPoll{20};
constexpr milliseconds kHeartbeat{5'000};
// How soon an event that had no leave is tried again.
constexpr milliseconds kEventPoll{100};
constexpr milliseconds kLongestRest{500};
// The watches of a server in good health are late by milliseconds.
constexpr milliseconds kHandOver{1'000};

// The time of day when the process started, and what has passed since: somebody may set the clock.
Time wall_clock() {
  static const auto kStart = std::chrono::system_clock::now();
  static const auto kSteadyStart = std::chrono::steady_clock::now();
  return std::chrono::floor<milliseconds>(kStart + (std::chrono::steady_clock::now() - kSteadyStart));
}

template <class... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

}  // namespace

Loop::Loop(LoopSurroundings surroundings, const SchedulerOptions& options, const kueue::ControllerOptions& queues,
           bool leading)
    : surroundings_(std::move(surroundings)),
      scheduler_(options),
      queues_(scheduler_.cluster(), queues),
      dispatcher_(surroundings_.writer, surroundings_.mailbox),
      leading_(leading),
      heartbeat_(Steady::now().time_since_epoch().count()) {
  scheduler_.rely_on(&queues_);
}

milliseconds Loop::silence() const {
  return std::chrono::duration_cast<milliseconds>(Steady::now().time_since_epoch() - Steady::duration(heartbeat_));
}

bool Loop::run(milliseconds patience) {
  std::optional<Steady::time_point> give_up;
  for (;;) {
    Time now = wall_clock();
    std::vector<Letter> letters = surroundings_.mailbox.take(next_wake(now));
    now = wall_clock();
    for (Letter& letter : letters) {
      take(std::move(letter), now);
    }
    heartbeat_ = Steady::now().time_since_epoch().count();
    if (!synced_ && surroundings_.synced()) {
      synced_ = true;
      news_ = true;
      // What was listed last may still be in the mailbox.
      continue;
    }
    if (synced_ && !std::exchange(announced_, true)) {
      surroundings_.log.info("all objects are listed",
                             {{"nodes", std::to_string(scheduler_.cluster().inventory().size())},
                              {"pods", std::to_string(scheduler_.cluster().pods())}});
    }
    const bool due = news_ || (wake_ && *wake_ <= now);
    if (synced_ && leading_ && !stopping_ && due && Steady::now() >= rest_until_) {
      step(now);
    } else if (!leading_) {
      scheduler_.stand_by();
      queues_.stand_by();
    }
    dispatcher_.send(now);
    if (stopping_) {
      if (!give_up) {
        give_up = Steady::now() + patience;
      }
      if (dispatcher_.waiting() + dispatcher_.in_flight() == 0) {
        return true;
      }
      if (Steady::now() >= *give_up) {
        surroundings_.log.warning("stopped before every write was answered",
                                  {{"writes", std::to_string(dispatcher_.waiting() + dispatcher_.in_flight())}});
        return dispatcher_.in_flight() == 0;
      }
    }
  }
}

Loop::Steady::time_point Loop::next_wake(Time now) const {
  const Steady::time_point here = Steady::now();
  if (!synced_ || stopping_) {
    return here + kSyncPoll;
  }
  Steady::time_point until = here + kHeartbeat;
  if (leading_ && news_) {
    until = std::min(until, rest_until_);
  }
  if (leading_ && wake_) {
    until = std::min(until, std::max(here + std::max(milliseconds(0), *wake_ - now), rest_until_));
  }
  if (dispatcher_.waiting() > 0) {
    until = std::min(until, here + kEventPoll);
  }
  return until;
}

void Loop::take(Letter letter, Time now) {
  std::visit(Overload{
                 [&](const ObjectChanged& changed) { take_change(changed.object, now); },
                 [&](const ObjectRemoved& removed) { take_removal(removed, now); },
                 [&](const WriteAnswered& answer) { take_answer(answer, now); },
                 [&](const LeadershipChanged& change) { set_leading(change, now); },
                 [](const Errand& errand) { errand.run(); },
                 [](const Listed&) {},
                 [&](const Stop&) {
                   if (!std::exchange(stopping_, true)) {
                     surroundings_.log.info(
                         "stopping", {{"writes", std::to_string(dispatcher_.waiting() + dispatcher_.in_flight())}});
                     dispatcher_.withdraw_reports();
                   }
                 },
             },
             letter);
}

void Loop::take_change(const LiveObject& object, Time now) {
  news_ = true;
  const auto complain = [&](const Result<>& taken) {
    if (!taken) {
      surroundings_.log.warning("an object is passed over: it is malformed",
                                {{"object", fmt::format("{} {}/{}", object.kind, object.ns, object.name)},
                                 {"what", without_places(taken.error().message)}});
    }
  };
  complain(queues_.changed(object, now));
  if (!kueue::Controller::owns(object.group, object.kind)) {
    const std::uint64_t before = scheduler_.cluster().inventory().position();
    complain(scheduler_.changed(object, now));
    if (object.kind == "Node" && scheduler_.cluster().inventory().position() != before) {
      queues_.node_changed(object.name);
    }
  }
}

void Loop::take_removal(const ObjectRemoved& removed, Time now) {
  news_ = true;
  queues_.removed(removed.group, removed.kind, removed.ns, removed.name, now);
  if (!kueue::Controller::owns(removed.group, removed.kind)) {
    scheduler_.removed(removed.group, removed.kind, removed.ns, removed.name, now);
  }
  if (removed.kind == "Node") {
    queues_.node_changed(removed.name);
  }
}

std::vector<ApiKind> Loop::kinds() const {
  std::vector<ApiKind> kinds = scheduler_.kinds();
  for (ApiKind& kind : kueue::Controller::kinds()) {
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

void Loop::take_answer(const WriteAnswered& answer, Time now) {
  dispatcher_.answered(answer.order);
  metrics_.answered(answer);
  const Answer meaning = answer_of(answer.reply);
  if (meaning != Answer::kDone) {
    news_ = true;
    // Objects come and go while statuses and events are on their way; of bindings one wants to know.
    const auto say = answer.bind ? &Log::warning : &Log::debug;
    (surroundings_.log.*say)(
        answer.bind ? "a binding was not done, or may not have been" : "a write was not done",
        {{"result", std::string(kube::to_string(answer.reply.result))}, {"what", answer.reply.message}});
  }
  scheduler_.answered(answer.order, meaning, answer.reply.message, now);
  news_ = queues_.answered(answer.order, meaning, answer.reply.message, now) || news_;
}

void Loop::set_leading(const LeadershipChanged& change, Time now) {
  leading_ = change.leading;
  news_ = true;
  if (change.leading) {
    if (change.after_another) {
      rest_until_ = Steady::now() + kHandOver;
    }
    return;
  }
  for (const std::uint64_t order : dispatcher_.withdraw()) {
    scheduler_.answered(order, Answer::kWithdrawn, "no longer the leader", now);
    queues_.answered(order, Answer::kWithdrawn, "no longer the leader", now);
  }
  scheduler_.stop_leading(now);
  queues_.stop_leading();
}

void Loop::step(Time now) {
  const Steady::time_point began = Steady::now();
  news_ = false;
  for (const std::string& node : scheduler_.take_freed_nodes(now)) {
    queues_.node_changed(node);
  }
  if (surroundings_.serves_workloads) {
    queues_.serve(surroundings_.serves_workloads());
  }
  // What queues have given away is booked first, so that nobody else gets it.
  Step queues = queues_.step(now);
  Step pods = scheduler_.step(now);
  const auto took = Steady::now() - began;
  rest_until_ = Steady::now() + std::min<Steady::duration>(took, kLongestRest);
  wake_ = queues.wake && pods.wake ? std::min(queues.wake, pods.wake) : queues.wake ? queues.wake : pods.wake;
  queues.figures.add(pods.figures);
  metrics_.stepped(queues.figures, took);
  log_placed(queues.figures, took);
  carry_out(std::move(queues));
  carry_out(std::move(pods));
}

void Loop::carry_out(Step step) {
  for (const std::string& remark : step.remarks) {
    surroundings_.log.warning(remark);
  }
  for (const std::string& news : step.news) {
    surroundings_.log.info(news);
  }
  for (const std::string& detail : step.details) {
    surroundings_.log.debug(detail);
  }
  for (Order& order : step.orders) {
    dispatcher_.add(std::move(order));
  }
}

void Loop::log_placed(const StepFigures& figures, Steady::duration took) {
  if (figures.gangs_placed == 0) {
    return;
  }
  surroundings_.log.info("placed",
                         {{"gangs", std::to_string(figures.gangs_placed)},
                          {"pods", std::to_string(figures.pods_placed)},
                          {"tried", std::to_string(figures.gangs_tried)},
                          {"took", fmt::format("{:.3f}ms", std::chrono::duration<double, std::milli>(took).count())}});
}

std::string Loop::metrics_page(const kube::Counters& reads, const kube::Counters& writes) {
  return metrics_.page({.scheduler = scheduler_,
                        .dispatcher = dispatcher_,
                        .reads = reads,
                        .writes = writes,
                        .queues = queues_.queue_statuses(),
                        .leading = leading_,
                        .synced = synced_});
}

}  // namespace gantree

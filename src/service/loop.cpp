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
// The last write of another that led may be on its way to the server when its lease is free.
constexpr milliseconds kHandOver{1'000};
// While watches are proving that they are fresh nothing tells that the last one is.
constexpr milliseconds kProofPoll{20};
constexpr milliseconds kLongProof{10'000};
// Each time in a row that the lease is given up for it, a proof has twice as long: lists that are slow come to an end.
constexpr int kMostDoublings = 5;

// Labels, taints and resources that pods name, and no node or queue: they are kept for good, and who makes and deletes
// pods names ever new ones. The second are gone through in every cycle.
constexpr std::size_t kMostAskedStrings = 250'000;
constexpr std::size_t kMostAskedResources = 256;

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

Loop::Loop(LoopSurroundings surroundings, const PodOptions& options, const kueue::ControllerOptions& queues,
           bool leading)
    : surroundings_(std::move(surroundings)),
      scheduler_(options, queues),
      dispatcher_(surroundings_.writer, surroundings_.mailbox),
      budget_(surroundings_.namespace_memory),
      leading_(leading) {
  if (!surroundings_.clock.wall) {
    surroundings_.clock.wall = wall_clock;
  }
  heartbeat_ = surroundings_.clock.now().time_since_epoch().count();
  scheduler_.cluster().inventory().strings().limit_asked(kMostAskedStrings);
  scheduler_.cluster().inventory().resources().limit_asked(kMostAskedResources);
  scheduler_.cluster().engine().on_broken_answer([this](const BrokenAnswer& broken) { log_broken(broken); });
}

// The gang waits: an illegal placement is not handed out.
void Loop::log_broken(const BrokenAnswer& broken) {
  surroundings_.log.error("broken invariant: a placement breaks a rule, and is not used",
                          {{"gang", broken.gang}, {"fault", broken.fault}, {"input", broken_answers_.keep(broken)}});
}

milliseconds Loop::silence() const {
  return std::chrono::duration_cast<milliseconds>(surroundings_.clock.now().time_since_epoch() -
                                                  Steady::duration(heartbeat_));
}

bool Loop::run(milliseconds patience) {
  for (;;) {
    if (const auto end = turn(surroundings_.mailbox.take(next_wake()), patience)) {
      return *end;
    }
  }
}

std::optional<bool> Loop::turn(std::vector<Letter> letters, milliseconds patience) {
  const Time now = surroundings_.clock.wall();
  for (Letter& letter : letters) {
    take(std::move(letter), now);
  }
  for (const NamespaceBudget::Aside& aside : budget_.to_read(surroundings_.clock.now())) {
    if (surroundings_.read) {
      surroundings_.read(aside);
    }
  }
  heartbeat_ = surroundings_.clock.now().time_since_epoch().count();
  if (!synced_ && surroundings_.synced()) {
    synced_ = true;
    news_ = true;
    // What was listed last may still be in the mailbox.
    return std::nullopt;
  }
  if (synced_ && !std::exchange(announced_, true)) {
    surroundings_.log.info("all objects are listed",
                           {{"nodes", std::to_string(scheduler_.cluster().inventory().size())},
                            {"pods", std::to_string(scheduler_.cluster().pods())}});
  }
  if (hand_over_ && !stopping_) {
    limit_hand_over();
    if (synced_) {
      follow_hand_over(now);
    }
  }
  const bool decides = leading_ && !hand_over_;
  const bool due = news_ || (wake_ && *wake_ <= now);
  if (synced_ && decides && !stopping_ && due && surroundings_.clock.now() >= rest_until_) {
    step(now);
  } else if (!decides) {
    scheduler_.stand_by();
  }
  dispatcher_.send(now);
  return stopping_ ? drain(patience) : std::nullopt;
}

// Whether the end has come: see run().
std::optional<bool> Loop::drain(milliseconds patience) {
  if (!give_up_) {
    give_up_ = surroundings_.clock.now() + patience;
  }
  if (dispatcher_.waiting() + dispatcher_.in_flight() == 0) {
    return true;
  }
  if (surroundings_.clock.now() >= *give_up_) {
    surroundings_.log.warning("stopped before every write was answered",
                              {{"writes", std::to_string(dispatcher_.waiting() + dispatcher_.in_flight())}});
    return dispatcher_.in_flight() == 0;
  }
  return std::nullopt;
}

void Loop::follow_hand_over(Time now) {
  using State = HandOver::State;
  HandOver& step = *hand_over_;
  const Steady::time_point here = surroundings_.clock.now();
  if (step.state == State::kGaveUp) {
    return;
  }
  if (step.state == State::kReading) {
    const auto took = std::chrono::duration_cast<milliseconds>(here - step.since);
    surroundings_.log.info("every watch is shown to be as fresh as the lease",
                           {{"took", fmt::format("{}ms", took.count())}});
    metrics_.handed_over(took);
    hand_over_.reset();
    given_up_ = 0;
    scheduler_.start_leading(now);
    return;
  }
  if (step.state == State::kAsks) {
    if (surroundings_.prove_fresh) {
      surroundings_.prove_fresh(step.since);
    }
    step.state = State::kProving;
  }
  const std::vector<std::string> stale =
      surroundings_.stale ? surroundings_.stale(step.since) : std::vector<std::string>();
  if (stale.empty()) {
    step.state = State::kReading;  // what was told last may still be in the mailbox
  } else if (here >= step.warn_at) {
    step.warn_at = here + (here - step.since);
    surroundings_.log.warning("nothing is decided yet: watches are not shown to be as fresh as the lease",
                              {{"resources", fmt::format("{}", fmt::join(stale, ", "))}});
  }
}

// Who holds the lease and cannot decide keeps others from deciding.
void Loop::limit_hand_over() {
  using State = HandOver::State;
  HandOver& step = *hand_over_;
  const milliseconds limit = surroundings_.longest_hand_over * (1 << std::min(given_up_, kMostDoublings));
  if (!surroundings_.step_aside || step.state == State::kReading || step.state == State::kGaveUp ||
      surroundings_.clock.now() - step.since < limit) {
    return;
  }
  const std::vector<std::string> stale =
      surroundings_.stale ? surroundings_.stale(step.since) : std::vector<std::string>();
  surroundings_.log.warning(
      "gives the lease up: watches could not be shown to be as fresh as it",
      {{"resources", fmt::format("{}", fmt::join(stale, ", "))}, {"after", fmt::format("{}ms", limit.count())}});
  metrics_.gave_hand_over_up();
  ++given_up_;
  step.state = State::kGaveUp;
  surroundings_.step_aside();
}

Loop::Steady::time_point Loop::next_wake() const {
  const Time now = surroundings_.clock.wall();
  const Steady::time_point here = surroundings_.clock.now();
  if (!synced_ || stopping_) {
    return here + kSyncPoll;
  }
  if (hand_over_) {
    return hand_over_->state == HandOver::State::kReading ? here : here + kProofPoll;
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
                 [&](const ObjectChanged& changed) { take_new(changed.object, now); },
                 [&](const ObjectRead& read) {
                   if (budget_.take_back(read.object)) {
                     take_change(read.object, now);
                   }
                 },
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

void Loop::take_new(const LiveObject& object, Time now) {
  if (!budget_.take(object, scheduler_.queues().has_workload_of(object.uid))) {
    set_aside(object, now);
    return;
  }
  take_change(object, now);
  if (object.kind == "Workload" && budget_.set_aside() > 0) {
    budget_.need(scheduler_.queues().owner_of(object.ns, object.name));
  }
}

// What was known of it while it ran, say, is no longer so. Only who leads tells it, as everything else.
void Loop::set_aside(const LiveObject& object, Time now) {
  forget({.group = object.group, .kind = object.kind, .ns = object.ns, .name = object.name}, now);
  if (leading_) {
    scheduler_.queues().complain(
        {.group = object.group,
         .version = object.version,
         .kind = object.kind,
         .ns = object.ns,
         .name = object.name,
         .uid = object.uid},
        fmt::format("what waits in namespace \"{}\" takes {} MiB of Gantree's memory, as much as it may: this "
                    "waits until others are started or gone",
                    object.ns, budget_.most() >> 20U),
        "NamespaceFull");
  }
}

void Loop::take_change(const LiveObject& object, Time now) {
  news_ = true;
  if (object.oversized) {
    surroundings_.log.warning("an object is too large to be looked at",
                              {{"object", fmt::format("{} {}/{}", object.kind, object.ns, object.name)},
                               {"most", fmt::format("{} bytes", kLargestObject)}});
  }
  for (const Error& fault : scheduler_.changed(object, now)) {
    surroundings_.log.warning("an object is ignored: it is malformed",
                              {{"object", fmt::format("{} {}/{}", object.kind, object.ns, object.name)},
                               {"what", without_places(fault.message)}});
  }
}

void Loop::take_removal(const ObjectRemoved& removed, Time now) {
  if (budget_.lose(removed.group, removed.kind, removed.ns, removed.name)) {
    forget(removed, now);
  }
}

void Loop::forget(const ObjectRemoved& removed, Time now) {
  news_ = true;
  scheduler_.removed(removed.group, removed.kind, removed.ns, removed.name, now);
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
  news_ = scheduler_.answered(answer.order, meaning, answer.reply.message, now) || news_;
}

void Loop::set_leading(const LeadershipChanged& change, Time now) {
  leading_ = change.leading;
  news_ = true;
  hand_over_.reset();
  if (change.leading) {
    surroundings_.writer.set_term(change.term);
    scheduler_.note_under_way();
    hand_over_ = HandOver{
        .state = HandOver::State::kAsks, .since = change.since, .warn_at = surroundings_.clock.now() + kLongProof};
    if (change.after_another) {
      rest_until_ = surroundings_.clock.now() + kHandOver;
    }
    return;
  }
  for (const std::uint64_t order : dispatcher_.withdraw()) {
    scheduler_.answered(order, Answer::kWithdrawn, "no longer the leader", now);
  }
  scheduler_.stop_leading(now);
}

void Loop::step(Time now) {
  const Steady::time_point began = surroundings_.clock.now();
  news_ = false;
  if (surroundings_.serves) {
    scheduler_.serve(surroundings_.serves);
  }
  Step step = scheduler_.step(now);
  const auto took = surroundings_.clock.now() - began;
  rest_until_ = surroundings_.clock.now() + std::min<Steady::duration>(took, kLongestRest);
  wake_ = step.wake;
  metrics_.stepped(step.figures, took);
  log_placed(step.figures, took);
  carry_out(std::move(step));
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
  return metrics_.page({.scheduler = scheduler_.pods(),
                        .dispatcher = dispatcher_,
                        .reads = reads,
                        .writes = writes,
                        .queues = scheduler_.queues().queue_statuses(),
                        .leading = leading_,
                        .synced = synced_,
                        .hand_over = hand_over_.has_value()});
}

}  // namespace gantree

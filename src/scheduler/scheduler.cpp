#include "scheduler/scheduler.h"

#include <algorithm>
#include <optional>
#include <string>

#include "dialects/kai/names.h"
#include "dialects/kueue/names.h"

namespace gantree {

namespace {

constexpr std::string_view kNode = "Node";

bool same_kind(const ApiKind& a, const ApiKind& b) {
  return a.group == b.group && a.kind == b.kind;
}

}  // namespace

Scheduler::Scheduler(const PodOptions& pods, const kueue::ControllerOptions& queues)
    : pods_(account_, pods), queues_(account_, queues) {
  pods_.rely_on(&queues_);
  if (std::find(pods.schedulers.begin(), pods.schedulers.end(), kai::kScheduler) != pods.schedulers.end()) {
    grouper_ = std::make_unique<kai::Grouper>(
        account_.orders, kai::GrouperOptions{.instance = pods.instance, .schedulers = pods.schedulers});
  }
}

Scheduler::~Scheduler() {
  pods_.rely_on(nullptr);
}

std::vector<ApiKind> Scheduler::kinds() const {
  std::vector<ApiKind> kinds = pods_.kinds();
  const auto add = [&](std::vector<ApiKind> more) {
    for (ApiKind& kind : more) {
      if (std::none_of(kinds.begin(), kinds.end(), [&](const ApiKind& known) { return same_kind(known, kind); })) {
        kinds.push_back(std::move(kind));
      }
    }
  };
  add(kueue::Controller::kinds());
  if (grouper_ != nullptr) {
    add(kai::Grouper::kinds());
  }
  return kinds;
}

std::vector<Error> Scheduler::changed(const LiveObject& object, Time now) {
  std::vector<Error> faults;
  const auto note = [&](const Result<>& taken) {
    if (!taken) {
      faults.push_back(taken.error());
    }
  };
  note(queues_.changed(object, now));
  if (grouper_ != nullptr) {
    note(grouper_->changed(object, now));
  }
  if (pods_.takes(object.group, object.kind)) {
    const std::uint64_t before = cluster_.inventory().position();
    note(pods_.changed(object, now));
    if (object.kind == kNode && cluster_.inventory().position() != before) {
      queues_.node_changed(object.name);
    }
  }
  return faults;
}

void Scheduler::removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name,
                        Time now) {
  queues_.removed(group, kind, ns, name, now);
  if (grouper_ != nullptr) {
    grouper_->removed(group, kind, ns, name, now);
  }
  if (pods_.takes(group, kind)) {
    pods_.removed(group, kind, ns, name, now);
  }
  if (kind == kNode) {
    queues_.node_changed(name);
  }
}

Step Scheduler::step(Time now) {
  Step step;
  for (const std::string& node : pods_.take_freed_nodes(now)) {
    queues_.node_changed(node);
  }
  if (grouper_ != nullptr) {
    grouper_->step(now, step);
    const std::optional<std::string> why = grouper_->keeps_off();
    if (why && !kept_off_) {
      step.remarks.push_back(*why);
    }
    kept_off_ = why.has_value();
    pods_.leave_queues_alone(kept_off_);
  }
  const bool with_queues = queues_.begin(now, step);
  pods_.begin(now, step);
  decider_.decide(now, step);
  if (with_queues) {
    queues_.finish(now, step);
  }
  pods_.finish(now, step);
  return step;
}

bool Scheduler::answered(std::uint64_t order, Answer answer, std::string_view why, Time now) {
  if (grouper_ != nullptr && grouper_->answered(order, answer, why, now)) {
    return true;
  }
  pods_.answered(order, answer, why, now);
  return queues_.answered(order, answer, why, now);
}

void Scheduler::serve(const Serves& serves) {
  queues_.serve(serves(kueue::kGroup, "workloads"));
  if (grouper_ != nullptr) {
    grouper_->serve(serves(kai::kSchedulingGroup, "podgroups"));
  }
}

void Scheduler::stop_leading(Time now) {
  pods_.stop_leading(now);
  queues_.stop_leading();
}

void Scheduler::stand_by() {
  pods_.stand_by();
  queues_.stand_by();
}

void Scheduler::note_under_way() {
  pods_.note_under_way();
  queues_.note_under_way();
}

void Scheduler::start_leading(Time now) {
  pods_.start_leading(now);
  queues_.start_leading();
  if (grouper_ != nullptr) {
    grouper_->start_leading();
  }
}

}  // namespace gantree

#include "support/queue_process.h"

#include <algorithm>

namespace gantree::test {

Process::Process(const kueue::ReadyRules& ready, const std::vector<ShareStrategy>& shares)
    : scheduler_(SchedulerOptions{}),
      controller_(scheduler_.account(), {.instance = "model", .ready = ready, .shares = shares}) {
  scheduler_.rely_on(&controller_);
}

void Process::take(const ServerEvent& event, Time now) {
  const bool queues_alone = kueue::Controller::owns(event.group, event.kind);
  if (!event.object) {
    controller_.removed(event.group, event.kind, event.ns, event.name, now);
    if (!queues_alone) {
      scheduler_.removed(event.group, event.kind, event.ns, event.name, now);
    }
    if (event.kind == "Node") {
      controller_.node_changed(event.name);
    }
    return;
  }
  const auto complain = [&](const Result<>& taken) {
    if (!taken) {
      complaints.push_back(taken.error().message);
    }
  };
  complain(controller_.changed(*event.object, now));
  if (!queues_alone) {
    const std::uint64_t before = cluster().inventory().position();
    complain(scheduler_.changed(*event.object, now));
    if (event.kind == "Node" && cluster().inventory().position() != before) {
      controller_.node_changed(event.name);
    }
  }
}

std::vector<Order> Process::step(Time now) {
  for (const std::string& node : scheduler_.take_freed_nodes(now)) {
    controller_.node_changed(node);
  }
  Step step;
  const bool queues_decide = controller_.begin(now, step);
  scheduler_.begin(now, step);
  scheduler_.decide(now, step);
  if (queues_decide) {
    controller_.finish(now, step);
  }
  scheduler_.finish(now, step);
  wake_ = step.wake;
  std::vector<Order> orders = std::move(step.orders);
  std::erase_if(orders, [](const Order& order) { return order.urgency == Urgency::kEvent; });
  return orders;
}

void Process::stand_by() {
  scheduler_.stand_by();
  controller_.stand_by();
}

void Process::stop_leading(Time now) {
  scheduler_.stop_leading(now);
  controller_.stop_leading();
}

void Process::start_leading(Time now) {
  scheduler_.note_under_way();
  controller_.note_under_way();
  scheduler_.start_leading(now);
  controller_.start_leading();
}

void Process::answered(std::uint64_t order, Answer answer, Time now) {
  scheduler_.answered(order, answer, "", now);
  controller_.answered(order, answer, "", now);
}

}  // namespace gantree::test

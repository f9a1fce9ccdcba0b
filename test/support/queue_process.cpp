#include "support/queue_process.h"

#include <algorithm>

namespace gantree::test {

void Process::take(const ServerEvent& event, Time now) {
  if (!event.object) {
    scheduler_.removed(event.group, event.kind, event.ns, event.name, now);
    return;
  }
  for (const Error& fault : scheduler_.changed(*event.object, now)) {
    complaints.push_back(fault.message);
  }
}

std::vector<Order> Process::step(Time now) {
  Step step = scheduler_.step(now);
  wake_ = step.wake;
  std::vector<Order> orders = std::move(step.orders);
  std::erase_if(orders, [](const Order& order) { return order.urgency == Urgency::kEvent; });
  return orders;
}

bool Process::binds() {
  const auto& gangs = scheduler_.pods().table().gangs();
  return std::any_of(gangs.begin(), gangs.end(),
                     [](const auto& item) { return item.second.placed != item.second.counts.bound; });
}

void Process::start_leading(Time now) {
  scheduler_.note_under_way();
  scheduler_.start_leading(now);
}

}  // namespace gantree::test

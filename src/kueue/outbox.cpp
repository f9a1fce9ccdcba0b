#include "kueue/outbox.h"

#include <utility>

#include "live/notices.h"

namespace gantree::kueue {

std::uint64_t Outbox::order(Step& step, Urgency urgency, Write write, OrderTarget about) {
  const std::uint64_t id = ++orders_;
  if (urgency != Urgency::kEvent) {
    open_.emplace(id, std::move(about));
  }
  step.orders.push_back({.id = id, .urgency = urgency, .write = std::move(write)});
  return id;
}

void Outbox::notify(Step& step, const Notice& notice, Time now) {
  order(step, Urgency::kEvent, event(notice, instance_, ++events_, now), {});
}

std::optional<OrderTarget> Outbox::close(std::uint64_t order) {
  const auto it = open_.find(order);
  if (it == open_.end()) {
    return std::nullopt;
  }
  OrderTarget about = std::move(it->second);
  open_.erase(it);
  return about;
}

}  // namespace gantree::kueue

// A second process that stands by, and leads in its turn.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "property/kueue_world.h"

namespace gantree::test {

void World::stand_by(int events) {
  for (; events > 0 && server_.has_events(standby_watch_); --events) {
    standby_->take(server_.next_event(odd_random_, standby_watch_), now_);
  }
  standby_->stand_by();
}

// The one that leads learns that it does not any more: what it has not sent it keeps, what it has sent arrives or does
// not. Whoever leads then, it may be the same one, has seen all of that before it decides.
void World::hand_over() {
  const bool other = odd_chance(80);
  note(other ? "the other one leads" : "nobody leads for a moment");
  std::vector<Order> sent;
  for (Order& order : std::exchange(orders_, {})) {
    if (odd_chance(50)) {
      process_->answered(order.id, Answer::kWithdrawn, now_);
    } else {
      sent.push_back(std::move(order));
    }
  }
  process_->stop_leading(now_);
  for (const Order& order : sent) {
    const bool arrives = odd_chance(70);
    const bool done = arrives && execute(order) == WriteResult::kOk;
    process_->answered(order.id, done && odd_chance(70) ? Answer::kDone : Answer::kUncertain, now_);
  }
  told_at_order_.clear();
  process_->stand_by();
  now_ += std::chrono::seconds(15);
  if (other) {
    std::swap(process_, standby_);
    std::swap(watch_, standby_watch_);
  }
  while (server_.has_events(watch_)) {
    take_event();
  }
  process_->start_leading(now_);
}

// Whoever stands by has booked on every host what the one that leads has. Quota it counts when it leads.
void World::check_stand_by() {
  // What is held for pods of DaemonSets it gives back when it leads.
  if (!standby_ || ways_.daemons) {
    return;
  }
  stand_by(1'000'000);
  // What it may have given away itself before stays booked until it hears of it.
  const auto& known = standby_->controller().workloads();
  if (standby_->binds() ||
      std::any_of(known.begin(), known.end(), [](const auto& entry) { return entry.second.assumed.has_value(); })) {
    return;
  }
  const Inventory& inventory = process_->cluster().inventory();
  const Inventory& others = standby_->cluster().inventory();
  // In domains of several hosts room may be held on this one or on that.
  for (std::uint32_t i = 0; by_host_ && i < inventory.size(); ++i) {
    const std::string& name = inventory.node(NodeId{i}).name;
    const auto gpu = inventory.resources().find("nvidia.com/gpu");
    const auto other_gpu = others.resources().find("nvidia.com/gpu");
    const auto node = others.find(name);
    if (!gpu || !other_gpu || !inventory.alive(NodeId{i})) {
      continue;
    }
    if (!node || inventory.free(NodeId{i}, *gpu) != others.free(*node, *other_gpu)) {
      fault(fmt::format("whoever stands by has {} free on {}, whoever leads {}",
                        node ? others.free(*node, *other_gpu) : -1, name, inventory.free(NodeId{i}, *gpu)));
    }
  }
}

}  // namespace gantree::test

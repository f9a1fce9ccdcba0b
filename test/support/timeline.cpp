#include "support/timeline.h"

#include <algorithm>

namespace gantree::test {

http::TaskId Timeline::at(Instant when, Actor actor, std::function<void()> act) {
  const http::TaskId id = ++last_;
  const Instant then = std::max(when, now_);
  acts_.emplace(std::pair(then, id), Act{.actor = actor, .act = std::move(act)});
  times_.emplace(id, then);
  return id;
}

void Timeline::cancel(http::TaskId id) {
  if (const auto time = times_.find(id); time != times_.end()) {
    acts_.erase({time->second, id});
    times_.erase(time);
  }
}

void Timeline::run_until(Instant end) {
  while (!acts_.empty() && acts_.begin()->first.first <= end) {
    auto next = acts_.extract(acts_.begin());
    now_ = std::max(now_, next.key().first);
    if (const auto frozen = frozen_.find(next.mapped().actor); frozen != frozen_.end() && frozen->second > now_) {
      next.key().first = frozen->second;
      times_[next.key().second] = frozen->second;
      acts_.insert(std::move(next));
      continue;
    }
    times_.erase(next.key().second);
    next.mapped().act();
  }
  now_ = std::max(now_, end);
}

void Timeline::kill(Actor actor) {
  living_.erase(actor);
  frozen_.erase(actor);
  std::erase_if(acts_, [&](const auto& item) {
    if (item.second.actor == actor) {
      times_.erase(item.first.second);
      return true;
    }
    return false;
  });
}

}  // namespace gantree::test

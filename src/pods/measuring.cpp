// What gangs with queues use of quota.
//
// It is worked out from what holds room, be it bound or only assumed, whenever that changes. So nothing has to be
// counted up and down, and a restart finds it as it was.
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "live/parsed.h"
#include "pods/pod_family.h"

namespace gantree {

namespace {

// How often the status of queues is written, at most.
constexpr std::chrono::seconds kQueuesEvery{1};

}  // namespace

bool PodFamily::is_of_queues(std::string_view gang) const {
  const std::string_view family = GangTable::family_of(gang);
  return !family.empty() && std::any_of(dialects_.begin(), dialects_.end(), [&](const auto& dialect) {
    return dialect->has_queues() && dialect->family() == family;
  });
}

void PodFamily::leave_queues_alone(bool alone) {
  if (std::exchange(leaves_queues_alone_, alone) != alone) {
    touch_waiting(true);
  }
}

bool PodFamily::is_left_alone(const std::string& id) {
  const LiveGang* gang = leaves_queues_alone_ ? table_.find(id) : nullptr;
  return gang != nullptr &&
         (is_of_queues(id) || std::any_of(gang->pods.begin(), gang->pods.end(), [&](const std::string& key) {
            const LivePod& pod = *table_.find_pod(key);
            return pod.needs && !pod.needs->lacks.empty();
          }));
}

void PodFamily::set_up_queues(const Quota& queues) {
  quota_use_.set_up(queues);
  figures_changed_ = true;
  measured_.clear();
  running_.clear();
  std::vector<Bundle> asking;
  for (const auto& [front, waiter] : waiters_) {
    if (waiter.submission && waiter.submission->queue) {
      asking.push_back(waiter.bundle);  // what was read names queues by numbers that are others now
    }
  }
  for (const Bundle& bundle : asking) {
    retire(bundle);
    dirty_.insert(bundle.front());
  }
  for (const auto& [id, gang] : table_.gangs()) {
    if (gang.placed > 0 && is_of_queues(id)) {
      unmeasured_.insert(id);
    }
  }
}

// The same as long as the same pods hold room, and what defines the gang says the same.
std::size_t PodFamily::hash_of_holders(const LiveGang& gang) {
  const std::hash<std::string> hash;
  std::size_t all = hash(gang.object);
  for (const std::string& key : gang.pods) {
    const LivePod& pod = *table_.find_pod(key);
    if (!pod.node.empty() && !pod.ended()) {
      all = all * 31 + hash(pod.uid + pod.node);
    }
  }
  return all;
}

void PodFamily::measure() {
  std::vector<Bundle> bundles;
  figures_changed_ = figures_changed_ || !unmeasured_.empty();
  for (const std::string& id : std::exchange(unmeasured_, {})) {
    const LiveGang* gang = table_.find(id);
    if (gang == nullptr || gang->placed == 0) {
      quota_use_.drop(id);
      measured_.erase(id);
      continue;
    }
    const std::size_t hash = hash_of_holders(*gang);
    const auto [known, fresh] = measured_.try_emplace(id, hash);
    if (fresh || known->second != hash) {
      known->second = hash;
      bundles.push_back({id});
    }
  }
  read_running(bundles);
  for (const Bundle& bundle : bundles) {
    // What cannot be read uses what it was granted.
    if (const ReadRunning& read = *running_.at(bundle.front()); read.gang) {
      quota_use_.measure(bundle.front(), *read.gang);
    }
  }
}

void PodFamily::report_queues(Time now, Step& step) {
  if (!figures_changed_ || !quota_use_.has_queues()) {
    return;
  }
  if (const Time due = queues_reported_at_ + kQueuesEvery; now < due) {
    step.wake_by(due);
    return;
  }
  figures_changed_ = false;
  queues_reported_at_ = now;
  std::vector<CellFigures> cells = quota_use_.figures();
  for (const auto& [front, waiter] : waiters_) {
    if (waiter.asks && waiter.submission && waiter.submission->queue && !waiter.submission->parts.empty()) {
      quota_use_.ask(demand_of(waiter.submission->parts.front().front()), cells);
    }
  }
  for (const auto& [key, text] : config_) {
    const auto parsed = parse(text);
    if (!parsed) {
      continue;
    }
    const json::Value name = text_at(parsed->object.metadata(), "name");
    const NamedObject named{.object = parsed->object, .ns = "", .name = name ? name.text() : std::string_view()};
    for (const auto& dialect : dialects_) {
      auto write = dialect->has_queues() ? dialect->report_queue(named, cells) : std::nullopt;
      if (write && told_queues_[key] != write->body) {
        told_queues_[key] = write->body;
        OpenOrder open;
        open.queue = key;
        order(step, Urgency::kStatus, std::move(*write), std::move(open));
      }
    }
  }
}

void PodFamily::add_usage(std::vector<RunningGang>& running, std::vector<QuotaDemand>& leaving) const {
  quota_use_.each([&](const std::string& gang, const RunningGang& used) {
    if (evicted_.contains("gang " + gang)) {
      leaving.push_back(used_by_rest(gang));
    } else if (used.queue) {  // else it was granted a moment ago, and nobody evicts it
      running.push_back(used);
      running.back().used = used_by_rest(gang);
    }
  });
  for (const auto& [id, evicted] : evicted_) {
    if (evicted.used) {
      leaving.push_back(*evicted.used);
    }
  }
}

}  // namespace gantree

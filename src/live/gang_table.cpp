#include "live/gang_table.h"

#include <utility>

namespace gantree {

LivePod* GangTable::find_pod(std::string_view key) {
  const auto it = pods_.find(key);
  return it == pods_.end() ? nullptr : &it->second;
}

LiveGang* GangTable::find(std::string_view id) {
  const auto it = gangs_.find(id);
  return it == gangs_.end() ? nullptr : &it->second;
}

void GangTable::count(const LivePod& pod, int sign, Time now) {
  LiveGang& gang = gangs_[pod.gang];
  MemberCounts& counts = gang.counts;
  switch (pod.phase) {
    case PodPhase::kSucceeded:
      counts.succeeded += sign;
      break;
    case PodPhase::kFailed:
      counts.failed += sign;
      break;
    case PodPhase::kPending:
    case PodPhase::kRunning:
      // What is only assumed is not bound as yet.
      (pod.node.empty() || pod.assumed ? counts.pending : counts.bound) += sign;
      gang.placed += pod.node.empty() ? 0 : sign;
      if (!pod.node.empty() && (bound_[pod.priority] += sign) == 0) {
        bound_.erase(pod.priority);
      }
      counts.running += pod.phase == PodPhase::kRunning ? sign : 0;
      break;
  }
  if (!pod.waits()) {
    return;
  }
  gang.waiting += sign;
  if (gang.waiting == 0) {
    waiting_.erase(pod.gang);
  } else if (sign > 0 && gang.waiting == 1) {
    waiting_.insert(pod.gang);
    gang.waiting_since = now;
  }
}

std::optional<std::int64_t> GangTable::lowest_bound() const {
  return bound_.empty() ? std::nullopt : std::optional(bound_.begin()->first);
}

void GangTable::put_pod(const std::string& key, LivePod pod, Time now) {
  const auto it = pods_.find(key);
  if (it != pods_.end()) {
    count(it->second, -1, now);
    if (it->second.gang != pod.gang) {
      gangs_[it->second.gang].pods.erase(key);
      drop_if_empty(it->second.gang);
    }
  }
  gangs_[pod.gang].pods.insert(key);
  count(pod, 1, now);
  pods_.insert_or_assign(key, std::move(pod));
}

void GangTable::remove_pod(const std::string& key) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) {
    return;
  }
  const std::string id = it->second.gang;
  count(it->second, -1, {});
  gangs_[id].pods.erase(key);
  pods_.erase(it);
  drop_if_empty(id);
}

void GangTable::link(const std::string& id, std::vector<std::string> partners) {
  LiveGang& gang = gangs_[id];
  for (const std::string& partner : gang.partners) {
    const auto named = named_by_.find(partner);
    if (named != named_by_.end() && named->second.erase(id) > 0 && named->second.empty()) {
      named_by_.erase(named);
    }
  }
  gang.partners = std::move(partners);
  for (const std::string& partner : gang.partners) {
    named_by_[partner].insert(id);
  }
}

void GangTable::define(const std::string& id, const LiveDialect& dialect, std::string text,
                       std::vector<std::string> partners) {
  link(id, std::move(partners));
  LiveGang& gang = gangs_[id];
  gang.object = std::move(text);
  gang.dialect = &dialect;
}

void GangTable::undefine(const std::string& id) {
  if (LiveGang* gang = find(id)) {
    link(id, {});
    gang->object.clear();
    drop_if_empty(id);
  }
}

void GangTable::add_partners(const std::string& id, std::vector<std::string> partners) {
  if (gangs_[id].object.empty() && gangs_[id].partners != partners) {
    link(id, std::move(partners));
  }
}

std::vector<std::string> GangTable::bundle(const std::string& id) const {
  std::set<std::string> found{id};
  std::vector<std::string> open{id};
  const auto reach = [&](const std::string& next) {
    if (found.insert(next).second) {
      open.push_back(next);
    }
  };
  while (!open.empty()) {
    const std::string at = std::move(open.back());
    open.pop_back();
    if (const auto gang = gangs_.find(at); gang != gangs_.end()) {
      for (const std::string& partner : gang->second.partners) {
        reach(partner);
      }
    }
    if (const auto named = named_by_.find(at); named != named_by_.end()) {
      for (const std::string& other : named->second) {
        reach(other);
      }
    }
  }
  return {found.begin(), found.end()};
}

void GangTable::drop_if_empty(const std::string& id) {
  const auto it = gangs_.find(id);
  if (it != gangs_.end() && it->second.pods.empty() && it->second.object.empty()) {
    link(id, {});
    gangs_.erase(id);
  }
}

}  // namespace gantree

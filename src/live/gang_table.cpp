#include "live/gang_table.h"

#include <algorithm>
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

void GangTable::count(const LivePod& pod, int sign, Time since) {
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
    gang.waiting_since = since;
  }
}

std::optional<std::int64_t> GangTable::lowest_bound() const {
  return bound_.empty() ? std::nullopt : std::optional(bound_.begin()->first);
}

Time GangTable::waiting_since(const std::string& id, Time now) const {
  const auto it = gangs_.find(id);
  return it == gangs_.end() || it->second.waiting == 0 ? now : it->second.waiting_since;
}

void GangTable::put_pod(const std::string& key, LivePod pod, Time now) {
  const auto it = pods_.find(key);
  const Time since = waiting_since(pod.gang, now);
  if (it != pods_.end()) {
    count(it->second, -1, now);
    if (it->second.gang != pod.gang) {
      gangs_[it->second.gang].pods.erase(key);
      drop_if_empty(it->second.gang);
    }
  }
  gangs_[pod.gang].pods.insert(key);
  count(pod, 1, since);
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

void GangTable::define(const std::string& id, const LiveDialect& dialect, std::string text,
                       std::vector<std::string> partners) {
  LiveGang& gang = gangs_[id];
  gang.partners = std::move(partners);
  gang.object = std::move(text);
  gang.dialect = &dialect;
}

void GangTable::undefine(const std::string& id) {
  if (LiveGang* gang = find(id)) {
    gang->partners.clear();
    gang->object.clear();
    drop_if_empty(id);
  }
}

void GangTable::add_partners(const std::string& id, const std::vector<std::string>& partners) {
  LiveGang& gang = gangs_[id];
  if (!gang.object.empty()) {
    return;
  }
  for (const std::string& partner : partners) {
    if (std::find(gang.partners.begin(), gang.partners.end(), partner) == gang.partners.end()) {
      gang.partners.push_back(partner);
    }
  }
}

std::vector<std::string> GangTable::bundle(const std::string& id) const {
  std::set<std::string> found{id};
  std::vector<std::string> open{id};
  while (!open.empty()) {
    const std::string at = std::move(open.back());
    open.pop_back();
    const auto gang = gangs_.find(at);
    for (const std::string& partner : gang == gangs_.end() ? std::vector<std::string>() : gang->second.partners) {
      const auto other = gangs_.find(partner);
      const bool agrees =
          other != gangs_.end() &&
          std::find(other->second.partners.begin(), other->second.partners.end(), at) != other->second.partners.end();
      if (agrees && found.insert(partner).second) {
        open.push_back(partner);
      }
    }
  }
  return {found.begin(), found.end()};
}

bool GangTable::one_sided(const std::vector<std::string>& bundle) const {
  return std::any_of(bundle.begin(), bundle.end(), [&](const std::string& id) {
    const auto gang = gangs_.find(id);
    return gang != gangs_.end() &&
           std::any_of(gang->second.partners.begin(), gang->second.partners.end(), [&](const std::string& partner) {
             return !std::binary_search(bundle.begin(), bundle.end(), partner);
           });
  });
}

void GangTable::drop_if_empty(const std::string& id) {
  const auto it = gangs_.find(id);
  if (it != gangs_.end() && it->second.pods.empty() && it->second.object.empty()) {
    gangs_.erase(id);
  }
}

}  // namespace gantree

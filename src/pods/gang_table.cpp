#include "pods/gang_table.h"

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
  gang.bytes = sign > 0 ? gang.bytes + pod.text.size() : gang.bytes - pod.text.size();
  if (sign > 0 && gang.object.empty() && (gang.created_seconds == 0 || pod.created_seconds < gang.created_seconds)) {
    gang.created_seconds = pod.created_seconds;
  }
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
  if (pod.waits()) {
    gang.waiting += sign;
    if (gang.waiting == 0) {
      waiting_.erase(pod.gang);
    } else if (sign > 0 && gang.waiting == 1) {
      waiting_.insert(pod.gang);
      gang.waiting_since = since;
      gang.priority = pod.priority;
    } else if (sign > 0) {
      gang.priority = std::max(gang.priority, pod.priority);
    }
  }
  stand_in_line(pod.gang, gang);
}

void GangTable::stand_in_line(const std::string& id, LiveGang& gang) {
  std::optional<LinePlace> place;
  if (gang.waiting > 0) {
    place = {.settled = gang.placed == 0, .behind = -gang.priority, .created_seconds = gang.created_seconds, .id = id};
  }
  if (place && (!place->settled || !gang.partners.empty())) {
    partial_.insert(id);
  } else {
    partial_.erase(id);
  }
  if (place == gang.place) {
    return;
  }
  const auto line = lines_.try_emplace(std::string(namespace_of(id))).first;
  if (gang.place) {
    line->second.erase(*gang.place);
  }
  if (place) {
    line->second.insert(*place);
  }
  if (line->second.empty()) {
    lines_.erase(line);
  }
  gang.place = std::move(place);
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
                       std::vector<std::string> partners, std::int64_t created_seconds) {
  LiveGang& gang = gangs_[id];
  std::sort(partners.begin(), partners.end());
  if (gang.partners != partners) {
    gang.partners = std::move(partners);
    overgrown_.clear();
  }
  gang.object = std::move(text);
  gang.dialect = &dialect;
  gang.created_seconds = created_seconds;
  stand_in_line(id, gang);
}

void GangTable::undefine(const std::string& id) {
  if (LiveGang* gang = find(id)) {
    gang->partners.clear();
    gang->object.clear();
    gang->refusal.clear();
    overgrown_.clear();
    stand_in_line(id, *gang);
    drop_if_empty(id);
  }
}

void GangTable::add_partners(const std::string& id, const std::vector<std::string>& partners) {
  LiveGang& gang = gangs_[id];
  if (!gang.object.empty()) {
    return;
  }
  for (const std::string& partner : partners) {
    const auto at = std::lower_bound(gang.partners.begin(), gang.partners.end(), partner);
    // Pods that name more than may be named are told so when they are read.
    if ((at == gang.partners.end() || *at != partner) && gang.partners.size() < kMostPartners) {
      gang.partners.insert(at, partner);
      overgrown_.clear();
    }
  }
  stand_in_line(id, gang);
}

std::vector<std::string> GangTable::bundle(const std::string& id) const {
  std::set<std::string> found{id};
  std::vector<std::string> open{id};
  if (overgrown_.contains(id)) {
    return open;
  }
  while (!open.empty()) {
    const std::string at = std::move(open.back());
    open.pop_back();
    const auto gang = gangs_.find(at);
    for (const std::string& partner : gang == gangs_.end() ? std::vector<std::string>() : gang->second.partners) {
      const auto other = gangs_.find(partner);
      const bool agrees =
          other != gangs_.end() && std::binary_search(other->second.partners.begin(), other->second.partners.end(), at);
      if (agrees && found.insert(partner).second) {
        open.push_back(partner);
      }
    }
    if (found.size() > kMostPartners) {
      // Nobody may list so many: their lists differ, so that none of them can start anyway. All that is known to belong
      // to them is not looked through again.
      overgrown_.insert(found.begin(), found.end());
      return {id};
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

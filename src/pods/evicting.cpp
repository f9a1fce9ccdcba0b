// Gangs, and pods above the minimum of gangs, that are told to leave.
#include <fmt/format.h>

#include <algorithm>

#include "live/notices.h"
#include "live/parsed.h"
#include "pods/pod_family.h"
#include "queue/quota.h"

namespace gantree {

namespace {

// As one above the minimum of its gang: it makes room for somebody else than those that the gang follows for.
bool leaves_already(const std::map<std::string, Evicted>& evicted, const std::string& pod) {
  return std::any_of(evicted.begin(), evicted.end(),
                     [&](const auto& item) { return item.second.used.has_value() && item.second.pods.contains(pod); });
}

}  // namespace

// Who preempts, as the condition of its victims says.
Preemptor PodFamily::preemptor_of(const Waiter& waiter) {
  const GangKey& key = waiter.submission->key;
  Preemptor preemptor{.scheduler = options_.schedulers.front(), .gang = key.ns + "/" + key.name, .pod = {}};
  const auto* gangs = waiter.family == this ? static_cast<const GangWaiter*>(&waiter) : nullptr;
  if (gangs != nullptr && !gangs->held.empty()) {
    preemptor.pod = gangs->held.front();
    if (const auto parsed = parse(table_.find_pod(preemptor.pod)->text)) {
      const json::Value scheduler = text_at(parsed->object.value["spec"], "schedulerName");
      preemptor.scheduler = scheduler ? std::string(scheduler.text()) : preemptor.scheduler;
    }
  }
  return preemptor;
}

Leaver PodFamily::evict(const RunningGang& victim, const Waiter& by, const Eviction& eviction, Time now, Step& step) {
  const Bundle bundle = table_.bundle(GangTable::id_of(victim.key));
  if (!eviction.spare.empty()) {
    return evict_spare(bundle, victim, by, eviction, now, step);
  }
  const std::string& front = bundle.front();
  Leaver leaver{.id = front.starts_with('/') ? "pod " + front.substr(1) : "gang " + front, .used = used_by_rest(front)};
  Evicted& evicted = evicted_[leaver.id];
  evicted.gang = front;
  evicted.since = now;
  dirty_.insert(front);
  for (const std::string& id : bundle) {
    const LiveGang* gang = table_.find(id);
    for (const std::string& key : gang == nullptr ? std::set<std::string>() : gang->pods) {
      const LivePod& pod = *table_.find_pod(key);
      if (!pod.node.empty() && !pod.ended() && !leaves_already(evicted_, key)) {
        evicted.pods.emplace(key, pod.uid);
        leaver.pods.push_back(key);
      }
    }
  }
  const Preemptor preemptor = preemptor_of(by);
  evict(bundle, to_string(eviction.reason), eviction.message, &preemptor, now, step);
  return leaver;
}

Leaver PodFamily::evict_spare(const Bundle& bundle, const RunningGang& victim, const Waiter& by,
                              const Eviction& eviction, Time now, Step& step) {
  const std::string& front = bundle.front();
  std::string id = "pod " + eviction.spare.front();
  if (eviction.spare.size() > 1) {
    id += fmt::format(" and {} more of gang {}", eviction.spare.size() - 1, front);
  }
  Evicted& evicted = evicted_[id];
  evicted.gang = front;
  evicted.since = now;
  QuotaDemand used;
  for (const SparePods& spare : victim.spare) {
    const auto named = [&](const std::string& pod) {
      return std::find(eviction.spare.begin(), eviction.spare.end(), pod) != eviction.spare.end();
    };
    if (std::any_of(spare.pods.begin(), spare.pods.end(), named)) {
      used = Quota::sum({used, spare.used}, {1, 1});
    }
  }
  evicted.used = used;
  Leaver leaver{.id = id, .used = used};
  const Preemptor preemptor = preemptor_of(by);
  step.news.push_back(fmt::format("evicting {} pods above the minimum of gang \"{}\", which {}", eviction.spare.size(),
                                  front, eviction.message));
  for (const std::string& key : eviction.spare) {
    const LivePod* pod = table_.find_pod(key);
    if (pod != nullptr && !pod->node.empty() && !pod->ended()) {
      evicted.pods.emplace(key, pod->uid);
      leaver.pods.push_back(key);
      tell_to_leave(key, to_string(eviction.reason), eviction.message, &preemptor, now, step);
    }
  }
  return leaver;
}

QuotaDemand PodFamily::used_by_rest(const std::string& gang) const {
  QuotaDemand used = quota_use_.of(gang);
  for (const auto& [id, evicted] : evicted_) {
    if (evicted.gang == gang && evicted.used && !evicted.pods.empty()) {
      for (const auto& [cell, amount] : *evicted.used) {
        used.emplace_back(cell, -amount);
      }
    }
  }
  return Quota::sum({used}, {1});
}

void PodFamily::evict(const Bundle& bundle, std::string_view reason, std::string_view why, const Preemptor* by,
                      Time now, Step& step) {
  ++step.figures.gangs_evicted;
  step.news.push_back(fmt::format("evicting gang \"{}\", which {}", bundle.front(), why));
  for (const std::string& id : bundle) {
    LiveGang* gang = table_.find(id);
    if (gang == nullptr) {
      continue;
    }
    gang->verdict = Verdict{.state = GangState::kWaiting,
                            .reason = Reason::kGangIncomplete,
                            .message = fmt::format("its pods were evicted: it {}", why)};
    unreported_.insert(id);
    for (const std::string& key : gang->pods) {
      if (!leaves_already(evicted_, key)) {
        tell_to_leave(key, reason, why, by, now, step);
      }
    }
  }
}

void PodFamily::tell_to_leave(const std::string& key, std::string_view reason, std::string_view why,
                              const Preemptor* by, Time now, Step& step) {
  const LivePod& pod = *table_.find_pod(key);
  if (pod.node.empty() || pod.ended() || pod.deleting) {
    return;
  }
  order_pod(
      step,
      by ? OpenOrder{.verb = WriteVerb::kPreempt, .pod = key, .body = preempt_pod(pod_ref(key, pod.uid), *by, now).body}
         : OpenOrder{.verb = WriteVerb::kEvict, .pod = key});
  notify(step, {.about = pod_ref(key, pod.uid), .warning = true, .reason = reason, .action = "Evicting", .note = why},
         now);
}

}  // namespace gantree

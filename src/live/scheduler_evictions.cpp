// Who has to go, and room that is kept until they have gone.
#include <fmt/format.h>

#include <algorithm>

#include "cycle/cycle.h"
#include "live/notices.h"
#include "live/scheduler.h"
#include "queue/quota.h"

namespace gantree {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Looking for victims reads all that runs, so it is not done at every turn.
constexpr milliseconds kPreemptEvery = seconds(1);
// Pods may take as long as their grace to go.
constexpr milliseconds kReservedFor = minutes(30);

}  // namespace

bool LiveScheduler::outranks_somebody(const Bundle& bundle) {
  const auto lowest = table_.lowest_bound();
  if (!options_.preemption || !lowest) {
    return false;
  }
  for (const std::string& id : bundle) {
    if (const LiveGang* gang = table_.find(id)) {
      for (const std::string& key : gang->pods) {
        const LivePod& pod = *table_.find_pod(key);
        if (pod.waits() && pod.priority > *lowest) {
          return true;
        }
      }
    }
  }
  return false;
}

void LiveScheduler::preempt(Time now, Step& step) {
  if (crowded_out_.empty()) {
    return;
  }
  if (now < next_preemption_) {
    step.wake_by(next_preemption_);
    return;
  }
  next_preemption_ = now + kPreemptEvery;
  // Everyone who runs, but for those with pods that are only assumed or are going already.
  std::vector<Bundle> bundles;
  std::map<std::string, Bundle> asking;
  for (const std::string& id : std::exchange(crowded_out_, {})) {
    Bundle bundle = table_.bundle(id);
    const bool waits = std::any_of(bundle.begin(), bundle.end(), [&](const std::string& member) {
      const LiveGang* gang = table_.find(member);
      return gang != nullptr && gang->waiting > 0;
    });
    if (waits) {
      bundles.push_back(bundle);
      asking.emplace(id, std::move(bundle));
    }
  }
  for (const auto& [id, gang] : table_.gangs()) {
    const bool settled = std::all_of(gang.pods.begin(), gang.pods.end(), [&](const std::string& key) {
      const LivePod& pod = *table_.find_pod(key);
      return !pod.assumed && !pod.deleting;
    });
    if (gang.placed > 0 && gang.waiting == 0 && settled) {
      bundles.push_back({id});
    }
  }
  const std::vector<json::Document> documents = documents_of(bundles);
  Quota quota;
  std::vector<Error> faults;
  auto reading = take_in(readers_of(dialects_), documents, std::nullopt, cluster_, quota, &faults);
  if (reading) {
    for (Submission& submission : reading->queue) {
      const auto bundle = std::find_if(asking.begin(), asking.end(), [&](const auto& one) {
        const std::string id = GangTable::id_of(submission.key);
        return std::find(one.second.begin(), one.second.end(), id) != one.second.end();
      });
      if (bundle != asking.end()) {
        preempt_for(std::move(submission), bundle->second, now, step);
      }
    }
  }
  cluster_.forget_running();
}

// Tried as if those that are going had gone: who only waits for them evicts nobody else.
void LiveScheduler::preempt_for(Submission submission, const Bundle& bundle, Time now, Step& step) {
  for (const std::string& key : going_) {
    cluster_.lend(key);
  }
  Quota quota;
  std::vector<Submission> queue;
  queue.push_back(std::move(submission));
  const Plan plan = run_cycle(cluster_, quota, std::move(queue));
  for (const std::string& key : going_) {
    cluster_.take_back(key);
  }
  const Decision& decision = plan.decisions.front();
  if (decision.state != GangState::kPlaced) {
    return;
  }
  Reservation reservation{.bundle = bundle, .pods = {}, .blockers = going_, .until = now + kReservedFor};
  std::string who;
  for (const Eviction& eviction : plan.evictions) {
    for (const std::string& id : table_.bundle(GangTable::id_of(eviction.key))) {
      const LiveGang* gang = table_.find(id);
      for (const std::string& key : gang == nullptr ? std::set<std::string>() : gang->pods) {
        if (!table_.find_pod(key)->node.empty() && !table_.find_pod(key)->ended()) {
          cluster_.take_back(key);
          reservation.blockers.insert(key);
        }
      }
    }
    evict(eviction, now, step);
    who += fmt::format("{}{}/{}", who.empty() ? "" : ", ", eviction.key.ns, eviction.key.name);
  }
  const std::string message = who.empty() ? std::string("pods that are being deleted have still to leave its room")
                                          : fmt::format("{} has to make room", who);
  tell(bundle, {.state = GangState::kWaiting, .reason = Reason::kPreempting, .message = message}, now, step);
  reservation.pods = assume(decision, now);
  // Only those count that are where the gang goes.
  std::set<std::string_view> nodes;
  for (const std::string& key : reservation.pods) {
    nodes.insert(cluster_.node_of(key));
  }
  std::erase_if(reservation.blockers, [&](const std::string& key) { return !nodes.contains(cluster_.node_of(key)); });
  reservations_.push_back(std::move(reservation));
  keep_reservations(now, step);
}

void LiveScheduler::evict(const Eviction& eviction, Time now, Step& step) {
  ++step.figures.gangs_evicted;
  for (const std::string& id : table_.bundle(GangTable::id_of(eviction.key))) {
    const LiveGang* gang = table_.find(id);
    if (gang == nullptr) {
      continue;
    }
    for (const std::string& key : gang->pods) {
      const LivePod& pod = *table_.find_pod(key);
      if (pod.node.empty() || pod.ended() || pod.deleting) {
        continue;
      }
      order_pod(step, WriteVerb::kEvict, key, 1);
      notify(step,
             {.about = pod_ref(key, pod.uid),
              .warning = true,
              .reason = to_string(eviction.reason),
              .action = "Evicting",
              .note = eviction.message},
             now);
    }
  }
}

void LiveScheduler::keep_reservations(Time now, Step& step) {
  std::erase_if(reservations_, [&](Reservation& reservation) {
    std::erase_if(reservation.blockers, [&](const std::string& key) { return cluster_.node_of(key).empty(); });
    const bool whole = std::all_of(reservation.pods.begin(), reservation.pods.end(), [&](const std::string& key) {
      const LivePod* pod = table_.find_pod(key);
      return pod != nullptr && pod->assumed;
    });
    if (whole && reservation.blockers.empty()) {
      for (const std::string& key : reservation.pods) {
        order_pod(step, WriteVerb::kBind, key, 1);
      }
      ++step.figures.gangs_placed;
      step.figures.pods_placed += static_cast<int>(reservation.pods.size());
      tell(reservation.bundle,
           {.state = GangState::kPlaced,
            .reason = {},
            .message = fmt::format("{} pods placed in room that others left", reservation.pods.size())},
           now, step);
      return true;
    }
    if (whole && now < reservation.until) {
      step.wake_by(reservation.until);
      return false;
    }
    // A pod of it has gone, or the others do not go: it is looked at anew.
    for (const std::string& key : reservation.pods) {
      if (const LivePod* pod = table_.find_pod(key); pod != nullptr && pod->assumed) {
        forget(key, now);
      }
    }
    return true;
  });
}

}  // namespace gantree

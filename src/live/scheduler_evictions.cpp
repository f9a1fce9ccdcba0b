// Who has to go, and room that is kept until they have gone.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cycle/cycle.h"
#include "live/notices.h"
#include "live/parsed.h"
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

// So many gangs of one namespace ask in one turn, and so many in all; the first in line, then the others by turns.
constexpr std::size_t kMostAsking = 64;
constexpr std::size_t kMostAskingInAll = 256;
// Where a namespace has more budgets, or longer ones, nobody of it is evicted: who is protected would take too long to
// find out.
constexpr std::size_t kMostBudgets = 200;
constexpr std::size_t kMostBudgetBytes = 1U << 20U;

// Whether the budgets allow all of these together.
bool within(const std::vector<DisruptionBudget>& budgets, const std::vector<RunningGang>& running,
            const std::vector<Eviction>& evictions) {
  std::vector<int> left;
  for (const DisruptionBudget& budget : budgets) {
    left.push_back(budget.allowed);
  }
  for (const Eviction& eviction : evictions) {
    const auto gang =
        std::find_if(running.begin(), running.end(), [&](const RunningGang& one) { return one.key == eviction.key; });
    if (gang != running.end()) {
      for (const auto& [budget, pods] : gang->budgets) {
        left[budget.index()] -= pods;
      }
    }
  }
  return std::none_of(left.begin(), left.end(), [](int allowed) { return allowed < 0; });
}

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
  std::map<std::string, Bundle> asking;
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  for (const std::string& id : next_asking()) {
    Bundle bundle = table_.bundle(id);
    bool waits = false;
    for (const std::string& member : bundle) {
      const LiveGang* gang = table_.find(member);
      for (const std::string& key : gang == nullptr ? std::set<std::string>() : gang->pods) {
        const LivePod& pod = *table_.find_pod(key);
        waits = waits || pod.waits();
        highest = std::max(highest, pod.waits() ? pod.priority : highest);
      }
    }
    // What it needs may have changed since it was refused.
    if (waits && !obstacle(bundle)) {
      asking.emplace(bundle.front(), std::move(bundle));
    }
  }
  if (!crowded_out_.empty()) {
    step.wake_by(next_preemption_);
  }
  if (asking.empty()) {
    return;
  }
  std::vector<Bundle> bundles = evictable(highest, asking);
  std::set<std::string_view> namespaces;
  for (const Bundle& bundle : bundles) {
    for (const std::string& id : bundle) {
      namespaces.insert(GangTable::namespace_of(id));
    }
  }
  for (const auto& [id, bundle] : asking) {
    bundles.push_back(bundle);
  }
  std::vector<json::Document> documents = documents_of(bundles, step);
  for (const std::string_view ns : namespaces) {
    for (const std::string* text : budgets_of(ns)) {
      step.figures.bytes_read += text->size();
      if (auto parsed = parse(*text)) {
        documents.push_back(std::move(parsed->document));
      }
    }
  }
  Quota quota;
  std::vector<Error> faults;
  auto reading = take_in(readers_of(dialects_), documents, std::nullopt, cluster_, quota, &faults);
  remark(step, faults);
  if (reading) {
    shield(asking);
    std::sort(reading->queue.begin(), reading->queue.end(), goes_before);
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

// Takes those whose turn it is out of those that are crowded out.
std::vector<std::string> LiveScheduler::next_asking() {
  std::map<std::string_view, std::set<LinePlace>> lines;
  for (const std::string& id : crowded_out_) {
    const LiveGang* gang = table_.find(id);
    lines[GangTable::namespace_of(id)].insert(
        gang != nullptr && gang->place ? *gang->place
                                       : LinePlace{.settled = true, .behind = 0, .created_seconds = 0, .id = id});
  }
  std::vector<std::string> chosen;
  const std::size_t share =
      std::clamp<std::size_t>(kMostAskingInAll / std::max<std::size_t>(1, lines.size()), 4, kMostAsking);
  for (auto& [ns, line] : lines) {
    if (chosen.size() >= kMostAskingInAll) {
      break;
    }
    std::size_t left = std::min(share, line.size());
    const auto take = [&](std::set<LinePlace>::iterator it) {
      chosen.push_back(it->id);
      asked_last_.insert_or_assign(std::string(ns), *it);
      line.erase(it);
      --left;
    };
    const auto last = asked_last_.find(ns);
    const auto resume = last == asked_last_.end() ? std::nullopt : std::optional(last->second);
    for (const std::size_t first = left - left / 4; left > first;) {
      chosen.push_back(line.begin()->id);
      line.erase(line.begin());
      --left;
    }
    while (left > 0) {
      auto it = resume ? line.upper_bound(*resume) : line.begin();
      take(it == line.end() ? line.begin() : it);
    }
  }
  for (const std::string& id : chosen) {
    crowded_out_.erase(id);
  }
  if (crowded_out_.empty()) {
    asked_last_.clear();
  }
  return chosen;
}

// The texts of the budgets of a namespace.
std::vector<const std::string*> LiveScheduler::budgets_of(std::string_view ns) const {
  const std::string prefix = std::string(ns) + "/";
  std::vector<const std::string*> texts;
  for (auto it = budgets_.lower_bound(prefix); it != budgets_.end() && it->first.starts_with(prefix); ++it) {
    texts.push_back(&it->second);
  }
  return texts;
}

// Whether it takes too long to find out whom the budgets of the namespace protect.
bool LiveScheduler::too_many_budgets(std::string_view ns) const {
  const std::vector<const std::string*> texts = budgets_of(ns);
  std::size_t bytes = 0;
  for (const std::string* text : texts) {
    bytes += text->size();
  }
  return texts.size() > kMostBudgets || bytes > kMostBudgetBytes;
}

// The bundles all of whose pods are settled on nodes, of lower priority than that; not those that ask, and not what
// queues have admitted, which goes as a whole or not at all.
std::vector<LiveScheduler::Bundle> LiveScheduler::evictable(std::int64_t below,
                                                            const std::map<std::string, Bundle>& asking) {
  std::vector<Bundle> found;
  std::set<std::string> seen;
  for (const auto& [front, bundle] : asking) {
    seen.insert(bundle.begin(), bundle.end());
  }
  std::map<std::string, bool> known;  // by namespace
  const auto too_many_budgets = [&](std::string_view ns) {
    const auto [it, fresh] = known.try_emplace(std::string(ns));
    it->second = fresh ? this->too_many_budgets(ns) : it->second;
    return it->second;
  };
  const auto settled = [&](const std::string& key) {
    const LivePod& pod = *table_.find_pod(key);
    return !pod.assumed && !pod.deleting && !pod.queued && pod.priority < below;
  };
  for (const auto& [id, gang] : table_.gangs()) {
    if (gang.placed == 0 || seen.contains(id)) {
      continue;
    }
    Bundle bundle = table_.bundle(id);
    seen.insert(bundle.begin(), bundle.end());
    const bool all = std::all_of(bundle.begin(), bundle.end(), [&](const std::string& member) {
      const LiveGang* one = table_.find(member);
      return one == nullptr || (one->waiting == 0 && std::all_of(one->pods.begin(), one->pods.end(), settled));
    });
    const bool shielded = std::any_of(bundle.begin(), bundle.end(), [&](const std::string& member) {
      return too_many_budgets(GangTable::namespace_of(member));
    });
    if (all && !shielded && !table_.one_sided(bundle)) {
      found.push_back(std::move(bundle));
    }
  }
  return found;
}

// Pods of those who ask run too, in part; they are not evicted for themselves or for each other. Nor are those whom a
// budget protects: the API server would refuse some of the evictions, and a gang would be broken for nothing.
void LiveScheduler::shield(const std::map<std::string, Bundle>& asking) {
  std::set<std::string> shielded;
  for (const auto& [front, bundle] : asking) {
    shielded.insert(bundle.begin(), bundle.end());
  }
  std::vector<RunningGang> running = cluster_.running();
  const std::vector<DisruptionBudget> budgets = cluster_.budgets();
  cluster_.forget_running();
  for (const DisruptionBudget& budget : budgets) {
    static_cast<void>(cluster_.add_budget(budget));
  }
  for (RunningGang& gang : running) {
    gang.evictable = gang.evictable && !shielded.contains(GangTable::id_of(gang.key)) &&
                     std::all_of(gang.budgets.begin(), gang.budgets.end(), [&](const auto& budget) {
                       return budget.second <= budgets[budget.first.index()].allowed;
                     });
    cluster_.add_running(std::move(gang));
  }
}

// Tried as if those that are going had gone: who only waits for them evicts nobody else.
void LiveScheduler::preempt_for(Submission submission, const Bundle& bundle, Time now, Step& step) {
  for (const std::string& key : going_) {
    cluster_.lend(key);
  }
  Quota quota;
  std::vector<Submission> queue;
  queue.push_back(std::move(submission));
  const std::vector<RunningGang> before = cluster_.running();
  const std::vector<DisruptionBudget> budgets = cluster_.budgets();
  const Plan plan = run_cycle(cluster_, quota, std::move(queue));
  for (const std::string& key : going_) {
    cluster_.take_back(key);
  }
  const Decision& decision = plan.decisions.front();
  if (decision.state != GangState::kPlaced) {
    return;
  }
  if (!within(budgets, before, plan.evictions)) {
    undo(decision, plan.evictions);
    return;
  }
  Reservation reservation{.bundle = bundle, .pods = {}, .blockers = {}, .until = now + kReservedFor};
  for (const std::string& key : going_) {
    const LivePod* pod = table_.find_pod(key);
    reservation.blockers.emplace(key, pod == nullptr ? "" : pod->uid);
  }
  std::string who;
  int leaving = 0;
  for (const Eviction& eviction : plan.evictions) {
    for (const std::string& id : table_.bundle(GangTable::id_of(eviction.key))) {
      const LiveGang* gang = table_.find(id);
      for (const std::string& key : gang == nullptr ? std::set<std::string>() : gang->pods) {
        if (!table_.find_pod(key)->node.empty() && !table_.find_pod(key)->ended()) {
          cluster_.take_back(key);
          ++leaving;
          reservation.blockers.emplace(key, table_.find_pod(key)->uid);
        }
      }
    }
    evict(table_.bundle(GangTable::id_of(eviction.key)), to_string(eviction.reason), eviction.message, now, step);
    who += fmt::format("{}{}/{}", who.empty() ? "" : ", ", eviction.key.ns, eviction.key.name);
  }
  const std::string message = who.empty() ? std::string("pods that are being deleted have still to leave its room")
                                          : fmt::format("{} {} to make room ({} pods)", who,
                                                        plan.evictions.size() == 1 ? "has" : "have", leaving);
  tell(bundle, {.state = GangState::kWaiting, .reason = Reason::kPreempting, .message = message}, now, step);
  reservation.pods = assume(decision, now);
  // Only those count that are where the gang goes.
  std::set<std::string_view> nodes;
  for (const std::string& key : reservation.pods) {
    nodes.insert(cluster_.node_of(key));
  }
  std::erase_if(reservation.blockers, [&](const auto& one) { return !nodes.contains(cluster_.node_of(one.first)); });
  reservations_.push_back(std::move(reservation));
  keep_reservations(now, step);
}

// Takes back what a plan gave away.
void LiveScheduler::undo(const Decision& decision, const std::vector<Eviction>& evictions) {
  for (const PodSetDecision& set : decision.pod_sets) {
    for (const HostShare& share : set.hosts) {
      cluster_.inventory().give(share.node, set.requests, share.count);
    }
  }
  for (const Eviction& eviction : evictions) {
    for (const std::string& id : table_.bundle(GangTable::id_of(eviction.key))) {
      const LiveGang* gang = table_.find(id);
      for (const std::string& key : gang == nullptr ? std::set<std::string>() : gang->pods) {
        if (!table_.find_pod(key)->node.empty() && !table_.find_pod(key)->ended()) {
          cluster_.take_back(key);
        }
      }
    }
  }
}

void LiveScheduler::evict(const Bundle& bundle, std::string_view reason, std::string_view why, Time now, Step& step) {
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
      const LivePod& pod = *table_.find_pod(key);
      if (pod.node.empty() || pod.ended() || pod.deleting) {
        continue;
      }
      order_pod(step, WriteVerb::kEvict, key, 1);
      notify(step,
             {.about = pod_ref(key, pod.uid), .warning = true, .reason = reason, .action = "Evicting", .note = why},
             now);
    }
  }
}

// Another pod may have come under the same name.
bool LiveScheduler::is_gone(const std::string& key, const std::string& uid) {
  if (uid.empty()) {
    return !going_.contains(key);
  }
  const LivePod* pod = table_.find_pod(key);
  return pod == nullptr || pod->uid != uid || pod->node.empty() || pod->ended();
}

// It may be long since the room was given: the API server binds to any node, whatever became of it.
bool LiveScheduler::still_good(const Reservation& reservation) const {
  const Inventory& inventory = cluster_.inventory();
  return std::all_of(reservation.pods.begin(), reservation.pods.end(), [&](const std::string& key) {
    const auto node = inventory.find(cluster_.node_of(key));
    if (!node || !inventory.alive(*node) || !inventory.node(*node).ready || inventory.node(*node).unschedulable) {
      return false;
    }
    for (std::size_t r = 0; r < inventory.resources().size(); ++r) {
      if (inventory.free(*node, make_id<ResourceTag>(r)) < 0) {
        return false;
      }
    }
    return true;
  });
}

void LiveScheduler::keep_reservations(Time now, Step& step) {
  std::erase_if(reservations_, [&](Reservation& reservation) {
    std::erase_if(reservation.blockers, [&](const auto& one) { return is_gone(one.first, one.second); });
    const bool whole = std::all_of(reservation.pods.begin(), reservation.pods.end(), [&](const std::string& key) {
      const LivePod* pod = table_.find_pod(key);
      return pod != nullptr && pod->assumed;
    });
    if (whole && reservation.blockers.empty() && still_good(reservation)) {
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
    if (whole && !reservation.blockers.empty() && now < reservation.until) {
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

#include "view/present.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "cycle/cycle.h"
#include "dialects/not_live.h"
#include "dialects/signs.h"

namespace gantree::view {

namespace {

constexpr const char* kNotYet = "NotLookedAtYet";
constexpr const char* kNoJobYet = "NoJobYet";

// The topology that covers the gang's hosts; the first where none does.
TopologyId topology_of(Cluster& cluster, const std::vector<Holding>& holdings) {
  for (std::size_t t = 0; t < cluster.engine().topologies(); ++t) {
    const auto id = make_id<TopologyTag>(t);
    const DomainTree& tree = cluster.engine().tree(id);
    if (std::any_of(holdings.begin(), holdings.end(),
                    [&](const Holding& holding) { return tree.host_of(holding.node) != DomainTree::kNowhere; })) {
      return id;
    }
  }
  return make_id<TopologyTag>(0);
}

// One pod set for each name and size of pods that it has.
std::vector<PodSetDecision> sets_of(Cluster& cluster, const std::vector<Holding>& holdings) {
  const TopologyId topology = topology_of(cluster, holdings);
  std::map<std::pair<std::string, Amounts>, std::map<NodeId, int>> sets;
  for (const Holding& holding : holdings) {
    sets[{holding.pod_set, holding.requests}][holding.node] += holding.count;
  }
  std::vector<PodSetDecision> made;
  for (const auto& [what, hosts] : sets) {
    PodSetDecision& set = made.emplace_back();
    set.name = what.first.empty() ? "pods" : what.first;
    set.topology = topology;
    set.requests = what.second;
    for (const auto& [node, count] : hosts) {
      set.hosts.push_back({node, count});
      set.count += count;
    }
    set.asked = set.count;
  }
  return made;
}

// A pod of a Deployment, or one by itself, that asks for nothing but to run.
bool is_plain_pod(const RunningGang& gang) {
  return gang.key.kind == "Pod" && gang.dialect.empty();
}

// Makes pods each of which is worth something by itself.
bool is_of_many(std::string_view kind) {
  return kind == "Deployment" || kind == "ReplicaSet";
}

// Of a replica the set that it is one of: replicas are no objects by themselves.
GangKey set_of(const GangKey& key) {
  if (key.kind != "LeaderWorkerSet" && !is_of_many(key.kind)) {
    return key;
  }
  const std::size_t dash = key.name.rfind('-');
  return {.ns = key.ns, .name = key.name.substr(0, dash), .kind = key.kind};
}

template <class Value>
const Value* look_up(const std::map<GangKey, Value>& map, const GangKey& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

// What is known of one gang.
struct Evidence {
  const RunningGang* running = nullptr;
  const Submission* asks = nullptr;
  const GangRecord* record = nullptr;
  const GangSigns* signs = nullptr;

  [[nodiscard]] int bound() const { return signs == nullptr ? 0 : signs->bound; }
  [[nodiscard]] int pending() const { return signs == nullptr ? 0 : signs->pending; }
};

struct Judgement {
  Presence state;
  Saying why = {};
};

// It has pods on hosts.
Judgement judge_bound(const Evidence& known) {
  const GangSigns& signs = *known.signs;
  if (signs.leaving == signs.bound) {
    return {Presence::kEvicting,
            signs.leaves.empty() ? Saying{.reason = "Terminating", .message = "its pods are being deleted", .since = {}}
                                 : signs.leaves};
  }
  const Saying& rest = signs.pending > 0 ? signs.waits : Saying{};
  if (known.asks != nullptr && known.asks->begun == Begun::kTooFew) {
    return {Presence::kWaiting, rest};
  }
  return {signs.begun > 0 ? Presence::kRunning : Presence::kAdmitted, rest};
}

// It has none, and its family keeps a record of it.
std::optional<Judgement> judge_by_record(const Evidence& known) {
  const GangRecord& record = *known.record;
  const Saying said = saying_of(record.reason, record.message, record.told);
  switch (record.standing) {
    case Standing::kAdmitted:
      if (!record.reserved) {
        return Judgement{Presence::kAdmitted, known.pending() > 0 ? known.signs->waits : Saying{}};
      }
      return Judgement{Presence::kWaiting, said};
    case Standing::kDeactivated: {
      // What is wrong with it is also why it was deactivated.
      const bool invalid = said.message != record.message;
      return Judgement{invalid ? Presence::kRejected : Presence::kInactive,
                       invalid ? said : Saying{to_string(Reason::kDeactivated), record.message, record.told}};
    }
    case Standing::kSuspended:
      return Judgement{Presence::kInactive, {to_string(Reason::kSuspended), record.message, record.told}};
    case Standing::kWaits:
      if (!record.pause.empty()) {
        return Judgement{Presence::kWaiting,
                         {to_string(Reason::kEvicted), fmt::format("its pods were not ready in time: {}", record.pause),
                          record.told}};
      }
      return said.empty() ? std::nullopt : std::optional(Judgement{Presence::kWaiting, said});
    case Standing::kEvicted:
    case Standing::kFinished:
      break;
  }
  return std::nullopt;
}

Judgement judge(const GangKey& key, const std::string& dialect, const Evidence& known) {
  if (known.record != nullptr && known.record->standing == Standing::kEvicted) {
    return {Presence::kEvicting, saying_of(known.record->reason, known.record->message, known.record->told)};
  }
  if (known.bound() > 0) {
    return judge_bound(known);
  }
  if (auto said = known.record == nullptr ? std::nullopt : judge_by_record(known)) {
    return std::move(*said);
  }
  if (known.running != nullptr) {
    return {Presence::kRunning, {.reason = {}, .message = "by its status: none of its pods is known", .since = {}}};
  }
  if (known.signs != nullptr && !known.signs->waits.empty()) {
    return {Presence::kWaiting, known.signs->waits};
  }
  if (key.kind == "CronJob") {
    return {Presence::kInactive, {kNoJobYet, "what asks is the next Job that it makes", {}}};
  }
  if (const std::string nobody = nobody_starts(key.kind, dialect); !nobody.empty()) {
    return {Presence::kWaiting, {to_string(Reason::kUnknownOwner), nobody, {}}};
  }
  return {Presence::kWaiting, {}};
}

class Observer {
 public:
  Observer(Cluster& cluster, const Reading& reading, Source source)
      : cluster_(cluster), reading_(reading), source_(source) {
    for (const RunningGang& gang : cluster.running()) {
      if (!is_plain_pod(gang)) {
        known_[gang.key].running = &gang;
      }
    }
    for (const auto& [key, signs] : reading.signs) {
      if (signs.maker && is_of_many(signs.maker->kind)) {
        makers_.insert(*signs.maker);
      }
    }
    for (const Submission& submission : reading.queue) {
      if (!is_stored(submission.key)) {
        planned_.insert(submission.key);
      } else {
        asked_.emplace(set_of(submission.key), submission.dialect);
        if (!is_pod_of_many(submission)) {
          known_[submission.key].asks = &submission;
        }
      }
    }
    add_pods_of_many();
    for (auto& [key, known] : known_) {
      known.record = look_up(reading.records, key);
      known.signs = look_up(reading.signs, key);
    }
  }

  [[nodiscard]] const std::set<GangKey>& planned() const { return planned_; }

  [[nodiscard]] std::vector<PresentGang> gangs() const {
    std::vector<PresentGang> gangs;
    for (const auto& [key, known] : known_) {
      if (known.record == nullptr || known.record->standing != Standing::kFinished) {
        gangs.push_back(gang_of(key, known));
      }
    }
    std::stable_sort(gangs.begin(), gangs.end(),
                     [](const PresentGang& a, const PresentGang& b) { return a.state < b.state; });
    return gangs;
  }

 private:
  [[nodiscard]] bool is_stored(const GangKey& key) const {
    const GangSigns* own = look_up(reading_.signs, key);
    const GangSigns* set = look_up(reading_.signs, set_of(key));
    return source_ == Source::kCluster || is_told(key) || (own != nullptr && own->stored) ||
           (set != nullptr && set->stored);
  }

  // Whether its record says more than that there is one.
  [[nodiscard]] bool is_told(const GangKey& key) const {
    const GangRecord* record = look_up(reading_.records, key);
    return record != nullptr && (record->standing != Standing::kWaits || !record->reason.empty());
  }

  // Pods of a Deployment wait one by one, under names that the Deployment does not know.
  [[nodiscard]] bool is_pod_of_many(const Submission& submission) const {
    return is_of_many(submission.key.kind) && makers_.contains(set_of(submission.key));
  }
  void add_pods_of_many() {
    for (const auto& [key, signs] : reading_.signs) {
      const bool waits = key.kind == "Pod" && signs.bound == 0 && signs.pending > 0;
      if (waits && signs.maker && is_of_many(signs.maker->kind) && asked_.contains(*signs.maker)) {
        known_.try_emplace(key);
      }
    }
  }

  [[nodiscard]] std::string dialect_of(const Evidence& known) const {
    if (known.running != nullptr || known.asks != nullptr) {
      return known.running != nullptr ? known.running->dialect : known.asks->dialect;
    }
    const auto maker = known.signs != nullptr && known.signs->maker ? asked_.find(*known.signs->maker) : asked_.end();
    return maker == asked_.end() ? std::string() : maker->second;
  }

  [[nodiscard]] PresentGang gang_of(const GangKey& key, const Evidence& known) const {
    PresentGang gang;
    gang.key = key;
    gang.dialect = dialect_of(known);
    auto [state, why] = judge(key, gang.dialect, known);
    gang.state = state;
    gang.why = std::move(why);
    if (state == Presence::kWaiting && gang.why.empty()) {
      const bool no_pods = known.record == nullptr && known.pending() == 0 && gang.dialect == "lws";
      gang.why = {kNotYet, no_pods ? "none of its pods is there yet" : "the scheduler has not looked at it yet", {}};
    }
    if (known.running != nullptr) {
      gang.pod_sets = sets_of(cluster_, known.running->holdings);
    }
    if (known.record != nullptr && known.record->standing == Standing::kAdmitted) {
      gang.flavors = known.record->flavors;
      add_admitted(*known.record, gang);
    }
    if (known.asks != nullptr) {
      add_asked(*known.asks, gang);
    }
    if (gang.pod_sets.empty() && known.signs != nullptr && known.signs->pending > 0) {
      gang.pod_sets.emplace_back().name = "pods";
      gang.pod_sets.back().count = gang.pod_sets.back().asked = known.signs->pending;
    }
    return gang;
  }

  // Where hosts are held for it, they tell more.
  static void add_admitted(const GangRecord& record, PresentGang& gang) {
    if (!gang.pod_sets.empty()) {
      return;
    }
    for (const AdmittedSet& set : record.sets) {
      PodSetDecision& own = gang.pod_sets.emplace_back();
      own.name = set.name;
      own.count = own.asked = set.count;
    }
    gang.domains = record.sets;
    std::erase_if(gang.domains, [](const AdmittedSet& set) { return set.domains.empty(); });
  }

  // Pods that it lacks; all of them where it has none.
  static void add_asked(const Submission& asks, PresentGang& gang) {
    const bool none = gang.pod_sets.empty();
    for (const auto& [name, count] : asks.pod_sets) {
      const auto same = std::find_if(gang.pod_sets.begin(), gang.pod_sets.end(),
                                     [&](const PodSetDecision& set) { return set.name == name; });
      if (none) {
        PodSetDecision& set = gang.pod_sets.emplace_back();
        set.name = name;
        set.count = set.asked = count;
      } else if (gang.domains.empty() && !gang.pod_sets.empty() && !gang.pod_sets.front().hosts.empty()) {
        (same == gang.pod_sets.end() ? gang.pod_sets.front() : *same).asked += count;
      }
    }
  }

  Cluster& cluster_;
  const Reading& reading_;
  const Source source_;
  std::map<GangKey, Evidence> known_;
  std::map<GangKey, std::string> asked_;  // sets and jobs that ask, and who speaks for them
  std::set<GangKey> makers_;              // of pods each of which is worth something by itself
  std::set<GangKey> planned_;
};

}  // namespace

const char* to_string(Presence presence) {
  switch (presence) {
    case Presence::kRunning:
      return "Running";
    case Presence::kAdmitted:
      return "Admitted";
    case Presence::kEvicting:
      return "Evicting";
    case Presence::kWaiting:
      return "Waiting";
    case Presence::kInactive:
      return "Inactive";
    case Presence::kRejected:
      return "Rejected";
  }
  return "?";
}

Present what_is(Cluster& cluster, Quota& quota, Reading reading, Source source) {
  const Observer observer(cluster, reading, source);
  Present present{.gangs = observer.gangs(), .planned = {}};
  const std::set<GangKey> planned = observer.planned();
  if (!planned.empty()) {
    present.planned = run_cycle(cluster, quota, std::move(reading.queue));
    std::erase_if(present.planned.decisions, [&](const Decision& one) { return !planned.contains(one.key); });
    std::erase_if(present.planned.evictions, [&](const Eviction& one) { return !planned.contains(one.by); });
  }
  return present;
}

std::vector<PresentGang> present_gangs(Cluster& cluster, const Reading& reading, Source source) {
  return Observer(cluster, reading, source).gangs();
}

const PresentGang* find(const std::vector<PresentGang>& gangs, const GangKey& key) {
  const auto found = std::find_if(gangs.begin(), gangs.end(), [&](const PresentGang& gang) { return gang.key == key; });
  if (found != gangs.end() || !is_of_many(key.kind)) {
    return found == gangs.end() ? nullptr : &*found;
  }
  const std::string names = set_of(key).name + "-";
  const auto pod = std::find_if(gangs.begin(), gangs.end(), [&](const PresentGang& gang) {
    return gang.key.kind == "Pod" && gang.key.ns == key.ns && gang.key.name.starts_with(names) &&
           !has_place(gang.state);
  });
  return pod == gangs.end() ? nullptr : &*pod;
}

bool has_place(Presence state) {
  return state == Presence::kRunning || state == Presence::kAdmitted || state == Presence::kEvicting;
}

}  // namespace gantree::view

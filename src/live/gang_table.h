// Who belongs together on a live cluster: pods by gang, and gangs that start as one.
//
// One thread owns it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "dialects/live.h"
#include "live/pod_needs.h"

namespace gantree {

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

// A pod that is ours to place.
//
//   waiting ──decided──► assumed ──seen──► bound ──► ended
//      ▲                    │
//      └──── bind failed ───┘
struct LivePod {
  std::string uid;
  std::string gang;  // id; see GangTable
  std::string text;  // as LiveObject; where assumed, with the node in it; "" where it has ended
  std::string node;  // bound or assumed
  PodPhase phase = PodPhase::kPending;
  std::int64_t priority = 0;
  bool assumed = false;
  bool gated = false;
  bool deleting = false;
  bool queued = false;  // it waits in, or came from, a queue, which may keep room for it
  // What its condition PodScheduled says: by the API, or by a write of ours.
  std::unique_ptr<PodNeeds> needs;  // where it waits and has any
  std::string told_reason;
  std::string told_message;
  Time told_at = {};

  [[nodiscard]] bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  [[nodiscard]] bool waits() const { return node.empty() && !gated && !deleting && !ended(); }
};

struct LiveGang {
  std::set<std::string> pods;  // keys: namespace/name
  std::string object;          // text of what defines it; "" where nothing does
  const LiveDialect* dialect = nullptr;
  std::vector<std::string> partners;
  MemberCounts counts;
  int waiting = 0;  // pods that want a place
  int placed = 0;   // pods that have one, be it only assumed
  std::optional<Verdict> verdict;
  Time waiting_since = {};  // the first pod that waits now
  Time retry_at = {};       // not before, after a failure
  int failures = 0;         // binds that were refused, in a row
  Time reported_at = {};
  int report_failures = 0;          // statuses that were refused, in a row
  Time judged_at = {};              // when the verdict was given
  std::optional<Verdict> reported;  // as the status of its object was last told
  Time details_at = {};             // when that was
};

class GangTable {
 public:
  // Pods of no gang are gangs of their own, under this id.
  [[nodiscard]] static std::string alone(std::string_view key) { return "/" + std::string(key); }
  // The gang for which a decision was made.
  [[nodiscard]] static std::string id_of(const GangKey& key) {
    const std::string name = key.ns + "/" + key.name;
    return key.kind == "Pod" ? alone(name) : name;
  }

  [[nodiscard]] LivePod* find_pod(std::string_view key);
  // Puts the pod in the place of what was known of it.
  void put_pod(const std::string& key, LivePod pod, Time now);
  void remove_pod(const std::string& key);
  // Changes a known pod, and its gang's counts with it.
  template <class Change>
  void change_pod(const std::string& key, Time now, const Change& change) {
    LivePod& pod = pods_.at(key);
    const Time since = waiting_since(pod.gang, now);
    count(pod, -1, now);
    change(pod);
    count(pod, 1, since);
  }

  [[nodiscard]] LiveGang* find(std::string_view id);
  void define(const std::string& id, const LiveDialect& dialect, std::string text, std::vector<std::string> partners);
  void undefine(const std::string& id);
  // What pods say of their gang's partners counts, all of it together, where no object defines it.
  void add_partners(const std::string& id, const std::vector<std::string>& partners);

  // All gangs that start together with this one, itself included, sorted. Both have to say so: nobody can hold up
  // another's gang by naming it.
  [[nodiscard]] std::vector<std::string> bundle(const std::string& id) const;
  // Whether some gang of the bundle names a partner that does not name it.
  [[nodiscard]] bool one_sided(const std::vector<std::string>& bundle) const;
  // The gangs with pods that want a place.
  [[nodiscard]] const std::set<std::string>& waiting() const { return waiting_; }
  [[nodiscard]] const std::map<std::string, LiveGang, std::less<>>& gangs() const { return gangs_; }
  [[nodiscard]] std::size_t pods() const { return pods_.size(); }
  // The lowest priority of a pod that has a node; nothing where none has.
  [[nodiscard]] std::optional<std::int64_t> lowest_bound() const;

 private:
  // `since`: when the first of its gang's pods began to wait, if it is this one.
  void count(const LivePod& pod, int sign, Time since);
  // Since when pods of the gang wait; now, where none does.
  [[nodiscard]] Time waiting_since(const std::string& id, Time now) const;
  void drop_if_empty(const std::string& id);

  std::map<std::string, LivePod, std::less<>> pods_;
  std::map<std::string, LiveGang, std::less<>> gangs_;
  std::set<std::string> waiting_;
  std::map<std::int64_t, int> bound_;  // pods that have a node, by priority
};

}  // namespace gantree

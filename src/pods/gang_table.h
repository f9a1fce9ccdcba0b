// Who belongs together on a live cluster: pods by gang, and gangs that start as one.
//
// One thread owns it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "dialects/live.h"
#include "pods/pod_needs.h"

namespace gantree {

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

// A pod that is ours to place.
//
//   waiting ──decided──► assumed ──seen──► bound ──► ended
//      ▲                    │
//      └──── bind failed ───┘
struct LivePod {
  std::string uid;
  std::string gang;       // id; see GangTable
  std::string text;       // as LiveObject; where assumed, with the node in it; "" where it has ended
  std::string node;       // bound or assumed
  int rank = -1;          // among the pods of its gang, as its annotations say or are about to; -1: none
  std::string hint;       // where it is only assumed: the annotations with which it is bound
  std::string nominated;  // the node on which room is made for it, as its status says; only where it has none
  PodPhase phase = PodPhase::kPending;
  std::int64_t priority = 0;
  std::int64_t created_seconds = 0;
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

// Where a gang with pods that wait stands in the line of its namespace. Only as good as can be told without reading its
// objects: it says who is looked at first, not who goes first.
struct LinePlace {
  bool settled = true;      // none of its pods has a node: who holds room that is not enough goes before all others
  std::int64_t behind = 0;  // the highest priority of its waiting pods, negated
  std::int64_t created_seconds = 0;
  std::string id;
  friend auto operator<=>(const LinePlace&, const LinePlace&) = default;
};
using Line = std::set<LinePlace>;

struct LiveGang {
  std::set<std::string> pods;  // keys: namespace/name
  std::string object;          // text of what defines it; "" where nothing does
  std::string refusal;         // why what defines it is not looked at, as a sentence; "" where it is
  const LiveDialect* dialect = nullptr;
  std::vector<std::string> partners;  // sorted
  std::int64_t created_seconds = 0;   // of what defines it, else of the first of its pods
  std::int64_t priority = 0;          // the highest that a pod of it had since the first began to wait
  std::size_t bytes = 0;              // of the texts of its pods
  std::optional<LinePlace> place;     // where pods of it wait
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

// So many gangs may start as one. Who is connected to more, by lists that contradict each other, stands alone.
inline constexpr std::size_t kMostPartners = 100;

class GangTable {
 public:
  // The namespace of a gang, and of a pod of no gang.
  [[nodiscard]] static std::string_view namespace_of(std::string_view id) {
    id.remove_prefix(id.starts_with('/') ? 1 : 0);
    return id.substr(0, id.find('/'));
  }
  // Pods of no gang are gangs of their own, under this id.
  [[nodiscard]] static std::string alone(std::string_view key) { return "/" + std::string(key); }
  // The gang for which a decision was made: namespace/name, and behind that the family, where its key has one.
  [[nodiscard]] static std::string id_of(const GangKey& key) {
    const std::string name = key.ns + "/" + key.name;
    return key.kind == "Pod" ? alone(name) : key.family.empty() ? name : name + kOfFamily + key.family;
  }
  // The same without the family, as people know it.
  [[nodiscard]] static std::string_view name_of(std::string_view id) { return id.substr(0, id.find(kOfFamily)); }
  [[nodiscard]] static std::string_view family_of(std::string_view id) {
    const std::size_t at = id.find(kOfFamily);
    return at == std::string_view::npos ? std::string_view() : id.substr(at + 1);
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
  void define(const std::string& id, const LiveDialect& dialect, std::string text, std::vector<std::string> partners,
              std::int64_t created_seconds);
  void undefine(const std::string& id);
  // What pods say of their gang's partners counts, all of it together, where no object defines it.
  void add_partners(const std::string& id, const std::vector<std::string>& partners);

  // All gangs that start together with this one, itself included, sorted. Both have to say so: nobody can hold up
  // another's gang by naming it.
  [[nodiscard]] std::vector<std::string> bundle(const std::string& id) const;
  // Whether it stands alone for being connected to too many. Known after bundle().
  [[nodiscard]] bool overgrown(std::string_view id) const { return overgrown_.contains(id); }
  // Whether some gang of the bundle names a partner that does not name it.
  [[nodiscard]] bool one_sided(const std::vector<std::string>& bundle) const;
  // The gangs with pods that want a place.
  [[nodiscard]] const std::set<std::string>& waiting() const { return waiting_; }
  // The same by namespace, in line.
  [[nodiscard]] const std::map<std::string, Line, std::less<>>& lines() const { return lines_; }
  // Those of them of which other pods have a node, be it only assumed; and those that start together with others, of
  // which pods may have one.
  [[nodiscard]] const std::set<std::string>& partial() const { return partial_; }
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
  // Puts the gang where it belongs in its line.
  void stand_in_line(const std::string& id, LiveGang& gang);

  std::map<std::string, LivePod, std::less<>> pods_;
  std::map<std::string, LiveGang, std::less<>> gangs_;
  std::set<std::string> waiting_;
  std::set<std::string> partial_;
  std::map<std::string, Line, std::less<>> lines_;
  // Gangs that are connected to too many, as long as nobody says anything else of partners.
  mutable std::set<std::string, std::less<>> overgrown_;
  std::map<std::int64_t, int> bound_;  // pods that have a node, by priority
};

}  // namespace gantree

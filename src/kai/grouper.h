// KAI's pod grouper on a live cluster: pods are followed to their topmost owner, that gets a PodGroup, and the pods are
// told which one it is. Events in, intended writes out, the clock passed in.
//
//   pod ──► owners (Makers) ──► which group (Target) ──► PodGroup made, or brought up to date ──► pod marked
//
// Names of groups follow from their owners, so that nothing is made twice when a replica restarts in between; all truth
// is in API objects. PodGroups that users made are never changed, nor are pods that join one by themselves.
//
// One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "dialects/kai/neighbour.h"
#include "dialects/object.h"
#include "kai/makers.h"
#include "kai/pod_group_object.h"
#include "kai/target.h"
#include "kai/topology_names.h"
#include "live/guard.h"
#include "live/object.h"
#include "live/order.h"

namespace gantree::kai {

struct GrouperOptions {
  std::string instance = "gantree";  // who writes events
  // Pods of these are Gantree's. Those of KAI's scheduler are grouped; those of others where they speak KAI.
  std::vector<std::string> schedulers = {"gantree", "kai-scheduler"};
};

class Grouper {
 public:
  // `orders`: how many were given by all families; must outlive it.
  Grouper(std::uint64_t& orders, GrouperOptions options);

  // All that has to be watched.
  [[nodiscard]] static std::vector<ApiKind> kinds();

  // An object as it is now, of any kind: those that are none of its business are passed over. Fails where it is
  // malformed; then what was known of it stays.
  [[nodiscard]] Result<> changed(const LiveObject& object, Time now);
  void removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name, Time now);

  // To be called when all that is known has been handed over, by the leader alone. Adds orders, remarks and the time by
  // which to call again.
  void step(Time now, Step& step);
  // Whether the order was one of its own.
  bool answered(std::uint64_t order, Answer answer, std::string_view why, Time now);

  // Whether the API server knows PodGroups of KAI. While it does not, no pod is touched.
  void serve(bool pod_groups);
  // Another led meanwhile, and may have left something undone.
  void start_leading();

  // Why it keeps off, in one sentence; nothing where it works.
  [[nodiscard]] std::optional<std::string> keeps_off() const { return neighbour_.kai_runs(); }
  // Whether it has still to mark that pod: until then nobody knows its gang.
  [[nodiscard]] bool is_on_its_way(std::string_view ns, std::string_view pod) const;
  // Why a pod gets no PodGroup, in one sentence; "" where it has one, or soon will, or is none of its business.
  [[nodiscard]] std::string complaint(std::string_view ns, std::string_view pod) const;

 private:
  // A pod of one of our schedulers that has not ended.
  struct Pod {
    LiveObject object;
    PodMarks marks;
    std::uint64_t seen = 0;  // how often it was told of
    std::string group = {};  // key; "" where it belongs to none
    std::string complaint = {};
    Guard guard = {};
    std::set<std::string> makers = {};  // keys of those that its group follows from
  };
  struct Group {
    std::string ns;
    std::string name;
    std::optional<LiveObject> object = {};  // as it is in the API
    bool ours = true;                       // by its annotation
    std::string version = {};
    std::set<std::string> members = {};   // keys of pods
    std::set<std::string> unmarked = {};  // of those: to be looked at
    std::string complaint = {};
    std::string said = {};     // by an event, last
    std::string refusal = {};  // why the last write was refused
    Guard guard = {};
  };

  [[nodiscard]] Result<> pod_changed(const LiveObject& object);
  [[nodiscard]] Result<> group_changed(const LiveObject& object);
  void forget_pod(const std::string& key);
  void follow(const std::string& key, Pod& pod, const Ancestry& ancestry);
  void leave_group(const std::string& key, Pod& pod);
  void look_again(const std::string& maker, Makers::Change change);

  [[nodiscard]] Ancestry ancestry_of(const Pod& pod) const;
  void place(const std::string& key, Time now, Step& step);
  void attend(const std::string& key, Time now, Step& step);
  [[nodiscard]] LivePods live_pods(const Group& group) const;
  [[nodiscard]] bool bring_up(Group& group, const WantedGroup& wanted, Time now, Step& step);
  void warn(Group& group, const OwnerRef& owner, const WantedGroup& wanted, Time now, Step& step);
  void mark_members(Group& group, const Workload* workload, const GroupSpec& spec, Time now, Step& step);
  void mark(const std::string& key, Pod& pod, Group& group, const std::string& subgroup, Time now, Step& step);
  void complain(const ObjectRef& about, const std::string& sentence, Time now, Step& step);
  std::uint64_t order(Step& step, Urgency urgency, Write write);
  [[nodiscard]] bool has_class(std::string_view name) const;

  std::uint64_t& orders_;
  GrouperOptions options_;
  bool serving_ = true;
  Makers makers_;
  Neighbour neighbour_;
  TopologyNames topologies_;
  std::set<std::string, std::less<>> classes_;
  std::map<std::string, Pod, std::less<>> pods_;            // by namespace/name
  std::map<std::string, Group, std::less<>> groups_;        // by namespace/name
  std::map<std::string, std::set<std::string>> followers_;  // pods by the keys of their makers
  std::set<std::string> unplaced_;                          // pods whose group is to be found
  std::set<std::string> unattended_;                        // groups to be looked at
  struct Sent {
    std::string pod = {};
    std::string group = {};
  };
  std::map<std::uint64_t, Sent> sent_;
};

}  // namespace gantree::kai

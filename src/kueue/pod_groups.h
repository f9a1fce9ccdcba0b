// Pods that wait in a queue by themselves: alone, or as a group that is admitted as one, whoever made them.
//
// They are held back by the gate `kueue.x-k8s.io/admission`, and have a Workload when all of them are there; those of
// a StatefulSet or of a replica of a LeaderWorkerSet as soon as there is enough of them to know what all ask for. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "dialects/object.h"
#include "dialects/write.h"
#include "json/value.h"
#include "kueue/job.h"
#include "live/object.h"

namespace gantree::kueue {

// The pod set of pods that name no role.
inline constexpr std::string_view kMainSet = "main";

struct GroupPod {
  ObjectRef ref;
  std::string role;        // the name of its pod set
  bool held = false;       // behind the gate
  bool released = false;   // it carries the mark of an admission
  bool finalizer = false;  // it stays until we have let go of it
  bool deleting = false;
  bool bound = false;  // it has a node
  bool succeeded = false;
  bool failed = false;
  bool ready = false;
  bool last_try = false;  // where it fails the group is not to have another in its place
  std::int64_t created = 0;
  std::string text;              // of a held pod: what the pod set is made from
  bool asked = false;            // a write of ours to it is under way, or done and not seen
  bool told = false;             // that there is no place for it
  bool told_incomplete = false;  // that others are missing

  [[nodiscard]] bool ended() const { return succeeded || failed; }
  // Whether no other is needed for it: not as long as it still runs.
  [[nodiscard]] bool stands() const { return !failed && (!deleting || bound); }
  // Whether it counts as a member: it waits, runs, or has done its part.
  [[nodiscard]] bool counts() const { return succeeded || (!failed && !deleting); }
};

struct PodGroup {
  std::string ns;
  std::string name;  // of its Workload
  std::string uid;   // by which its Workload is known as its own
  bool single = false;
  bool serving = false;  // it does not end by itself
  bool fast = false;     // one pod is enough to ask for all
  int total = 1;
  std::string queue;
  std::string priority_class;
  std::optional<ObjectRef> owner;        // the StatefulSet or LeaderWorkerSet that makes its pods
  std::string replica_of;                // the LeaderWorkerSet whose replica it is
  std::string worker;                    // a pod as that one's other pods will be, where it says so
  std::map<std::string, GroupPod> pods;  // by namespace/name
  std::optional<Time> empty_since = {};  // it has a Workload and no pods

  [[nodiscard]] std::string key() const { return ns + "/" + name; }
  // Whether it is known what it asks for.
  [[nodiscard]] bool complete() const;
  // Whether it still asks for so many pods by pod set.
  [[nodiscard]] bool asks_for(const std::map<std::string, int>& counts) const;
  // The same of all pods together.
  [[nodiscard]] bool asks_for_total(const std::map<std::string, int>& counts) const;
  // Whether pods have to be made in place of others. `over`: pods by pod set that are known to have succeeded.
  [[nodiscard]] bool lacks_pods(const std::map<std::string, int>& counts, const std::map<std::string, int>& over) const;
  // Whether its pods are those of a StatefulSet.
  [[nodiscard]] bool stateful() const;
  // Pods that wait for nothing, since there are enough without them, or since they are like no other of the group.
  [[nodiscard]] std::vector<std::string> excess(const std::map<std::string, int>& counts) const;
};

inline constexpr std::string_view kStatefulSet = "StatefulSet";

// By this its Workload is known, as if it had an owner.
[[nodiscard]] std::string group_uid(std::string_view ns, std::string_view name);

// How far a group is. `over`: pods by pod set that are known to have succeeded, also those that are gone since.
[[nodiscard]] JobProgress progress_of(const PodGroup& group, const std::map<std::string, int>& over);

// The pod sets that a complete group asks for, by name. Templates point into `documents`.
[[nodiscard]] std::vector<SetSpec> sets_of(const PodGroup& group, std::vector<json::Document>& documents);

class PodGroups {
 public:
  // A pod as it is now. Returns the keys of the groups that changed: its own, and the one that it was in before.
  [[nodiscard]] std::vector<std::string> see(const LiveObject& pod, const Object& object);
  [[nodiscard]] std::vector<std::string> lose(std::string_view pod);
  // The group of a Workload, which may have lost all its pods while nobody looked.
  void expect(std::string_view ns, std::string_view name);
  void forget(const std::string& key);
  // A LeaderWorkerSet: whose replicas its pods are, and what they will be. Returns the groups that changed.
  [[nodiscard]] std::vector<std::string> see_replicated(const LiveObject& set, const Object& object);
  void lose_replicated(std::string_view ns, std::string_view name);
  // A StatefulSet: how many pods it is to have. What its pods say of it is of the time when its template was written,
  // and it can be scaled without that. Returns the groups that changed.
  [[nodiscard]] std::vector<std::string> see_stateful(const LiveObject& set, const Object& object);
  void lose_stateful(std::string_view ns, std::string_view name);

  // nullptr where there is none.
  [[nodiscard]] PodGroup* find(const std::string& key);
  [[nodiscard]] PodGroup* group_of_pod(const std::string& pod);

 private:
  struct Replicated {
    ObjectRef ref;
    std::string worker;
  };
  void join(PodGroup& group) const;

  std::map<std::string, Replicated> replicated_;  // by namespace/name
  std::map<std::string, int> stateful_;           // replicas by namespace/name
  std::map<std::string, PodGroup> groups_;
  std::map<std::string, std::string, std::less<>> group_of_;  // by pod
};

}  // namespace gantree::kueue

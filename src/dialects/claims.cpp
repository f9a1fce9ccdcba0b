#include "dialects/claims.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace gantree {

namespace {

using OwnerKey = std::tuple<std::string_view, std::string_view, std::string_view>;  // namespace, kind, name

// The labels by which controllers name what their pods belong to, also where the objects in between are not in the
// input.
struct OwnerLabel {
  std::string_view label;
  std::string_view kind;
};
constexpr OwnerLabel kOwnerLabels[] = {
    {"leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet"},
    {"jobset.sigs.k8s.io/jobset-name", "JobSet"},
};

// Owner references that are followed; no controller nests deeper, and input may go round in circles.
constexpr int kMaxOwners = 32;

// Who made what.
class Family {
 public:
  explicit Family(Intake& intake) {
    for (Workload& workload : intake.workloads) {
      workloads_.emplace(OwnerKey{workload.key.ns, workload.key.kind, workload.key.name}, &workload);
    }
    for (const PodRecord& pod : intake.pods) {
      pods_.emplace(std::pair(pod.ns, pod.name), &pod);
    }
    for (Workload& workload : intake.workloads) {
      Workload* parent = top(workload.key.ns, workload.owner);
      if (in_circle_ || parent == &workload) {
        intake.reading.notes.push_back(
            fmt::format("{}: the owners of {} \"{}/{}\" go round in a circle: they do not count",
                        json::to_string(workload.place()), workload.key.kind, workload.key.ns, workload.key.name));
        continue;
      }
      workload.parent = parent;
    }
  }

  // The topmost workload of a pod; nullptr where the input has none.
  [[nodiscard]] Workload* top(const PodRecord& pod) {
    for (const auto& [label, kind] : kOwnerLabels) {
      if (const json::Value name = text_at(pod.labels(), label)) {
        if (Workload* workload = find(pod.ns, kind, name.text())) {
          return workload;
        }
      }
    }
    Workload* workload = top(pod.ns, pod.owner);
    return workload != nullptr ? workload : deployment(pod);
  }

 private:
  [[nodiscard]] Workload* find(std::string_view ns, std::string_view kind, std::string_view name) const {
    const auto it = workloads_.find(OwnerKey{ns, kind, name});
    return it == workloads_.end() ? nullptr : it->second;
  }

  // Pods may own, too: the workers of a LeaderWorkerSet belong to their leader.
  [[nodiscard]] Workload* top(std::string_view ns, Owner owner) {
    Workload* topmost = nullptr;
    in_circle_ = false;
    for (int step = 0; owner.present(); ++step) {
      if (step == kMaxOwners) {
        in_circle_ = true;
        return nullptr;
      }
      if (Workload* workload = find(ns, owner.kind, owner.name)) {
        topmost = workload;
        owner = workload->owner;
        continue;
      }
      const auto pod = owner.kind == "Pod" ? pods_.find(std::pair(ns, owner.name)) : pods_.end();
      if (pod == pods_.end()) {
        break;
      }
      owner = pod->second->owner;
    }
    return topmost;
  }

  // The Deployment of a pod whose ReplicaSet is not in the input: that is named after both.
  [[nodiscard]] Workload* deployment(const PodRecord& pod) const {
    const json::Value hash = text_at(pod.labels(), "pod-template-hash");
    if (pod.owner.kind != "ReplicaSet" || !hash || !pod.owner.name.ends_with(hash.text()) ||
        pod.owner.name.size() < hash.text().size() + 2) {
      return nullptr;
    }
    return find(pod.ns, "Deployment", pod.owner.name.substr(0, pod.owner.name.size() - hash.text().size() - 1));
  }

  std::map<OwnerKey, Workload*> workloads_;
  std::map<std::pair<std::string_view, std::string_view>, const PodRecord*> pods_;
  bool in_circle_ = false;  // the last look-up did not end
};

Result<> link_pods(Family& family, Intake& intake) {
  for (PodRecord& pod : intake.pods) {
    pod.workload = family.top(pod);
    if (pod.workload != nullptr) {
      pod.workload->bound_pods += pod.bound() ? 1 : 0;
      pod.workload->pending_pods += pod.bound() || pod.deleting ? 0 : 1;
    } else if (!pod.bound() && !pod.deleting && pod.spec()) {
      auto made = read_workload({pod.object, pod.ns, pod.name});
      if (!made) {
        return tl::unexpected(made.error());
      }
      pod.workload = &intake.workloads.emplace_back(std::move(*made));
    }
  }
  return {};
}

void claim(std::span<const std::unique_ptr<Dialect>> dialects, Intake& intake, Workload& workload) {
  const Dialect* best = nullptr;
  const Dialect* second = nullptr;
  Claim surest = Claim::kNone;
  for (const auto& dialect : dialects) {
    const Claim claim = dialect->claim(workload, intake);
    if (claim > surest) {
      surest = claim;
      best = dialect.get();
      second = nullptr;
    } else if (claim == Claim::kMarked) {
      second = dialect.get();
    }
  }
  if (best == nullptr) {
    ++intake.reading.ignored[fmt::format("{} of other schedulers", workload.key.kind)];
    return;
  }
  workload.dialect = best->name();
  if (second != nullptr) {
    intake.reading.notes.push_back(fmt::format("{} \"{}/{}\" carries marks of {} and of {}: it is taken as {}",
                                               workload.key.kind, workload.key.ns, workload.key.name, best->name(),
                                               second->name(), best->name()));
  }
}

}  // namespace

Result<> settle_claims(std::span<const std::unique_ptr<Dialect>> dialects, Intake& intake) {
  Family family(intake);
  if (auto linked = link_pods(family, intake); !linked) {
    return linked;
  }
  for (Workload& workload : intake.workloads) {
    const int pods = workload.pods();
    // A status counts pods that wait as active, too.
    const bool waits = workload.pending_pods > 0 && workload.bound_pods < pods;
    workload.running = (workload.running && !waits) || (pods > 0 && workload.bound_pods >= pods);
    if (workload.parent == nullptr && !workload.over) {
      claim(dialects, intake, workload);
    }
  }
  return {};
}

}  // namespace gantree

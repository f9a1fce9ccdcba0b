#include "dialects/claims.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace gantree {

namespace {

using OwnerKey = std::tuple<std::string_view, std::string_view, std::string_view>;  // namespace, kind, name

// Follows owners upwards. Input may go round in circles; a chain is never longer than the list.
class Family {
 public:
  explicit Family(std::deque<Workload>& workloads) {
    for (Workload& workload : workloads) {
      by_key_.emplace(OwnerKey{workload.key.ns, workload.key.kind, workload.key.name}, &workload);
    }
    for (Workload& workload : workloads) {
      workload.parent = find(workload.key.ns, workload.owner);
    }
  }

  [[nodiscard]] Workload* find(std::string_view ns, const Owner& owner) const {
    const auto it = by_key_.find(OwnerKey{ns, owner.kind, owner.name});
    return owner.present() && it != by_key_.end() ? it->second : nullptr;
  }

  [[nodiscard]] Workload* top(std::string_view ns, const Owner& owner) const {
    Workload* workload = find(ns, owner);
    for (std::size_t step = 0; workload != nullptr && workload->parent != nullptr && step < by_key_.size(); ++step) {
      workload = find(workload->key.ns, workload->owner);
    }
    return workload;
  }

 private:
  std::map<OwnerKey, Workload*> by_key_;
};

Result<> link_pods(const Family& family, Intake& intake) {
  for (PodRecord& pod : intake.pods) {
    pod.workload = family.top(pod.ns, pod.owner);
    if (pod.workload != nullptr) {
      pod.workload->bound_pods += pod.bound() ? 1 : 0;
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
  const Family family(intake.workloads);
  if (auto linked = link_pods(family, intake); !linked) {
    return linked;
  }
  for (Workload& workload : intake.workloads) {
    const int pods = workload.pods();
    workload.running = workload.running || (pods > 0 && workload.bound_pods >= pods);
    if (workload.parent == nullptr && !workload.over) {
      claim(dialects, intake, workload);
    }
  }
  return {};
}

}  // namespace gantree

#include "dialects/running.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/timestamp.h"
#include "dialects/core/label_selector.h"
#include "dialects/core/metadata.h"
#include "dialects/core/priority.h"
#include "dialects/kueue/names.h"
#include "dialects/lws/names.h"

namespace gantree {

namespace {

constexpr std::string_view kJobSetName = "jobset.sigs.k8s.io/jobset-name";
constexpr std::string_view kReplicatedJob = "jobset.sigs.k8s.io/replicatedjob-name";

// The pod set of a pod as plans call it; "" where nothing tells.
std::string pod_set_of(const PodRecord& pod) {
  if (const json::Value index = text_at(pod.labels(), lws::kWorkerIndex)) {
    return index.text() == "0" ? "leader" : "workers";
  }
  for (const std::string_view label : {kueue::kPodSetLabel, kReplicatedJob}) {
    if (const json::Value name = text_at(pod.labels(), label)) {
      return std::string(name.text());
    }
  }
  return pod.workload != nullptr && pod.workload->templates.size() == 1 ? pod.workload->templates.front().role
                                                                        : std::string();
}

// Since when its node has it; where that is not known, since it was created.
std::int64_t since_seconds(const PodRecord& pod) {
  const json::Value started = text_at(map_at(pod.object.value, "status"), "startTime");
  return started ? parse_time(started.text()).value_or(pod.created_seconds) : pod.created_seconds;
}

struct Members {
  const Workload* workload = nullptr;
  std::string_view dialect;
  std::vector<const PodRecord*> pods;
};

class RunningGangs {
 public:
  RunningGangs(std::span<const std::unique_ptr<Dialect>> dialects, Intake& intake)
      : dialects_(dialects), intake_(intake) {}

  void gather() {
    for (const PodRecord& pod : intake_.pods) {
      if (pod.bound() && pod.owner.kind != "DaemonSet" && pod.owner.kind != "Node") {
        add(pod);
      }
    }
    for (const Workload& workload : intake_.workloads) {
      if (workload.running && workload.bound_pods == 0 && !workload.dialect.empty()) {
        Members& members = gangs_[workload.key];
        members.workload = &workload;
        members.dialect = workload.dialect;
      }
    }
  }

  void hand_over() {
    take_budgets();
    for (const auto& [key, members] : gangs_) {
      RunningGang gang = gang_of(key, members);
      if (Dialect* dialect = find(members.dialect)) {
        dialect->describe(members.workload, members.pods, intake_, gang);
        weigh_spare(members, gang);
      }
      intake_.quota.take({gang.used}, {1});
      intake_.cluster.add_running(std::move(gang));
    }
  }

 private:
  [[nodiscard]] Dialect* find(std::string_view name) const {
    for (const auto& dialect : dialects_) {
      if (dialect->name() == name) {
        return dialect.get();
      }
    }
    return nullptr;
  }

  void add(const PodRecord& pod) {
    const PodsGang gang = gang_of_pod(dialects_, pod, intake_);
    join(gang.key, gang.dialect, pod);
  }

  void join(const GangKey& key, std::string_view dialect, const PodRecord& pod) {
    Members& members = gangs_[key];
    members.workload = pod.workload;
    members.dialect = dialect;
    members.pods.push_back(&pod);
  }

  // How many pods may be evicted under a budget, by its status, or by its spec and the pods there are.
  [[nodiscard]] int allowed(std::size_t b) const {
    const BudgetRecord& budget = intake_.core.budgets[b];
    if (budget.allowed) {
      return *budget.allowed;
    }
    std::int64_t pods = 0;
    std::int64_t healthy = 0;
    for (const auto& [pod, covering] : covered_) {
      if (std::find(covering.begin(), covering.end(), b) != covering.end()) {
        ++pods;
        healthy += pod->bound() && !pod->deleting ? 1 : 0;
      }
    }
    // A percentage is of all pods, rounded up.
    const auto share = [&](json::Value value) {
      std::int64_t number = 0;
      const std::string_view text = value.text();
      std::from_chars(text.data(), text.data() + text.size(), number);
      return text.ends_with('%') ? (number * pods + 99) / 100 : number;
    };
    const std::int64_t wanted = budget.min_available     ? share(budget.min_available)
                                : budget.max_unavailable ? pods - share(budget.max_unavailable)
                                                         : 0;
    return static_cast<int>(std::max<std::int64_t>(0, healthy - std::max<std::int64_t>(0, wanted)));
  }

  void take_budgets() {
    const std::vector<BudgetRecord>& budgets = intake_.core.budgets;
    for (const PodRecord& pod : intake_.pods) {
      std::vector<std::size_t> covering;
      std::optional<LabelMap> labels;
      for (std::size_t b = 0; b < budgets.size(); ++b) {
        if (budgets[b].ns != pod.ns) {
          continue;
        }
        if (!labels) {
          json::Reader read("", "");
          labels = read_labels(read, pod.object.metadata(), "labels");
        }
        if (matches(budgets[b].selector, *labels)) {
          covering.push_back(b);
        }
      }
      if (!covering.empty()) {
        covered_.emplace(&pod, std::move(covering));
      }
    }
    for (std::size_t b = 0; b < budgets.size(); ++b) {
      intake_.cluster.add_budget({.name = budgets[b].ns + "/" + budgets[b].name, .allowed = allowed(b)});
    }
  }

  // What each part above the minimum holds, and the budgets that protect it.
  void weigh_spare(const Members& members, RunningGang& gang) {
    std::map<std::string, const PodRecord*> by_name;
    for (const PodRecord* pod : gang.spare.empty() ? std::vector<const PodRecord*>() : members.pods) {
      by_name.emplace(std::string(pod->ns) + "/" + std::string(pod->name), pod);
    }
    for (SparePods& spare : gang.spare) {
      std::map<BudgetId, int> under;
      for (const std::string& name : spare.pods) {
        const PodRecord& pod = *by_name.at(name);
        spare.holdings.push_back({.node = intake_.cluster.inventory().reserve(pod.node),
                                  .requests = pod.requests,
                                  .count = 1,
                                  .pod_set = pod_set_of(pod)});
        if (const auto covering = covered_.find(&pod); covering != covered_.end()) {
          for (const std::size_t b : covering->second) {
            ++under[make_id<DisruptionBudgetTag>(b)];
          }
        }
      }
      spare.budgets.assign(under.begin(), under.end());
    }
  }

  RunningGang gang_of(const GangKey& key, const Members& members) {
    RunningGang gang;
    gang.key = key;
    gang.dialect = members.dialect;
    // Pods on their way out are no part of it any more, though they take room; unless all of them are.
    const bool leaves =
        std::all_of(members.pods.begin(), members.pods.end(), [](const PodRecord* pod) { return pod->deleting; });
    std::map<std::tuple<NodeId, Amounts, std::string>, int> holdings;
    for (const PodRecord* pod : members.pods) {
      if (pod->deleting && !leaves) {
        continue;
      }
      ++holdings[{intake_.cluster.inventory().reserve(pod->node), pod->requests, pod_set_of(*pod)}];
      const std::int64_t priority = pod_priority(pod->spec(), intake_.core);
      gang.priority = pod == members.pods.front() ? priority : std::max(gang.priority, priority);
      gang.started_seconds = std::max(gang.started_seconds, pod->created_seconds);
      const std::int64_t since = since_seconds(*pod);
      gang.since_seconds = gang.since_seconds == 0 || since == 0 ? std::max(gang.since_seconds, since)
                                                                 : std::min(gang.since_seconds, since);
    }
    for (const auto& [what, count] : holdings) {
      const auto& [node, requests, pod_set] = what;
      gang.holdings.push_back({.node = node, .requests = requests, .count = count, .pod_set = pod_set});
    }
    std::map<BudgetId, int> under;
    for (const PodRecord* pod : members.pods) {
      if (const auto covering = covered_.find(pod); covering != covered_.end()) {
        for (const std::size_t b : covering->second) {
          ++under[make_id<DisruptionBudgetTag>(b)];
        }
      }
    }
    gang.budgets.assign(under.begin(), under.end());
    return gang;
  }

  std::span<const std::unique_ptr<Dialect>> dialects_;
  Intake& intake_;
  std::map<GangKey, Members> gangs_;
  std::unordered_map<const PodRecord*, std::vector<std::size_t>> covered_;  // budgets of the pods that have any
};

}  // namespace

PodsGang gang_of_pod(std::span<const std::unique_ptr<Dialect>> dialects, const PodRecord& pod, const Intake& intake) {
  for (const auto& dialect : dialects) {
    if (auto key = dialect->gang_of(pod, intake)) {
      return {.key = std::move(*key), .dialect = dialect->name()};
    }
  }
  // Each pod of a Deployment is worth something by itself.
  const std::string_view maker = pod.workload != nullptr ? std::string_view(pod.workload->key.kind) : pod.owner.kind;
  if (maker == "Deployment" || maker == "ReplicaSet") {
    return {.key = {std::string(pod.ns), std::string(pod.name), "Pod"},
            .dialect = pod.workload != nullptr ? pod.workload->dialect : std::string_view{}};
  }
  if (pod.workload != nullptr) {
    return {.key = pod.workload->key, .dialect = pod.workload->dialect};
  }
  if (const json::Value set = text_at(pod.labels(), kJobSetName)) {
    return {.key = {std::string(pod.ns), std::string(set.text()), "JobSet"}, .dialect = ""};
  }
  if (pod.owner.present()) {
    return {.key = {std::string(pod.ns), std::string(pod.owner.name), std::string(pod.owner.kind)}, .dialect = ""};
  }
  return {.key = {std::string(pod.ns), std::string(pod.name), "Pod"}, .dialect = ""};
}

void take_running(std::span<const std::unique_ptr<Dialect>> dialects, Intake& intake) {
  RunningGangs gangs(dialects, intake);
  gangs.gather();
  gangs.hand_over();
}

}  // namespace gantree

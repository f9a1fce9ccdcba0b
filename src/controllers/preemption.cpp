#include "controllers/preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace gantree::controllers {

namespace {

// More nodes than these are not looked at for one pod.
constexpr std::size_t kMostNodes = 200;

bool is_protected(const Item& pod, const View& view) {
  for (const Item* budget : view.in_namespace(Kind::kPodDisruptionBudget, pod.ns)) {
    const Object root = budget->value();
    const Object* selector = object_at(root, {"spec", "selector"});
    if (selector != nullptr && selects(selector, pod.labels) && whole_at(root, {"status", "disruptionsAllowed"}) <= 0) {
      return true;
    }
  }
  return false;
}

struct Candidate {
  Fitting::Without without;  // with those that leave anyway
  std::vector<const Item*> victims;
  std::size_t forbidden = 0;
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();

  [[nodiscard]] auto cost() const { return std::make_tuple(forbidden, highest, victims.size()); }
};

// All that may go are thought away; then as many come back as can, the most important first.
std::optional<Candidate> candidate_on(const Host& host, const Fitting& fitting, const View& view) {
  Candidate candidate;
  std::vector<const Item*> lesser;
  for (const Item* pod : view.pods_on(host.node->name)) {
    if (!takes_room(*pod)) {
      continue;
    }
    if (pod->deleting()) {
      candidate.without.pods.push_back(pod);
    } else if (pod->pod->priority < fitting.pod().pod->priority) {
      lesser.push_back(pod);
    }
  }
  // Whoever leaves anyway makes room enough: nobody else has to.
  if (!candidate.without.pods.empty() && fitting.check(host, &candidate.without) == Obstacle::kNone) {
    return candidate;
  }
  std::vector<const Item*>& away = candidate.without.pods;
  away.insert(away.end(), lesser.begin(), lesser.end());
  if (lesser.empty() || fitting.check(host, &candidate.without) != Obstacle::kNone) {
    return std::nullopt;
  }
  std::stable_sort(lesser.begin(), lesser.end(), [](const Item* a, const Item* b) {
    return std::make_tuple(-a->pod->priority, a->created) < std::make_tuple(-b->pod->priority, b->created);
  });
  for (const Item* pod : lesser) {
    away.erase(std::find(away.begin(), away.end(), pod));
    if (fitting.check(host, &candidate.without) != Obstacle::kNone) {
      away.push_back(pod);
      candidate.victims.push_back(pod);
      candidate.forbidden += is_protected(*pod, view) ? 1 : 0;
      candidate.highest = std::max(candidate.highest, pod->pod->priority);
    }
  }
  std::reverse(candidate.victims.begin(), candidate.victims.end());
  return candidate;
}

}  // namespace

Preemption find_victims(const Fitting& fitting, const std::vector<const Host*>& taken, Turn& turn) {
  Preemption best;
  const Item& pod = fitting.pod();
  const View& view = turn.view();
  if (text_at(fitting.spec(), {"preemptionPolicy"}) == "Never" || view.hosts().lowest_priority() >= pod.pod->priority) {
    return best;
  }
  std::optional<Candidate> cheapest;
  std::size_t looked_at = 0;
  for (const Host* host : taken) {
    auto candidate = looked_at < kMostNodes ? candidate_on(*host, fitting, view) : std::nullopt;
    looked_at += 1;
    if (candidate && candidate->victims.empty()) {
      return {.node = {}, .victims = {}, .waits = true};
    }
    if (candidate && (!cheapest || candidate->cost() < cheapest->cost())) {
      best.node = host->node->name;
      cheapest = std::move(candidate);
    }
  }
  if (cheapest) {
    best.victims = std::move(cheapest->victims);
  }
  return best;
}

void evict_victims(const Item& pod, const Preemption& preemption, Turn& turn) {
  for (const Item* victim : preemption.victims) {
    Array conditions = conditions_of(victim->value());
    set_condition(conditions,
                  {"DisruptionTarget",
                   "True",
                   "PreemptionByScheduler",
                   "default-scheduler: preempting to accommodate a "
                   "higher priority pod",
                   {},
                   "lastProbeTime"},
                  turn.now());
    turn.patch_status(*victim, Object{{"conditions", std::move(conditions)}});
    turn.remove(*victim);
    turn.tell(*victim, "Normal", "Preempted", fmt::format("Preempted by pod {} on node {}", pod.uid, preemption.node));
  }
}

}  // namespace gantree::controllers

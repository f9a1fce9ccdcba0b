// The simulated kubelet: pods that are bound start, run as long as their annotations say, and stop when told.
//
//   bound ──start delay──► Running, Ready ──run-for──► Succeeded
//                             │      └────fail-after──► Failed (or restarted, by the restart policy)
//                             └── deleted: stops within its grace, then is gone
#include <algorithm>
#include <charconv>
#include <optional>

#include "base/duration.h"
#include "controllers/names.h"
#include "controllers/pod_status.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr int kKilledByRequest = 143;

std::optional<std::chrono::milliseconds> told(const Object& pod, std::string_view annotation) {
  const std::string_view text = text_at(pod, {"metadata", "annotations", annotation});
  const auto duration = text.empty() ? std::nullopt : parse_duration(text);
  return duration ? std::optional(std::chrono::duration_cast<std::chrono::milliseconds>(*duration)) : std::nullopt;
}

// With which code a pod that fails does so.
int told_exit_code(const Object& pod) {
  const std::string_view text = text_at(pod, {"metadata", "annotations", kExitCode});
  int code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  return error == std::errc() && end == text.data() + text.size() && code > 0 && code < 256 ? code : 1;
}

// How long a container takes to end, unless it says otherwise: well before it must.
std::chrono::milliseconds usual_stop(std::chrono::milliseconds grace) {
  return std::min<std::chrono::milliseconds>(std::chrono::seconds(1), grace / 10);
}

void stop(const Item& pod, Turn& turn) {
  const Object root = pod.value();
  const bool ran = pod.pod->phase == Phase::kRunning;
  if (ran) {
    const std::chrono::seconds grace(whole_at(root, {"metadata", "deletionGracePeriodSeconds"}));
    const std::int64_t asked = *pod.deleted - grace.count();
    const auto needs = std::min<std::chrono::milliseconds>(told(root, kStopAfter).value_or(usual_stop(grace)), grace);
    if (const Time end = turn.after(asked, needs); end > turn.now()) {
      turn.again(end);
      return;
    }
    // Others wait to hear how it ended.
    if (pod.finalizers) {
      turn.patch_status(pod, ended_status(root, kKilledByRequest, turn.now()));
      return;
    }
  }
  if (whole_at(root, {"metadata", "deletionGracePeriodSeconds"}, -1) != 0 || !pod.finalizers) {
    turn.remove(pod, 0);
  }
}

void start(const Item& pod, const Item& node, Turn& turn) {
  const Object root = pod.value();
  if (find(root, {"metadata", "annotations", kStayPending}) != nullptr) {
    return;
  }
  std::int64_t since = pod.created;
  if (const Value* scheduled = find_condition(root, "PodScheduled")) {
    since = std::max(since, time_at(*scheduled, {"lastTransitionTime"}));
  }
  if (const Time at = turn.after(since, turn.options().start_delay); at > turn.now()) {
    turn.again(at);
    return;
  }
  turn.patch_status(pod, running_status(root, &node, pod.uid, false, turn.now()));
}

void run(const Item& pod, const Item& node, Turn& turn) {
  const Object root = pod.value();
  const auto good = told(root, kRunFor);
  const auto bad = told(root, kFailAfter);
  if (good || bad) {
    const bool fails = bad && (!good || *bad < *good);
    if (const Time end = turn.after(started_at(root), fails ? *bad : *good); end > turn.now()) {
      turn.again(end);
    } else {
      const std::string_view policy = text_at(root, {"spec", "restartPolicy"});
      const bool restarts = policy == "Always" || policy.empty() || (policy == "OnFailure" && fails);
      turn.patch_status(pod, restarts ? running_status(root, &node, pod.uid, true, turn.now())
                                      : ended_status(root, fails ? told_exit_code(root) : 0, turn.now()));
      return;
    }
  }
  if (!pod.pod->ready && node.node->ready == "True") {
    turn.patch_status(pod, readiness_status(root, true, "", "", turn.now()));
  }
}

}  // namespace

void tend_pod(const Item& pod, Turn& turn) {
  const Item* node = pod.pod->node.empty() ? nullptr : turn.view().find(Kind::kNode, "", pod.pod->node);
  if (node == nullptr || node->node->failed_since != 0) {
    return;
  }
  if (pod.deleting()) {
    stop(pod, turn);
  } else if (pod.pod->phase == Phase::kPending) {
    start(pod, *node, turn);
  } else if (pod.pod->phase == Phase::kRunning) {
    run(pod, *node, turn);
  }
}

}  // namespace gantree::controllers

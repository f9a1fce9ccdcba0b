// The simulated kubelet: pods that are bound start, run as long as their annotations say, and stop when told.
//
//   bound ──start delay──► Running, Ready ──run-for──► Succeeded
//                          │  ▲    │ └──fail-after──► Failed
//                          │  │    └─ by the restart policy ──► CrashLoopBackOff, from the second time on ─┐
//                          │  └──────────────────────────── 10 s, 20 s, ... 5 min ◄──────────────────────┘
//                          └── deleted: stops within its grace, then is gone
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/duration.h"
#include "controllers/names.h"
#include "controllers/pod_needs.h"
#include "controllers/pod_status.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr int kKilledByRequest = 143;
// How often it is looked whether what a pod needs is there.
constexpr std::chrono::seconds kFirstLook{1};
constexpr std::chrono::seconds kLastLook{10};
constexpr std::chrono::seconds kFirstPause{10};
constexpr std::chrono::seconds kLongestPause{300};
// Who ran that long has not crashed.
constexpr std::chrono::seconds kLongLife{600};

// Before the next start, where the containers have crashed so often in a row; the first one follows at once.
std::chrono::seconds pause_after(Crashes crashes) {
  return crashes < 1 ? std::chrono::seconds(0)
                     : std::min(kFirstPause * (1 << std::min<Crashes>(crashes - 1, 5)), kLongestPause);
}

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

std::string address_of(const Item& pod, const Turn& turn) {
  return pod.pod->address.empty() ? turn.view().address_for(pod.uid) : pod.pod->address;
}

// It is looked for again, less and less often.
void wait_for(const Lack& lack, const Item& pod, const Object& root, const Item& node, Turn& turn) {
  const bool mount = !lack.volume.empty();
  const std::size_t before = turn.writes().size();
  turn.patch_status(pod, creating_status(root, &node, mount ? std::string() : address_of(pod, turn),
                                         mount ? "ContainerCreating" : "CreateContainerConfigError",
                                         mount ? std::string() : lack.message, turn.now()));
  if (turn.writes().size() > before) {
    turn.tell(pod, "Warning", mount ? "FailedMount" : "Failed",
              mount ? fmt::format("MountVolume.SetUp failed for volume \"{}\" : {}", lack.volume, lack.message)
                    : fmt::format("Error: {}", lack.message));
  }
  const std::chrono::seconds waited(turn.seconds() - pod.created);
  turn.again(turn.now() + std::clamp(waited / 4, kFirstLook, kLastLook));
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
  if (const auto lack = find_lack(root, pod.ns, turn.view())) {
    wait_for(*lack, pod, root, node, turn);
    return;
  }
  turn.patch_status(pod, running_status(root, &node, address_of(pod, turn), turn.now()));
}

// The containers have ended and are to run again.
void restart(const Item& pod, const Object& root, int exit_code, Turn& turn) {
  const bool lived_long = turn.now() - started_at(root) > turn.scaled(kLongLife);
  const Crashes crashes = lived_long ? 0 : crashes_of(root);
  if (const std::chrono::seconds pause = pause_after(crashes); pause.count() > 0) {
    turn.patch_status(pod, waiting_status(root, exit_code, pause, turn.now()));
    turn.tell(pod, "Warning", "BackOff",
              fmt::format("Back-off restarting failed container in pod {}_{}({})", pod.name, pod.ns, pod.uid));
  } else {
    turn.patch_status(pod, restarted_status(root, exit_code, 1, turn.now()));
  }
}

// What the annotations say of the end of a run.
struct End {
  std::chrono::milliseconds after{0};
  int exit_code = 0;
};

std::optional<End> told_end(const Object& root) {
  const auto good = told(root, kRunFor);
  const auto bad = told(root, kFailAfter);
  if (bad && (!good || *bad < *good)) {
    return End{*bad, told_exit_code(root)};
  }
  return good ? std::optional(End{*good, 0}) : std::nullopt;
}

// In CrashLoopBackOff since then: until the pause is over.
void wait(const Item& pod, const Object& root, Time since, Turn& turn) {
  const Crashes crashes = std::max<Crashes>(crashes_of(root), 1);
  // Times of the API are whole seconds. It ended no sooner than its start and its run say.
  if (const auto end = told_end(root)) {
    since = std::max(since, started_at(root) + turn.scaled(end->after));
  }
  if (const Time at = since + turn.scaled(pause_after(crashes)); at > turn.now()) {
    turn.again(at);
  } else {
    turn.patch_status(pod, restarted_status(root, 0, crashes + 1, turn.now()));
  }
}

void run(const Item& pod, const Item& node, Turn& turn) {
  const Object root = pod.value();
  if (const auto since = waiting_since(root)) {
    wait(pod, root, *since, turn);
    return;
  }
  if (const auto end = told_end(root)) {
    if (const Time at = started_at(root) + turn.scaled(end->after); at > turn.now()) {
      turn.again(at);
    } else {
      const std::string_view policy = text_at(root, {"spec", "restartPolicy"});
      if (policy == "Always" || policy.empty() || (policy == "OnFailure" && end->exit_code != 0)) {
        restart(pod, root, end->exit_code, turn);
      } else {
        turn.patch_status(pod, ended_status(root, end->exit_code, turn.now()));
      }
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

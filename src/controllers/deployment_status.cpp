#include <fmt/format.h>

#include <algorithm>

#include "controllers/deployment_state.h"

namespace gantree::controllers {

namespace {

bool done(const Rollout& rollout, std::int64_t total) {
  return rollout.current && rollout.current->replicas == rollout.replicas && total == rollout.replicas &&
         rollout.current->available >= rollout.replicas;
}

void note_progress(const Rollout& rollout, std::int64_t total, Array& conditions, Turn& turn) {
  const std::string name = rollout.current_name();
  if (rollout.paused) {
    set_condition(conditions,
                  {"Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", {}, "lastUpdateTime"},
                  turn.now());
    return;
  }
  if (done(rollout, total)) {
    set_condition(conditions,
                  {"Progressing",
                   "True",
                   "NewReplicaSetAvailable",
                   fmt::format("ReplicaSet \"{}\" has successfully progressed.", name),
                   {},
                   "lastUpdateTime"},
                  turn.now());
    return;
  }
  const Value* before = find_condition(rollout.root, "Progressing");
  const auto deadline = std::chrono::seconds(whole_at(rollout.root, {"spec", "progressDeadlineSeconds"}, 600));
  const bool same = before != nullptr && text_at(*before, {"reason"}) != "NewReplicaSetAvailable" &&
                    text_at(*before, {"message"}).find(name) != std::string_view::npos;
  const Time end = turn.after(same ? time_at(*before, {"lastUpdateTime"}) : turn.seconds(), deadline);
  if (same && end <= turn.now()) {
    set_condition(conditions,
                  {"Progressing",
                   "False",
                   "ProgressDeadlineExceeded",
                   fmt::format("ReplicaSet \"{}\" has timed out progressing.", name),
                   {},
                   "lastUpdateTime"},
                  turn.now());
    return;
  }
  turn.again(end);
  set_condition(conditions,
                {"Progressing",
                 "True",
                 "ReplicaSetUpdated",
                 fmt::format("ReplicaSet \"{}\" is progressing.", name),
                 {},
                 "lastUpdateTime"},
                turn.now());
}

}  // namespace

void tell_deployment_status(const Rollout& rollout, Turn& turn) {
  std::int64_t total = rollout.current ? rollout.current->replicas : 0;
  std::int64_t ready = rollout.current ? rollout.current->ready : 0;
  std::int64_t now_available = rollout.current ? rollout.current->available : 0;
  for (const Revision& revision : rollout.old) {
    total += revision.replicas;
    ready += revision.ready;
    now_available += revision.available;
  }
  const auto or_nothing = [](std::int64_t count) { return count <= 0 ? Value() : Value(count); };
  Object status;
  status["observedGeneration"] = rollout.deployment.generation;
  status["replicas"] = or_nothing(total);
  status["updatedReplicas"] = or_nothing(rollout.current ? rollout.current->replicas : 0);
  status["readyReplicas"] = or_nothing(ready);
  status["availableReplicas"] = or_nothing(now_available);
  status["unavailableReplicas"] = or_nothing(std::max(total, rollout.total_wanted()) - now_available);
  if (rollout.collisions > 0) {
    status["collisionCount"] = rollout.collisions;
  }
  Array conditions = conditions_of(rollout.root);
  const bool enough = now_available >= rollout.replicas - rollout.unavailable;
  set_condition(conditions,
                {"Available",
                 enough ? "True" : "False",
                 enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                 enough ? "Deployment has minimum availability." : "Deployment does not have minimum availability.",
                 {},
                 "lastUpdateTime"},
                turn.now());
  note_progress(rollout, total, conditions, turn);
  status["conditions"] = std::move(conditions);
  turn.patch_status(rollout.deployment, std::move(status));
}

}  // namespace gantree::controllers

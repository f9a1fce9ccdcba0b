// A Deployment and its ReplicaSets, as one look at them finds them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "controllers/turn.h"

namespace gantree::controllers {

struct Revision {
  const Item* item = nullptr;
  Object root;
  std::int64_t number = 0;
  std::int64_t wanted = 0;    // spec.replicas
  std::int64_t replicas = 0;  // status
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::optional<std::int64_t> desired = std::nullopt;  // the Deployment's size when this one was last sized
  std::int64_t most = 0;                               // and how many pods there could be then
};

struct Rollout {
  Rollout(const Item& deployment, Object root, const std::vector<const Item*>& replica_sets, const Turn& turn);

  [[nodiscard]] std::int64_t total_wanted() const;
  // As far as a ReplicaSet can say it.
  [[nodiscard]] std::int64_t most() const {
    return std::min<std::int64_t>(replicas + surge, std::numeric_limits<std::int32_t>::max());
  }
  // Of the ReplicaSet of the template as it is, whether there is one or not.
  [[nodiscard]] std::string current_name() const;

  const Item& deployment;
  Object root;
  std::string hash;
  std::int64_t collisions = 0;  // names that were somebody else's
  std::int64_t replicas = 1;
  std::int64_t surge = 0;
  std::int64_t unavailable = 0;
  bool recreate = false;
  bool paused = false;
  std::vector<Revision> old;  // oldest first
  std::optional<Revision> current;
};

void set_scale(const Rollout& rollout, const Revision& revision, std::int64_t wanted, Turn& turn);
// The size was changed since the ReplicaSets were sized.
[[nodiscard]] bool resized(const Rollout& rollout);
// Shares a new size among the ReplicaSets that have pods, each by its part. True where something is written.
bool share_new_size(const Rollout& rollout, Turn& turn);
void tell_deployment_status(const Rollout& rollout, Turn& turn);

}  // namespace gantree::controllers

// Why an alternative of a gang did not start, and which of several such reasons to tell.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/decision.h"
#include "queue/quota.h"
#include "queue/submission.h"

namespace gantree {

struct Obstacle {
  Reason reason = Reason::kTopologyBusy;
  int rank = 0;         // lower is nearer to being lifted
  std::string message;  // one sentence
  std::string flavors;  // those of the alternative, as messages name them

  // Whether it stays, whoever leaves.
  [[nodiscard]] bool is_for_ever() const;
};

[[nodiscard]] Obstacle obstacle(const Outcome& refused, const Alternative& alternative);
[[nodiscard]] Obstacle obstacle(Shortage shortage, const Alternative& alternative);

// The nearest to being lifted; the first among equals. Requires at least one.
[[nodiscard]] const Obstacle& nearest(const std::vector<Obstacle>& obstacles);

// One message of all: the nearest in full, some of the others by name and reason.
[[nodiscard]] std::string explain(const std::vector<Obstacle>& obstacles);

}  // namespace gantree

// Room that another part of the program keeps for pods that are ours to bind.
#pragma once

#include <optional>
#include <string>

#include "model/resources.h"

namespace gantree {

// All pods by namespace/name.
class Promises {
 public:
  struct Kept {
    std::string node = {};  // "": not said as yet, so that the pod has to wait
    Amounts requests = {};
  };

  Promises() = default;
  virtual ~Promises() = default;
  Promises(const Promises&) = delete;
  Promises& operator=(const Promises&) = delete;

  // What is kept for a pod that has no node; nothing where nobody keeps anything for it. It may be bound there and
  // nowhere else.
  [[nodiscard]] virtual std::optional<Kept> kept_for(const std::string& pod) const = 0;
  // Whether the room of a pod with a node is its gang's, also when the pod has gone: another may come in its place.
  [[nodiscard]] virtual bool outlives(const std::string& pod) const = 0;
  // The pod is assumed there: what was kept for it is given back to the cluster.
  virtual void redeem(const std::string& pod) = 0;
  // It is not to be bound after all, and is no longer assumed.
  virtual void returned(const std::string& pod) = 0;
};

}  // namespace gantree

// Whether KAI-Scheduler itself is in the cluster: two that group the same pods would undo each other's work.
//
// It is told by its validating webhooks, as Kueue is (dialects/kueue/neighbour.h): the paths of those of its PodGroups,
// Queues and Topologies name their kinds, whatever its release and namespace are called. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "dialects/object.h"

namespace gantree::kai {

// What there is to be listed and watched: ValidatingWebhookConfiguration.
[[nodiscard]] const ApiKind& neighbour_kind();

// Whether one of those is KAI's.
[[nodiscard]] bool is_of_kai(json::Value configuration);

// KAI as seen from a stream of events. One thread owns it.
class Neighbour {
 public:
  // A configuration that was added or has changed, and one that is gone.
  void see(std::string_view name, json::Value configuration);
  void lose(std::string_view name) { configurations_.erase(std::string(name)); }

  // Why to keep off its pods, in one sentence; nothing where KAI is not there.
  [[nodiscard]] std::optional<std::string> kai_runs() const;

 private:
  std::set<std::string> configurations_;  // names of those that are KAI's
};

}  // namespace gantree::kai

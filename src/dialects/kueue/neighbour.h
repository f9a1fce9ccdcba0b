// Whether Kueue itself is in the cluster: two that admit the same workloads would undo each other's work.
//
// It is told by its validating webhooks, which every installation of it has, whatever its release and namespace are
// called: their paths say which kinds they judge. Where they are registered, either Kueue answers them, or nobody does
// and the API server refuses all that is written to these kinds, by us too. Listing and watching webhook
// configurations is all it takes. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "dialects/object.h"

namespace gantree::kueue {

// What there is to be listed and watched.
[[nodiscard]] const ApiKind& neighbour_kind();  // ValidatingWebhookConfiguration

// Whether one of those is Kueue's.
[[nodiscard]] bool is_of_kueue(json::Value configuration);

// Kueue as seen from a stream of events. One thread owns it.
class Neighbour {
 public:
  // A configuration that was added or has changed, and one that is gone.
  void see(std::string_view name, json::Value configuration);
  void lose(std::string_view name) { configurations_.erase(std::string(name)); }

  // Why to keep off its kinds, in one sentence; nothing where Kueue is not there.
  [[nodiscard]] std::optional<std::string> kueue_runs() const;

 private:
  std::set<std::string> configurations_;  // names of those that are Kueue's
};

}  // namespace gantree::kueue

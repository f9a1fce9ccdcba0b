// Lets pods go that waited by themselves: all that an admission gives a pod is in one write.
//
// One thread owns it: the controller's.
#pragma once

#include <string>
#include <vector>

#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "live/order.h"

namespace gantree::kueue {

class PodReleaser {
 public:
  PodReleaser(Ledger& ledger, Outbox& outbox) : ledger_(ledger), outbox_(outbox) {}

  // `domain`: where it is to go; nullptr where that is for the scheduler to say.
  void release(const std::string& key, const Entry& entry, const SetAssignment& set, const AssignedDomain* domain,
               Step& step);
  // As many of these pods as the pod set was given, wherever they go.
  void release_set(const Entry& entry, const SetAssignment& set, const std::vector<std::string>& members, Step& step);

 private:
  Ledger& ledger_;
  Outbox& outbox_;
};

}  // namespace gantree::kueue

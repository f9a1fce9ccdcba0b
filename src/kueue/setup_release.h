// The finalizer by which queues, flavors and topologies stay as long as something uses them: set on those that lack it,
// and taken off those that are being deleted once nothing uses them any more.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "live/guard.h"
#include "live/object.h"
#include "live/order.h"

namespace gantree::kueue {

class SetupRelease {
 public:
  SetupRelease(const Ledger& ledger, Outbox& outbox) : ledger_(ledger), outbox_(outbox) {}

  // `key`: of one of the administrators' objects.
  void changed(const std::string& key, const LiveObject& object, const Object& parsed);
  void removed(const std::string& key) { unsettled_.erase(key); }
  // Sets and takes off what is due. The setup is read.
  void release(Time now, Step& step);
  void answered(const std::string& key, Answer answer, Time now);

 private:
  struct Unsettled {
    ObjectRef ref;
    std::string resource_version;
    std::vector<std::string> others;  // finalizers that are not ours
    bool leaving = false;             // it is being deleted, and has ours; otherwise it lacks ours
    Guard guard;
  };

  [[nodiscard]] bool is_used(const ObjectRef& object) const;

  const Ledger& ledger_;
  Outbox& outbox_;
  std::map<std::string, Unsettled> unsettled_;
};

}  // namespace gantree::kueue

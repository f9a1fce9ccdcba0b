// Queues, flavors and topologies that are being deleted and carry the finalizer by which Kueue keeps what is in use: it
// is taken off once nothing uses them. Gantree sets none itself; clusters that came from Kueue have them.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "kueue/guard.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "live/object.h"
#include "live/order.h"

namespace gantree::kueue {

class SetupRelease {
 public:
  SetupRelease(const Ledger& ledger, Outbox& outbox) : ledger_(ledger), outbox_(outbox) {}

  // `key`: of one of the administrators' objects.
  void changed(const std::string& key, const LiveObject& object, const Object& parsed);
  void removed(const std::string& key) { leaving_.erase(key); }
  // The setup is read.
  void release(Time now, Step& step);
  void answered(const std::string& key, Answer answer, Time now);

 private:
  struct Leaving {
    ObjectRef ref;
    std::string resource_version;
    std::vector<std::string> kept;  // finalizers of others
    Guard guard;
  };

  [[nodiscard]] bool is_used(const ObjectRef& object) const;

  const Ledger& ledger_;
  Outbox& outbox_;
  std::map<std::string, Leaving> leaving_;
};

}  // namespace gantree::kueue

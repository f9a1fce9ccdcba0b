// Writes to Workloads: conditions and other fields of the status, and that they are not active any more.
//
// One thread owns it: the controller's.
#pragma once

#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/write.h"
#include "kueue/entry.h"
#include "kueue/outbox.h"
#include "live/order.h"

namespace gantree::kueue {

class StatusWriter {
 public:
  explicit StatusWriter(Outbox& outbox) : outbox_(outbox) {}

  // `fields` of the status beside the conditions. Does nothing where all is so already.
  void write(Entry& entry, const std::vector<Wanted>& wanted, json::Out::Object fields, Time now, Step& step,
             Urgency urgency = Urgency::kStatus);
  void set_active(Entry& entry, bool active, Step& step);
  void set_priority(Entry& entry, std::int64_t priority, Step& step);
  void remove_finalizer(Entry& entry, std::string_view finalizer, Step& step);

 private:
  void patch(Entry& entry, json::Out body, Step& step);

  Outbox& outbox_;
};

}  // namespace gantree::kueue

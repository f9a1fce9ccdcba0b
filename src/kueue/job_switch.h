// Starts jobs with what their Workloads were given, and stops them.
//
// One thread owns it: the controller's.
#pragma once

#include <string>

#include "json/write.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/own_sets.h"
#include "live/order.h"

namespace gantree::kueue {

class JobSwitch {
 public:
  JobSwitch(Ledger& ledger, Outbox& outbox) : ledger_(ledger), outbox_(outbox) {}

  // `key`: of the job; `own`: what its user wrote, to which is added what it was given.
  void start(JobEntry& job, const std::string& key, const OwnSets& own, const Entry& entry, Step& step);
  void stop(JobEntry& job, const std::string& key, Step& step);
  // Gives a stopped job back its templates as its user wrote them. Whether there is anything to give back.
  [[nodiscard]] bool restore(JobEntry& job, const std::string& key, const Entry& entry, Step& step);

 private:
  // Has the job forget that it ran, without which its templates cannot be changed. Whether it has to.
  [[nodiscard]] bool forget_start(JobEntry& job, const std::string& key, const Object& object, Step& step);
  void patch(JobEntry& job, const std::string& key, json::Out::Array operations, Step& step);

  Ledger& ledger_;
  Outbox& outbox_;
};

}  // namespace gantree::kueue

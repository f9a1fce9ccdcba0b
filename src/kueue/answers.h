// What became of writes: by the answer to an order it is known what may be asked for again, and when.
//
// One thread owns it: the controller's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/queue_reporter.h"
#include "kueue/setup_release.h"

namespace gantree::kueue {

class Answers {
 public:
  Answers(Ledger& ledger, Outbox& outbox, QueueReporter& reporter, SetupRelease& release)
      : ledger_(ledger), outbox_(outbox), reporter_(reporter), release_(release) {}

  // Whether the order was one of ours.
  bool answered(std::uint64_t id, Answer answer, std::string_view why, Time now);
  // What was refused is told to those who wait for it, and to those who run this.
  void tell_complaints(Time now, Step& step);

 private:
  void workload_answered(Entry& entry, const OrderTarget& open, Answer answer, std::string_view why, Time now);
  void job_answered(JobEntry& job, const OrderTarget& open, Answer answer, std::string_view why, Time now);
  void member_answered(const std::string& pod, Answer answer, Time now);
  void pod_answered(const std::string& pod, Answer answer, Time now);
  void complain(const Guard& guard, Answer answer, const ObjectRef& about, std::string sentence);

  Ledger& ledger_;
  Outbox& outbox_;
  QueueReporter& reporter_;
  SetupRelease& release_;
};

}  // namespace gantree::kueue

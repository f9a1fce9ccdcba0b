// Who starts now, and who is evicted for whom: one decision over all families.
//
//   families ──who asks──► lines ──► Starter: one cycle in one order ──► granted
//                                       │ refused
//                                       ▼
//                                    Preemption: victims of any family ──► held until they have left, then granted
//
// One thread owns it.
#pragma once

#include "live/account.h"
#include "live/precedence.h"
#include "live/preemption.h"
#include "live/starter.h"

namespace gantree {

class Decider {
 public:
  explicit Decider(Account& account)
      : precedence_(account), starter_(account, precedence_), preemption_(account, precedence_) {}

  // Families have taken in all that happened.
  void decide(Time now, Step& step) {
    starter_.start(now, step);
    preemption_.preempt(now, step);
  }

 private:
  Precedence precedence_;
  Starter starter_;
  Preemption preemption_;
};

}  // namespace gantree

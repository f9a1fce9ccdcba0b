// A gang, of whichever family, that asks to start; or that was given room which others have still to leave.
//
// A family keeps one for each of its gangs and may add to it. Whoever forgets one takes it out of the lines first.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "dialects/live.h"
#include "live/place.h"
#include "model/quota_demand.h"
#include "queue/submission.h"

namespace gantree {

class Family;

struct Waiter {
  Family* family = nullptr;  // whose it is
  std::string id = {};       // no other gang of any family has the same
  // What it asks for; nothing where that is to be worked out anew.
  std::optional<Submission> submission = {};
  WayDemands least = {};            // what it needs of quota to start at all
  std::uint64_t shape = 0;          // the same where the same is asked for
  std::optional<Place> place = {};  // where it stands; WaitingLines keeps that
  bool missed = false;              // it could not be tried, since a write of ours was not seen yet
  std::optional<Verdict> verdict = {};
  Time waits_since = {};

  // Victims.
  int fruitless = 0;                           // times that none were found for it, in a row
  Time preempts_at = {};                       // not before that somebody is evicted for it
  Time looked_at = {};                         // when victims were looked for last
  std::optional<std::uint64_t> gave_way = {};  // Account::ended when it was evicted for another itself

  // What it was given.
  QuotaDemand used = {};                // booked
  std::set<std::string> blockers = {};  // ids of those that have to leave before it starts: see Leaver
  std::optional<Time> held_until = {};  // its room is kept no longer, where they leave for nobody in particular
};

}  // namespace gantree

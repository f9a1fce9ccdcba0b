// An API family on a live cluster: how its gangs ask, run, are started and are stopped. Who is next, where it goes and
// who is evicted for it is decided for all families together, by the Decider.
//
// One thread owns all families: the Decider's.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "dialects/core/metadata.h"
#include "live/order.h"
#include "live/waiter.h"
#include "model/decision.h"
#include "model/quota_demand.h"
#include "model/running.h"

namespace gantree {

// Is on its way out. Whoever was given its room has that booked already, so that all it has counts as free.
struct Leaver {
  std::string id;  // as a Waiter's blockers name it
  QuotaDemand used = {};
  std::vector<std::string> pods = {};  // keys in the cluster, of what holds room for pods too
  // It goes for those of higher priority alone; nothing: it goes in any case.
  std::optional<std::int64_t> priority = {};
};

// A gang that runs and may be evicted.
struct Victim {
  Family* family = nullptr;
  RunningGang gang;
  // Pods by their labels, where budgets may protect them.
  std::vector<std::pair<LabelMap, int>> labels = {};
};

class Family {
 public:
  Family() = default;
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  // Those whose standing may have changed since this was called last, in the order of their ids: they came to wait,
  // wait for something else, or wait no longer.
  [[nodiscard]] virtual std::vector<Waiter*> take_changed() = 0;
  // Brings submission, least and shape up to date.
  virtual void prepare(Waiter& waiter) = 0;
  [[nodiscard]] virtual bool waits(const Waiter& waiter) const = 0;
  // It waits and is in no line, so that it is in nobody's way. Whatever ends that makes it one of take_changed().
  [[nodiscard]] virtual bool stays_out(const Waiter& waiter, Time now) const = 0;
  // It waits and cannot be tried now. Whatever ends that makes it one of take_changed().
  [[nodiscard]] virtual bool put_off(Waiter& waiter, Time now) = 0;
  // Nothing may be written for it now, since the outcome of the last write was not seen.
  [[nodiscard]] virtual bool is_busy(const Waiter& waiter, Time now) const = 0;

  // At most one of its gangs starts in a pass, and the next when held_up() says nothing any more.
  [[nodiscard]] virtual bool one_by_one() const { return false; }
  // Why none of its gangs may start now, whatever room there is.
  [[nodiscard]] virtual std::optional<Verdict> held_up() const { return std::nullopt; }

  // Why it waits has been written into the waiter.
  virtual void told(Waiter& waiter, Time now, Step& step) = 0;
  // It starts. The cycle has booked quota and hosts: from now on they are the gang's.
  virtual void grant(Waiter& waiter, const Decision& decision, Time now, Step& step) = 0;
  // The same, but others have still to leave: it starts when none of its blockers, which are added afterwards, still
  // leaves.
  virtual void hold(Waiter& waiter, const Decision& decision, Time now) = 0;
  // The hosts on which room is held for it.
  [[nodiscard]] virtual std::set<std::string> held_hosts(const Waiter& waiter) const = 0;
  // Whether somebody's room is held until that one has left.
  [[nodiscard]] virtual bool waits_for(const std::string& leaver) const = 0;

  // Its gangs that run and do not leave, with all that they hold. Of those outside of any queue only the ones of lower
  // priority than that.
  virtual void add_victims(std::int64_t below, std::vector<Victim>& victims) = 0;
  // The same with the quota that they use and nothing of where they are; and the quota of those that leave. Of families
  // with queues.
  virtual void add_usage(std::vector<RunningGang>& /*running*/, std::vector<QuotaDemand>& /*leaving*/) const {}
  // The lowest priority of a gang of it that runs outside of any queue, or might; nothing where none does.
  [[nodiscard]] virtual std::optional<std::int64_t> lowest_running() const { return std::nullopt; }
  // Those that leave. One that does not go, though it has had time for it, is not waited for.
  virtual void add_leavers(Time now, std::vector<Leaver>& leavers) = 0;
  [[nodiscard]] virtual bool still_leaves(const std::string& id) const = 0;
  // Evicts one of its victims for another gang, of this or another family: all of it, or only the pods above its
  // minimum that the eviction names.
  virtual Leaver evict(const RunningGang& victim, const Waiter& by, const Eviction& eviction, Time now, Step& step) = 0;
  // A gang of that priority, of whichever family, was given room on those hosts which others have still to leave.
  virtual void make_way(const std::set<std::string>& /*hosts*/, std::int64_t /*priority*/, Step&) {}
  // It was given a victim's place, and is told whose.
  virtual void told_of_victim(const Waiter& /*by*/, const std::string& /*victim*/, const Eviction& /*eviction*/, Time,
                              Step&) {}
};

}  // namespace gantree

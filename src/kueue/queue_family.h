// Kueue's Workloads as gangs among those of other families: how they ask, what they hold, how they are admitted and
// evicted.
//
// One thread owns it: the controller's.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "kueue/announcer.h"
#include "kueue/booking.h"
#include "kueue/evictions.h"
#include "kueue/grants.h"
#include "kueue/ledger.h"
#include "live/family.h"

namespace gantree::kueue {

class QueueFamily final : public Family {
 public:
  // `one_by_one`: as ReadyRules has it.
  QueueFamily(Ledger& ledger, Booking& booking, Grants& grants, Evictions& evictions, Announcer& announcer,
              bool one_by_one);
  ~QueueFamily() override;

  [[nodiscard]] std::vector<Waiter*> take_changed() override;
  void prepare(Waiter& waiter) override;
  [[nodiscard]] bool waits(const Waiter& waiter) const override;
  [[nodiscard]] bool stays_out(const Waiter& waiter, Time now) const override;
  [[nodiscard]] bool put_off(Waiter& waiter, Time now) override;
  [[nodiscard]] bool is_busy(const Waiter& waiter, Time now) const override;
  [[nodiscard]] bool one_by_one() const override { return one_by_one_; }
  // The pods of one have to be ready before another is admitted.
  [[nodiscard]] std::optional<Verdict> held_up() const override;
  void told(Waiter& waiter, Time now, Step& step) override;
  void grant(Waiter& waiter, const Decision& decision, Time now, Step& step) override;
  void hold(Waiter& waiter, const Decision& decision, Time now) override;
  [[nodiscard]] std::set<std::string> held_hosts(const Waiter& waiter) const override;
  [[nodiscard]] bool waits_for(const std::string& leaver) const override;
  void add_victims(std::int64_t below, std::vector<Victim>& victims) override;
  void add_usage(std::vector<RunningGang>& running, std::vector<QuotaDemand>& leaving) const override;
  void add_leavers(Time now, std::vector<Leaver>& leavers) override;
  [[nodiscard]] bool still_leaves(const std::string& id) const override;
  Leaver evict(const RunningGang& victim, const Waiter& by, const Eviction& eviction, Time now, Step& step) override;
  void told_of_victim(const Waiter& by, const std::string& victim, const Eviction& eviction, Time now,
                      Step& step) override;

  // Others decide on its Workloads, or nobody does: they are not evicted for anyone.
  void rest(bool rests) { rests_ = rests; }

 private:
  [[nodiscard]] bool is_unsettled(const Entry& entry, Time now) const;
  [[nodiscard]] std::optional<RunningGang> running_gang(const Entry& entry) const;
  [[nodiscard]] Leaver leaver_of(const Entry& entry) const;

  Ledger& ledger_;
  Booking& booking_;
  Grants& grants_;
  Evictions& evictions_;
  Announcer& announcer_;
  bool one_by_one_;
  bool rests_ = false;
};

}  // namespace gantree::kueue

// What gangs of pods use of the quota of their queues, on the account of all families.
//
// A reading makes the queues of its families anew, in a Quota of its own. Here they stand behind those of other
// families on the account, so that what was read is translated by the two numbers of what is before them.
//
//   granted ──► booked as it was decided ──gang changed──► measured: booked as what runs, or is assumed, asks for
//
// One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dialects/live.h"
#include "live/account.h"
#include "model/running.h"
#include "queue/quota.h"
#include "queue/submission.h"

namespace gantree {

class QuotaUse {
 public:
  explicit QuotaUse(Account& account) : account_(account) {}

  // The account's queues were made anew since set_up(), so that ours are missing.
  [[nodiscard]] bool is_stale() const { return version_ != account_.quota_version; }
  // Adds our queues to those on the account. Nothing is booked from now on: every gang has to be measured.
  void set_up(const Quota& queues);
  [[nodiscard]] bool has_queues() const { return queues_ > 0; }

  // What was read, by the ids of the account.
  void translate(Submission& submission) const;
  void translate(RunningGang& gang) const;

  // The cycle has booked this for a gang, in addition to what it has.
  void grant(const std::string& gang, const QuotaDemand& demand);
  // It runs, and uses this and nothing else. Where it has no queue, or holds nothing, nothing is booked.
  void measure(const std::string& gang, const RunningGang& running);
  void drop(const std::string& gang);
  [[nodiscard]] QuotaDemand of(const std::string& gang) const;

  // The cells of our queues, by the numbers that the reading gave them. `requested` is what is used.
  [[nodiscard]] std::vector<CellFigures> figures() const;
  // Adds what a gang that waits asks for, with the ids of the account, to its cells and those above.
  void ask(const QuotaDemand& demand, std::vector<CellFigures>& figures) const;

  // Every gang that uses some, with nothing of where it is.
  template <class Take>
  void each(const Take& take) const {
    for (const auto& [gang, used] : used_) {
      take(gang, used);
    }
  }

 private:
  [[nodiscard]] QuotaDemand on_account(QuotaDemand demand) const;
  [[nodiscard]] std::optional<QueueId> on_account(std::optional<QueueId> queue) const;

  Account& account_;
  std::optional<std::uint64_t> version_ = {};
  std::size_t first_queue_ = 0;
  std::size_t first_cell_ = 0;
  std::size_t queues_ = 0;
  std::size_t cells_ = 0;
  std::map<std::string, RunningGang> used_ = {};  // by gang; `used` is booked
};

}  // namespace gantree

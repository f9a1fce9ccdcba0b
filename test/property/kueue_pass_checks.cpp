// What one pass leaves undone: nothing that a pass over all that wait, one by one, would have done.
#include <fmt/format.h>

#include <algorithm>

#include "cycle/cycle.h"
#include "cycle/ways.h"
#include "property/kueue_world.h"
#include "queue/own_quota.h"

namespace gantree::test {

namespace {

using kueue::Entry;

// It is being written to, or its job is to be stopped first.
bool is_put_off(const Entry& entry, Time now) {
  return entry.missed || entry.guard.closed(entry.object.resource_version, now);
}

// Others may have to go for it, so that those behind it in its queue wait until that was looked at.
bool comes_first(const Entry& entry, const Quota& quota) {
  const Submission& submission = *entry.submission;
  return submission.may_evict && entry.fruitless == 0 && quota.rules(*submission.queue).evicts() &&
         (entry.least.empty() ||
          some_are_allowed(entry.least, [&](const QuotaDemand& least) { return quota.could_fit(least); }));
}

// It keeps its quota until it is tried again, though the hosts are gone by now that could have held it.
bool is_too_large_by_now(const Entry& entry, Cluster& cluster) {
  const auto& parts = entry.submission->parts;
  return entry.verdict && parts.size() == 1 &&
         std::all_of(parts.front().begin(), parts.front().end(),
                     [&](const Alternative& way) { return room_for(cluster, way) == Room::kNever; });
}

// Keeps the quota of those of strict queues for which others may still be evicted.
class KeepsQuota final : public CycleObserver {
 public:
  explicit KeepsQuota(const std::map<std::string, Entry>& entries) : entries_(entries) {}
  void before(const Submission&, Cluster&, const Quota&) override {}
  void after(const Submission&, const Decision&, Cluster&, const Quota& quota) override { quota_ = &quota; }
  [[nodiscard]] bool holds_up(const Submission& submission, const Decision&) override {
    const Entry& entry = entries_.at(submission.key.ns + "/" + submission.key.name);
    return quota_->rules(*submission.queue).strict && comes_first(entry, *quota_);
  }

 private:
  const std::map<std::string, Entry>& entries_;
  const Quota* quota_ = nullptr;
};

}  // namespace

void World::check_nobody_is_passed_over() {
  Quota quota = process_->controller().quota();
  std::vector<const Entry*> waiting;
  for (const auto& [key, entry] : process_->controller().workloads()) {
    if (entry.place && !entry.waits()) {
      fault(fmt::format("{} stands in a line and does not wait", key));
    }
    if (entry.place && entry.stays_out(now_)) {
      fault(fmt::format("{} stands in a line and is to stay out of it", key));
    }
    if (!entry.waits() || entry.stays_out(now_) || (entry.verdict && entry.verdict->state != GangState::kWaiting)) {
      continue;
    }
    if (!entry.place && !is_put_off(entry, now_)) {
      fault(fmt::format("{} waits and stands in no line", key));
    }
    if (entry.submission) {
      waiting.push_back(&entry);
    }
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const Entry* a, const Entry* b) { return goes_before(*a->submission, *b->submission); });
  std::vector<Submission> submissions;
  std::set<QueueId> held_up;
  for (const Entry* entry : waiting) {
    const std::optional<QueueId> queue = entry->submission->queue;
    if (is_put_off(*entry, now_)) {
      const bool before_others = queue && !entry->submission->rejection;
      if (before_others && (quota.rules(*queue).strict || comes_first(*entry, quota))) {
        held_up.insert(*queue);
        submissions.push_back(*entry->submission);
        submissions.back().stands_by = true;
      }
    } else if (!queue || !held_up.contains(*queue)) {
      Submission& one = submissions.emplace_back(*entry->submission);
      // What others may have to go for is left for the next look for victims, which is soon.
      one.evicts_later = one.may_evict && entry->fruitless == 0 && queue && quota.rules(*queue).evicts();
      one.may_evict = false;
      if (queue && keeps_quota(quota.rules(*queue)) && is_too_large_by_now(*entry, process_->cluster())) {
        one.stands_by = true;
        held_up.insert(*queue);
      }
    }
  }
  KeepsQuota keeps(process_->controller().workloads());
  for (const Decision& decision : run_cycle(process_->cluster(), quota, std::move(submissions), &keeps).decisions) {
    if (decision.state == GangState::kPlaced) {
      const Entry& entry = process_->controller().workloads().at(decision.key.ns + "/" + decision.key.name);
      fault(fmt::format("{} was passed over: it would have been placed; it was told: {}", decision.key.name,
                        entry.verdict ? entry.verdict->message : "nothing"));
    }
  }
}

}  // namespace gantree::test

// What is told to whom: conditions of pods, the status of objects, events.
#include <fmt/format.h>

#include <algorithm>

#include "live/notices.h"
#include "live/parsed.h"
#include "pods/pod_family.h"

namespace gantree {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How often a pod that goes on waiting for the same reason is told the details anew.
constexpr milliseconds kDetailsEvery = seconds(30);
// How often the status of one object is written, at most.
constexpr milliseconds kReportEvery = seconds(1);
// The same while its pods are on their way: the figures in between are of no use to anybody.
constexpr milliseconds kReportMovingEvery = seconds(10);
// Whoever makes the pods of a gang needs a moment: before it is over nobody is told that some are missing.
constexpr milliseconds kGathering = seconds(3);
constexpr milliseconds kClusterReportEvery = seconds(2);

bool is_about(const std::string& message, const Verdict& verdict) {
  return message.starts_with(std::string(to_string(verdict.reason)) + ": ");
}

ObjectRef ref_of(const Parsed& parsed) {
  const json::Value metadata = parsed.object.metadata();
  const auto text = [&](std::string_view key) {
    const json::Value value = text_at(metadata, key);
    return value ? std::string(value.text()) : std::string();
  };
  return {.group = std::string(parsed.object.group),
          .version = std::string(parsed.object.version),
          .kind = std::string(parsed.object.kind),
          .ns = text("namespace"),
          .name = text("name"),
          .uid = text("uid")};
}

}  // namespace

void PodFamily::notify(Step& step, const Notice& notice, Time now) {
  order(step, Urgency::kEvent, event(notice, options_.instance, ++events_, now));
}

// A gang that would have others evicted, and has to wait for that.
void PodFamily::add_delay(const Bundle& bundle, Verdict& verdict, Time now) {
  const auto waiter = waiters_.find(bundle.front());
  if (waiter == waiters_.end() || !waiter->second.submission ||
      (verdict.reason != Reason::kTopologyBusy && verdict.reason != Reason::kQuotaExceeded)) {
    return;
  }
  const Time from{std::chrono::seconds(waiter->second.submission->evicts_from_seconds)};
  if (now < from) {
    verdict.message += fmt::format("; {}{}", kEvictsNobodyBefore, rfc3339(from));
  }
}

void PodFamily::tell(const Bundle& bundle, Verdict verdict, Time now, Step& step) {
  const bool placed = verdict.state == GangState::kPlaced;
  add_delay(bundle, verdict, now);
  if (verdict.reason == Reason::kGangIncomplete && !placed) {
    Time since = now;
    for (const std::string& id : bundle) {
      if (const LiveGang* gang = table_.find(id); gang != nullptr && gang->waiting > 0) {
        since = std::min(since, gang->waiting_since);
      }
    }
    if (now - since < kGathering) {
      look_again_.emplace(since + kGathering, bundle.front());
      step.wake_by(since + kGathering);
      return;
    }
  }
  for (const std::string& id : bundle) {
    LiveGang* gang = table_.find(id);
    if (gang == nullptr) {
      continue;
    }
    const bool news =
        !gang->verdict || gang->verdict->state != verdict.state || gang->verdict->reason != verdict.reason;
    gang->verdict = verdict;
    gang->judged_at = now;
    unreported_.insert(id);
    if (!placed) {
      tell_pods(*gang, verdict, now, step);
    }
    if (!(news || placed)) {
      continue;
    }
    if (!placed) {
      step.details.push_back(fmt::format("gang \"{}\" waits: {}", id, condition_message(verdict)));
    }
    std::optional<ObjectRef> about;
    // Where nothing defines the gang, its first pod has to tell.
    if (gang->object.empty() && !gang->pods.empty()) {
      const std::string& key = *gang->pods.begin();
      about = pod_ref(key, table_.find_pod(key)->uid);
    } else if (const auto parsed = parse(gang->object)) {
      about = ref_of(*parsed);
    }
    if (about) {
      notify(step,
             {.about = std::move(*about),
              .warning = !placed,
              .reason = placed                     ? "Scheduled"
                        : gang->dialect != nullptr ? gang->dialect->event_reason(verdict)
                                                   : to_string(verdict.reason),
              .action = placed ? "Binding" : "Scheduling",
              .note = verdict.message},
             now);
    }
  }
}

void PodFamily::tell_pods(const LiveGang& gang, const Verdict& verdict, Time now, Step& step) {
  const std::string message = condition_message(verdict);
  for (const std::string& key : gang.pods) {
    LivePod& pod = *table_.find_pod(key);
    // Of those that were given room which others have still to leave, nobody binds any as yet.
    const bool waits = pod.waits() || (pod.assumed && verdict.reason == Reason::kPreempting);
    const bool told = pod.told_reason == kUnschedulable && is_about(pod.told_message, verdict);
    const std::string_view nominated = pod.assumed ? std::string_view(pod.node) : std::string_view();
    const bool moved = pod.nominated != nominated && now - pod.told_at >= kReportEvery;
    if (!waits || (told && !moved && (pod.told_message == message || now - pod.told_at < kDetailsEvery))) {
      continue;
    }
    pod.told_reason = kUnschedulable;
    pod.told_message = message;
    pod.told_at = now;
    const bool same = pod.nominated == nominated;
    order(step, Urgency::kStatus,
          pod_waits(pod_ref(key, pod.uid), verdict, same ? std::nullopt : std::optional(nominated), now));
  }
}

bool PodFamily::is_idle(const std::string& id) {
  const Bundle bundle = table_.bundle(id);
  return std::all_of(bundle.begin(), bundle.end(), [&](const std::string& member) {
    const LiveGang* gang = table_.find(member);
    return gang == nullptr || (gang->placed == 0 && gang->counts.succeeded == 0);
  });
}

void PodFamily::report(Time now, Step& step) {
  std::set<std::string> later;
  for (const std::string& id : unreported_) {
    LiveGang* gang = table_.find(id);
    if (gang == nullptr || gang->object.empty()) {
      continue;
    }
    const bool moving =
        gang->verdict && gang->verdict->state == GangState::kPlaced && gang->placed > gang->counts.running;
    const Time due = std::max(gang->reported_at + (moving ? kReportMovingEvery : kReportEvery),
                              moving ? gang->judged_at + kReportMovingEvery : Time());
    if (now < due) {
      later.insert(id);
      step.wake_by(due);
      continue;
    }
    const auto parsed = parse(gang->object);
    if (!parsed) {
      continue;
    }
    const bool same = gang->verdict && gang->reported && gang->reported->state == gang->verdict->state &&
                      gang->reported->reason == gang->verdict->reason;
    const bool news =
        gang->verdict && (gang->report_failures > 0 ||
                          (gang->reported != gang->verdict && (!same || now - gang->details_at >= kDetailsEvery)));
    const GangReport about{.object = parsed->object,
                           .members = gang->counts,
                           .verdict = news ? &*gang->verdict : nullptr,
                           .idle = is_idle(id),
                           .now = rfc3339(now)};
    if (auto write = gang->dialect->report(about)) {
      gang->reported_at = now;
      if (news) {
        gang->reported = gang->verdict;
        gang->details_at = now;
      }
      order(step, Urgency::kStatus, std::move(*write), {.pod = {}, .uid = {}, .gang = id});
    }
  }
  unreported_ = std::move(later);
}

void PodFamily::report_cluster(Time now, Step& step) {
  const std::uint64_t structure = cluster_.inventory().structure();
  if (reported_structure_ == structure) {
    return;
  }
  if (now - cluster_reported_at_ < kClusterReportEvery) {
    step.wake_by(cluster_reported_at_ + kClusterReportEvery);
    return;
  }
  reported_structure_ = structure;
  cluster_reported_at_ = now;
  for (const auto& [key, text] : config_) {
    const auto parsed = parse(text);
    if (!parsed) {
      continue;
    }
    const ObjectRef ref = ref_of(*parsed);
    for (const auto& dialect : dialects_) {
      if (auto write = dialect->report({.object = parsed->object, .ns = ref.ns, .name = ref.name}, cluster_)) {
        OpenOrder open;
        open.cluster = true;
        order(step, Urgency::kStatus, std::move(*write), std::move(open));
      }
    }
  }
}

}  // namespace gantree

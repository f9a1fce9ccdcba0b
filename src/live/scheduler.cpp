// State to decisions.
#include "live/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "base/check.h"
#include "cycle/cycle.h"
#include "dialects/topologies.h"
#include "engine/domain_tree.h"
#include "live/notices.h"
#include "live/parsed.h"
#include "queue/quota.h"

namespace gantree {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long one that cannot be read is left alone.
constexpr milliseconds kUnreadableFor = seconds(60);
constexpr milliseconds kTryAllEvery = seconds(30);
// The texts of all pods that start together. Read, they take several times as much.
constexpr std::size_t kHeaviestBundle = 32U << 20U;
// So many faults are remembered, in order not to tell them twice.
constexpr std::size_t kMostRemarks = 1000;

// Whether some pods must start, rather than as many as there is room for.
bool insists(const Group& group) {
  const auto at_least_one = [](const PodSet& set) { return set.min_count > 0; };
  return group.min_pods.value_or(0) > 0 || std::any_of(group.pod_sets.begin(), group.pod_sets.end(), at_least_one) ||
         std::any_of(group.groups.begin(), group.groups.end(), [](const Group& nested) { return insists(nested); });
}

bool insists(const Submission& submission) {
  return std::any_of(submission.parts.begin(), submission.parts.end(),
                     [](const std::vector<Alternative>& ways) { return insists(ways.front().gang.root); });
}

}  // namespace

LiveScheduler::LiveScheduler(SchedulerOptions options)
    : options_(std::move(options)), dialects_(live_dialects(options_.schedulers)) {}

LiveScheduler::~LiveScheduler() = default;

Step LiveScheduler::step(Time now) {
  Step step;
  if (std::exchange(stood_by_, false)) {
    room_grew_ = true;
    for (const auto& [id, gang] : table_.gangs()) {
      unreported_.insert(id);
    }
  }
  static_cast<void>(take_freed_nodes(now));
  if (const auto time = daemons_.next()) {
    step.wake_by(*time);
  }
  order_again(now, step);
  keep_reservations(now, step);
  read_config(step);
  bind_promised(now, step);
  std::vector<Bundle> bundles = choose(now, step);
  std::erase_if(bundles, [&](const Bundle& bundle) {
    auto verdict = obstacle(bundle);
    if (verdict) {
      tell(bundle, std::move(*verdict), now, step);
    }
    return verdict.has_value();
  });
  step.figures.decided = !bundles.empty();
  step.figures.gangs_looked_at = static_cast<int>(bundles.size());
  // Who names another that does not agree is read alone, so that the other is not drawn in.
  const auto lonely = std::stable_partition(bundles.begin(), bundles.end(),
                                            [&](const Bundle& bundle) { return !table_.one_sided(bundle); });
  const std::vector<Bundle> alone(std::make_move_iterator(lonely), std::make_move_iterator(bundles.end()));
  bundles.erase(lonely, bundles.end());
  if (!bundles.empty()) {
    decide(bundles, now, step);
  }
  for (const Bundle& bundle : alone) {
    decide({bundle}, now, step);
  }
  give_back(now, step);
  preempt(now, step);
  report(now, step);
  report_cluster(now, step);
  return step;
}

// What concerns the whole cluster is read also while no gang asks: its topologies are measured, its faults told.
void LiveScheduler::read_config(Step& step) {
  if (!std::exchange(config_changed_, false)) {
    return;
  }
  remarked_.clear();
  Quota quota;
  std::vector<Error> faults;
  static_cast<void>(hosts_only(cluster_.engine()));
  const auto reading = take_in(readers_of(dialects_), documents_of({}, step), std::nullopt, cluster_, quota, &faults);
  if (!reading) {
    faults.push_back(reading.error());
  }
  cluster_.forget_running();
  remark(step, faults);
}

void LiveScheduler::remark(Step& step, const std::vector<Error>& faults) {
  for (const Error& fault : faults) {
    if (remarked_.size() >= kMostRemarks) {
      remarked_.clear();
    }
    if (remarked_.insert(fault.message).second) {
      step.remarks.push_back(without_places(fault.message));
    }
  }
}

std::vector<LiveScheduler::Bundle> LiveScheduler::choose(Time now, Step& step) {
  std::set<std::string> taken;
  std::vector<Bundle> bundles;
  const std::set<std::string> promised = promised_gangs();
  std::set<std::string> later;
  follow_half_bound(now);
  const auto look = [&](const std::string& id, std::size_t most) -> std::optional<std::size_t> {
    if (taken.contains(id)) {
      return 0;
    }
    Bundle bundle = table_.bundle(id);
    Time not_before = now;
    bool waits = false;
    bool kept = false;
    if (const auto half = half_bound_.find(bundle.front()); half != half_bound_.end() && half->second.given_back) {
      // Its pods are told to leave. Where they cannot, it may be completed yet.
      not_before = *half->second.given_back + options_.give_back_after;
    }
    for (const std::string& member : bundle) {
      if (const LiveGang* gang = table_.find(member)) {
        not_before = std::max(not_before, gang->retry_at);
        waits = waits || gang->waiting > 0;
      }
      kept = kept || promised.contains(member);
    }
    // What is too heavy is not read.
    const std::size_t bytes = bytes_of(bundle);
    const std::size_t cost = bytes > kHeaviestBundle ? 1 : Turns::cost(bytes);
    const bool ready = waits && !kept && not_before <= now;
    if (ready && cost > most) {
      return std::nullopt;
    }
    taken.insert(bundle.begin(), bundle.end());
    if (!kept && not_before > now) {
      later.insert(id);
      step.wake_by(not_before);
    }
    if (ready) {
      bundles.push_back(std::move(bundle));
    }
    return ready ? cost : 0;
  };
  while (!look_again_.empty() && look_again_.begin()->first <= now) {
    dirty_.insert(look_again_.begin()->second);
    look_again_.erase(look_again_.begin());
  }
  if (!look_again_.empty()) {
    step.wake_by(look_again_.begin()->first);
  }
  // Something may have been overlooked: who waits is looked at now and then, whatever happens.
  if (now - all_tried_at_ >= kTryAllEvery) {
    room_grew_ = true;
  }
  if (std::exchange(room_grew_, false)) {
    all_tried_at_ = now;
    turns_.start_round(table_.lines());
  }
  if (!table_.waiting().empty()) {
    step.wake_by(all_tried_at_ + kTryAllEvery);
  }
  if (turns_.go_round(table_.lines(), table_, dirty_, look)) {
    step.wake_by(now);
  }
  dirty_.merge(later);
  return bundles;
}

std::size_t LiveScheduler::bytes_of(const Bundle& bundle) {
  std::size_t bytes = 0;
  for (const std::string& id : bundle) {
    if (const LiveGang* gang = table_.find(id)) {
      bytes += gang->bytes + gang->object.size();
    }
  }
  return bytes;
}

std::optional<Verdict> LiveScheduler::obstacle(const Bundle& bundle) {
  if (const std::size_t bytes = bytes_of(bundle); bytes > kHeaviestBundle) {
    return Verdict{
        .state = GangState::kRejected,
        .reason = Reason::kInvalidRequest,
        .message = fmt::format("its pods take {} MiB to describe, more than the {} MiB that one gang may take",
                               bytes >> 20U, kHeaviestBundle >> 20U)};
  }
  if (table_.overgrown(bundle.front())) {
    return Verdict{.state = GangState::kRejected,
                   .reason = Reason::kInvalidRequest,
                   .message = fmt::format("the lists of gangs that start together contradict each other: more than {} "
                                          "gangs are connected by them",
                                          kMostPartners)};
  }
  for (const std::string& id : bundle) {
    const LiveGang* gang = table_.find(id);
    if (gang != nullptr && !gang->refusal.empty()) {
      return Verdict{.state = GangState::kRejected, .reason = Reason::kInvalidRequest, .message = gang->refusal};
    }
    if (gang == nullptr || gang->waiting == 0) {
      continue;
    }
    for (const std::string& key : gang->pods) {
      const LivePod& pod = *table_.find_pod(key);
      if (!pod.waits() || !pod.needs) {
        continue;
      }
      if (!pod.needs->refusal.empty()) {
        return Verdict{.state = GangState::kRejected,
                       .reason = Reason::kInvalidRequest,
                       .message = fmt::format("Pod \"{}\" {}", key, pod.needs->refusal)};
      }
      if (!pod.needs->unsupported.empty()) {
        return Verdict{.state = GangState::kRejected,
                       .reason = Reason::kInvalidRequest,
                       .message = fmt::format("Pod \"{}\" asks for {}, which this scheduler does not look at", key,
                                              pod.needs->unsupported)};
      }
      if (std::string why = volumes_.obstacle(pod.needs->claims); !why.empty()) {
        return Verdict{.state = GangState::kWaiting,
                       .reason = Reason::kGangIncomplete,
                       .message = fmt::format("Pod \"{}\" waits for storage: {}", key, why)};
      }
    }
  }
  return std::nullopt;
}

std::vector<json::Document> LiveScheduler::documents_of(const std::vector<Bundle>& bundles, Step& step) {
  std::vector<json::Document> documents;
  const auto add = [&](const std::string& text) {
    step.figures.bytes_read += text.size();
    // What could be read when it came can be read again.
    if (auto parsed = parse(text)) {
      documents.push_back(std::move(parsed->document));
    }
  };
  for (const auto& [key, text] : config_) {
    add(text);
  }
  for (const Bundle& bundle : bundles) {
    for (const std::string& id : bundle) {
      const LiveGang* gang = table_.find(id);
      if (gang == nullptr) {
        continue;
      }
      if (!gang->object.empty()) {
        add(gang->object);
      }
      for (const std::string& key : gang->pods) {
        const LivePod& pod = *table_.find_pod(key);
        if (!pod.ended() && (!pod.node.empty() || pod.waits())) {
          const bool claims = pod.node.empty() && pod.needs && !pod.needs->claims.empty();
          add(claims ? volumes_.confined(pod.text, pod.needs->claims) : pod.text);
        }
      }
    }
  }
  return documents;
}

void LiveScheduler::decide(const std::vector<Bundle>& bundles, Time now, Step& step) {
  const std::vector<json::Document> documents = documents_of(bundles, step);
  Quota quota;
  std::vector<Error> faults;
  auto reading = take_in(readers_of(dialects_), documents, std::nullopt, cluster_, quota, &faults);
  remark(step, faults);
  if (!reading) {
    cluster_.forget_running();
    set_unreadable_aside(bundles, now, step);
    return;
  }
  std::map<std::string, const Bundle*> known;
  for (const Bundle& bundle : bundles) {
    for (const std::string& id : bundle) {
      known.emplace(id, &bundle);
    }
  }
  // A group goes by the first of its gangs, which may be one that is not there.
  const auto bundle_of = [&](const GangKey& key) -> const Bundle* {
    const auto it = known.find(GangTable::id_of(key));
    return it != known.end() ? it->second : bundles.size() == 1 ? &bundles.front() : nullptr;
  };
  // Whoever runs without its minimum, say because this process died while it bound a gang, holds room that is of no
  // use to it until the rest has come. Whoever lost a pod comes next.
  std::array<std::vector<Submission>, 3> queues;
  for (Submission& submission : reading->queue) {
    submission.may_evict = false;
    const Bundle* bundle = bundle_of(submission.key);
    if (bundle == nullptr) {
      // Its pods contradict each other about who belongs together.
      remark(step, {{.code = Errc::kInvalid,
                     .message = fmt::format("gang \"{}/{}\" is named by pods of another that does not know it",
                                            submission.key.ns, submission.key.name)}});
      continue;
    }
    const bool runs = std::any_of(bundle->begin(), bundle->end(), [&](const std::string& id) {
      const LiveGang* gang = table_.find(id);
      return gang != nullptr && gang->placed > 0;
    });
    queues[!runs ? 2U : insists(submission) ? 0U : 1U].push_back(std::move(submission));
  }
  for (std::vector<Submission>& queue : queues) {
    const Plan plan = run_cycle(cluster_, quota, std::move(queue));
    for (const Decision& decision : plan.decisions) {
      settle(decision, *bundle_of(decision.key), now, step);
    }
  }
  cluster_.forget_running();
}

// One of them cannot be read; the others shall not suffer. It is not looked at again for a while.
void LiveScheduler::set_unreadable_aside(const std::vector<Bundle>& bundles, Time now, Step& step) {
  std::vector<Bundle> good;
  for (const Bundle& bundle : bundles) {
    Quota quota;
    std::vector<Error> faults;
    const auto reading =
        take_in(readers_of(dialects_), documents_of({bundle}, step), std::nullopt, cluster_, quota, &faults);
    cluster_.forget_running();
    if (reading) {
      good.push_back(bundle);
      continue;
    }
    for (const std::string& id : bundle) {
      if (LiveGang* gang = table_.find(id)) {
        gang->retry_at = now + kUnreadableFor;
      }
    }
    tell(bundle,
         {.state = GangState::kRejected,
          .reason = Reason::kInvalidRequest,
          .message = without_places(reading.error().message)},
         now, step);
  }
  // Where each can be read by itself, all of them together cannot, for whatever reason: then one by one.
  if (good.size() == bundles.size()) {
    for (const Bundle& bundle : bundles.size() > 1 ? bundles : std::vector<Bundle>()) {
      decide({bundle}, now, step);
    }
  } else if (!good.empty()) {
    decide(good, now, step);
  }
}

void LiveScheduler::settle(const Decision& decision, const Bundle& bundle, Time now, Step& step) {
  ++step.figures.gangs_tried;
  if (decision.state == GangState::kPlaced) {
    bind(decision, bundle, now, step);
    return;
  }
  if (decision.reason == Reason::kTopologyBusy && outranks_somebody(bundle)) {
    crowded_out_.insert(bundle.front());
  }
  tell(bundle, {.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)}, now,
       step);
}

}  // namespace gantree

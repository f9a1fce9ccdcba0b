// The order of a step, and what keeps a gang from being read.
#include "pods/pod_family.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "dialects/topologies.h"
#include "engine/domain_tree.h"
#include "live/notices.h"
#include "live/parsed.h"
#include "queue/quota.h"

namespace gantree {

namespace {

// So many faults are remembered, in order not to tell them twice.
constexpr std::size_t kMostRemarks = 1000;

}  // namespace

PodFamily::PodFamily(Account& account, PodOptions options)
    : options_(std::move(options)),
      dialects_(live_dialects(options_.schedulers)),
      kinds_(kinds()),
      account_(account),
      cluster_(account.cluster) {
  account_.families.push_back(this);
}

PodFamily::PodFamily(std::unique_ptr<Alone> alone, PodOptions options) : PodFamily(alone->account, std::move(options)) {
  alone_ = std::move(alone);
}

PodFamily::PodFamily(PodOptions options) : PodFamily(std::make_unique<Alone>(), std::move(options)) {}

PodFamily::~PodFamily() = default;

Step PodFamily::step(Time now) {
  GANTREE_CHECK(alone_ != nullptr);
  Step step;
  begin(now, step);
  alone_->decider.decide(now, step);
  finish(now, step);
  return step;
}

void PodFamily::begin(Time now, Step& step) {
  if (alone_ != nullptr && std::exchange(account_.queues_changed, false)) {
    account_.quota = Quota();
    ++account_.quota_version;
  }
  if (std::exchange(stood_by_, false)) {
    account_.room_changed = true;
    for (const auto& [id, gang] : table_.gangs()) {
      touch(id);
    }
  }
  static_cast<void>(take_freed_nodes(now));
  if (const auto time = daemons_.next()) {
    step.wake_by(*time);
  }
  order_again(now, step);
  follow_evicted();
  if (std::exchange(restores_, false)) {
    restore_held(now, step);
  }
  keep_held(now, step);
  read_config(step);
  measure();
  refresh(now, step);
}

void PodFamily::finish(Time now, Step& step) {
  tell_waiting(now, step);
  keep_held(now, step);
  bind_promised(now, step);
  give_back(now, step);
  clear_own_nominations(now, step);
  report(now, step);
  report_cluster(now, step);
  report_queues(now, step);
}

// What concerns the whole cluster is read also while no gang asks: its topologies are measured, its faults told.
void PodFamily::read_config(Step& step) {
  if (!std::exchange(config_changed_, false) && !quota_use_.is_stale()) {
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
  if (quota_use_.is_stale()) {
    set_up_queues(quota);
  }
  touch_waiting(true);
}

void PodFamily::remark(Step& step, const std::vector<Error>& faults) {
  for (const Error& fault : faults) {
    if (remarked_.size() >= kMostRemarks) {
      remarked_.clear();
    }
    if (remarked_.insert(fault.message).second) {
      step.remarks.push_back(without_places(fault.message));
    }
  }
}

std::size_t PodFamily::bytes_of(const Bundle& bundle) {
  std::size_t bytes = 0;
  for (const std::string& id : bundle) {
    if (const LiveGang* gang = table_.find(id)) {
      bytes += gang->bytes + gang->object.size();
    }
  }
  return bytes;
}

std::optional<Verdict> PodFamily::obstacle(const Bundle& bundle) {
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
      if (!pod.needs->lacks.empty()) {
        return Verdict{.state = GangState::kWaiting,
                       .reason = Reason::kGangIncomplete,
                       .message = fmt::format("Pod \"{}\" {}", key, pod.needs->lacks)};
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

std::vector<json::Document> PodFamily::documents_of(const std::vector<Bundle>& bundles, Step& step) {
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

}  // namespace gantree

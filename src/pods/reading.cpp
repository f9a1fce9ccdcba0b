// Who asks, and for what: objects of gangs to submissions.
#include <algorithm>
#include <iterator>

#include "live/notices.h"
#include "live/shape.h"
#include "pods/pod_family.h"
#include "queue/quota.h"

namespace gantree {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long one that cannot be read is left alone.
constexpr milliseconds kUnreadableFor = seconds(60);

}  // namespace

void PodFamily::touch_waiting(bool anew) {
  dirty_.insert(table_.waiting().begin(), table_.waiting().end());
  for (auto& [front, waiter] : waiters_) {
    if (anew && waiter.asks) {
      waiter.verdict.reset();
    }
  }
}

void PodFamily::refresh(Time now, Step& step) {
  while (!look_again_.empty() && look_again_.begin()->first <= now) {
    const std::string id = std::move(look_again_.begin()->second);
    look_again_.erase(look_again_.begin());
    dirty_.insert(id);
    if (const auto waiter = waiters_.find(id); waiter != waiters_.end()) {
      waiter->second.verdict.reset();  // it has still to be told
    }
  }
  if (!look_again_.empty()) {
    step.wake_by(look_again_.begin()->first);
  }
  // Where its pods may go is read from the nodes too.
  if (const std::uint64_t structure = cluster_.inventory().structure(); read_structure_ != structure) {
    read_structure_ = structure;
    touch_waiting(false);
  }
  if (std::exchange(volumes_changed_, false)) {
    touch_waiting(false);
  }
  note_promised();
  std::vector<Bundle> bundles = choose(now, step);
  std::erase_if(bundles, [&](const Bundle& bundle) {
    auto verdict = obstacle(bundle);
    if (verdict) {
      retire(bundle);
      tell(bundle, std::move(*verdict), now, step);
    }
    return verdict.has_value();
  });
  step.figures.gangs_looked_at = static_cast<int>(bundles.size());
  // Who names another that does not agree is read alone, so that the other is not drawn in.
  const auto lonely = std::stable_partition(bundles.begin(), bundles.end(),
                                            [&](const Bundle& bundle) { return !table_.one_sided(bundle); });
  const std::vector<Bundle> alone(std::make_move_iterator(lonely), std::make_move_iterator(bundles.end()));
  bundles.erase(lonely, bundles.end());
  if (!bundles.empty()) {
    read(bundles, now, step);
  }
  for (const Bundle& bundle : alone) {
    read({bundle}, now, step);
  }
}

// Whether their pods are bound where room is kept for them, or wait as others do.
void PodFamily::note_promised() {
  std::set<std::string> promised = promised_gangs();
  std::set_symmetric_difference(promised.begin(), promised.end(), promised_.begin(), promised_.end(),
                                std::inserter(dirty_, dirty_.end()));
  promised_ = std::move(promised);
}

std::vector<PodFamily::Bundle> PodFamily::choose(Time now, Step& step) {
  std::set<std::string> taken;
  std::set<std::string> later;
  std::set<std::string> orphans;
  std::vector<Bundle> bundles;
  follow_half_bound(now);
  turns_.go_round(table_, dirty_, [&](const std::string& id) -> std::size_t {
    if (taken.contains(id)) {
      return 0;
    }
    Bundle bundle = table_.bundle(id);
    taken.insert(bundle.begin(), bundle.end());
    part_from_others(bundle, orphans);
    if (!may_be_read(bundle, now, later, step)) {
      retire(bundle);
      return 0;
    }
    // What is too heavy is not read.
    const std::size_t bytes = bytes_of(bundle);
    bundles.push_back(std::move(bundle));
    return bytes > kHeaviestBundle ? 1 : Turns::cost(bytes);
  });
  dirty_.merge(orphans);
  if (!dirty_.empty()) {
    step.wake_by(now);
  }
  dirty_.merge(later);
  return bundles;
}

// Whether pods of it want a place that nobody keeps for them, and may have one now.
bool PodFamily::may_be_read(const Bundle& bundle, Time now, std::set<std::string>& later, Step& step) {
  Time not_before = now;
  bool waits = false;
  if (const auto half = half_bound_.find(bundle.front()); half != half_bound_.end() && half->second.given_back) {
    // Its pods are told to leave. Where they cannot, it may be completed yet.
    not_before = *half->second.given_back + options_.give_back_after;
  }
  if (evicted_.contains("gang " + bundle.front())) {
    return false;  // what was above its minimum would start while the rest of it leaves
  }
  for (const std::string& member : bundle) {
    if (promised_.contains(member) || is_left_alone(member)) {
      return false;
    }
    if (const LiveGang* gang = table_.find(member)) {
      not_before = std::max(not_before, gang->retry_at);
      waits = waits || gang->waiting > 0;
    }
  }
  if (waits && not_before > now) {
    later.insert(bundle.front());
    step.wake_by(not_before);
  }
  const auto waiter = waiters_.find(bundle.front());
  const bool held = waiter != waiters_.end() && !waiter->second.held.empty();
  return waits && !held && not_before <= now;
}

GangWaiter& PodFamily::waiter_of(const Bundle& bundle) {
  const auto [it, fresh] = waiters_.try_emplace(bundle.front());
  GangWaiter& waiter = it->second;
  if (fresh) {
    const std::string& front = bundle.front();
    waiter.family = this;
    waiter.id = front.starts_with('/') ? "pod " + front.substr(1) : "gang " + front;
  }
  waiter.bundle = bundle;
  for (auto id = bundle.begin() + 1; id != bundle.end(); ++id) {
    asks_with_.insert_or_assign(*id, bundle.front());
  }
  return waiter;
}

void PodFamily::retire(const Bundle& bundle) {
  const auto it = waiters_.find(bundle.front());
  if (it == waiters_.end() || !it->second.held.empty()) {
    return;
  }
  for (const std::string& id : it->second.bundle) {
    asks_with_.erase(id);
  }
  figures_changed_ = figures_changed_ || (it->second.submission && it->second.submission->queue);
  account_.lines.take_out(it->second);
  changed_.erase(it->first);
  waiters_.erase(it);
}

// Gangs of it may have asked together with others before. `orphans`: those others, who have to be read anew.
void PodFamily::part_from_others(const Bundle& bundle, std::set<std::string>& orphans) {
  for (const std::string& id : bundle) {
    const auto with = asks_with_.find(id);
    const auto it = waiters_.find(with == asks_with_.end() ? id : with->second);
    if (it == waiters_.end() || it->second.bundle == bundle) {
      continue;
    }
    const Bundle before = it->second.bundle;
    std::set_difference(before.begin(), before.end(), bundle.begin(), bundle.end(),
                        std::inserter(orphans, orphans.end()));
    retire(before);
  }
}

void PodFamily::read(const std::vector<Bundle>& bundles, Time now, Step& step) {
  const std::vector<json::Document> documents = documents_of(bundles, step);
  Quota quota;
  std::vector<Error> faults;
  auto reading = take_in(readers_of(dialects_), documents, std::nullopt, cluster_, quota, &faults);
  cluster_.forget_running();
  remark(step, faults);
  if (!reading) {
    set_unreadable_aside(bundles, now, step);
    return;
  }
  std::map<std::string, const Bundle*> unread;
  for (const Bundle& bundle : bundles) {
    for (const std::string& id : bundle) {
      unread.emplace(id, &bundle);
    }
  }
  std::set<const Bundle*> asking;
  for (Submission& submission : reading->queue) {
    const auto it = unread.find(GangTable::id_of(submission.key));
    // A group goes by the first of its gangs, which may be one that is not there: then it waits for that.
    const Bundle* bundle = it != unread.end() ? it->second : bundles.size() == 1 ? &bundles.front() : nullptr;
    if (bundle == nullptr || (it == unread.end() && !submission.rejection)) {
      // Its pods contradict each other about who belongs together.
      remark(step, {{.code = Errc::kInvalid,
                     .message = "gang \"" + submission.key.ns + "/" + submission.key.name +
                                "\" is named by pods of another that does not know it"}});
      continue;
    }
    // Where there is more than one, the others have their turn when this one has started.
    if (asking.insert(bundle).second) {
      take_submission(std::move(submission), *bundle, now, step);
    }
  }
  for (const Bundle& bundle : bundles) {
    if (!asking.contains(&bundle)) {
      retire(bundle);
    }
  }
}

void PodFamily::take_submission(Submission submission, const Bundle& bundle, Time now, Step& step) {
  GangWaiter& waiter = waiter_of(bundle);
  const std::string& front = bundle.front();
  if (std::find(bundle.begin(), bundle.end(), GangTable::id_of(submission.key)) == bundle.end()) {
    // Nobody else goes by that name.
    const std::string_view name = GangTable::name_of(front);
    const std::size_t slash = name.find('/');
    submission.key = {.ns = std::string(name.substr(0, slash)),
                      .name = std::string(name.substr(slash + 1)),
                      .kind = "PodGroup",
                      .family = std::string(GangTable::family_of(front))};
  }
  quota_use_.translate(submission);
  figures_changed_ = figures_changed_ || submission.queue.has_value();
  const Time evicts_from{std::chrono::seconds(submission.evicts_from_seconds)};
  if (now < evicts_from && submission.may_evict) {
    submission.may_evict = false;
    look_again_.emplace(evicts_from, front);
    step.wake_by(evicts_from);
  }
  submission.may_evict = submission.may_evict && options_.preemption;
  const std::uint64_t shape = shape_of(submission);
  const bool same = waiter.asks && waiter.shape == shape && waiter.submission->key == submission.key;
  if (!same) {
    waiter.verdict.reset();
    waiter.fruitless = 0;
    waiter.preempts_at = {};
  }
  waiter.shape = shape;
  waiter.least = least_demands_of(submission);
  waiter.submission = std::move(submission);
  waiter.asks = true;
  changed_.insert(front);
}

Result<Reading> PodFamily::read_alone(const Bundle& bundle, Step& step) {
  Quota quota;
  std::vector<Error> faults;
  auto reading = take_in(readers_of(dialects_), documents_of({bundle}, step), std::nullopt, cluster_, quota, &faults);
  cluster_.forget_running();
  return reading;
}

// One of them cannot be read; the others shall not suffer. It is not looked at again for a while.
void PodFamily::set_unreadable_aside(const std::vector<Bundle>& bundles, Time now, Step& step) {
  std::vector<Bundle> good;
  for (const Bundle& bundle : bundles) {
    const Result<Reading> reading = read_alone(bundle, step);
    if (reading) {
      good.push_back(bundle);
      continue;
    }
    for (const std::string& id : bundle) {
      if (LiveGang* gang = table_.find(id)) {
        gang->retry_at = now + kUnreadableFor;
      }
    }
    retire(bundle);
    dirty_.insert(bundle.front());
    tell(bundle,
         {.state = GangState::kRejected,
          .reason = Reason::kInvalidRequest,
          .message = without_places(reading.error().message)},
         now, step);
  }
  // Where each can be read by itself, all of them together cannot, for whatever reason: then one by one.
  if (good.size() == bundles.size()) {
    for (const Bundle& bundle : bundles.size() > 1 ? bundles : std::vector<Bundle>()) {
      read({bundle}, now, step);
    }
  } else if (!good.empty()) {
    read(good, now, step);
  }
}

}  // namespace gantree

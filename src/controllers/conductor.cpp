#include "controllers/conductor.h"

#include <algorithm>
#include <utility>

#include "controllers/duties.h"
#include "controllers/family.h"
#include "controllers/leader_worker_names.h"
#include "controllers/names.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{30'000};
// After a look at so many objects the next one waits a millisecond.
constexpr std::size_t kObjectsPerMillisecond = 50;
// Nodes that come and go in crowds make one look of these.
constexpr std::chrono::milliseconds kCrowd{200};
// How many pods are tried again when room may have come; the others' turn comes with time.
constexpr std::size_t kMostRetried = 200;
constexpr std::chrono::milliseconds kRetries{50};

// How long the same is not done again after it was done.
std::chrono::milliseconds pause_after(Task task, const Turn& turn) {
  const std::chrono::milliseconds pause(static_cast<std::int64_t>(turn.effort() / kObjectsPerMillisecond));
  if (task == Task::kDaemonSet || task == Task::kDisruption || task == Task::kService) {
    return std::max(pause, kCrowd);
  }
  return task == Task::kBinding && turn.due() ? kRetries : pause;
}

}  // namespace

Conductor::Conductor(Options options) : options_(options), room_(view_, options.room), random_(options.seed) {}

Result<> Conductor::changed(Kind kind, Text text) {
  Result<Item> item = read_item(kind, std::move(text));
  if (!item) {
    return tl::unexpected(item.error());
  }
  std::unique_ptr<Item> before;
  if (const Item* now = view_.put(std::move(*item), &before)) {
    touch(before.get(), *now);
  }
  return {};
}

void Conductor::removed(Kind kind, std::string_view ns, std::string_view name) {
  const std::unique_ptr<Item> item = view_.take(kind, ns, name);
  if (item == nullptr) {
    return;
  }
  touch(nullptr, *item);
  if (kind == Kind::kPod && !item->pod->node.empty() && !item->finished()) {
    retry_bindings();
  }
  if (item->finished()) {
    touch_finished();
  }
  if (kind == Kind::kPod && item->pod->node.empty()) {
    retry_making(item->ns);
  }
  if (kind == Kind::kService) {
    mark(Task::kEndpoints, Kind::kEndpoints, item->key());
  }
  forget(kind, item->key());
}

void Conductor::keep_only(Kind kind, const std::set<std::string>& keys) {
  for (const Item* item : view_.all(kind)) {
    if (!keys.contains(item->key())) {
      removed(kind, std::string(item->ns), std::string(item->name));
    }
  }
}

void Conductor::pause(Parts parts) {
  paused_ = std::move(parts);
  dirty_.merge(missed_);
  missed_.clear();
}

void Conductor::touch(const Item* before, const Item& now) {
  if (now.kind == Kind::kPod) {
    touch_pod(before, now);
  } else if (now.kind == Kind::kNode) {
    touch_node(before, now);
  } else if (const auto task = task_of_owner(now.kind)) {
    mark(*task, now);
  }
  touch_adopters(before, now);
  touch_storage(now);
  for (const Item* item : {before, &now}) {
    const Item* owner = item == nullptr || item->owner.empty() ? nullptr : view_.find_uid(item->owner);
    const auto task = owner == nullptr ? std::nullopt : task_of_owner(owner->kind);
    if (task) {
      mark(*task, *owner);
    }
    // The workers of a leader pod are its own.
    if (owner != nullptr && owner->kind == Kind::kPod) {
      mark(Task::kLeader, *owner);
    }
  }
  const std::string_view set = now.label(lws::kName);
  if (!set.empty() && (now.kind == Kind::kPod || now.kind == Kind::kStatefulSet)) {
    mark(Task::kLeaderWorkerSet, Kind::kLeaderWorkerSet, now.ns + "/" + std::string(set));
  }
}

// Claims and volumes wait for each other.
void Conductor::touch_storage(const Item& item) {
  if (item.kind == Kind::kPersistentVolumeClaim && !item.volume.empty()) {
    mark(Task::kVolume, Kind::kPersistentVolume, item.volume);
  }
  if (item.kind != Kind::kPersistentVolume && item.kind != Kind::kStorageClass) {
    return;
  }
  // Volumes that were made for a claim are named by its uid; any claim may want the others.
  const Item* claim = item.name.starts_with("pvc-") ? view_.find_uid(item.name.substr(4)) : nullptr;
  if (claim != nullptr) {
    mark(Task::kClaim, *claim);
    return;
  }
  for (const Item* one : view_.all(Kind::kPersistentVolumeClaim)) {
    mark(Task::kClaim, *one);
  }
}

// Who may want to take in what has no controller.
void Conductor::touch_adopters(const Item* before, const Item& item) {
  const bool news = before == nullptr || before->labels != item.labels || !before->owner.empty();
  if (!item.owner.empty() || item.deleting() || !news) {
    return;
  }
  // The pods of a job carry its uid: there may be too many jobs to ask each of them.
  const Item* job = item.kind == Kind::kPod ? view_.find_uid(std::string(item.label(kJobControllerUid))) : nullptr;
  if (job != nullptr && job->kind == Kind::kJob) {
    mark(Task::kJob, *job);
  }
  for (const Adoption& one : all_adoptions()) {
    if (one.adopted != item.kind || view_.count(one.adopter) == 0) {
      continue;
    }
    view_.each_in_namespace(one.adopter, item.ns, [&](const Item& adopter) {
      if (may_select(adopter, item.labels)) {
        mark(*task_of_owner(one.adopter), adopter);
      }
    });
  }
}

void Conductor::touch_pod(const Item* before, const Item& pod) {
  mark(Task::kKubelet, pod);
  mark(Task::kPodCare, pod);
  if (pod.pod->ours && pod.pod->node.empty()) {
    mark(Task::kBinding, pod);
  }
  if (!pod.label(lws::kName).empty()) {
    mark(Task::kLeader, pod);
  }
  if (before != nullptr && !before->finished() && pod.finished() && !pod.pod->node.empty()) {
    retry_bindings();
  }
  if (before != nullptr && before->pod->node.empty() && !pod.pod->node.empty()) {
    retry_making(pod.ns);
  }
  if ((before == nullptr || !before->finished()) && pod.finished()) {
    touch_finished();
  }
  const bool counts = before == nullptr || before->pod->ready != pod.pod->ready ||
                      before->pod->phase != pod.pod->phase || before->deleting() != pod.deleting() ||
                      before->labels != pod.labels;
  const bool reached = counts || before->pod->address != pod.pod->address || before->pod->node != pod.pod->node;
  if (reached && view_.count(Kind::kService) > 0) {
    view_.each_in_namespace(Kind::kService, pod.ns, [&](const Item& service) {
      if (leads_to(service, pod) || (before != nullptr && leads_to(service, *before))) {
        mark(Task::kService, service);
      }
    });
  }
  if (counts && view_.count(Kind::kPodDisruptionBudget) > 0) {
    for (const Item* budget : view_.in_namespace(Kind::kPodDisruptionBudget, pod.ns)) {
      mark(Task::kDisruption, *budget);
    }
  }
}

// Of finished pods so many are kept.
void Conductor::touch_finished() {
  for (const Item* pod : view_.finished_beyond(options_.finished_pods)) {
    mark(Task::kPodCare, *pod);
  }
}

void Conductor::touch_node(const Item* before, const Item& node) {
  mark(Task::kNodeCare, node);
  const bool moved = before == nullptr || before->labels != node.labels || before->node->taints != node.node->taints ||
                     before->node->failed_since != node.node->failed_since || before->node->ready != node.node->ready;
  if (moved || before->node->unschedulable != node.node->unschedulable ||
      before->node->allocatable != node.node->allocatable) {
    retry_bindings();
  }
  if (!moved) {
    return;
  }
  for (const Item* pod : view_.pods_on(node.name)) {
    mark(Task::kKubelet, *pod);
    mark(Task::kPodCare, *pod);
  }
  for (const Item* daemon_set : view_.all(Kind::kDaemonSet)) {
    mark(Task::kDaemonSet, *daemon_set);
  }
}

// Room may have come for pods that found none.
void Conductor::retry_bindings() {
  std::size_t count = 0;
  for (auto at = unbound_.begin(); at != unbound_.end() && count < kMostRetried; ++at, ++count) {
    dirty_.insert(*at);
  }
}

// Pods were bound, or went: their namespace may have others. Not for each of them, but once a tenth of the room is
// free.
void Conductor::retry_making(const std::string& ns) {
  if (held_back_.empty() || view_.waiting(ns).objects > options_.room.waiting_pods / 10 * 9) {
    return;
  }
  auto at = held_back_.lower_bound(Namespace{ns});
  for (std::size_t i = 0; i < kMostRetried && at != held_back_.end() && ByNamespace::of(at->first) == ns; ++i, ++at) {
    dirty_.insert(at->first);
  }
}

void Conductor::note_binding_of(const Key& pod, const Turn& turn) {
  // It looks again by itself as long as there is no node for it.
  if (turn.due()) {
    unbound_.insert(pod);
  } else {
    unbound_.erase(pod);
  }
}

void Conductor::mark(Task task, Kind kind, std::string name) {
  dirty_.insert(Key{task, kind, std::move(name)});
}

void Conductor::wake(Key key, Time at) {
  const auto known = timer_of_.find(key);
  if (known != timer_of_.end()) {
    if (known->second <= at) {
      return;
    }
    timers_.erase({known->second, key});
  }
  timer_of_[key] = at;
  timers_.emplace(at, std::move(key));
}

void Conductor::forget(Kind kind, const std::string& name) {
  for (const Duty& duty : all_duties()) {
    if (duty.kind != kind) {
      continue;
    }
    const Key key{duty.task, kind, name};
    unbound_.erase(key);
    held_back_.erase(key);
    if (const auto timer = timer_of_.find(key); timer != timer_of_.end()) {
      timers_.erase({timer->second, key});
      timer_of_.erase(timer);
    }
    if (const auto state = states_.find(key); state != states_.end() && state->second.open == 0) {
      states_.erase(state);
    }
  }
}

bool Conductor::more(Time now) const {
  return !dirty_.empty() || !events_.empty() || (!timers_.empty() && timers_.begin()->first <= now);
}

std::optional<Time> Conductor::due() const {
  return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->first);
}

std::vector<Write> Conductor::next(Time now, std::size_t most) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Key key = timers_.begin()->second;
    timers_.erase(timers_.begin());
    timer_of_.erase(key);
    dirty_.insert(std::move(key));
  }
  std::vector<Write> out = std::exchange(events_, {});
  for (std::size_t done = 0; done < most && !dirty_.empty(); ++done) {
    auto at = dirty_.upper_bound(Namespace{served_});
    at = at == dirty_.end() ? dirty_.begin() : at;
    const Key key = *at;
    dirty_.erase(at);
    served_ = ByNamespace::of(key);
    run(key, now, out);
  }
  return out;
}

void Conductor::run(const Key& key, Time now, std::vector<Write>& out) {
  if (paused_.contains(part_of(key.task))) {
    missed_.insert(key);
    return;
  }
  const auto state = states_.find(key);
  if (state != states_.end() && state->second.open > 0) {
    state->second.dirty = true;
    return;
  }
  if (state != states_.end() && state->second.not_before > now) {
    wake(key, state->second.not_before);
    return;
  }
  const Item* item = view_.find(key.kind, key.name);
  if (item == nullptr) {
    states_.erase(key);
    return;
  }
  const Duty& duty = duty_of(key.task);
  Turn turn(view_, options_, random_, now, {duty.component, &told_}, zones_, room_);
  const auto held = held_back_.find(key);
  const int lacked = held == held_back_.end() ? 0 : held->second;
  turn.lacked_room_before(lacked);
  duty.perform(*item, turn);
  if (turn.lacked_room()) {
    held_back_[key] = lacked + 1;
  } else if (lacked > 0) {
    held_back_.erase(key);
  }
  if (turn.due()) {
    wake(key, std::max(*turn.due(), now + std::chrono::milliseconds(1)));
  }
  if (key.task == Task::kBinding) {
    note_binding_of(key, turn);
  }
  const std::chrono::milliseconds pause = pause_after(key.task, turn);
  if (turn.writes().empty() && pause.count() == 0) {
    if (state != states_.end()) {
      states_.erase(state);
    }
    return;
  }
  State& kept = states_[key];
  kept.not_before = now + pause;
  for (Write& write : turn.writes()) {
    send(key, kept, write);
    out.push_back(std::move(write));
  }
}

void Conductor::send(const Key& key, State& state, Write& write) {
  write.id = ++last_id_;
  // Whether an event is stored matters to nobody.
  note_counting(write);
  if (write.kind != Kind::kEvent) {
    open_[write.id] = {key, write.verb, write.kind, write.uid, write.notice, write.ns, write.body.size()};
    ++state.open;
  }
  if (write.verb == Verb::kBind) {
    view_.note_binding(write.uid, write.node);
    retry_making(write.ns);
  }
}

void Conductor::answered(std::uint64_t id, const Answer& answer, Time now) {
  if (const auto counted = counting_.find(id); counted != counting_.end()) {
    if (answer.status == 404) {
      told_.forget(counted->second);
    }
    counting_.erase(counted);
    return;
  }
  const auto at = open_.find(id);
  if (at == open_.end()) {
    return;
  }
  const Open open = std::move(at->second);
  open_.erase(at);
  const bool done = answer.status >= 200 && answer.status < 300;
  // What is gone already needs no deletion, and no change.
  const bool settled = done || (answer.status == 404 && open.verb != Verb::kCreate);
  if (!done && open.verb == Verb::kBind) {
    view_.note_binding(open.uid, "");
  }
  if (done && open.verb == Verb::kDelete) {
    view_.note_deletion(open.uid, std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
  } else if (done && answer.text != nullptr) {
    if (auto taken = changed(open.kind, answer.text); !taken) {
      wake(open.key, now + kFirstPause);
    }
  }
  if (open.verb == Verb::kCreate) {
    room_.give_back(open.kind, open.ns, open.bytes);
  }
  if (open.notice != nullptr) {
    tell_answer(*open.notice, answer, done, now);
  }
  State& state = states_[open.key];
  --state.open;
  if (settled) {
    state.refused = state.open == 0 && !state.dirty ? 0 : state.refused;
  } else {
    ++state.refused;
    const int doublings = std::min(state.refused - 1, 12);
    // A conflict means that the view was behind: it catches up by itself.
    const auto pause = std::min(kFirstPause * (1 << doublings), kLongestPause);
    state.not_before = std::max(state.not_before, now + pause);
    state.dirty = true;
  }
  if (state.open == 0) {
    state.dirty = false;
    dirty_.insert(open.key);
  }
}

void Conductor::tell_answer(Notice& notice, const Answer& answer, bool done, Time now) {
  const bool needed = answer.text != nullptr && (!done || notice.wants_name());
  const Result<Value> root = needed ? apiserver::parse_json(*answer.text) : Value();
  const std::string_view name = root ? text_at(*root, {"metadata", "name"}) : std::string_view();
  const std::string_view why = root ? text_at(*root, {"message"}) : std::string_view();
  if (auto event = done ? notice.made(name, told_, now) : notice.refused(why, told_, now)) {
    event->id = ++last_id_;
    note_counting(*event);
    events_.push_back(std::move(*event));
  }
}

void Conductor::note_counting(const Write& write) {
  if (!write.like.empty()) {
    counting_.emplace(write.id, write.like);
  }
}

}  // namespace gantree::controllers

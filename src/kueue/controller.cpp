#include "kueue/controller.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "dialects/kueue/names.h"
#include "dialects/lws/names.h"
#include "kueue/announcer.h"
#include "kueue/answers.h"
#include "kueue/booking.h"
#include "kueue/event_reader.h"
#include "kueue/evictions.h"
#include "kueue/grants.h"
#include "kueue/group_reconciler.h"
#include "kueue/host_replacement.h"
#include "kueue/job_reconciler.h"
#include "kueue/ledger.h"
#include "kueue/outbox.h"
#include "kueue/pending_reporter.h"
#include "kueue/queue_family.h"
#include "kueue/queue_membership.h"
#include "kueue/queue_reporter.h"
#include "kueue/setup_reader.h"
#include "kueue/setup_release.h"
#include "kueue/status_writer.h"
#include "kueue/ungater.h"
#include "kueue/workload_reconciler.h"
#include "live/decider.h"

namespace gantree::kueue {

namespace {

bool takes(std::string_view group, std::string_view kind) {
  static const std::vector<ApiKind> kKinds = Controller::kinds();  // asked at every event
  return std::any_of(kKinds.begin(), kKinds.end(),
                     [&](const ApiKind& known) { return known.group == group && known.kind == kind; });
}

}  // namespace

struct Controller::Parts {
  Parts(Account& account, const ControllerOptions& options)
      : ledger(account),
        outbox(account.orders, options.instance),
        reporter(!options.shares.empty()),
        setup(ledger, booking, options.ignore_checks),
        family(ledger, booking, grants, evictions, announcer, options.ready.one_by_one),
        readiness(options.ready, ledger, status, evictions) {
    ledger.shares = options.shares;
    ledger.requeue_by_creation = options.ready.requeue_by_creation;
  }

  Ledger ledger;
  Outbox outbox;
  QueueReporter reporter;
  Booking booking{ledger};
  SetupReader setup;
  SetupRelease release{ledger, outbox};
  Answers answers{ledger, outbox, reporter, release};
  EventReader events{ledger, booking, reporter, release};
  StatusWriter status{outbox};
  Announcer announcer{ledger, outbox};
  Grants grants{ledger, outbox, status, booking};
  Evictions evictions{ledger, announcer, status};
  QueueFamily family;
  JobReconciler jobs{ledger, outbox, announcer, status, evictions};
  GroupReconciler groups{ledger, outbox, status};
  PendingReporter pending{ledger, announcer, status};
  Ungater ungater{ledger, outbox, booking};
  HostReplacement hosts{ledger, booking, grants, evictions};
  Readiness readiness;
  WorkloadReconciler workloads{ledger,
                               {.status = status,
                                .announcer = announcer,
                                .grants = grants,
                                .evictions = evictions,
                                .pending = pending,
                                .ungater = ungater,
                                .hosts = hosts,
                                .readiness = readiness}};
  std::set<std::string> remarked;  // what was told of Kueue itself
  bool rested = false;             // others have decided since the last step
  bool served = true;              // there can be Workloads
};

// Who is alone keeps the account and decides itself.
struct Controller::Alone {
  explicit Alone(Cluster& cluster) : account(cluster), decider(account) {}
  Account account;
  Decider decider;
};

Controller::Controller(Account& account, const ControllerOptions& options)
    : parts_(std::make_unique<Parts>(account, options)) {}

Controller::Controller(Cluster& cluster, const ControllerOptions& options)
    : alone_(std::make_unique<Alone>(cluster)), parts_(std::make_unique<Parts>(alone_->account, options)) {}

Controller::~Controller() = default;

std::vector<ApiKind> Controller::kinds() {
  std::vector<ApiKind> kinds = admin_kinds();
  kinds.push_back({.group = kGroup, .kind = "Workload", .versions = {"v1beta2"}, .namespaced = true});
  kinds.push_back(neighbour_kind());
  kinds.push_back({.group = "", .kind = "Pod", .versions = {"v1"}, .namespaced = true});
  kinds.push_back({.group = "policy", .kind = Budgets::kKind, .versions = {"v1"}, .namespaced = true});
  kinds.push_back({.group = "scheduling.k8s.io", .kind = "PriorityClass", .versions = {"v1"}, .namespaced = false});
  kinds.push_back({.group = "apps", .kind = kStatefulSet, .versions = {"v1"}, .namespaced = true});
  kinds.push_back({.group = kReplicatedGroup, .kind = lws::kKind, .versions = {"v1"}, .namespaced = true});
  for (const ApiKind& api : job_apis()) {
    kinds.push_back(api);
  }
  for (const ApiKind& api : PodDefaults::kinds()) {
    kinds.push_back(api);
  }
  return kinds;
}

Result<> Controller::changed(const LiveObject& object, Time now) {
  if (!takes(object.group, object.kind)) {
    return {};
  }
  if (parts_->ledger.began == Time()) {
    parts_->ledger.began = now;
  }
  return parts_->events.changed(object);
}

void Controller::removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name,
                         Time) {
  if (takes(group, kind)) {
    parts_->events.removed(kind, ns, name);
  }
}

bool Controller::has_workload_of(const std::string& uid) const {
  return parts_->ledger.workloads_by_owner.contains(uid);
}

std::string Controller::owner_of(std::string_view ns, std::string_view name) const {
  const Entry* entry = parts_->ledger.workload(fmt::format("{}/{}", ns, name));
  return entry == nullptr ? std::string() : entry->object.owner_uid;
}

void Controller::complain(const ObjectRef& about, std::string sentence, std::string_view reason) {
  parts_->ledger.complaints.push_back({.about = about, .sentence = std::move(sentence), .reason = reason});
}

void Controller::node_changed(std::string_view name) {
  parts_->ledger.room_changed = true;
  parts_->ledger.places_changed.emplace(name);
  parts_->hosts.node_changed(name);
}

Step Controller::step(Time now) {
  GANTREE_CHECK(alone_ != nullptr);
  Step step;
  if (begin(now, step)) {
    alone_->decider.decide(now, step);
    finish(now, step);
  }
  return step;
}

bool Controller::begin(Time now, Step& step) {
  Parts& parts = *parts_;
  Ledger& ledger = parts.ledger;
  ledger.stepped = now;
  if (std::exchange(parts.rested, false)) {
    wake();
  }
  take_due(now);
  parts.setup.read(step);
  if (!parts.served) {
    parts.booking.book_changed();
    parts.answers.tell_complaints(now, step);
    rest();
    return false;
  }
  if (const auto kueue = ledger.neighbour.kueue_runs()) {
    // What it has given away counts all the same.
    parts.booking.book_changed();
    if (parts.remarked.insert(*kueue).second) {
      step.remarks.push_back(*kueue);
    }
    rest();
    return false;
  }
  parts.family.rest(false);
  parts.booking.book_changed();
  parts.hosts.touch_users();
  // Jobs come first: one that ended, or that is new, changes what is to be decided.
  for (const std::string& key : std::exchange(ledger.dirty_jobs, {})) {
    if (const auto job = ledger.jobs.find(key); job != ledger.jobs.end() && job->second.kind != nullptr) {
      parts.jobs.reconcile(key, now, step);
    } else if (job != ledger.jobs.end()) {
      parts.groups.reconcile(key, now, step);
    }
  }
  return true;
}

void Controller::finish(Time now, Step& step) {
  Parts& parts = *parts_;
  Ledger& ledger = parts.ledger;
  for (const std::string& key : std::exchange(ledger.dirty, {})) {
    parts.workloads.reconcile(key, now, step);
  }
  report_queues(now, step);
  parts.release.release(now, step);
  parts.answers.tell_complaints(now, step);
  parts.announcer.tell_made(now, step);
  for (const auto* later : {&ledger.later, &ledger.later_jobs}) {
    if (const auto next = later->next()) {
      step.wake_by(*next);
    }
  }
}

// What was put off until now.
void Controller::take_due(Time now) {
  Ledger& ledger = parts_->ledger;
  std::set<std::string> due;
  ledger.later.take(now, due);
  ledger.later_jobs.take(now, ledger.dirty_jobs);
  for (const std::string& key : due) {
    const Entry* entry = ledger.workload(key);
    if (entry != nullptr && entry->waits() && entry->object.requeue_at) {
      ledger.waiting_changed.insert(key);  // its pause may be over
    }
  }
  ledger.dirty.merge(due);
  ledger.dirty.insert(ledger.held.begin(), ledger.held.end());
}

void Controller::serve(bool workloads) {
  if (std::exchange(parts_->served, workloads) != workloads) {
    parts_->ledger.touch_all();
  }
}

void Controller::stand_by() {
  parts_->booking.book_changed();
  rest();
}

void Controller::rest() {
  parts_->ledger.rest();
  parts_->ledger.lines.clear(parts_->family);
  parts_->hosts.rest();
  parts_->rested = true;
  parts_->family.rest(true);
}

// Whoever decides from now on has seen all that others did: what was assumed before and is not there was not done,
// unless it is still on its way, or was when the lease was had.
void Controller::wake() {
  Ledger& ledger = parts_->ledger;
  for (auto& [key, entry] : ledger.entries) {
    const bool on_its_way = entry.sent && (entry.guard.in_flight() || entry.under_way);
    if (entry.assumed && !on_its_way) {
      entry.drop_assumed();
      ledger.unbooked.insert(key);
    }
  }
  ledger.held.clear();
  ledger.touch_all();
}

void Controller::stop_leading() {
  Ledger& ledger = parts_->ledger;
  ledger.queues_changed = true;
  for (auto& [key, entry] : ledger.entries) {
    // What may have been done stays booked until its event tells. So does what was answered: the answer may have been
    // faster than the event.
    if (entry.assumed && !entry.sent) {
      entry.drop_assumed();
      ledger.unbooked.insert(key);
    }
    entry.blockers.clear();
    entry.evicting.reset();
  }
  ledger.held.clear();
  ledger.touch_all();
}

void Controller::note_under_way() {
  for (auto& [key, entry] : parts_->ledger.entries) {
    entry.under_way = entry.assumed && entry.sent && entry.guard.in_flight();
  }
}

void Controller::start_leading() {
  parts_->rested = false;
  wake();
  for (auto& [key, entry] : parts_->ledger.entries) {
    entry.under_way = false;
  }
}

bool Controller::answered(std::uint64_t id, Answer answer, std::string_view why, Time now) {
  return parts_->answers.answered(id, answer, why, now) && !parts_->ledger.waiting_changed.empty();
}

void Controller::report_queues(Time now, Step& step) {
  Parts& parts = *parts_;
  if (std::exchange(parts.ledger.queues_changed, false)) {
    parts.reporter.note();
  }
  if (const auto due = parts.reporter.due(); due && *due <= now) {
    parts.reporter.report(queue_statuses(), parts.ledger.quota, now, [&](const std::string& key, Write write) {
      return parts.outbox.order(step, Urgency::kStatus, std::move(write), {.queue = key});
    });
  }
  if (const auto due = parts.reporter.due()) {
    step.wake_by(*due);
  }
}

std::vector<std::string> Controller::look() {
  Step step;
  parts_->setup.read(step);
  parts_->booking.book_changed();
  return step.remarks;
}

// What is kept for a pod, if anything is.
struct Controller::Place {
  Entry* entry = nullptr;
  const SetAssignment* set = nullptr;  // nullptr where its Workload has nothing now
  const std::string* placeholder = nullptr;
};

Controller::Place Controller::place_of(const std::string& key) const {
  Place place;
  Ledger& ledger = parts_->ledger;
  const auto pod = ledger.pods.find(key);
  if (pod == ledger.pods.end() || !pod->second.node.empty()) {
    return place;
  }
  place.entry = ledger.workload(pod->second.workload);
  if (place.entry == nullptr || !place.entry->object.admission) {
    return place;
  }
  for (const SetAssignment& set : place.entry->object.admission->sets) {
    if (set.name == pod->second.set) {
      place.set = &set;
      place.placeholder = set.topology ? parts_->booking.held_for(*place.entry, set, pod->second) : nullptr;
    }
  }
  return place;
}

std::optional<Promises::Kept> Controller::kept_for(const std::string& pod) const {
  const Place place = place_of(pod);
  if (place.entry == nullptr || (place.set != nullptr && !place.set->topology)) {
    return std::nullopt;
  }
  const PodSetRequest* request = place.set == nullptr ? nullptr : place.entry->pod_set(place.set->name);
  if (place.placeholder == nullptr || request == nullptr) {
    return Kept{};
  }
  return Kept{.node = std::string(parts_->ledger.cluster.node_of(*place.placeholder)),
              .requests = request->shape.requests};
}

bool Controller::outlives(const std::string& pod) const {
  const auto known = parts_->ledger.pods.find(pod);
  const Entry* entry = known == parts_->ledger.pods.end() ? nullptr : parts_->ledger.workload(known->second.workload);
  return entry != nullptr && entry->object.admission.has_value();
}

void Controller::redeem(const std::string& pod) {
  if (const Place place = place_of(pod); place.placeholder != nullptr) {
    parts_->booking.let_go(*place.entry, std::string(*place.placeholder));
  }
}

void Controller::returned(const std::string& pod) {
  const auto known = parts_->ledger.pods.find(pod);
  if (known != parts_->ledger.pods.end()) {
    parts_->ledger.touch(known->second.workload);
  }
}

const std::map<std::string, Entry>& Controller::workloads() const {
  return parts_->ledger.entries;
}

const Quota& Controller::quota() const {
  return parts_->ledger.quota;
}

const Setup& Controller::setup() const {
  return parts_->ledger.setup;
}

JobDefaults Controller::defaults_in(std::string_view ns) const {
  return parts_->ledger.job_defaults.in(ns);
}

QueueStatuses Controller::queue_statuses() const {
  return kueue::queue_statuses(parts_->ledger);
}

}  // namespace gantree::kueue

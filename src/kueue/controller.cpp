// The step: what is known to what is wanted.
#include "kueue/controller.h"

#include <fmt/format.h>

#include <utility>

#include "dialects/core/core.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/submit.h"
#include "dialects/lws/names.h"
#include "kueue/circles.h"
#include "live/notices.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

// The administrators' kinds, in the versions read.
const std::vector<ApiKind>& admin_kinds() {
  static const std::vector<ApiKind> kKinds = {
      {.group = kGroup, .kind = "Topology", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "ResourceFlavor", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "ClusterQueue", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "Cohort", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "LocalQueue", .versions = {"v1beta2", "v1beta1"}, .namespaced = true},
      {.group = kGroup, .kind = "WorkloadPriorityClass", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = "", .kind = "Namespace", .versions = {"v1"}, .namespaced = false},
  };
  return kKinds;
}

Result<> read_admin(const NamedObject& named, Intake& intake, Setup& setup) {
  const std::string_view kind = named.object.kind;
  if (kind == "Topology") {
    return read_topology(named, intake, setup);
  }
  if (kind == "ResourceFlavor") {
    return read_flavor(named, intake, setup);
  }
  if (kind == "ClusterQueue") {
    return read_cluster_queue(named, intake, setup);
  }
  if (kind == "Cohort") {
    return read_cohort(named, intake, setup);
  }
  if (kind == "LocalQueue") {
    return read_local_queue(named, setup);
  }
  if (kind == "WorkloadPriorityClass") {
    return read_priority_class(named, setup);
  }
  return CoreDialect().read(named, intake);
}

}  // namespace

Controller::Controller(Cluster& cluster, ControllerOptions options) : options_(std::move(options)), cluster_(cluster) {}

Controller::~Controller() = default;

std::vector<ApiKind> Controller::kinds() {
  std::vector<ApiKind> kinds = admin_kinds();
  kinds.push_back({.group = kGroup, .kind = "Workload", .versions = {"v1beta2"}, .namespaced = true});
  kinds.push_back(neighbour_kind());
  kinds.push_back({.group = kReplicatedGroup, .kind = lws::kKind, .versions = {"v1"}, .namespaced = true});
  for (const ApiKind& api : job_apis()) {
    kinds.push_back(api);
  }
  return kinds;
}

bool Controller::owns(std::string_view group, std::string_view kind) {
  static const std::vector<ApiKind> kKinds = kinds();  // asked at every event
  for (const ApiKind& api : kKinds) {
    if (api.group == group && api.kind == kind) {
      return true;
    }
  }
  return false;
}

bool Entry::waits() const {
  return object.active && !object.deleting && !object.holds(kFinished) && !admission() && !suspended();
}

Step Controller::step(Time now) {
  Step step;
  const auto take_due = [&](std::multimap<Time, std::string>& later, std::set<std::string>& due) {
    while (!later.empty() && later.begin()->first <= now) {
      due.insert(later.begin()->second);
      later.erase(later.begin());
    }
  };
  std::set<std::string> due;
  take_due(later_, due);
  take_due(later_jobs_, dirty_jobs_);
  for (const std::string& key : due) {
    const auto it = entries_.find(key);
    if (it != entries_.end() && it->second.waits() && it->second.object.requeue_at) {
      waiting_changed_.insert(key);  // its pause may be over
    }
  }
  dirty_.merge(due);
  dirty_.insert(held_.begin(), held_.end());
  if (std::exchange(setup_changed_, false)) {
    read_setup(step);
  }
  if (const auto kueue = neighbour_.kueue_runs()) {
    // What it has given away counts all the same.
    stand_by();
    if (remarked_.insert(*kueue).second) {
      step.remarks.push_back(*kueue);
    }
    return step;
  }
  touch_users_of_changed_nodes();
  stand_by();
  // Jobs come first: one that ended, or that is new, changes what is to be decided.
  for (const std::string& key : std::exchange(dirty_jobs_, {})) {
    reconcile_job(key, now, step);
  }
  admit(now, step);
  preempt(now, step);
  for (const std::string& key : std::exchange(dirty_, {})) {
    reconcile(key, now, step);
  }
  report_queues(now, step);
  for (const auto* later : {&later_, &later_jobs_}) {
    if (!later->empty()) {
      step.wake_by(later->begin()->first);
    }
  }
  return step;
}

void Controller::stand_by() {
  for (const std::string& key : std::exchange(unbooked_, {})) {
    if (const auto it = entries_.find(key); it != entries_.end()) {
      book(it->second);
    }
  }
}

void Controller::stop_leading() {
  reporter_.note();
  for (auto& [key, entry] : entries_) {
    // What may have been done stays booked until its event tells.
    if (entry.assumed && !entry.guard.in_flight()) {
      entry.assumed.reset();
      unbooked_.insert(key);
    }
    entry.blockers.clear();
    entry.evicting.reset();
  }
  held_.clear();
  start_over();
}

void Controller::read_setup(Step& step) {
  for (auto& [key, entry] : entries_) {
    unbook(entry);
    entry.submission.reset();
    entry.verdict.reset();
  }
  quota_ = Quota();
  setup_ = Setup();
  intake_ = std::make_unique<Intake>(Intake{.cluster = cluster_, .quota = quota_, .quota_alone = true});
  admin_documents_.clear();
  const auto remark = [&](const Error& error) {
    if (remarked_.insert(error.message).second) {
      step.remarks.push_back(without_places(error.message));
    }
  };
  for (const auto& [key, text] : admin_) {
    auto parsed = parse(text);
    if (!parsed) {
      continue;  // it was complained about when it came
    }
    admin_documents_.push_back(std::move(parsed->document));
    const json::Value metadata = parsed->object.metadata();
    const json::Value ns = text_at(metadata, "namespace");
    const NamedObject named{
        .object = parsed->object, .ns = ns ? ns.text() : std::string_view(), .name = text_at(metadata, "name").text()};
    if (auto read = read_admin(named, *intake_, setup_); !read) {
      remark(read.error());
    }
  }
  const auto broken = break_circles(setup_.cohorts);
  for (const auto& [name, fault] : broken) {
    remark({.code = Errc::kInvalid, .message = fault});
  }
  if (auto connected = connect(setup_, *intake_); !connected) {
    remark(connected.error());
  }
  stop_queues_below(broken, setup_);
  book_all();
  room_changed_ = true;
  reporter_.note();
  for (const auto& [key, entry] : entries_) {
    if (drain(entry)) {
      dirty_.insert(key);
    }
  }
}

std::uint64_t Controller::order(Step& step, Urgency urgency, Write write, OpenOrder open) {
  const std::uint64_t id = next_order_++;
  if (urgency != Urgency::kEvent) {
    open_.emplace(id, std::move(open));
  }
  step.orders.push_back({.id = id, .urgency = urgency, .write = std::move(write)});
  return id;
}

void Controller::notify(Step& step, const Notice& notice, Time now) {
  order(step, Urgency::kEvent, event(notice, options_.instance, ++events_, now), {});
}

void Controller::answered(std::uint64_t id, Answer answer, std::string_view, Time now) {
  const auto it = open_.find(id);
  if (it == open_.end()) {
    return;
  }
  const OpenOrder open = std::move(it->second);
  open_.erase(it);
  if (const auto entry = entries_.find(open.workload); entry != entries_.end()) {
    entry->second.guard.answered(answer, now);
    const bool lost = answer == Answer::kRefused || answer == Answer::kWithdrawn;
    if (open.admission && lost && entry->second.assumed) {
      entry->second.assumed.reset();
      unbooked_.insert(open.workload);
      room_changed_ = true;
      reporter_.note();
    }
    later_.emplace(entry->second.guard.opens(), open.workload);
    if (entry->second.waits() && answer != Answer::kDone) {
      waiting_changed_.insert(open.workload);  // it was left out as long as this was on its way
    }
  }
  if (const auto job = jobs_.find(open.job); job != jobs_.end()) {
    Guard& guard = open.creation ? job->second.creation : job->second.guard;
    guard.answered(answer, now);
    later_jobs_.emplace(guard.opens(), open.job);
  }
  reporter_.answered(open.queue, answer, now);
  if (PodGroup* group = groups_.group_of_pod(open.member); group != nullptr && answer != Answer::kDone) {
    group->pods.at(open.member).asked = false;
    later_.emplace(now + std::chrono::seconds(1), group->key());
    later_jobs_.emplace(now + std::chrono::seconds(1), group_job(group->key()));
  }
  if (const auto pod = pods_.find(open.pod); pod != pods_.end()) {
    // Where it may have been done, the slot stays taken until the pod's own event tells; asking again does no harm.
    if (answer == Answer::kRefused || answer == Answer::kWithdrawn) {
      pod->second.slot.reset();
    }
    if (answer != Answer::kDone) {
      pod->second.asked = false;
      later_.emplace(now + std::chrono::seconds(1), pod->second.workload);
    }
  }
}

}  // namespace gantree::kueue

// Who is admitted, with what, and who waits for what.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/timestamp.h"
#include "cycle/cycle.h"
#include "dialects/kueue/choice.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/submit.h"
#include "engine/domain_tree.h"
#include "kueue/controller.h"
#include "live/notices.h"

namespace gantree::kueue {

namespace {

// The lowest domains of a topology in which hosts lie, in the order of the hosts; each once.
TopologyAssignment assignment_of(const std::vector<HostShare>& hosts, const Topology& topology,
                                 const DomainTree& tree) {
  TopologyAssignment assignment;
  const bool by_host = topology.levels.back() == kHostnameLabel;
  assignment.levels = by_host ? std::vector<std::string>{kHostnameLabel} : topology.levels;
  const int lowest = static_cast<int>(topology.levels.size()) - 1;
  std::map<std::uint32_t, std::size_t> at;
  for (const HostShare& share : hosts) {
    const std::uint32_t domain = tree.ancestor(tree.host_level(), tree.host_of(share.node), lowest);
    const auto [it, fresh] = at.try_emplace(domain, assignment.domains.size());
    if (fresh) {
      std::vector<std::string> path = tree.path({lowest, domain});
      assignment.domains.push_back(
          {.values = by_host ? std::vector<std::string>{path.back()} : std::move(path), .count = 0});
    }
    assignment.domains[it->second].count += share.count;
  }
  return assignment;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return parts;
}

const Unit* unit_of(const std::vector<Unit>& units, std::string_view set) {
  for (const Unit& unit : units) {
    for (const PodSetRequest* one : unit.pod_sets) {
      if (one->name == set) {
        return &unit;
      }
    }
  }
  return nullptr;
}

// When it was created, or queued again.
Time waits_since(const Entry& entry) {
  std::int64_t seconds = entry.object.request.created_seconds;
  if (const Condition* again = entry.object.condition(kRequeued); again != nullptr && again->holds) {
    seconds = std::max(seconds, parse_time(again->since).value_or(0));
  }
  return Time(std::chrono::seconds(seconds));
}

}  // namespace

const Submission& Controller::submission_for(Entry& entry) {
  if (entry.submission) {
    return *entry.submission;
  }
  Unresolved unresolved;
  entry.submission = submission_of(entry.object.request, setup_, *intake_, unresolved);
  // On a live cluster a queue that is not there yet may come.
  if (entry.object.request.queue_name && queue_of(entry.object.request, setup_) == nullptr) {
    entry.submission->alternatives.clear();
    entry.submission->rejection =
        Rejection{.reason = Reason::kQueueStopped,
                  .message = fmt::format("there is no LocalQueue \"{}\" in namespace \"{}\"",
                                         entry.object.request.queue_name.text(), entry.object.ref.ns),
                  .waits = true};
  }
  entry.least.clear();
  for (const Alternative& alternative : entry.submission->alternatives) {
    std::vector<int> counts;
    for (const PodSet* set : pod_sets(alternative.gang.root)) {
      counts.push_back(std::min(set->count, set->min_count));
    }
    entry.least.push_back(Quota::sum(alternative.demand, counts));
  }
  return *entry.submission;
}

// Whether the job was started by somebody else. It is stopped first: as it is, its pods would go anywhere.
bool Controller::past_its_queue(const Entry& entry) const {
  const auto job = jobs_by_uid_.find(entry.object.owner_uid);
  return job != jobs_by_uid_.end() && !jobs_.at(job->second).progress.suspended;
}

bool Controller::within_quota(const Entry& entry) const {
  return entry.least.empty() || std::any_of(entry.least.begin(), entry.least.end(), [&](const QuotaDemand& least) {
           return quota_.fits(least, entry.submission->borrowing);
         });
}

// What was turned down is not tried again before something has come free that it lacked.
bool Controller::worth_trying(const Entry& entry) const {
  if (!entry.verdict) {
    return true;
  }
  return entry.verdict->state == GangState::kWaiting && entry.tried_with_room != room_ && within_quota(entry);
}

bool Controller::strict(const Entry& entry) const {
  return entry.submission->queue && quota_.rules(*entry.submission->queue).strict;
}

std::vector<Entry*> Controller::candidates(Time now) {
  std::vector<Entry*> found;
  for (auto& [key, entry] : entries_) {
    if (!entry.waits()) {
      continue;
    }
    if (entry.object.requeue_at && *entry.object.requeue_at > now) {
      later_.emplace(*entry.object.requeue_at, key);
      entry.missed = true;
      continue;
    }
    if (entry.guard.closed(entry.object.resource_version, now) || past_its_queue(entry)) {
      entry.missed = true;
      continue;
    }
    static_cast<void>(submission_for(entry));
    // Whoever stands in a strict queue is looked at with all before him.
    if (worth_trying(entry) || strict(entry)) {
      found.push_back(&entry);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Entry* a, const Entry* b) { return goes_before(*a->submission, *b->submission); });
  return found;
}

void Controller::admit(Time now, Step& step) {
  if (!room_changed_ && waiting_changed_.empty()) {
    return;
  }
  room_ += room_changed_ ? 1 : 0;
  room_changed_ = false;
  waiting_changed_.clear();
  std::vector<Entry*> waiting = candidates(now);
  if (!waiting.empty()) {
    step.figures.decided = true;
    try_all(std::move(waiting), now, step);
  }
}

// The first of every queue, then the next as long as there is quota for them: where very many wait, nearly all of them
// for the same quota, only those are looked at closely that have a chance.
void Controller::try_all(std::vector<Entry*> waiting, Time now, Step& step) {
  constexpr int kAtOnce = 32;
  while (!waiting.empty()) {
    std::vector<Submission> batch;
    std::vector<Entry*> rest;
    std::map<std::optional<QueueId>, int> taken;
    for (Entry* entry : waiting) {
      const bool in_order = strict(*entry);
      if (entry->verdict && !in_order && !within_quota(*entry)) {
        entry->tried_with_room = room_;
      } else if (in_order || ++taken[entry->submission->queue] <= kAtOnce) {
        entry->tried_with_room = room_;
        batch.push_back(*entry->submission);
        batch.back().may_evict = false;
      } else {
        rest.push_back(entry);
      }
    }
    const Plan plan = batch.empty() ? Plan() : run_cycle(cluster_, quota_, std::move(batch));
    for (const Decision& decision : plan.decisions) {
      settle(decision, now, step);
    }
    waiting = std::move(rest);
  }
}

void Controller::settle(const Decision& decision, Time now, Step& step) {
  ++step.figures.gangs_tried;
  const std::string key = decision.key.ns + "/" + decision.key.name;
  Entry& entry = entries_.at(key);
  dirty_.insert(key);
  if (decision.state != GangState::kPlaced) {
    entry.waits_since = entry.verdict ? entry.waits_since : now;
    entry.verdict =
        Verdict{.state = decision.state, .reason = decision.reason, .message = without_places(decision.message)};
    return;
  }
  entry.verdict.reset();
  assume(entry, decision);
  ++step.figures.gangs_placed;
  for (const PodSetDecision& set : decision.pod_sets) {
    step.figures.pods_placed += set.count;
  }
  write_admitted(entry, now, step);
}

void Controller::write_admitted(Entry& entry, Time now, Step& step) {
  const std::string where = fmt::format("Quota reserved in ClusterQueue {}", entry.assumed->cluster_queue);
  std::vector<Wanted> wanted = {
      {.type = kQuotaReserved, .holds = true, .reason = "QuotaReserved", .message = where},
      {.type = kAdmitted, .holds = true, .reason = "Admitted", .message = "The workload is admitted"}};
  for (const std::string_view past : {kEvicted, kPreempted}) {
    if (entry.object.holds(past)) {
      wanted.push_back({.type = past, .holds = false, .reason = "QuotaReserved", .message = where});
    }
  }
  if (const std::optional<Wanted> again = queued_again(entry)) {
    wanted.push_back(*again);
  }
  if (!std::exchange(entry.sent, true)) {
    step.figures.admission_waits.push_back(std::max(Time::duration(0), now - waits_since(entry)));
  }
  json::Out::Object fields;
  fields.emplace_back("admission", write_admission(*entry.assumed));
  if (!entry.object.admission && !entry.object.reclaimable.empty()) {
    fields.emplace_back("reclaimablePods", json::Out::array());  // those were of an earlier start
  }
  write_status(entry, wanted, std::move(fields), now, step, Urgency::kBinding);
  reporter_.note();
  const std::string note = fmt::format("Admitted by ClusterQueue {}", entry.assumed->cluster_queue);
  notify(step, {.about = entry.object.ref, .warning = false, .reason = "Admitted", .action = "Admit", .note = note},
         now);
}

Admission Controller::admission_of(const Entry& entry, const Decision& decision) {
  const JobRequest& request = entry.object.request;
  const ClusterQueue& queue = *queue_of(request, setup_)->cluster_queue;
  const std::vector<Unit> units = units_of(request);
  const ResourceNames& names = cluster_.inventory().resources();
  Admission admission;
  admission.cluster_queue = queue.name;
  for (const PodSetDecision& set : decision.pod_sets) {
    SetAssignment& assigned = admission.sets.emplace_back();
    assigned.name = set.name;
    assigned.count = set.count;
    const Unit* unit = unit_of(units, set.name);
    if (unit == nullptr || set.count == 0) {
      continue;
    }
    const std::vector<const ResourceGroup*> groups = groups_in_use(*unit, queue);
    const std::vector<std::string> flavors = split(set.flavor);
    for (std::size_t i = 0; i < groups.size() && i < flavors.size(); ++i) {
      for (const ResourceId resource : groups[i]->covered) {
        const std::int64_t each = set.requests.get(resource);
        if (each > 0) {
          const std::string name(names.name(resource));
          assigned.flavors.emplace(name, flavors[i]);
          assigned.usage.emplace(name, format_quantity(each * set.count, ResourceNames::unit(resource)));
        }
      }
    }
    if (!set.hosts.empty()) {
      Engine& engine = cluster_.engine();
      assigned.topology = assignment_of(set.hosts, engine.topology(set.topology), engine.tree(set.topology));
    }
  }
  return admission;
}

// The cycle has booked quota and hosts: from now on they are the Workload's.
void Controller::assume(Entry& entry, const Decision& decision) {
  entry.assumed = admission_of(entry, decision);
  entry.sent = false;
  entry.blockers.clear();
  entry.hosts.clear();
  const std::string owner = decision.key.ns + "/" + decision.key.name;
  entry.used = quota_of(*entry.assumed, {});
  for (const PodSetDecision& set : decision.pod_sets) {
    for (const HostShare& share : set.hosts) {
      const std::string& node = cluster_.inventory().node(share.node).name;
      entry.hosts[set.name].push_back({.node = node, .count = share.count});
      for (int i = 0; i < share.count; ++i) {
        std::string key = fmt::format("{}#{}#{}#{}", owner, set.name, node, entry.placeholders.size());
        cluster_.name_assumed({.key = key, .node = node, .requests = set.requests});
        entry.placeholders.push_back(std::move(key));
      }
    }
  }
}

}  // namespace gantree::kueue

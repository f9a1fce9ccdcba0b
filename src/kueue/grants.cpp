#include "kueue/grants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/timestamp.h"
#include "dialects/kueue/choice.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/submit.h"
#include "engine/domain_tree.h"
#include "kueue/queue_membership.h"
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

void Grants::write(Entry& entry, Time now, Step& step) {
  ledger_.held.erase(entry.key());
  entry.verdict.reset();
  const std::string where = fmt::format("Quota reserved in ClusterQueue {}", entry.assumed->cluster_queue);
  std::vector<Wanted> wanted = {{.type = kQuotaReserved, .holds = true, .reason = "QuotaReserved", .message = where},
                                {.type = kAdmitted, .holds = true, .reason = "Admitted", .message = kAdmittedMessage}};
  for (const std::string_view past : {kEvicted, kPreempted}) {
    if (entry.object.holds(past)) {
      wanted.push_back({.type = past, .holds = false, .reason = "QuotaReserved", .message = where});
    }
  }
  // What would be told in a moment anyway goes with it.
  if (!entry.object.admission && ledger_.job_of(entry) != nullptr) {
    wanted.push_back({.type = kPodsReady, .holds = false, .reason = "WaitForStart", .message = kNotAllReady});
  }
  if (const std::optional<Wanted> again = queued_again(entry, ledger_.setup, now)) {
    wanted.push_back(*again);
  }
  if (!std::exchange(entry.sent, true)) {
    step.figures.admission_waits.push_back(std::max(Time::duration(0), now - waits_since(entry)));
  }
  json::Out::Object fields;
  fields.emplace_back("admission", write_admission(*entry.assumed));
  if (entry.object.requeue_at) {
    fields.emplace_back("requeueState", write_requeues(entry.object.requeues));
  }
  if (!entry.object.unhealthy.empty()) {
    fields.emplace_back("unhealthyNodes", write_unhealthy({}));  // all have others
  }
  status_.write(entry, wanted, std::move(fields), now, step, Urgency::kBinding);
  ledger_.queues_changed = true;
  // One that has an admission already is given other hosts in place of some of its own.
  const bool moved = entry.object.admission && !entry.failed_hosts.empty();
  const std::string note = moved ? fmt::format("The pods of {} go to other hosts", fmt::join(entry.failed_hosts, ", "))
                                 : fmt::format("Admitted by ClusterQueue {}", entry.assumed->cluster_queue);
  outbox_.notify(step,
                 {.about = entry.object.ref,
                  .warning = moved,
                  .reason = moved ? "HostsReplaced" : "Admitted",
                  .action = "Admit",
                  .note = note},
                 now);
}

Admission Grants::admission_of(const Entry& entry, const Decision& decision) {
  const JobRequest& request = entry.object.request;
  const ClusterQueue& queue = *queue_of(request, ledger_.setup)->cluster_queue;
  const std::vector<Unit> units = units_of(request);
  const ResourceNames& names = ledger_.cluster.inventory().resources();
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
      Engine& engine = ledger_.cluster.engine();
      assigned.topology = assignment_of(set.hosts, engine.topology(set.topology), engine.tree(set.topology));
    }
  }
  return admission;
}

void Grants::assume(Entry& entry, const Decision& decision) {
  entry.assumed = admission_of(entry, decision);
  ledger_.lines.take_out(entry);
  ledger_.holders.insert_or_assign(entry.key(), &entry);
  entry.sent = false;
  entry.may_be_done = false;
  entry.under_way = false;
  entry.blockers.clear();
  entry.held_until.reset();
  entry.hosts.clear();
  entry.used = booking_.quota_of(*entry.assumed, {});
  for (const PodSetDecision& set : decision.pod_sets) {
    for (const HostShare& share : set.hosts) {
      const std::string& node = ledger_.cluster.inventory().node(share.node).name;
      entry.hosts[set.name].push_back({.node = node, .count = share.count});
      for (int i = 0; i < share.count; ++i) {
        booking_.hold(entry, set.name, node, set.requests, true);
      }
    }
  }
}

}  // namespace gantree::kueue

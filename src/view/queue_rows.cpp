#include "view/queue_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "engine/domain_tree.h"
#include "view/where.h"

namespace gantree::view {

namespace {

using kueue::Condition;
using kueue::Entry;
using kueue::SetAssignment;
using kueue::WorkloadObject;

constexpr int kWhereWidth = 40;

std::string owner_of(const WorkloadObject& object) {
  const json::Value root = object.document.root();
  json::Reader read("api", root, "Workload");
  const Owner owner = read_controller(read, root["metadata"]);
  return owner.present() ? fmt::format("{}/{}", owner.kind, owner.name) : std::string();
}

struct State {
  std::string word;
  const Condition* why = nullptr;
};

State state_of(const WorkloadObject& object) {
  if (object.holds(kueue::kFinished)) {
    return {"Finished", object.condition(kueue::kFinished)};
  }
  if (object.admission && object.holds(kueue::kEvicted)) {
    return {"Evicted", object.condition(kueue::kEvicted)};
  }
  if (!object.active) {
    return {"Inactive", object.condition(kueue::kEvicted)};
  }
  if (const Condition* evicted = object.condition(kueue::kEvicted);
      !object.admission && evicted != nullptr && evicted->holds && evicted->reason == kueue::kSuspendedByUser) {
    return {"Suspended", evicted};
  }
  if (!object.admission) {
    const Condition* reserved = object.condition(kueue::kQuotaReserved);
    return {"Pending", reserved != nullptr && !reserved->holds ? reserved : nullptr};
  }
  if (!object.holds(kueue::kAdmitted)) {
    return {"Reserved", nullptr};
  }
  return {object.holds(kueue::kPodsReady) ? "Running" : "Admitted", nullptr};
}

// Messages of ours begin with the reason in a word.
std::string short_reason(const Condition& why) {
  const std::size_t colon = why.message.find(": ");
  const std::string word = why.message.substr(0, colon);
  const bool one_word = colon != std::string::npos && word.find(' ') == std::string::npos;
  return one_word ? word : why.reason;
}

std::optional<TopologyId> topology_of(const kueue::Setup& setup, const SetAssignment& set) {
  for (const auto& [resource, name] : set.flavors) {
    const auto flavor = setup.flavors.find(name);
    if (flavor != setup.flavors.end() && flavor->second.topology) {
      return flavor->second.topology;
    }
  }
  return std::nullopt;
}

// The hosts of an assignment by host; nothing where one of them is not known.
std::vector<HostShare> shares_of(const SetAssignment& set, const Inventory& inventory, const DomainTree& tree) {
  std::vector<HostShare> shares;
  for (const kueue::AssignedDomain& domain : set.topology->domains) {
    const auto node = inventory.find(domain.values.back());
    if (!node || tree.host_of(*node) == DomainTree::kNowhere) {
      return {};
    }
    shares.push_back({.node = *node, .count = domain.count});
  }
  return shares;
}

std::string domains_text(const SetAssignment& set) {
  if (set.topology->domains.size() == 1) {
    return fmt::format("{}", fmt::join(set.topology->domains.front().values, "/"));
  }
  const bool hosts = set.topology->levels.size() == 1;
  return fmt::format("{} {}", set.topology->domains.size(), hosts ? "hosts" : "domains");
}

std::string where_of(const Entry& entry, const kueue::Setup& setup, Cluster& cluster, bool unicode) {
  std::vector<std::string> places;
  std::set<std::string> flavors;
  for (const SetAssignment& set : entry.object.admission->sets) {
    for (const auto& [resource, flavor] : set.flavors) {
      flavors.insert(flavor);
    }
    if (!set.topology || set.topology->domains.empty()) {
      continue;
    }
    const auto topology = topology_of(setup, set);
    const bool by_host = set.topology->levels.size() == 1;
    std::vector<HostShare> shares;
    if (topology && by_host) {
      shares = shares_of(set, cluster.inventory(), cluster.engine().tree(*topology));
    }
    std::string text = shares.empty() ? domains_text(set)
                                      : where_text(cluster.engine().topology(*topology),
                                                   cluster.engine().tree(*topology), shares, kWhereWidth, unicode);
    if (std::find(places.begin(), places.end(), text) == places.end()) {
      places.push_back(std::move(text));
    }
  }
  return places.empty() ? fmt::format("{}", fmt::join(flavors, ", ")) : fmt::format("{}", fmt::join(places, "; "));
}

}  // namespace

std::vector<QueueRow> cluster_queue_rows(const kueue::Controller& queues) {
  std::vector<QueueRow> rows;
  for (auto& [name, status] : queues.queue_statuses().cluster_queues) {
    rows.push_back({.ns = {},
                    .name = name,
                    .above = queues.setup().cluster_queues.find(name)->second.cohort_name,
                    .status = status});
  }
  return rows;
}

std::vector<QueueRow> local_queue_rows(const kueue::Controller& queues, std::string_view ns) {
  std::vector<QueueRow> rows;
  for (auto& [key, status] : queues.queue_statuses().local_queues) {
    if (ns.empty() || key.first == ns) {
      rows.push_back({.ns = key.first,
                      .name = key.second,
                      .above = queues.setup().local_queues.find(key)->second.cluster_queue_name,
                      .status = status});
    }
  }
  return rows;
}

std::vector<WorkloadRow> workload_rows(const kueue::Controller& queues, Cluster& cluster, std::string_view ns,
                                       bool unicode) {
  std::vector<WorkloadRow> rows;
  for (const auto& [key, entry] : queues.workloads()) {
    const WorkloadObject& object = entry.object;
    if (!ns.empty() && object.ref.ns != ns) {
      continue;
    }
    const State state = state_of(object);
    const json::Value queue = object.request.queue_name;
    rows.push_back({.ns = object.ref.ns,
                    .name = object.ref.name,
                    .job = owner_of(object),
                    .queue = queue ? std::string(queue.text()) : std::string(),
                    .cluster_queue = object.admission ? object.admission->cluster_queue : std::string(),
                    .priority = object.request.priority.value_or(0),
                    .state = state.word,
                    .reason = state.why == nullptr ? std::string() : short_reason(*state.why),
                    .message = state.why == nullptr ? std::string() : state.why->message,
                    .where = object.admission ? where_of(entry, queues.setup(), cluster, unicode) : std::string(),
                    .created_seconds = object.request.created_seconds});
  }
  return rows;
}

std::set<std::string> hosts_to_know(const kueue::Controller& queues, std::string_view ns) {
  std::set<std::string> hosts;
  for (const auto& [key, entry] : queues.workloads()) {
    if (!entry.object.admission || (!ns.empty() && entry.object.ref.ns != ns)) {
      continue;
    }
    for (const SetAssignment& set : entry.object.admission->sets) {
      if (set.topology && set.topology->levels.size() == 1) {
        for (const kueue::AssignedDomain& domain : set.topology->domains) {
          hosts.insert(domain.values.back());
        }
      }
    }
  }
  return hosts;
}

}  // namespace gantree::view

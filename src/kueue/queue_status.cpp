#include "kueue/queue_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "live/object.h"

namespace gantree::kueue {

namespace {

constexpr std::string_view kHoldAndDrain = "HoldAndDrain";

using Amounts = std::map<QuotaId, std::int64_t>;  // by cell

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

// What the members of one queue come to.
struct Tally {
  int pending = 0;
  int reserving = 0;
  int admitted = 0;
  Amounts reserved;
  Amounts used;

  void add(const QueueMember& member) {
    pending += member.waits ? 1 : 0;
    if (member.cluster_queue.empty()) {
      return;
    }
    ++reserving;
    admitted += member.admitted ? 1 : 0;
    if (member.used == nullptr) {
      return;
    }
    for (const auto& [cell, amount] : *member.used) {
      reserved[cell] = plus(reserved[cell], amount);
      if (member.admitted) {
        used[cell] = plus(used[cell], amount);
      }
    }
  }
};

std::vector<FlavorUse> uses(const ClusterQueue& queue, const Quota& quota, const Amounts& amounts) {
  std::vector<FlavorUse> list;
  for (const ResourceGroup& group : queue.groups) {
    for (const FlavorQuota& entry : group.flavors) {
      auto use =
          std::find_if(list.begin(), list.end(), [&](const FlavorUse& one) { return one.flavor == entry.flavor_name; });
      if (use == list.end()) {
        use = list.insert(list.end(), {.flavor = entry.flavor_name, .resources = {}});
      }
      for (const QuotaId id : entry.cells) {
        const QuotaCell& cell = quota.cell(id);
        const auto amount = amounts.find(id);
        const std::int64_t total = amount == amounts.end() ? 0 : amount->second;
        use->resources.push_back({.resource = cell.resource,
                                  .unit = cell.unit,
                                  .total = total,
                                  .borrowed = std::max<std::int64_t>(0, total - cell.nominal),
                                  .nominal = cell.nominal});
      }
    }
  }
  return list;
}

QueueStatus status_of(const Tally& tally, const ClusterQueue* queue, const Quota& quota) {
  QueueStatus status;
  status.pending = tally.pending;
  status.reserving = tally.reserving;
  status.admitted = tally.admitted;
  if (queue != nullptr) {
    status.reservation = uses(*queue, quota, tally.reserved);
    status.usage = uses(*queue, quota, tally.used);
  }
  return status;
}

Standing inactive(std::string_view reason, std::string message) {
  return {.active = false, .reason = std::string(reason), .message = std::move(message)};
}

Standing standing_of(const ClusterQueue& queue) {
  if (queue.leaves) {
    return inactive(kTerminating, queue.inactive);
  }
  if (!queue.stop_policy.empty()) {
    return inactive("Stopped", fmt::format("The queue is stopped (stopPolicy {})", queue.stop_policy));
  }
  if (!queue.inactive.empty()) {
    const auto any_flavor = [&](auto&& is_so) {
      return std::any_of(queue.groups.begin(), queue.groups.end(), [&](const ResourceGroup& group) {
        return std::any_of(group.flavors.begin(), group.flavors.end(), is_so);
      });
    };
    const bool no_flavor = any_flavor([](const FlavorQuota& entry) { return entry.flavor == nullptr; });
    const bool no_topology =
        any_flavor([](const FlavorQuota& entry) { return entry.flavor != nullptr && !entry.flavor->broken.empty(); });
    return inactive(no_flavor          ? "FlavorNotFound"
                    : no_topology      ? "TopologyNotFound"
                    : queue.has_checks ? "AdmissionCheckNotFound"
                                       : "CohortCycle",
                    without_places(queue.inactive));
  }
  return {.active = true, .reason = "Ready", .message = "The queue admits workloads"};
}

// What is wrong with a ClusterQueue, where it is named already.
std::string without_name(const std::string& message, const std::string& queue) {
  const std::string name = fmt::format("ClusterQueue \"{}\"", queue);
  if (message.starts_with(name + ": ")) {
    return message.substr(name.size() + 2);
  }
  return message.starts_with(name + " ") ? "it" + message.substr(name.size()) : message;
}

Standing standing_of(const LocalQueue& queue) {
  if (!queue.stop_policy.empty()) {
    return inactive("Stopped", fmt::format("The queue is stopped (stopPolicy {})", queue.stop_policy));
  }
  if (queue.cluster_queue == nullptr) {
    return inactive("ClusterQueueDoesNotExist",
                    fmt::format("There is no ClusterQueue \"{}\"", queue.cluster_queue_name));
  }
  const Standing above = standing_of(*queue.cluster_queue);
  if (!above.active) {
    return inactive("ClusterQueueIsInactive",
                    fmt::format("ClusterQueue \"{}\" admits nothing: {}", queue.cluster_queue_name,
                                without_name(above.message, queue.cluster_queue_name)));
  }
  return {.active = true, .reason = "Ready", .message = "The queue passes workloads on to its ClusterQueue"};
}

// Millionths, as Quota counts, to the thousandths of the API; what is more than nothing does not become nothing.
std::int64_t thousandths(std::int64_t share) {
  return share == std::numeric_limits<std::int64_t>::max() ? share : share / 1000 + (share % 1000 > 0 ? 1 : 0);
}

json::Out write_uses(const std::vector<FlavorUse>& uses, bool borrowed) {
  json::Out flavors = json::Out::array();
  for (const FlavorUse& use : uses) {
    json::Out resources = json::Out::array();
    for (const ResourceUse& one : use.resources) {
      json::Out resource = json::Out::object();
      resource.add("name", one.resource).add("total", format_quantity(one.total, one.unit));
      if (borrowed) {
        resource.add("borrowed", format_quantity(one.borrowed, one.unit));
      }
      resources.push(std::move(resource));
    }
    flavors.push(std::move(json::Out::object().add("name", use.flavor).add("resources", std::move(resources))));
  }
  return flavors;
}

}  // namespace

QueueStatuses queue_statuses(const Setup& setup, const Quota& quota, const std::vector<QueueMember>& members) {
  std::map<std::string_view, Tally> by_cluster_queue;
  std::map<std::pair<std::string_view, std::string_view>, Tally> by_local_queue;
  for (const QueueMember& member : members) {
    by_local_queue[{member.ns, member.local_queue}].add(member);
    std::string_view above = member.cluster_queue;
    if (above.empty()) {
      const auto local = setup.local_queues.find(std::pair(std::string(member.ns), std::string(member.local_queue)));
      above = local == setup.local_queues.end() ? std::string_view() : local->second.cluster_queue_name;
    }
    by_cluster_queue[above].add(member);
  }
  QueueStatuses statuses;
  for (const auto& [name, queue] : setup.cluster_queues) {
    QueueStatus status = status_of(by_cluster_queue[name], &queue, quota);
    status.standing = standing_of(queue);
    status.weighted_share = queue.id.index() < quota.queues() ? thousandths(quota.share(queue.id)) : 0;
    statuses.cluster_queues.emplace(name, std::move(status));
  }
  for (const auto& [key, queue] : setup.local_queues) {
    QueueStatus status = status_of(by_local_queue[{key.first, key.second}], queue.cluster_queue, quota);
    status.standing = standing_of(queue);
    statuses.local_queues.emplace(key, std::move(status));
  }
  return statuses;
}

std::int64_t cohort_share(std::string_view cohort, std::int64_t weight, const Quota& quota) {
  const std::string name = fmt::format("Cohort \"{}\"", cohort);
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> over_and_all;  // by resource
  for (std::size_t i = 0; i < quota.size(); ++i) {
    const QuotaId id = make_id<QuotaTag>(i);
    const QuotaCell& cell = quota.cell(id);
    if (cell.queue != name || cell.owner || !cell.parent) {
      continue;
    }
    QuotaId root = id;
    while (quota.cell(root).parent) {
      root = *quota.cell(root).parent;
    }
    auto& [over, all] = over_and_all[cell.resource];
    over = plus(over, std::max<std::int64_t>(0, cell.used - quota.total(id)));
    all = plus(all, quota.total(root));
  }
  double most = 0;
  for (const auto& [resource, amounts] : over_and_all) {
    most = std::max(
        most, static_cast<double>(amounts.first) / static_cast<double>(std::max<std::int64_t>(1, amounts.second)));
  }
  if (most == 0) {
    return 0;
  }
  const double share = most * 1e6 / static_cast<double>(std::max<std::int64_t>(0, weight));
  // Rounded up, as a queue's; but for what the division adds of its own.
  return share < 1e18 ? static_cast<std::int64_t>(std::ceil(share - 1e-6)) : std::numeric_limits<std::int64_t>::max();
}

std::optional<Drain> drain_of(const Setup& setup, std::string_view ns, std::string_view local_queue,
                              std::string_view cluster_queue) {
  if (const auto queue = setup.cluster_queues.find(cluster_queue);
      queue != setup.cluster_queues.end() && queue->second.stop_policy == kHoldAndDrain) {
    return Drain{.reason = kClusterQueueStopped,
                 .message = fmt::format("ClusterQueue \"{}\" is stopped and drained", cluster_queue)};
  }
  const auto local = setup.local_queues.find(std::pair(std::string(ns), std::string(local_queue)));
  if (local != setup.local_queues.end() && local->second.stop_policy == kHoldAndDrain) {
    return Drain{.reason = kLocalQueueStopped,
                 .message = fmt::format("LocalQueue \"{}\" is stopped and drained", local_queue)};
  }
  return std::nullopt;
}

json::Out write_counts(const QueueStatus& status, bool cluster_queue) {
  return std::move(json::Out::object()
                       .add("pendingWorkloads", status.pending)
                       .add("reservingWorkloads", status.reserving)
                       .add("admittedWorkloads", status.admitted)
                       .add("flavorsReservation", write_uses(status.reservation, cluster_queue))
                       .add("flavorsUsage", write_uses(status.usage, cluster_queue)));
}

}  // namespace gantree::kueue

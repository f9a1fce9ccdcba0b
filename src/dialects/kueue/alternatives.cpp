#include "dialects/kueue/alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dialects/kueue/choice.h"
#include "dialects/kueue/names.h"

namespace gantree::kueue {

namespace {

// The shape of a pod set on the nodes of its flavors.
PodShape shape_on(const PodSetRequest& set, const Choice& choice) {
  PodShape shape = set.shape;
  for (const FlavorQuota* entry : choice.flavors) {
    for (const Label& label : entry->flavor->node_labels) {
      if (label_value(shape.node_selector, label.key) == nullptr &&
          label_value(shape.flavor_labels, label.key) == nullptr) {
        const auto at = std::lower_bound(shape.flavor_labels.begin(), shape.flavor_labels.end(), label);
        shape.flavor_labels.insert(at, label);
      }
    }
    const auto& tolerations = entry->flavor->tolerations;
    shape.tolerations.insert(shape.tolerations.end(), tolerations.begin(), tolerations.end());
  }
  return shape;
}

QuotaDemand demand_of(const PodSetRequest& set, const Choice& choice) {
  QuotaDemand demand;
  for (std::size_t i = 0; i < choice.groups.size(); ++i) {
    for (std::size_t r = 0; r < choice.groups[i]->covered.size(); ++r) {
      const std::int64_t amount = set.shape.requests.get(choice.groups[i]->covered[r]);
      if (amount > 0) {
        demand.emplace_back(choice.flavors[i]->cells[r], amount);
      }
    }
  }
  return demand;
}

std::string flavors_of(const Choice& choice) {
  std::vector<std::string_view> names;
  for (const FlavorQuota* entry : choice.flavors) {
    names.push_back(entry->flavor_name);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

PodSet pod_set_of(const PodSetRequest& set, const Choice& choice) {
  PodSet pod_set;
  pod_set.name = set.name;
  pod_set.shape = shape_on(set, choice);
  pod_set.count = set.count;
  pod_set.min_count = set.min_count;
  pod_set.pods = set.pods;
  pod_set.constraint = choice.constraint;
  return pod_set;
}

Group group_of(const Unit& unit, const Choice& choice) {
  Group group;
  group.name = unit.group_name;
  group.constraint = choice.constraint;
  for (std::size_t i = 0; i < unit.pod_sets.size(); ++i) {
    PodSet& pod_set = group.pod_sets.emplace_back(pod_set_of(*unit.pod_sets[i], choice));
    // The group as a whole is what must stay together; a pod set of it may have to stay closer still.
    pod_set.constraint = {};
    pod_set.constraint.topology = choice.topology;
    if (choice.required[i] != choice.constraint.required) {
      pod_set.constraint.required = choice.required[i];
    }
    pod_set.constraint.packing = Packing::kPack;
  }
  return group;
}

Alternative nothing_of(const JobRequest& workload) {
  Alternative alternative;
  alternative.gang.key = workload.key;
  alternative.gang.created_seconds = workload.created_seconds;
  alternative.gang.root.constraint.packing = Packing::kTightest;
  return alternative;
}

Alternative alternative_of(const JobRequest& workload, const Unit& unit, const Choice& choice) {
  Alternative alternative = nothing_of(workload);
  alternative.gang.topology = choice.topology;
  if (unit.group_name.empty()) {
    alternative.gang.root.pod_sets.push_back(pod_set_of(*unit.pod_sets.front(), choice));
  } else {
    alternative.gang.root.groups.push_back(group_of(unit, choice));
  }
  for (const PodSetRequest* set : unit.pod_sets) {
    alternative.demand.push_back(demand_of(*set, choice));
    alternative.flavors.push_back(flavors_of(choice));
    alternative.elsewhere.push_back(choice.elsewhere);
  }
  return alternative;
}

// A part for each unit: whatever suits one goes with whatever suits the others.
template <class Choices>
Result<WaysByPart> ways_of(const JobRequest& workload, Choices choices_of) {
  WaysByPart parts;
  for (const Unit& unit : units_of(workload)) {
    const Result<std::vector<Choice>> choices = choices_of(unit);
    if (!choices) {
      return tl::unexpected(choices.error());
    }
    std::vector<Alternative>& ways = parts.emplace_back();
    for (const Choice& choice : *choices) {
      ways.push_back(alternative_of(workload, unit, choice));
    }
  }
  if (parts.empty()) {
    parts.push_back({nothing_of(workload)});
  }
  return parts;
}

// A resource that no group of the queue covers can never be admitted.
Result<> check_covered(const JobRequest& workload, const ClusterQueue& queue, const ResourceNames& names) {
  for (const PodSetRequest& set : workload.pod_sets) {
    for (const auto& [id, amount] : set.shape.requests.entries()) {
      const bool covered = std::any_of(queue.groups.begin(), queue.groups.end(), [&](const ResourceGroup& group) {
        return std::find(group.covered.begin(), group.covered.end(), id) != group.covered.end();
      });
      if (!covered && id != ResourceNames::kPods && set.count > 0) {
        return fail(
            Errc::kNotFound,
            fmt::format("{}: pod set \"{}\" requests {}, which no resource group of ClusterQueue \"{}\" "
                        "covers",
                        json::to_string({workload.place.file, set.at.line()}), set.name, names.name(id), queue.name));
      }
    }
  }
  return {};
}

bool within(const std::vector<Label>& labels, const std::vector<Label>& all) {
  return std::all_of(labels.begin(), labels.end(), [&](const Label& label) {
    const StringId* value = label_value(all, label.key);
    return value != nullptr && *value == label.value;
  });
}

}  // namespace

Result<WaysByPart> ways_in_queue(const JobRequest& workload, const ClusterQueue& queue, Intake& intake) {
  if (auto covered = check_covered(workload, queue, intake.cluster.inventory().resources()); !covered) {
    return tl::unexpected(covered.error());
  }
  return ways_of(workload, [&](const Unit& unit) { return choices_in_queue(unit, queue, intake, kMostWays + 1); });
}

Result<WaysByPart> ways_without_queue(const JobRequest& workload, const Setup& setup, Intake& intake) {
  return ways_of(workload, [&](const Unit& unit) { return choices_without_queue(unit, setup, intake); });
}

QuotaDemand quota_used(const JobRequest& workload, const ClusterQueue& queue) {
  QuotaDemand used;
  for (const Unit& unit : units_of(workload)) {
    Choice choice;
    choice.groups = groups_in_use(unit, queue);
    for (const ResourceGroup* group : choice.groups) {
      const auto its = std::find_if(group->flavors.begin(), group->flavors.end(), [&](const FlavorQuota& entry) {
        return within(entry.flavor->node_labels, unit.pod_sets.front()->shape.node_selector);
      });
      choice.flavors.push_back(its == group->flavors.end() ? &group->flavors.front() : &*its);
    }
    for (const PodSetRequest* set : unit.pod_sets) {
      for (auto [cell, amount] : demand_of(*set, choice)) {
        std::int64_t total = 0;
        const bool too_much = __builtin_mul_overflow(amount, std::int64_t{set->count}, &total);
        used.emplace_back(cell, too_much ? std::numeric_limits<std::int64_t>::max() : total);
      }
    }
  }
  return used;
}

}  // namespace gantree::kueue

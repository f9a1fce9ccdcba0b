#include "dialects/kueue/resource_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/amounts.h"
#include "dialects/kueue/names.h"
#include "model/topology.h"

namespace gantree::kueue {

namespace {

// The place of a resource in the group; absent, after a complaint, where it is not covered.
std::optional<std::size_t> covered_at(json::Reader& read, json::Value resource, const ResourceGroup& group,
                                      std::string_view flavor, ResourceNames& names) {
  const std::string_view name = read.require_text(resource, "name");
  const auto it = std::find(group.covered.begin(), group.covered.end(), names.intern(name));
  if (it == group.covered.end()) {
    read.complain(resource, fmt::format("{}: flavor \"{}\" has quota for {}, which is not in coveredResources",
                                        read.path(resource), flavor, name));
    return std::nullopt;
  }
  return static_cast<std::size_t>(it - group.covered.begin());
}

std::optional<std::int64_t> read_limit(json::Reader& read, json::Value resource, std::string_view key, Unit unit,
                                       const GroupRules& rules) {
  const auto limit = read.quantity(resource, key, unit, Round::kDown, 0);
  if (limit && !rules.has_parent) {
    read.complain(resource[key],
                  fmt::format("{} makes sense in a cohort only, and there is none", read.path(resource[key])));
  }
  return limit;
}

FlavorQuota read_flavor_quota(json::Reader& read, std::string_view file, json::Value value, const ResourceGroup& group,
                              const GroupRules& rules, ResourceNames& names) {
  FlavorQuota quota;
  quota.flavor_name = read.require_text(value, "name");
  quota.place = {file, value.line()};
  quota.nominal.assign(group.covered.size(), -1);
  quota.borrowing_limit.resize(group.covered.size());
  quota.lending_limit.resize(group.covered.size());
  if (const json::Value resources = read.array(value, "resources")) {
    for (const json::NodeData& item : resources.items()) {
      const json::Value resource(&item);
      const auto at = covered_at(read, resource, group, quota.flavor_name, names);
      if (!at) {
        break;
      }
      const Unit unit = ResourceNames::unit(group.covered[*at]);
      const json::Value nominal = resource["nominalQuota"];
      if (!nominal) {
        read.complain(resource, fmt::format("nominalQuota of {} is missing", names.name(group.covered[*at])));
        break;
      }
      quota.nominal[*at] = read_quantity(read, nominal, "nominalQuota", unit, Round::kDown);
      quota.borrowing_limit[*at] = read_limit(read, resource, "borrowingLimit", unit, rules);
      quota.lending_limit[*at] = read_limit(read, resource, "lendingLimit", unit, rules);
      if (rules.lends_its_own && quota.lending_limit[*at].value_or(0) > quota.nominal[*at]) {
        const json::Value limit = resource["lendingLimit"];
        read.complain(limit, fmt::format("{} is more than nominalQuota", read.path(limit)));
      }
    }
  }
  for (std::size_t i = 0; i < group.covered.size(); ++i) {
    if (quota.nominal[i] < 0) {
      read.complain(value, fmt::format("{}: flavor \"{}\" has no quota for {}, which is in coveredResources",
                                       read.path(value), quota.flavor_name, names.name(group.covered[i])));
      quota.nominal[i] = 0;
    }
  }
  return quota;
}

// The list at a key; absent, after a complaint, where it is longer than allowed.
json::Value read_list(json::Reader& read, json::Value parent, std::string_view key, std::size_t most) {
  const json::Value list = read.array(parent, key);
  if (list && list.items().size() > most) {
    read.complain(list, fmt::format("{} has {} entries; {} are allowed", read.path(list), list.items().size(), most));
    return {};
  }
  return list;
}

ResourceGroup read_resource_group(json::Reader& read, std::string_view file, json::Value value, const GroupRules& rules,
                                  ResourceNames& names) {
  ResourceGroup group;
  if (const json::Value covered = read_list(read, value, "coveredResources", kMaxCoveredResources)) {
    for (const json::NodeData& item : covered.items()) {
      const json::Value resource(&item);
      const std::string_view name = read.as_text(resource, "a covered resource");
      if (!is_label_key(name)) {
        read.complain(resource,
                      fmt::format("{} is \"{}\", which no resource can be called", read.path(resource), name));
      }
      group.covered.push_back(names.intern(name));
    }
  }
  if (group.covered.empty()) {
    read.complain(value, fmt::format("{}.coveredResources is empty", read.path(value)));
  }
  if (const json::Value flavors = read_list(read, value, "flavors", kMaxFlavors)) {
    for (const json::NodeData& item : flavors.items()) {
      group.flavors.push_back(read_flavor_quota(read, file, json::Value(&item), group, rules, names));
    }
  }
  if (group.flavors.empty()) {
    read.complain(value, fmt::format("{}.flavors is empty", read.path(value)));
  }
  return group;
}

// A resource or a flavor belongs to one group only, else it would be unclear whose quota counts.
void check_disjoint(json::Reader& read, json::Value spec, const std::vector<ResourceGroup>& groups,
                    const ResourceNames& names) {
  std::vector<ResourceId> resources;
  std::vector<std::string> flavors;
  for (const ResourceGroup& group : groups) {
    for (const ResourceId id : group.covered) {
      if (std::find(resources.begin(), resources.end(), id) != resources.end()) {
        read.complain(spec, fmt::format("{}: {} is covered twice", read.path(spec), names.name(id)));
      }
      resources.push_back(id);
    }
    for (const FlavorQuota& quota : group.flavors) {
      if (std::find(flavors.begin(), flavors.end(), quota.flavor_name) != flavors.end()) {
        read.complain(spec, fmt::format("{}: flavor \"{}\" is in it twice", read.path(spec), quota.flavor_name));
      }
      flavors.push_back(quota.flavor_name);
    }
  }
}

void check_size(json::Reader& read, json::Value list, const std::vector<ResourceGroup>& groups) {
  std::size_t flavors = 0;
  std::size_t resources = 0;
  for (const ResourceGroup& group : groups) {
    flavors += group.flavors.size();
    resources += group.covered.size();
    if (group.flavors.size() * group.covered.size() > kMaxQuotasOfAGroup) {
      read.complain(list, fmt::format("{}: {} flavors with {} resources each in one group; {} quotas are allowed",
                                      read.path(list), group.flavors.size(), group.covered.size(), kMaxQuotasOfAGroup));
    }
  }
  if (flavors > kMaxInAllGroups || resources > kMaxInAllGroups) {
    read.complain(list, fmt::format("{} has {} flavors and {} resources; {} of each are allowed", read.path(list),
                                    flavors, resources, kMaxInAllGroups));
  }
}

}  // namespace

std::vector<ResourceGroup> read_resource_groups(json::Reader& read, std::string_view file, json::Value spec,
                                                const GroupRules& rules, ResourceNames& names) {
  std::vector<ResourceGroup> groups;
  if (const json::Value list = read_list(read, spec, "resourceGroups", kMaxResourceGroups)) {
    for (const json::NodeData& item : list.items()) {
      groups.push_back(read_resource_group(read, file, json::Value(&item), rules, names));
    }
    check_disjoint(read, list, groups, names);
    check_size(read, list, groups);
  }
  return groups;
}

}  // namespace gantree::kueue

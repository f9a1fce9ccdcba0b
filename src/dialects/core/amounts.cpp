#include "dialects/core/amounts.h"

#include <fmt/format.h>

#include <vector>

#include "base/pod_total.h"

namespace gantree {

namespace {

// Each is looked for among all others.
constexpr std::size_t kMostResources = 1'000;

json::Value resource_list(json::Reader& read, json::Value parent, std::string_view key) {
  const json::Value list = read.object(parent, key);
  if (list && list.members().size() > kMostResources) {
    read.complain(list, fmt::format("{} has {} resources; at most {} are allowed", read.path(list),
                                    list.members().size(), kMostResources));
    return {};
  }
  return list;
}

// Devices come whole: Kubernetes refuses parts of an extended resource.
void check_whole(json::Reader& read, json::Value list) {
  if (!list) {
    return;
  }
  for (const json::MemberData& member : list.members()) {
    const json::Value value(&member.value);
    const bool extended = member.key.find('/') != std::string_view::npos;
    if (!extended || !read.ok()) {
      continue;
    }
    const auto up = read.as_quantity(value, member.key, Unit::kOne, Round::kUp);
    const auto down = read.as_quantity(value, member.key, Unit::kOne, Round::kDown);
    if (up != down) {
      read.complain(value, fmt::format("{} must be a whole number, not {}", member.key, value.text()));
    }
  }
}

// Where the resource is several, what is asked of them adds up.
void put(Amounts& amounts, ResourceId id, std::int64_t amount, const ResourceNames& names) {
  if (names.stands_for_many(id)) {
    amounts.add(id, amount);
  } else {
    amounts.set(id, amount);
  }
}

Amounts read_asked(json::Reader& read, json::Value parent, std::string_view key, ResourceNames& names) {
  Amounts amounts;
  if (const json::Value list = resource_list(read, parent, key)) {
    for (const json::MemberData& member : list.members()) {
      const ResourceId id = names.intern_asked(member.key);
      put(amounts, id, read_quantity(read, json::Value(&member.value), member.key, ResourceNames::unit(id), Round::kUp),
          names);
    }
  }
  return amounts;
}

// Requests of a container; a limit without a request is one.
Amounts container_requests(json::Reader& read, json::Value container, ResourceNames& names) {
  const json::Value resources = read.object(container, "resources");
  if (!resources) {
    return {};
  }
  check_whole(read, resource_list(read, resources, "requests"));
  check_whole(read, resource_list(read, resources, "limits"));
  Amounts requests = read_asked(read, resources, "requests", names);
  if (const json::Value limits = resource_list(read, resources, "limits")) {
    const json::Value given = resources["requests"];
    for (const json::MemberData& limit : limits.members()) {
      if (!given[limit.key]) {
        const ResourceId id = names.intern_asked(limit.key);
        put(requests, id,
            read_quantity(read, json::Value(&limit.value), limit.key, ResourceNames::unit(id), Round::kUp), names);
      }
    }
  }
  return requests;
}

PodTotal<Amounts> read_containers(json::Reader& read, json::Value spec, ResourceNames& names) {
  PodTotal<Amounts> total;
  if (const json::Value containers = read.array(spec, "containers")) {
    for (const json::NodeData& item : containers.items()) {
      total.add_container(container_requests(read, json::Value(&item), names));
    }
  }
  if (const json::Value init = read.array(spec, "initContainers")) {
    for (const json::NodeData& item : init.items()) {
      const json::Value container(&item);
      total.add_init_container(container_requests(read, container, names),
                               read.text(container, "restartPolicy") == "Always");
    }
  }
  return total;
}

// What the pod as a whole is to get, zeros too, where its containers ask for `total`.
std::vector<Amounts::Entry> read_pod_level(json::Reader& read, json::Value spec, ResourceNames& names, Amounts total) {
  std::vector<Amounts::Entry> said;
  const json::Value resources = read.object(spec, "resources");
  if (!resources) {
    return said;
  }
  const json::Value requests = resource_list(read, resources, "requests");
  if (requests) {
    for (const json::MemberData& member : requests.members()) {
      const ResourceId id = names.intern_asked(member.key);
      put(total, id, read_quantity(read, json::Value(&member.value), member.key, ResourceNames::unit(id), Round::kUp),
          names);
      said.emplace_back(id, total.get(id));
    }
  }
  if (const json::Value limits = resource_list(read, resources, "limits")) {
    for (const json::MemberData& member : limits.members()) {
      const ResourceId id = names.intern_asked(member.key);
      const std::int64_t limit =
          read_quantity(read, json::Value(&member.value), member.key, ResourceNames::unit(id), Round::kUp);
      // Where no container asks for the resource either, the limit is what the pod gets.
      if (!requests[member.key] && total.get(id) == 0) {
        total.set(id, limit);
        said.emplace_back(id, limit);
      }
    }
  }
  return said;
}

}  // namespace

std::int64_t read_quantity(json::Reader& read, json::Value value, std::string_view what, Unit unit, Round round) {
  const auto amount = read.as_quantity(value, what, unit, round, 0);
  // Rounding up makes zero of a small negative amount, which is as wrong as a large one.
  if (amount == 0 && value.text().starts_with('-')) {
    read.complain(value, fmt::format("{} must be at least 0, not {}", what, value.text()));
  }
  return amount.value_or(0);
}

Amounts read_amounts(json::Reader& read, json::Value parent, std::string_view key, ResourceNames& names, Round round) {
  Amounts amounts;
  if (const json::Value list = resource_list(read, parent, key)) {
    for (const json::MemberData& member : list.members()) {
      const ResourceId id = names.intern(member.key);
      amounts.set(id, read_quantity(read, json::Value(&member.value), member.key, ResourceNames::unit(id), round));
    }
  }
  return amounts;
}

Amounts read_pod_requests(json::Reader& read, json::Value spec, ResourceNames& names) {
  const PodTotal<Amounts> parts = read_containers(read, spec, names);
  const auto pod_level = read_pod_level(read, spec, names, parts.of_containers());
  Amounts total = parts.of_pod(pod_level, read_asked(read, spec, "overhead", names));
  total.set(ResourceNames::kPods, 1);
  return total;
}

}  // namespace gantree

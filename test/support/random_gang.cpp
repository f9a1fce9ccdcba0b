#include "support/random_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace gantree::test {
namespace {

std::int64_t free_for(const NodeSpec& node, const AmountSpec& request) {
  std::int64_t room = std::numeric_limits<std::int32_t>::max();
  for (const auto& [resource, amount] : request) {
    std::int64_t left = node.allocatable.contains(resource) ? node.allocatable.at(resource) : 0;
    for (const AmountSpec& pod : node.pods) {
      left -= pod.contains(resource) ? pod.at(resource) : 0;
    }
    room = std::min(room, std::max<std::int64_t>(left, 0) / amount);
  }
  return room;
}

// What a random domain of a level can take, roughly: counts near it decide
// between fitting and not.
int room_around(Choices& choices, const Instance& cluster, int level, const AmountSpec& request) {
  const NodeSpec& anchor = choices.of(cluster.nodes);
  std::int64_t room = 0;
  for (const NodeSpec& node : cluster.nodes) {
    bool inside = !node.cordoned && node.ready;
    for (int l = 0; inside && l <= level; ++l) {
      const std::string& key = cluster.levels[static_cast<std::size_t>(l)];
      inside = node.labels.contains(key) && anchor.labels.contains(key) && node.labels.at(key) == anchor.labels.at(key);
    }
    room += inside ? free_for(node, request) : 0;
  }
  return static_cast<int>(std::min<std::int64_t>(room, 1000));
}

int random_count(Choices& choices, const Instance& cluster, int level, const AmountSpec& request, int most) {
  if (choices.one_in(3)) {
    return choices.between(1, most);
  }
  const int room = room_around(choices, cluster, level, request);
  return std::clamp(room + 1 - choices.up_to(3), 1, most);
}

AmountSpec random_request(Choices& choices) {
  AmountSpec request{{"pods", 1}};
  request[kGpu] = choices.one_in(6) ? 0 : choices.between(1, choices.one_in(3) ? 3 : 1);
  if (choices.one_in(3)) {
    request["cpu"] = 500 * choices.between(1, 4);
  }
  if (choices.one_in(5)) {
    request["memory"] = choices.between(1, 3);
  }
  std::erase_if(request, [](const auto& entry) { return entry.second == 0; });
  if (request.size() == 1) {
    request["cpu"] = 1000;
  }
  return request;
}

void random_eligibility(Choices& choices, PodSetSpec& pod_set) {
  if (choices.one_in(6)) {
    pod_set.selector["zone"] = choices.one_in(2) ? "b" : "a";
  }
  if (choices.one_in(4)) {
    TolerationSpec toleration{
        .key = choices.one_in(4) ? "" : "dedicated", .value = choices.one_in(2) ? "x" : "", .effect = std::nullopt};
    if (toleration.key.empty()) {
      toleration.value.clear();
    }
    if (choices.one_in(2)) {
      toleration.effect = choices.one_in(2) ? TaintEffect::kNoExecute : TaintEffect::kNoSchedule;
    }
    pod_set.tolerations.push_back(toleration);
  }
  if (choices.one_in(8)) {
    using Op = SelectorOperator;
    TermSpec term;
    term.push_back({.key = "zone",
                    .op = choices.of(std::vector{Op::kIn, Op::kNotIn, Op::kExists, Op::kDoesNotExist}),
                    .values = {}});
    if (term[0].op == Op::kIn || term[0].op == Op::kNotIn) {
      term[0].values = {"a"};
    }
    pod_set.affinity.emplace().push_back(term);
    if (choices.one_in(2)) {
      pod_set.affinity->push_back(
          {{.key = "gen", .op = choices.one_in(2) ? Op::kGt : Op::kLt, .values = {}, .bound = 2}});
    }
  }
}

PodSetSpec random_pod_set(Choices& choices, const std::string& name) {
  PodSetSpec pod_set;
  pod_set.name = name;
  pod_set.requests = random_request(choices);
  random_eligibility(choices, pod_set);
  return pod_set;
}

int random_level(Choices& choices, const Instance& cluster) {
  return choices.up_to(static_cast<int>(cluster.levels.size()) - 1);
}

Constraint random_anchor(Choices& choices, int level) {
  return choices.one_in(2) ? preferred(level) : required(level);
}

// One to three layers, coarse to fine, each size a multiple of the next.
std::vector<Slice> random_slices(Choices& choices, const Instance& cluster, int from, int most) {
  std::vector<Slice> slices;
  const auto levels = static_cast<int>(cluster.levels.size());
  for (int level = from; level < levels && slices.size() < 3; ++level) {
    if (!choices.one_in(3)) {
      slices.push_back({.level = level, .size = 1});
    }
  }
  if (slices.empty()) {
    slices.push_back({.level = levels - 1, .size = 1});
  }
  int size = choices.between(1, 3);
  for (auto slice = slices.rbegin(); slice != slices.rend(); ++slice) {
    slice->size = size;
    const int factor = choices.between(1, 3);
    size = size * factor <= most ? size * factor : size;
  }
  return slices;
}

void set_count(Choices& choices, const Instance& cluster, int level, int most, PodSetSpec& pod_set) {
  pod_set.count = random_count(choices, cluster, level, pod_set.requests, most);
  pod_set.min_count = pod_set.count;
}

void add_slices(Choices& choices, const Instance& cluster, int from, int most, PodSetSpec& pod_set) {
  pod_set.constraint.slices = random_slices(choices, cluster, from, most);
  pod_set.constraint.packing = Packing::kPack;
  const int size = pod_set.constraint.slices[0].size;
  if (pod_set.count > size && !choices.one_in(3)) {
    pod_set.count -= pod_set.count % size;
    pod_set.min_count = pod_set.count;
  }
}

PodSetSpec single_set(Choices& choices, const Instance& cluster, const Scale& scale) {
  PodSetSpec pod_set = random_pod_set(choices, "main");
  const int level = random_level(choices, cluster);
  set_count(choices, cluster, level, scale.max_pods, pod_set);
  if (!choices.one_in(5)) {
    pod_set.constraint = random_anchor(choices, level);
    if (pod_set.constraint.required && choices.one_in(4)) {
      pod_set.constraint.preferred = choices.between(level, static_cast<int>(cluster.levels.size()) - 1);
    }
  }
  return pod_set;
}

PodSetSpec sliced_set(Choices& choices, const Instance& cluster, const Scale& scale) {
  PodSetSpec pod_set = random_pod_set(choices, "main");
  const int level = random_level(choices, cluster);
  set_count(choices, cluster, choices.one_in(2) ? -1 : level, scale.max_pods, pod_set);
  if (choices.one_in(2)) {
    pod_set.constraint = random_anchor(choices, level);
  }
  add_slices(choices, cluster, pod_set.constraint.required.value_or(0), scale.max_pods, pod_set);
  return pod_set;
}

// Two or three pod sets that share `most` pods.
std::vector<PodSetSpec> several_sets(Choices& choices, const Instance& cluster, int level, int most) {
  std::vector<PodSetSpec> found;
  const int sets = choices.between(2, 3);
  for (int i = 0; i < sets; ++i) {
    PodSetSpec pod_set = random_pod_set(choices, fmt::format("s{}", i));
    set_count(choices, cluster, level, std::max(1, most / sets), pod_set);
    if (choices.one_in(4)) {
      pod_set.count = pod_set.min_count = 1;  // a leader
    }
    found.push_back(std::move(pod_set));
  }
  return found;
}

GroupSpec nested_group(Choices& choices, const Instance& cluster, const Scale& scale) {
  const auto lowest = static_cast<int>(cluster.levels.size()) - 1;
  GroupSpec outer;
  const int level = choices.up_to(lowest);
  outer.constraint = random_anchor(choices, level);
  outer.pod_sets = several_sets(choices, cluster, level, scale.max_pods);
  for (PodSetSpec& pod_set : outer.pod_sets) {
    if (choices.one_in(2)) {
      pod_set.constraint = random_anchor(choices, choices.between(level, lowest));
    } else if (choices.one_in(3)) {
      add_slices(choices, cluster, level, scale.max_pods, pod_set);
    }
  }
  if (choices.one_in(2)) {
    GroupSpec inner;
    inner.name = "inner";
    inner.constraint = random_anchor(choices, choices.between(level, lowest));
    while (outer.pod_sets.size() > 1) {
      inner.pod_sets.push_back(outer.pod_sets.back());
      outer.pod_sets.pop_back();
    }
    outer.groups.push_back(std::move(inner));
  }
  return outer;
}

GroupSpec independent_sets(Choices& choices, const Instance& cluster, const Scale& scale) {
  GroupSpec root;
  const int level = random_level(choices, cluster);
  root.pod_sets = several_sets(choices, cluster, level, scale.max_pods);
  for (PodSetSpec& pod_set : root.pod_sets) {
    pod_set.constraint = random_anchor(choices, random_level(choices, cluster));
    if (choices.one_in(4)) {
      add_slices(choices, cluster, pod_set.constraint.required.value_or(0), scale.max_pods, pod_set);
    }
  }
  return root;
}

GroupSpec grouped_sets(Choices& choices, const Instance& cluster, const Scale& scale) {
  GroupSpec group;
  const int level = random_level(choices, cluster);
  group.constraint = random_anchor(choices, level);
  group.pod_sets = several_sets(choices, cluster, level, scale.max_pods);
  if (!choices.one_in(3)) {
    return group;
  }
  GroupSpec root;
  group.name = "group";
  root.groups.push_back(std::move(group));
  return root;
}

GroupSpec exclusive_group(Choices& choices, const Instance& cluster, const Scale& scale) {
  GroupSpec root;
  root.pod_sets.push_back(random_pod_set(choices, "main"));
  PodSetSpec& pod_set = root.pod_sets[0];
  const int level = choices.up_to(std::max(0, levels_above_hosts(cluster) - 1));
  set_count(choices, cluster, level, std::max(1, scale.max_pods / 2), pod_set);
  Constraint constraint = choices.one_in(4) ? preferred(level) : required(level);
  constraint.exclusive = level;
  (choices.one_in(2) ? root.constraint : pod_set.constraint) = constraint;
  return root;
}

GroupSpec mixed_group(Choices& choices, const Instance& cluster, const Scale& scale) {
  GroupSpec root =
      choices.one_in(2) ? nested_group(choices, cluster, scale) : independent_sets(choices, cluster, scale);
  for (PodSetSpec* pod_set : pod_sets(root)) {
    if (choices.one_in(3)) {
      pod_set->constraint = {};
    }
    if (choices.one_in(4)) {
      pod_set->min_count = choices.between(1, pod_set->count);
    }
  }
  return root;
}

}  // namespace

const char* to_string(Family family) {
  switch (family) {
    case Family::kSingle:
      return "Single";
    case Family::kSlices:
      return "Slices";
    case Family::kGroup:
      return "Group";
    case Family::kIndependent:
      return "Independent";
    case Family::kNested:
      return "Nested";
    case Family::kExclusive:
      return "Exclusive";
    case Family::kPartial:
      return "Partial";
    case Family::kMixed:
      return "Mixed";
  }
  return "?";
}

GangSpec random_gang(Choices& choices, const Instance& cluster, Family family, const Scale& scale,
                     const std::string& name) {
  GangSpec gang;
  gang.name = name;
  switch (family) {
    case Family::kSingle:
      gang.root.pod_sets.push_back(single_set(choices, cluster, scale));
      break;
    case Family::kSlices:
      gang.root.pod_sets.push_back(sliced_set(choices, cluster, scale));
      break;
    case Family::kGroup:
      gang.root = grouped_sets(choices, cluster, scale);
      break;
    case Family::kIndependent:
      gang.root = independent_sets(choices, cluster, scale);
      break;
    case Family::kNested:
      gang.root = nested_group(choices, cluster, scale);
      break;
    case Family::kExclusive:
      gang.root = exclusive_group(choices, cluster, scale);
      gang.exclusive_kind = choices.one_in(4) ? "other" : "lws";
      break;
    case Family::kPartial: {
      gang.root.pod_sets.push_back(choices.one_in(2) ? sliced_set(choices, cluster, scale)
                                                     : single_set(choices, cluster, scale));
      PodSetSpec& pod_set = gang.root.pod_sets[0];
      pod_set.count = std::min(scale.max_pods, pod_set.count + choices.up_to(4));
      pod_set.min_count = choices.between(1, pod_set.count);
      break;
    }
    case Family::kMixed:
      gang.root = mixed_group(choices, cluster, scale);
      break;
  }
  return gang;
}

Instance random_instance(Choices& choices, Family family, const Scale& scale) {
  Instance instance = random_cluster(choices, scale);
  const int gangs = family == Family::kExclusive ? choices.between(2, 4) : choices.between(1, 2);
  for (int i = 0; i < gangs; ++i) {
    instance.gangs.push_back(random_gang(choices, instance, family, scale, fmt::format("g{}", i)));
  }
  return instance;
}

}  // namespace gantree::test

#include "support/random_crowd.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/random_instance.h"

namespace gantree::test {
namespace {

// Uneven racks of hosts that differ in what they have and in what runs there.
Instance crowd_cluster(Choices& choices, const CrowdScale& scale) {
  static const std::vector<std::string> kNames{"zone", "spine", "rack"};
  Instance cluster;
  const int upper = choices.between(1, 3);
  cluster.levels.assign(kNames.end() - upper, kNames.end());
  if (!choices.one_in(4)) {
    cluster.levels.emplace_back(kHostnameLabel);
  }
  const int hosts = choices.between(std::max(2, scale.max_hosts / 4), scale.max_hosts);
  const int usual = choices.between(2, 8);
  const bool uniform = choices.one_in(3);
  const bool busy = choices.one_in(2);
  const int width = choices.between(1, 3);
  for (int i = 0; i < hosts; ++i) {
    NodeSpec node = make_node(fmt::format("n{}", i));
    for (int level = 0; level < upper; ++level) {
      const std::string& key = cluster.levels[static_cast<std::size_t>(level)];
      node.label(key, fmt::format("{}{}", key[0], choices.up_to(level == upper - 1 ? width + 1 : width)));
    }
    node.gpus(uniform ? usual : choices.between(1, usual));
    node.cpu(1000 * (uniform ? 2 * usual : choices.between(2, 2 * usual)));
    node.has("memory", uniform ? 4 * usual : choices.between(2, 4 * usual));
    if (choices.one_in(12)) {
      node.has("pods", choices.between(1, 4));
    }
    for (int pods = busy ? choices.up_to(2) : 0; pods > 0; --pods) {
      AmountSpec request{{kGpu, choices.up_to(2)}, {"cpu", 1000 * choices.up_to(2)}, {"memory", choices.up_to(3)}};
      std::erase_if(request, [](const auto& entry) { return entry.second == 0; });
      node.runs(request);
    }
    node.cordoned = choices.one_in(24);
    if (choices.one_in(3)) {
      node.label("pool", "a");
    }
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

class CrowdMaker {
 public:
  CrowdMaker(Choices& choices, const Instance& cluster, const CrowdScale& scale)
      : choices_(choices), scale_(scale), levels_(static_cast<int>(cluster.levels.size())) {
    for (const NodeSpec& node : cluster.nodes) {
      for (const auto& [resource, amount] : node.allocatable) {
        free_[resource] += node.cordoned ? 0 : amount;
      }
      for (const AmountSpec& pod : node.pods) {
        for (const auto& [resource, amount] : pod) {
          free_[resource] -= amount;
        }
      }
    }
    target_ = choices.between(30, 110);
    const int shapes = choices.between(1, 5);
    for (int i = 0; i < shapes; ++i) {
      shapes_.push_back(random_shape());
    }
    top_ = choices.between(2, scale_.max_groups);
  }

  GangSpec make(Crowd crowd);

 private:
  PodSetSpec random_shape() {
    PodSetSpec pod_set = make_pod_set("", 1, choices_.one_in(5) ? 0 : choices_.between(1, choices_.one_in(3) ? 3 : 1));
    if (choices_.one_in(2) || pod_set.requests[kGpu] == 0) {
      pod_set.requests["cpu"] = 500 * choices_.between(1, 5);
    }
    if (choices_.one_in(3)) {
      pod_set.requests["memory"] = choices_.between(1, 4);
    }
    std::erase_if(pod_set.requests, [](const auto& entry) { return entry.second == 0; });
    if (choices_.one_in(10)) {
      pod_set.selector["pool"] = "a";
    }
    return pod_set;
  }

  PodSetSpec pods(const PodSetSpec& shape, int count) {
    PodSetSpec pod_set = shape;
    pod_set.count = pod_set.min_count = count;
    return pod_set;
  }
  [[nodiscard]] int level(int from = 0) { return choices_.between(std::min(from, levels_ - 1), levels_ - 1); }
  Constraint anchor(int level) { return choices_.one_in(4) ? preferred(level) : required(level); }

  GroupSpec one_set(const Constraint& constraint) {
    GroupSpec group;
    group.constraint = constraint;
    group.pod_sets.push_back(pods(choices_.of(shapes_), choices_.between(1, choices_.one_in(2) ? 5 : 2)));
    return group;
  }
  GroupSpec leader_and_workers(const Constraint& constraint) {
    GroupSpec group = one_set(constraint);
    group.pod_sets.insert(group.pod_sets.begin(), pods(choices_.of(shapes_), 1));
    return group;
  }
  GroupSpec group_of_groups(bool alone);
  GroupSpec random_group(Crowd crowd);

  // What share of the scarcest resource a group takes, in percent.
  [[nodiscard]] double load(const GroupSpec& group) const {
    AmountSpec asked;
    for (const PodSetSpec* set : pod_sets(group)) {
      for (const auto& [resource, amount] : set->requests) {
        asked[resource] += amount * set->count;
      }
    }
    double most = 0;
    for (const auto& [resource, amount] : asked) {
      const auto free = free_.find(resource);
      const double there = free == free_.end() ? 0 : static_cast<double>(free->second);
      most = std::max(most, 100.0 * static_cast<double>(amount) / std::max(1.0, there));
    }
    return most;
  }
  void name(GroupSpec& group, const std::string& name) {
    group.name = name;
    for (std::size_t i = 0; i < group.pod_sets.size(); ++i) {
      group.pod_sets[i].name = fmt::format("{}-s{}", name, i);
    }
    for (std::size_t i = 0; i < group.groups.size(); ++i) {
      this->name(group.groups[i], fmt::format("{}-g{}", name, i));
    }
  }
  void draw_minima(GroupSpec& group);

  Choices& choices_;
  CrowdScale scale_;
  int levels_;
  AmountSpec free_;
  int target_ = 0;
  int top_ = 0;  // no more groups than these
  std::vector<PodSetSpec> shapes_;
};

GroupSpec CrowdMaker::group_of_groups(bool alone) {
  GroupSpec outer;
  const int level = alone ? choices_.up_to(std::max(0, levels_ - 2)) : this->level();
  outer.constraint = alone ? required(level) : anchor(level);
  const int inner_level = this->level(level + 1);
  Constraint inner = alone ? required(inner_level) : anchor(inner_level);
  if (alone) {
    outer.constraint.exclusive = level;
    if (!choices_.one_in(3)) {
      inner.exclusive = inner_level;
    }
  }
  if (choices_.one_in(3)) {
    outer.pod_sets.push_back(pods(choices_.of(shapes_), 1));
  }
  const bool alike = choices_.one_in(2);
  const int groups = choices_.between(1, alone ? 2 : 4);
  for (int i = 0; i < groups; ++i) {
    outer.groups.push_back(alike && i > 0       ? outer.groups.front()
                           : choices_.one_in(3) ? leader_and_workers(inner)
                                                : one_set(inner));
  }
  return outer;
}

GroupSpec CrowdMaker::random_group(Crowd crowd) {
  switch (crowd) {
    case Crowd::kAlike:
    case Crowd::kUnlike:
      return one_set(anchor(level()));
    case Crowd::kLeaders:
      return leader_and_workers(anchor(level()));
    case Crowd::kNested:
      return group_of_groups(false);
    case Crowd::kTwoLevels:
      return group_of_groups(true);
    case Crowd::kExclusive: {
      const int own = choices_.up_to(std::max(0, levels_ - 2));
      Constraint alone = required(choices_.one_in(4) ? level(own) : own);
      alone.exclusive = own;
      return choices_.one_in(3) ? leader_and_workers(alone) : one_set(alone);
    }
    case Crowd::kSliced: {
      GroupSpec group = choices_.one_in(3) ? leader_and_workers(anchor(level())) : one_set(anchor(level()));
      PodSetSpec& set = group.pod_sets.back();
      set.constraint =
          sliced({{.level = level(group.constraint.required.value_or(0)), .size = choices_.between(1, 3)}});
      if (!choices_.one_in(3)) {
        set.count = set.min_count = set.constraint.slices[0].size * choices_.between(1, 3);
      }
      return group;
    }
    case Crowd::kMinima: {
      GroupSpec group = choices_.one_in(3)   ? group_of_groups(false)
                        : choices_.one_in(2) ? leader_and_workers(anchor(level()))
                                             : one_set(anchor(level()));
      draw_minima(group);
      return group;
    }
  }
  return {};
}

void CrowdMaker::draw_minima(GroupSpec& group) {
  int pods = 0;
  for (PodSetSpec& set : group.pod_sets) {
    pods += set.count;
    set.min_count = choices_.one_in(2) ? choices_.up_to(set.count) : set.count;
  }
  if (pods > 0 && choices_.one_in(3)) {
    group.min_pods = choices_.up_to(pods);
  }
  if (!group.groups.empty() && choices_.one_in(2)) {
    group.min_groups = choices_.between(1, static_cast<int>(group.groups.size()));
  }
  for (GroupSpec& nested : group.groups) {
    draw_minima(nested);
  }
}

GangSpec CrowdMaker::make(Crowd crowd) {
  GangSpec gang;
  gang.exclusive_kind = "crowd";
  // Of how many kinds the groups are: one, a few, or every one its own.
  const int kinds = crowd == Crowd::kAlike    ? 1
                    : crowd == Crowd::kUnlike ? scale_.max_groups
                                              : choices_.of(std::vector{1, 2, 3, scale_.max_groups});
  const bool same_rules = choices_.one_in(2);
  if (crowd == Crowd::kExclusive || crowd == Crowd::kTwoLevels) {
    top_ = choices_.between(2, choices_.one_in(3) ? scale_.max_groups : 6);  // there are only so many domains
  }
  std::vector<GroupSpec> drawn;
  double sum = 0;
  int leaves = 0;
  while (leaves < top_) {
    if (static_cast<int>(drawn.size()) < kinds) {
      drawn.push_back(random_group(crowd));
      if (same_rules && crowd != Crowd::kNested && crowd != Crowd::kTwoLevels) {
        drawn.back().constraint = drawn.front().constraint;
      }
    }
    GroupSpec group = choices_.one_in(2) || kinds > 3 ? drawn.back() : choices_.of(drawn);
    sum += load(group);
    leaves += std::max(1, static_cast<int>(group.groups.size()));
    if (sum > target_ && gang.root.groups.size() > 1) {
      break;
    }
    gang.root.groups.push_back(std::move(group));
  }
  if (choices_.one_in(6)) {
    gang.root.constraint = !choices_.one_in(3) ? preferred(0) : required(0);
  }
  if (choices_.one_in(8) && crowd != Crowd::kExclusive && crowd != Crowd::kTwoLevels) {
    gang.root.pod_sets.push_back(pods(choices_.of(shapes_), choices_.between(1, 3)));
    gang.root.pod_sets.back().constraint = anchor(level());
  }
  if (crowd == Crowd::kMinima && !choices_.one_in(3)) {
    gang.root.min_groups = choices_.between(1, static_cast<int>(gang.root.groups.size()));
  }
  name(gang.root, "g");
  gang.name = "crowd";
  return gang;
}

}  // namespace

const char* to_string(Crowd crowd) {
  switch (crowd) {
    case Crowd::kAlike:
      return "Alike";
    case Crowd::kUnlike:
      return "Unlike";
    case Crowd::kLeaders:
      return "Leaders";
    case Crowd::kNested:
      return "Nested";
    case Crowd::kExclusive:
      return "Exclusive";
    case Crowd::kTwoLevels:
      return "TwoLevels";
    case Crowd::kSliced:
      return "Sliced";
    case Crowd::kMinima:
      return "Minima";
  }
  return "?";
}

Instance random_crowd(Choices& choices, Crowd crowd, const CrowdScale& scale) {
  Instance instance = crowd_cluster(choices, scale);
  if ((crowd == Crowd::kExclusive || crowd == Crowd::kTwoLevels) && choices.one_in(2)) {
    GangSpec first = random_gang(choices, instance, Family::kExclusive, {.max_hosts = 8, .max_pods = 6}, "first");
    first.exclusive_kind = "crowd";
    instance.gangs.push_back(std::move(first));
  }
  instance.gangs.push_back(CrowdMaker(choices, instance, scale).make(crowd));
  return instance;
}

}  // namespace gantree::test

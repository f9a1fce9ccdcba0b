// Remedies that change what the gang asks for.
#include <algorithm>
#include <functional>
#include <set>

#include "explain/remedy.h"

namespace gantree {

namespace {

std::vector<HostShare> hosts_of(const Placement& placement) {
  std::vector<HostShare> all;
  for (const std::vector<HostShare>& hosts : placement.pod_sets) {
    all.insert(all.end(), hosts.begin(), hosts.end());
  }
  return all;
}

void each_constraint(Group& group, const std::function<void(Constraint&)>& change) {
  change(group.constraint);
  for (PodSet& set : group.pod_sets) {
    change(set.constraint);
  }
  for (Group& nested : group.groups) {
    each_constraint(nested, change);
  }
}

void change_pod_sets(Group& group, const std::function<void(PodSet&)>& change) {
  for (PodSet& set : group.pod_sets) {
    change(set);
  }
  for (Group& nested : group.groups) {
    change_pod_sets(nested, change);
  }
}

// The largest number up to `most` for which the gang starts, where it does for 1; and what it gets then.
template <class Number, class Make>
std::optional<std::pair<Number, Trial>> largest(const Plight& plight, Number most, Make make) {
  std::optional<std::pair<Number, Trial>> found;
  Number low = 0;
  for (Number high = most + 1; high - low > 1;) {
    const Number middle = low + (high - low) / 2;
    auto trial = try_gang(plight, make(middle));
    if (trial && trial->quota) {
      low = middle;
      found = {middle, std::move(*trial)};
    } else {
      high = middle;
    }
  }
  return found;
}

class Request {
 public:
  Request(const Plight& plight, const Measure& measure, const HostCensus& hosts)
      : plight_(plight), gang_(plight.alternative.gang), measure_(measure), hosts_(hosts) {}

  std::vector<Remedy> find() {
    fewer_pods();
    fewer_groups();
    if (!try_gang(plight_, gang_)) {
      coarser();
      without_slices();
      shared();
      smaller_pods();
      any_host();
      tolerate();
    }
    return std::move(found_);
  }

 private:
  Remedy& add(RemedyKind kind, const Trial& trial) {
    Remedy& remedy = found_.emplace_back();
    remedy.kind = kind;
    remedy.with_quota = !trial.quota;
    remedy.topology = measure_.topology;
    remedy.place = hosts_of(*trial.outcome.placement);
    return remedy;
  }

  // The set that is hardest to place; the largest one where all are hard together.
  [[nodiscard]] const PodSet* measured_set() const {
    const PodSet* largest = nullptr;
    for (const PodSet* set : pod_sets(gang_.root)) {
      if (set->name == measure_.pod_set) {
        return set;
      }
      if (largest == nullptr || set->count > largest->count) {
        largest = set;
      }
    }
    return largest;
  }

  void fewer_pods() {
    const PodSet* measured = measured_set();
    if (measured == nullptr) {
      return;
    }
    const int least = measured->min_count > 0 ? std::min(measured->min_count, measured->count) : measured->count;
    int alike = 0;
    const auto make = [&](int pods) {
      Gang gang = gang_;
      alike = 0;
      change_pod_sets(gang.root, [&](PodSet& set) {
        if (set.shape == measured->shape && set.count == measured->count && set.min_count == measured->min_count) {
          ++alike;
          set.count = pods;
          set.min_count = pods;
        }
      });
      drop_minima(gang.root);
      return gang;
    };
    if (const auto found = largest(plight_, least - 1, make)) {
      Remedy& remedy = add(RemedyKind::kFewerPods, found->second);
      remedy.subject = measured->name;
      remedy.count = found->first;
      remedy.asked = least;
      remedy.sets = alike;
    }
  }

  // Once counts are changed those of groups no longer apply.
  static void drop_minima(Group& group) {
    group.min_pods.reset();
    for (Group& nested : group.groups) {
      drop_minima(nested);
    }
  }

  void fewer_groups() {
    const auto splits = [](const Group& group) { return group.groups.size() > 1; };
    const Group* group = &gang_.root;
    while (!splits(*group) && group->groups.size() == 1) {
      group = &group->groups.front();
    }
    if (!splits(*group)) {
      return;
    }
    const int groups = static_cast<int>(group->groups.size());
    const auto make = [&](int kept) {
      Gang gang = gang_;
      Group* changed = &gang.root;
      while (!splits(*changed)) {
        changed = &changed->groups.front();
      }
      changed->min_groups.reset();
      for (int i = kept; i < groups; ++i) {
        Group& left_out = changed->groups[static_cast<std::size_t>(i)];
        drop_minima(left_out);
        change_pod_sets(left_out, [](PodSet& set) { set.count = set.min_count = 0; });
      }
      return gang;
    };
    if (const auto found = largest(plight_, group->min_groups.value_or(groups) - 1, make)) {
      Remedy& remedy = add(RemedyKind::kFewerGroups, found->second);
      remedy.count = found->first;
      remedy.asked = group->min_groups.value_or(groups);
    }
  }

  [[nodiscard]] std::set<int, std::greater<>> levels_of(
      const std::function<void(const Constraint&, std::set<int, std::greater<>>&)>& read) const {
    std::set<int, std::greater<>> levels;
    Gang gang = gang_;
    each_constraint(gang.root, [&](Constraint& constraint) { read(constraint, levels); });
    return levels;
  }

  // For each level that is required, the finest coarser one that will do.
  void coarser() {
    const auto levels = levels_of([](const Constraint& constraint, auto& found) {
      if (constraint.required) {
        found.insert(*constraint.required);
      }
    });
    for (const int from : levels) {
      for (int to = from - 1; to >= -1; --to) {
        Gang gang = gang_;
        each_constraint(gang.root, [&](Constraint& constraint) {
          if (constraint.required == from) {
            constraint.required = to >= 0 ? std::optional(to) : std::nullopt;
            constraint.preferred = std::max(from, constraint.preferred.value_or(from));
          }
        });
        if (const auto trial = try_gang(plight_, gang)) {
          Remedy& remedy = add(to >= 0 ? RemedyKind::kCoarserLevel : RemedyKind::kPreferred, *trial);
          remedy.from = from;
          remedy.to = to;
          break;
        }
      }
    }
  }

  void without_slices() {
    const auto levels = levels_of([](const Constraint& constraint, auto& found) {
      for (const Slice& slice : constraint.slices) {
        found.insert(slice.level);
      }
    });
    for (const int level : levels) {
      Gang gang = gang_;
      int size = 0;
      each_constraint(gang.root, [&](Constraint& constraint) {
        std::erase_if(constraint.slices, [&](const Slice& slice) {
          size = slice.level == level ? slice.size : size;
          return slice.level == level;
        });
      });
      if (const auto trial = try_gang(plight_, gang)) {
        Remedy& remedy = add(RemedyKind::kNoSlices, *trial);
        remedy.from = level;
        remedy.asked = size;
      }
    }
  }

  void shared() {
    const auto levels = levels_of([](const Constraint& constraint, auto& found) {
      if (constraint.exclusive) {
        found.insert(*constraint.exclusive);
      }
    });
    for (const int level : levels) {
      Gang gang = gang_;
      each_constraint(gang.root, [&](Constraint& constraint) {
        if (constraint.exclusive == level) {
          constraint.exclusive.reset();
          constraint.required = std::max(level, constraint.required.value_or(level));
        }
      });
      if (const auto trial = try_gang(plight_, gang)) {
        Remedy& remedy = add(RemedyKind::kShared, *trial);
        remedy.from = level;
      }
    }
  }

  // Where hosts are too small for one pod even when empty: the most of the resource with which it starts.
  void smaller_pods() {
    const PodSet* measured = measured_set();
    if (hosts_.too_small.empty() || measured == nullptr) {
      return;
    }
    const ResourceId resource = hosts_.too_small.front().first;
    const std::int64_t asked = measured->shape.requests.get(resource);
    // Numbers that people would write.
    const std::int64_t step = ResourceNames::unit(resource) == Unit::kMilli ? (asked > 1000 ? 500 : 50)
                              : asked < kFine                               ? 1
                                                                            : std::int64_t{1} << kFineBits;
    const auto make = [&](std::int64_t steps) {
      Gang gang = gang_;
      change_pod_sets(gang.root, [&](PodSet& set) {
        if (set.shape == measured->shape) {
          set.shape.requests.set(resource, steps * step);
        }
      });
      return gang;
    };
    if (const auto found = largest(plight_, (asked - 1) / step, make)) {
      Remedy& remedy = add(RemedyKind::kSmallerPods, found->second);
      remedy.subject = measured->name;
      remedy.resource = resource;
      remedy.amount = found->first * step;
      remedy.asked_amount = asked;
    }
  }

  void any_host() {
    const bool kept_out = std::any_of(hosts_.left_out.begin(), hosts_.left_out.end(), [](const auto& entry) {
      return entry.first == Ineligible::kSelector || entry.first == Ineligible::kAffinity;
    });
    if (!kept_out) {
      return;
    }
    Gang gang = gang_;
    change_pod_sets(gang.root, [](PodSet& set) {
      set.shape.node_selector.clear();
      set.shape.affinity.reset();
    });
    if (const auto trial = try_gang(plight_, gang)) {
      add(RemedyKind::kNoSelector, *trial);
    }
  }

  void tolerate() {
    for (const auto& [key, count] : hosts_.taints) {
      Gang gang = gang_;
      Toleration toleration;
      toleration.key = plight_.cluster.inventory().strings().intern(key);
      toleration.op = TolerationOperator::kExists;
      change_pod_sets(gang.root, [&](PodSet& set) { set.shape.tolerations.push_back(toleration); });
      if (const auto trial = try_gang(plight_, gang)) {
        add(RemedyKind::kTolerate, *trial).subject = key;
        return;
      }
    }
  }

  static constexpr int kFineBits = 28;
  static constexpr std::int64_t kFine = std::int64_t{1} << 32;  // below, every unit counts

  const Plight& plight_;
  const Gang& gang_;
  const Measure& measure_;
  const HostCensus& hosts_;
  std::vector<Remedy> found_;
};

}  // namespace

std::vector<Remedy> remedies_of_request(const Plight& plight, const Measure& measure, const HostCensus& hosts) {
  return Request(plight, measure, hosts).find();
}

Gang without_levels(Gang gang) {
  each_constraint(gang.root, [](Constraint& constraint) {
    const std::optional<int> level = constraint.exclusive ? constraint.exclusive : constraint.required;
    constraint.preferred = constraint.preferred ? constraint.preferred : level;
    constraint.required.reset();
    constraint.exclusive.reset();
    constraint.slices.clear();
  });
  return gang;
}

}  // namespace gantree

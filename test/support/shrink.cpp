#include "support/shrink.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace gantree::test {
namespace {

constexpr int kAttemptsAtMost = 5000;

// Visits the constraints of a gang, its groups' first.
void visit(GroupSpec& group, const std::function<void(Constraint&)>& each) {
  each(group.constraint);
  for (PodSetSpec& pod_set : group.pod_sets) {
    each(pod_set.constraint);
  }
  for (GroupSpec& nested : group.groups) {
    visit(nested, each);
  }
}

std::vector<GroupSpec*> groups_of(Instance& instance) {
  std::vector<GroupSpec*> found;
  for (GangSpec& gang : instance.gangs) {
    found.push_back(&gang.root);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (GroupSpec& nested : found[i]->groups) {
      found.push_back(&nested);
    }
  }
  return found;
}

std::vector<PodSetSpec*> pod_sets_of(Instance& instance) {
  std::vector<PodSetSpec*> found;
  for (GangSpec& gang : instance.gangs) {
    auto theirs = pod_sets(gang.root);
    found.insert(found.end(), theirs.begin(), theirs.end());
  }
  return found;
}

bool asks(const Constraint& constraint) {
  return constraint.required || constraint.preferred || !constraint.slices.empty();
}

// Every group has pods, every pod asks for something, and so does whoever wants to be packed.
bool valid(const GroupSpec& group) {
  auto empty = [](const PodSetSpec& set) { return set.requests.empty(); };
  auto idle = [](const auto& part) { return part.constraint.packing == Packing::kPack && !asks(part.constraint); };
  return (!group.pod_sets.empty() || !group.groups.empty()) && !idle(group) &&
         std::ranges::none_of(group.pod_sets, empty) && std::ranges::none_of(group.pod_sets, idle) &&
         std::ranges::all_of(group.groups, [](const GroupSpec& nested) { return valid(nested); });
}

bool valid(const Instance& instance) {
  return !instance.gangs.empty() && !instance.levels.empty() &&
         std::ranges::all_of(instance.gangs, [](const GangSpec& gang) { return valid(gang.root); });
}

class Shrinker {
 public:
  Shrinker(Instance instance, const std::function<bool(const Instance&)>& fails)
      : best_(std::move(instance)), fails_(fails) {}

  Instance run() {
    for (bool better = true; better;) {
      better = false;
      better |= drop_parts();
      better |= simplify_nodes();
      better |= simplify_pod_sets();
      better |= simplify_constraints();
      better |= drop_levels();
      if (!better) {
        better = shrink_together();
      }
    }
    return best_;
  }

 private:
  // Keeps a change if the instance still fails.
  bool keep(const std::function<bool(Instance&)>& change) {
    Instance candidate = best_;
    if (attempts_ >= kAttemptsAtMost || !change(candidate) || !valid(candidate)) {
      return false;
    }
    ++attempts_;
    if (!fails_(candidate)) {
      return false;
    }
    best_ = std::move(candidate);
    return true;
  }

  // Removes elements of the list that `list_of` finds, one at a time.
  template <class ListOf>
  bool drop_each(ListOf list_of) {
    bool better = false;
    for (std::size_t i = 0; i < list_of(best_).size();) {
      const bool dropped = keep([&](Instance& instance) {
        auto& list = list_of(instance);
        list.erase(std::next(list.begin(), static_cast<std::ptrdiff_t>(i)));
        return true;
      });
      better |= dropped;
      i += dropped ? 0 : 1;
    }
    return better;
  }

  bool drop_parts() {
    bool better = drop_each([](Instance& instance) -> auto& { return instance.gangs; });
    better |= drop_each([](Instance& instance) -> auto& { return instance.nodes; });
    for (std::size_t g = 0; g < groups_of(best_).size(); ++g) {
      better |= drop_each([g](Instance& instance) -> auto& { return groups_of(instance)[g]->groups; });
    }
    for (std::size_t g = 0; g < groups_of(best_).size(); ++g) {
      better |= drop_each([g](Instance& instance) -> auto& { return groups_of(instance)[g]->pod_sets; });
    }
    return better;
  }

  bool simplify_nodes() {
    bool better = false;
    for (std::size_t n = 0; n < best_.nodes.size(); ++n) {
      better |= drop_each([n](Instance& instance) -> auto& { return instance.nodes[n].pods; });
      better |= drop_each([n](Instance& instance) -> auto& { return instance.nodes[n].taints; });
      better |= drop_each([n](Instance& instance) -> auto& { return instance.nodes[n].labels; });
      better |= drop_each([n](Instance& instance) -> auto& { return instance.nodes[n].allocatable; });
      better |= keep([n](Instance& instance) { return std::exchange(instance.nodes[n].cordoned, false); });
      better |= keep([n](Instance& instance) { return !std::exchange(instance.nodes[n].ready, true); });
      for (const auto& [name, amount] : AmountSpec(best_.nodes[n].allocatable)) {
        while (keep([&](Instance& instance) {
          std::int64_t& left = instance.nodes[n].allocatable[name];
          left -= name == "cpu" ? 500 : 1;
          return left > 0 && left < 100'000 && (name != "pods" || left < 20);
        })) {
          better = true;
        }
      }
    }
    return better;
  }

  bool simplify_pod_sets() {
    bool better = false;
    for (std::size_t s = 0; s < pod_sets_of(best_).size(); ++s) {
      auto at = [s](Instance& instance) -> PodSetSpec& { return *pod_sets_of(instance)[s]; };
      better |= drop_each([&](Instance& instance) -> auto& { return at(instance).tolerations; });
      better |= drop_each([&](Instance& instance) -> auto& { return at(instance).selector; });
      better |= drop_each([&](Instance& instance) -> auto& { return at(instance).requests; });
      better |= keep([&](Instance& i) { return std::exchange(at(i).affinity, std::nullopt).has_value(); });
      better |= keep([&](Instance& i) { return std::exchange(at(i).min_count, at(i).count) != at(i).count; });
      for (const auto& [name, amount] : AmountSpec(at(best_).requests)) {
        better |= keep([&](Instance& i) { return std::exchange(at(i).requests[name], 1) > 1; });
      }
      while (keep([&](Instance& instance) {
        PodSetSpec& pod_set = at(instance);
        pod_set.min_count -= pod_set.min_count == pod_set.count ? 1 : 0;
        return --pod_set.count > 0;
      })) {
        better = true;
      }
    }
    return better;
  }

  // Tight fits stay tight when room and need shrink by as much.
  bool shrink_together() {
    bool better = false;
    for (std::size_t s = 0; s < pod_sets_of(best_).size(); ++s) {
      auto fewer = [s](Instance& instance, int pods) {
        PodSetSpec& pod_set = *pod_sets_of(instance)[s];
        pod_set.count -= pods;
        pod_set.min_count = std::min(pod_set.min_count, pod_set.count);
        return pod_set.count > 0;
      };
      for (std::size_t n = 0; n < best_.nodes.size(); ++n) {
        for (int pods = 8; pods > 0 && n < best_.nodes.size(); --pods) {
          better |= keep([&](Instance& instance) {
            instance.nodes.erase(instance.nodes.begin() + static_cast<std::ptrdiff_t>(n));
            return fewer(instance, pods);
          });
        }
        for (int pods = 8; pods > 0 && n < best_.nodes.size(); --pods) {
          better |= keep([&](Instance& instance) {
            for (const auto& [name, amount] : pod_sets_of(instance)[s]->requests) {
              instance.nodes[n].allocatable[name] -= pods * amount;
            }
            return fewer(instance, pods) &&
                   std::ranges::none_of(instance.nodes[n].allocatable, [](const auto& e) { return e.second < 0; });
          });
        }
      }
    }
    return better;
  }

  bool simplify_constraints() {
    bool better = false;
    std::size_t constraints = 0;
    auto at = [](Instance& instance, std::size_t wanted) -> Constraint& {
      Constraint* found = nullptr;
      std::size_t number = 0;
      for (GangSpec& gang : instance.gangs) {
        visit(gang.root, [&](Constraint& constraint) { found = number++ == wanted ? &constraint : found; });
      }
      return *found;
    };
    for (GangSpec& gang : best_.gangs) {
      visit(gang.root, [&](Constraint&) { ++constraints; });
    }
    for (std::size_t c = 0; c < constraints; ++c) {
      better |= drop_each([&](Instance& instance) -> auto& { return at(instance, c).slices; });
      better |= keep([&](Instance& i) { return std::exchange(at(i, c), Constraint{}).packing != Packing::kTightest; });
      better |= keep([&](Instance& i) { return std::exchange(at(i, c).preferred, std::nullopt).has_value(); });
      better |= keep([&](Instance& i) { return std::exchange(at(i, c).required, std::nullopt).has_value(); });
      better |= keep([&](Instance& i) { return std::exchange(at(i, c).exclusive, std::nullopt).has_value(); });
    }
    return better;
  }

  // A level that no constraint names goes; deeper ones move up.
  bool drop_levels() {
    bool better = false;
    for (std::size_t level = 0; level < best_.levels.size();) {
      const bool dropped = keep([&](Instance& instance) { return drop_level(instance, static_cast<int>(level)); });
      better |= dropped;
      level += dropped ? 0 : 1;
    }
    return better;
  }

  static bool drop_level(Instance& instance, int level) {
    bool named = false;
    auto move = [&](int& used) {
      named |= used == level;
      used -= used > level ? 1 : 0;
    };
    for (GangSpec& gang : instance.gangs) {
      visit(gang.root, [&](Constraint& constraint) {
        for (auto* used : {&constraint.required, &constraint.preferred, &constraint.exclusive}) {
          if (*used) {
            move(**used);
          }
        }
        for (Slice& slice : constraint.slices) {
          move(slice.level);
        }
      });
    }
    instance.levels.erase(instance.levels.begin() + level);
    return !named;
  }

  Instance best_;
  const std::function<bool(const Instance&)>& fails_;
  int attempts_ = 0;
};

}  // namespace

Instance shrink(Instance instance, const std::function<bool(const Instance&)>& fails) {
  return Shrinker(std::move(instance), fails).run();
}

}  // namespace gantree::test

#include "dialects/kai/spare.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "dialects/kai/bound.h"
#include "dialects/kai/names.h"

namespace gantree::kai {

namespace {

// A gang or a subgroup of it, with the pods of it that run.
struct Branch {
  std::string name;
  std::optional<int> min_pods = {};    // of a leaf
  std::optional<int> min_groups = {};  // of those below it; nothing: all
  std::vector<std::size_t> children = {};
  PodsThatRun pods = {};  // of a leaf
};

constexpr std::pair<std::string_view, std::string_view> kLeaderLabels[] = {
    {"training.kubeflow.org/job-role", "master"},
    {"training.kubeflow.org/replica-type", "master"},
    {"training.kubeflow.org/replica-type", "chief"},
    {"training.kubeflow.org/replica-type", "launcher"},
    {"ray.io/node-type", "head"},
    {"leaderworkerset.sigs.k8s.io/worker-index", "0"},
    {"kai.scheduler/subgroup-name", "leader"},
    {"kai.scheduler/subgroup-name", "master"},
    {"kai.scheduler/subgroup-name", "headgroup"},
};

bool is_leader(const PodRecord* pod) {
  const json::Value labels = pod->labels();
  return std::any_of(std::begin(kLeaderLabels), std::end(kLeaderLabels), [&](const auto& known) {
    const json::Value label = text_at(labels, known.first);
    return label && label.text() == known.second;
  });
}

// Leaders first, then by name.
bool stays_before(const PodRecord* a, const PodRecord* b) {
  const bool leads = is_leader(a);
  return leads != is_leader(b) ? leads : natural_less(a->name, b->name);
}

class Tree {
 public:
  // The last one is the gang itself.
  explicit Tree(std::vector<Branch> branches) : branches_(std::move(branches)) {
    for (Branch& branch : branches_) {
      std::sort(branch.pods.begin(), branch.pods.end(), stays_before);
    }
  }

  Spare find() && {
    const std::size_t root = branches_.size() - 1;
    if (all_of(root).empty() || !is_complete(root)) {
      return {};
    }
    keep(root);
    Spare spare{.has_minimum = true, .parts = std::move(pods_)};
    std::move(groups_.begin(), groups_.end(), std::back_inserter(spare.parts));
    return spare;
  }

 private:
  [[nodiscard]] PodsThatRun all_of(std::size_t at) const {
    PodsThatRun all = branches_[at].pods;
    for (const std::size_t child : branches_[at].children) {
      const PodsThatRun below = all_of(child);
      all.insert(all.end(), below.begin(), below.end());
    }
    return all;
  }

  [[nodiscard]] std::size_t least_groups(const Branch& branch) const {
    return static_cast<std::size_t>(std::clamp(branch.min_groups.value_or(static_cast<int>(branch.children.size())), 0,
                                               static_cast<int>(branch.children.size())));
  }

  [[nodiscard]] bool is_complete(std::size_t at) const {
    const Branch& branch = branches_[at];
    if (branch.children.empty()) {
      return static_cast<int>(branch.pods.size()) >= branch.min_pods.value_or(1);
    }
    const auto complete = std::count_if(branch.children.begin(), branch.children.end(),
                                        [&](std::size_t child) { return is_complete(child); });
    return static_cast<std::size_t>(complete) >= least_groups(branch);
  }

  // What stays of it; it is complete.
  void keep(std::size_t at) {
    const Branch& branch = branches_[at];
    if (branch.children.empty()) {
      const auto leaders = std::count_if(branch.pods.begin(), branch.pods.end(), is_leader);
      const auto least = static_cast<std::size_t>(std::max<std::ptrdiff_t>(branch.min_pods.value_or(1), leaders));
      for (std::size_t i = branch.pods.size(); i > least; --i) {
        pods_.push_back({branch.pods[i - 1]});
      }
      return;
    }
    std::vector<std::size_t> children = branch.children;
    std::stable_sort(children.begin(), children.end(), [&](std::size_t a, std::size_t b) {
      const auto key = [&](std::size_t child) { return std::pair(!is_complete(child), !leads(child)); };
      return key(a) != key(b) ? key(a) < key(b) : natural_less(branches_[a].name, branches_[b].name);
    });
    const std::size_t least = std::max(least_groups(branch), leading(children));
    for (std::size_t i = children.size(); i > least; --i) {
      if (PodsThatRun group = all_of(children[i - 1]); !group.empty()) {
        groups_.push_back(std::move(group));
      }
    }
    for (std::size_t i = 0; i < least; ++i) {
      keep(children[i]);
    }
  }

  [[nodiscard]] bool leads(std::size_t at) const {
    const PodsThatRun all = all_of(at);
    return std::any_of(all.begin(), all.end(), is_leader);
  }
  // Complete ones with leaders are not all of them: where every one has a leader, it is no leader of the others.
  [[nodiscard]] std::size_t leading(const std::vector<std::size_t>& children) const {
    const auto count = static_cast<std::size_t>(std::count_if(
        children.begin(), children.end(), [&](std::size_t child) { return is_complete(child) && leads(child); }));
    return count < children.size() ? count : 0;
  }

  std::vector<Branch> branches_;
  std::vector<PodsThatRun> pods_;
  std::vector<PodsThatRun> groups_;
};

// By `slot_of`, of the branches before the last, or of that where there are no others.
template <class SlotOf>
void sort_in(std::vector<Branch>& branches, std::span<const PodRecord* const> pods, const SlotOf& slot_of) {
  PodsThatRun sorted;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(sorted),
               [](const PodRecord* pod) { return pod->bound() && !pod->deleting; });
  std::sort(sorted.begin(), sorted.end(),
            [](const PodRecord* a, const PodRecord* b) { return natural_less(a->name, b->name); });
  for (const PodRecord* pod : sorted) {
    const std::optional<std::size_t> slot = branches.size() == 1 ? std::optional<std::size_t>(0) : slot_of(*pod);
    if (slot) {
      branches[*slot].pods.push_back(pod);
    }
  }
}

}  // namespace

Spare spare_of(const PodGroup& group, std::span<const PodRecord* const> pods) {
  if (group.objection) {
    return {};
  }
  std::vector<Branch> branches;
  for (const SubGroup& subgroup : group.subgroups) {
    branches.push_back({.name = subgroup.name,
                        .min_pods = subgroup.min_member,
                        .min_groups = subgroup.min_groups,
                        .children = subgroup.children});
  }
  branches.push_back({.name = group.key.name,
                      .min_pods = group.min_member,
                      .min_groups = group.min_groups,
                      .children = group.children});
  sort_in(branches, pods, [&](const PodRecord& pod) {
    const json::Value label = text_at(pod.labels(), kSubgroup);
    return label ? group.subgroup(label.text()) : std::nullopt;
  });
  return Tree(std::move(branches)).find();
}

Spare spare_of(const Workload& workload, std::span<const PodRecord* const> pods) {
  const Result<GroupSpec> spec = group_spec(workload, {.leader_has_node = true, .has_launcher = true});
  if (!spec) {
    return {};  // it runs, whatever is wrong with it by now: it goes as a whole
  }
  std::vector<Branch> branches;
  for (const SubGroupSpec& subgroup : spec->subgroups) {
    branches.push_back({.name = subgroup.name, .min_pods = subgroup.min_member, .min_groups = subgroup.min_groups});
  }
  branches.push_back({.name = workload.key.name, .min_pods = spec->min_member, .min_groups = spec->min_groups});
  for (std::size_t i = 0; i < spec->subgroups.size(); ++i) {
    const std::string& parent = spec->subgroups[i].parent;
    const auto above = std::find_if(spec->subgroups.begin(), spec->subgroups.end(),
                                    [&](const SubGroupSpec& one) { return one.name == parent; });
    branches[static_cast<std::size_t>(above - spec->subgroups.begin())].children.push_back(i);
  }
  std::vector<int> taken(spec->subgroups.size(), 0);
  sort_in(branches, pods, [&](const PodRecord& pod) {
    const auto leaf = leaf_of(workload, *spec, pod, taken);
    if (leaf) {
      ++taken[*leaf];
    }
    return leaf;
  });
  return Tree(std::move(branches)).find();
}

}  // namespace gantree::kai

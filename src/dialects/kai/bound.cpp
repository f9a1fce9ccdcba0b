#include "dialects/kai/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/whole_number.h"
#include "dialects/kai/names.h"

namespace gantree::kai {

namespace {

constexpr std::string_view kIndexLabels[] = {
    "training.kubeflow.org/replica-index", "batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index"};
constexpr std::string_view kReplicatedJob = "jobset.sigs.k8s.io/replicatedjob-name";
constexpr std::string_view kJobIndex = "jobset.sigs.k8s.io/job-index";
constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";
// More pieces than this are not laid out one by one.
constexpr int kMostPieces = 10'000;

bool label_is(const PodRecord& pod, std::string_view key, std::string_view value) {
  const json::Value label = text_at(pod.labels(), key);
  return label && label.text() == value;
}

void collect(DraftGroup& group, std::vector<DraftSet*>& sets) {
  for (DraftSet& set : group.sets) {
    sets.push_back(&set);
  }
  for (DraftGroup& nested : group.groups) {
    collect(nested, sets);
  }
}

// Segments as sets of their own.
void lay_out(DraftGroup& group) {
  std::vector<DraftSet> laid;
  for (DraftSet& set : group.sets) {
    const int size = set.segments.size;
    if (size == 0 || set.count <= size || set.count / size > kMostPieces) {
      laid.push_back(std::move(set));
      continue;
    }
    for (int first = 0; first < set.count; first += size) {
      DraftSet& piece = laid.emplace_back(set);
      piece.name = fmt::format("{}-{}", set.name, first / size);
      piece.first = set.first + first;
      piece.count = std::min(size, set.count - first);
      piece.min = set.min >= first + piece.count ? piece.count : 0;
      piece.levels = set.segments.levels;
      piece.segments = {};
    }
  }
  group.sets = std::move(laid);
  for (DraftGroup& nested : group.groups) {
    lay_out(nested);
  }
}

void take(DraftSet& set, NodeId node) {
  --set.count;
  set.min = std::max(0, set.min - 1);
  set.bound.push_back(node);
}

// Bound nodes of a group are those of all below; minima over pods shrink by them.
void gather(DraftGroup& group) {
  for (const DraftSet& set : group.sets) {
    group.bound.insert(group.bound.end(), set.bound.begin(), set.bound.end());
  }
  if (group.min_pods) {
    group.min_pods = std::max(0, *group.min_pods - static_cast<int>(group.bound.size()));
  }
  for (DraftGroup& nested : group.groups) {
    gather(nested);
    group.bound.insert(group.bound.end(), nested.bound.begin(), nested.bound.end());
  }
}

bool satisfied(const DraftGroup& group) {
  return !group.bound.empty() && group.min_pods.value_or(0) == 0 && group.groups.empty() &&
         std::all_of(group.sets.begin(), group.sets.end(), [](const DraftSet& set) { return set.min == 0; });
}

}  // namespace

bool in_role(const Workload& workload, const PodTemplate& role, const PodRecord& pod) {
  if (workload.templates.size() == 1) {
    return true;
  }
  if (workload.key.kind == "LeaderWorkerSet") {
    return (role.role == "leader") == label_is(pod, kWorkerIndex, "0");
  }
  return label_is(pod, kReplicatedJob, role.role) || label_is(pod, "ray.io/group", role.role) ||
         (role.role == "head" && label_is(pod, "ray.io/node-type", "head")) ||
         label_is(pod, "training.kubeflow.org/replica-type", role.role) ||
         label_is(pod, "training.kubeflow.org/job-role", role.role);
}

std::optional<int> replica_of(const PodRecord& pod) {
  return number_at(pod.labels(), kJobIndex);
}

std::optional<int> number_at(json::Value labels, std::string_view key) {
  const json::Value value = text_at(labels, key);
  return value ? whole_number(value.text(), 0) : std::nullopt;
}

std::optional<int> index_of(const PodRecord& pod) {
  for (const std::string_view key : kIndexLabels) {
    if (const auto index = number_at(pod.labels(), key)) {
      return index;
    }
    if (const auto index = number_at(pod.annotations(), key)) {
      return index;
    }
  }
  if (const auto worker = number_at(pod.labels(), kWorkerIndex)) {
    return std::max(0, *worker - 1);  // the leader has 0
  }
  return std::nullopt;
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) {
        return a[i] < b[j];
      }
      ++i;
      ++j;
      continue;
    }
    const auto run = [&](std::string_view text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') {
        ++at;
      }
      const std::size_t begin = at;
      while (at < text.size() && digit(text[at])) {
        ++at;
      }
      return text.substr(begin, at - begin);
    };
    const std::string_view left = run(a, i);
    const std::string_view right = run(b, j);
    if (left != right) {
      return left.size() != right.size() ? left.size() < right.size() : left < right;
    }
  }
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

void subtract_bound(const Workload& workload, std::span<const PodRecord* const> bound, Inventory& inventory,
                    DraftGroup& root) {
  if (bound.empty()) {
    return;
  }
  lay_out(root);
  std::vector<DraftSet*> sets;
  collect(root, sets);
  std::vector<const PodRecord*> strays;
  for (const PodRecord* pod : bound) {
    const auto replica = replica_of(*pod);
    const auto index = index_of(*pod);
    const auto exact = std::find_if(sets.begin(), sets.end(), [&](const DraftSet* set) {
      const int end = set->first + set->count + static_cast<int>(set->bound.size());
      return set->count > 0 && in_role(workload, *set->pods, *pod) && (set->replica < 0 || set->replica == replica) &&
             index && *index >= set->first && *index < end;
    });
    if (exact != sets.end()) {
      take(**exact, inventory.reserve(pod->node));
    } else {
      strays.push_back(pod);
    }
  }
  for (const PodRecord* pod : strays) {
    const auto some = std::find_if(sets.begin(), sets.end(), [&](const DraftSet* set) {
      return set->count > 0 && in_role(workload, *set->pods, *pod);
    });
    if (some != sets.end()) {
      take(**some, inventory.reserve(pod->node));
    }
  }
  gather(root);
  drop_complete(root);
}

void drop_complete(DraftGroup& group) {
  if (group.min_groups) {
    const auto started = std::count_if(group.groups.begin(), group.groups.end(), satisfied);
    group.min_groups = std::max(0, *group.min_groups - static_cast<int>(started));
  }
  for (DraftGroup& nested : group.groups) {
    drop_complete(nested);
  }
  std::erase_if(group.sets, [](const DraftSet& set) { return set.count == 0; });
  std::erase_if(group.groups, [](const DraftGroup& nested) { return nested.sets.empty() && nested.groups.empty(); });
}

}  // namespace gantree::kai

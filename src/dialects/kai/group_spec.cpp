#include "dialects/kai/group_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include "dialects/kai/bound.h"
#include "dialects/kai/grouper.h"
#include "dialects/objection.h"
#include "dialects/pod_count.h"

namespace gantree::kai {

namespace {

constexpr std::size_t kLongestName = 63;  // of a label's value

bool is_set_of_leaders(const Workload& workload) {
  return workload.key.kind == "LeaderWorkerSet";
}

// All roles in one gang, without subgroups.
bool is_flat(const Workload& workload) {
  return workload.object.group == "kubeflow.org" && workload.key.kind != "PyTorchJob";
}

// Kinds whose PodGroups have subgroups even where there is only one.
bool has_roles(const Workload& workload) {
  return workload.key.kind == "PyTorchJob" || workload.key.kind == "JobSet" || workload.object.group == "ray.io" ||
         is_set_of_leaders(workload);
}

bool has_segments(const DraftGroup& group) {
  return group.segments.size > 0 ||
         std::any_of(group.sets.begin(), group.sets.end(), [](const DraftSet& set) { return set.segments.size > 0; }) ||
         std::any_of(group.groups.begin(), group.groups.end(), has_segments);
}

class Layout {
 public:
  explicit Layout(const Workload& workload) : workload_(workload) {}

  Result<GroupSpec> lay_out(DraftGroup& root) {
    spec_.levels = root.levels;
    if (is_flat(workload_) && !has_segments(root)) {
      spec_.min_member = root.min_pods.value_or(pods_in(root));
      return std::move(spec_);
    }
    if (root.min_pods) {
      return invalid("minAvailable excludes segments: which of them have to start would be open");
    }
    const bool single = root.groups.empty() && root.sets.size() == 1 && !has_segments(root);
    if (single && !has_roles(workload_)) {
      spec_.min_member = root.sets.front().min;
      return std::move(spec_);
    }
    cut_together(root);
    add(root, "");
    if (count_ > kMostGroupsTogether) {
      return invalid(
          fmt::format("it asks for {} subgroups; at most {} are placed together", count_, kMostGroupsTogether));
    }
    if (root.min_groups || workload_.key.kind == "JobSet") {
      spec_.min_groups = root.min_groups.value_or(direct_children(""));
    } else {
      spec_.min_member = least_;
    }
    return std::move(spec_);
  }

 private:
  static int pods_in(const DraftGroup& group) {
    int pods = 0;
    for (const DraftSet& set : group.sets) {
      pods += set.min;
    }
    return pods;
  }

  [[nodiscard]] int direct_children(std::string_view parent) const {
    return static_cast<int>(std::count_if(spec_.subgroups.begin(), spec_.subgroups.end(),
                                          [&](const SubGroupSpec& one) { return one.parent == parent; }));
  }

  // Segments over a leader and its workers together become a group each. The leader has the first index of all.
  void cut_together(DraftGroup& root) {
    const Segments segments = std::exchange(root.segments, {});
    if (segments.size == 0 || root.sets.size() != 2) {
      return;
    }
    const DraftSet leader = root.sets.front();
    const DraftSet workers = root.sets.back();
    const int pieces = (workers.count + 1 + segments.size - 1) / segments.size;
    if (!room_for(pieces)) {
      return;
    }
    root.sets.clear();
    for (int piece = 0; piece < pieces; ++piece) {
      DraftGroup& group = root.groups.emplace_back();
      group.name = fmt::format("segment-{}", piece);
      group.levels = segments.levels;
      if (piece == 0) {
        group.sets.push_back(leader);
      }
      DraftSet part = workers;
      part.name = piece == 0 ? "workers" : group.name;
      part.first = std::max(0, piece * segments.size - 1);
      part.count = std::min((piece + 1) * segments.size - 1, workers.count) - part.first;
      part.min = std::min(workers.min, part.count);
      if (part.count > 0) {
        group.sets.push_back(std::move(part));
      }
    }
  }

  bool room_for(int more) {
    if (count_ + more > kMostGroupsTogether) {
      count_ += more;
      return false;
    }
    return true;
  }

  void add(const DraftGroup& group, const std::string& parent) {
    for (const DraftSet& set : group.sets) {
      if (set.segments.size > 0 && set.count > 0) {
        add_segments(set, parent);
      } else {
        add_leaf(set, parent, set.levels);
      }
    }
    for (const DraftGroup& nested : group.groups) {
      const bool one = nested.groups.empty() && nested.sets.size() == 1 && nested.sets.front().name == nested.name &&
                       nested.sets.front().segments.size == 0;
      if (one) {
        const DraftSet& only = nested.sets.front();
        add_leaf(only, parent, only.levels.asks() ? only.levels : nested.levels);
        continue;
      }
      const std::string name = add_parent(nested.name, parent, nested.levels);
      if (name.empty()) {
        return;
      }
      const std::size_t here = spec_.subgroups.size() - 1;
      add(nested, name);
      spec_.subgroups[here].min_groups = nested.min_groups.value_or(direct_children(name));
    }
  }

  // As many from the front as hold the minimum have to start, each whole.
  void add_segments(const DraftSet& set, const std::string& parent) {
    const int size = set.segments.size;
    const int pieces = (set.count + size - 1) / size;
    if (!room_for(pieces + 1)) {
      return;
    }
    // Those of a LeaderWorkerSet stand beside the leader.
    const bool beside = is_set_of_leaders(workload_);
    const std::string above = beside ? parent : add_parent(set.name, parent, set.levels);
    if (!beside) {
      spec_.subgroups.back().min_groups = pieces;
    }
    const int before = beside ? static_cast<int>(set.first) / size : 0;
    for (int piece = 0; piece < pieces; ++piece) {
      DraftSet part = set;
      part.name = beside ? fmt::format("segment-{}", before + piece) : fmt::format("{}-{}", set.name, piece);
      part.first = set.first + piece * size;
      part.count = std::min(size, set.count - piece * size);
      part.min = set.min > piece * size ? part.count : 0;
      add_leaf(part, above, set.segments.levels);
    }
  }

  std::string add_parent(std::string_view name, const std::string& parent, const LevelRequest& levels) {
    if (!room_for(1)) {
      return "";
    }
    ++count_;
    spec_.subgroups.push_back({.name = free_name(name), .parent = parent, .levels = levels});
    return spec_.subgroups.back().name;
  }

  void add_leaf(const DraftSet& set, const std::string& parent, const LevelRequest& levels) {
    if (!room_for(1)) {
      return;
    }
    ++count_;
    least_ += set.min;
    spec_.subgroups.push_back(
        {.name = free_name(set.name),
         .parent = parent,
         .min_member = set.min,
         .levels = levels,
         .pods = {.pods = set.pods, .replica = set.replica, .first = set.first, .count = set.count}});
  }

  // Names that differ may look alike once they are spelt as labels.
  [[nodiscard]] std::string free_name(std::string_view text) const {
    std::string name = subgroup_name(text);
    for (int more = 2; std::any_of(spec_.subgroups.begin(), spec_.subgroups.end(),
                                   [&](const SubGroupSpec& other) { return other.name == name; });
         ++more) {
      name = subgroup_name(fmt::format("{}-{}", text, more));
    }
    return name;
  }

  const Workload& workload_;
  GroupSpec spec_;
  int count_ = 0;
  int least_ = 0;
};

std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2'166'136'261U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  }
  return hash;
}

}  // namespace

std::string subgroup_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  std::string name;
  for (const char c : text) {
    const char small = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    name += letter(small) ? small : '-';
  }
  const std::size_t begin = name.find_first_not_of('-');
  name = begin == std::string::npos ? "group" : name.substr(begin, name.find_last_not_of('-') - begin + 1);
  if (name.size() > kLongestName) {
    const std::string tail = fmt::format("-{:08x}", hash_of(text));
    name = name.substr(0, kLongestName - tail.size()) + tail;
  }
  return name;
}

Result<GroupSpec> group_spec(const Workload& workload, const LivePods& live) {
  Draft draft = draft_live(workload, live);
  if (draft.rejection) {
    return invalid(without_place(workload.object.file, draft.rejection->message));
  }
  return Layout(workload).lay_out(draft.root);
}

std::optional<std::size_t> leaf_of(const Workload& workload, const GroupSpec& spec, const PodRecord& pod,
                                   std::span<const int> taken) {
  const auto replica = replica_of(pod);
  const auto index = index_of(pod);
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < spec.subgroups.size(); ++i) {
    const LeafPods& leaf = spec.subgroups[i].pods;
    if (leaf.pods != nullptr && in_role(workload, *leaf.pods, pod) && (leaf.replica < 0 || leaf.replica == replica)) {
      fitting.push_back(i);
    }
  }
  if (fitting.size() < 2) {
    return fitting.empty() ? std::nullopt : std::optional(fitting.front());
  }
  for (const std::size_t i : fitting) {
    const LeafPods& leaf = spec.subgroups[i].pods;
    const bool fits = index ? *index >= leaf.first && *index < leaf.first + leaf.count : taken[i] < leaf.count;
    if (fits) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace gantree::kai

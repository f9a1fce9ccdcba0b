// What has to be true of the objects in the API, whenever.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

namespace {

// The levels that a domain and all of its hosts share.
bool same_down_to(const std::vector<std::string>& a, const std::vector<std::string>& b, std::size_t levels) {
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(levels), b.begin());
}

// Slices by level and size, from the coarsest down.
std::vector<std::pair<std::string, int>> slices_of(const Tree& request) {
  std::vector<std::pair<std::string, int>> slices;
  const std::string level = request.str({"topologyRequest", "podSetSliceRequiredTopology"});
  if (!level.empty()) {
    slices.emplace_back(level, request.num({"topologyRequest", "podSetSliceSize"}, 1));
  }
  if (const Tree* layers = request.find({"topologyRequest", "podsetSliceRequiredTopologyConstraints"})) {
    for (const Tree& layer : layers->items) {
      slices.emplace_back(layer.str({"topology"}), layer.num({"size"}, 1));
    }
  }
  return slices;
}

}  // namespace

// Label values from the top level down of a domain in an assignment.
std::vector<std::string> World::path_of(const std::vector<std::string>& values) const {
  if (!by_host_) {
    return values;
  }
  std::vector<std::string> path;
  for (const std::string& level : levels_) {
    path.push_back(nodes_.at(values.back()).labels.at(level));
  }
  return path;
}

void World::check_admission(const Stored& workload) {
  for (const Tree& request : workload.tree.find({"spec", "podSets"})->items) {
    const Tree* given = set_in(*workload.tree.find({"status", "admission"}), request.str({"name"}));
    if (given == nullptr) {
      fault(fmt::format("{} is admitted without its pod set {}", workload.name, request.str({"name"})));
      continue;
    }
    check_set(workload, request, *given);
  }
  check_groups_of_sets(workload);
}

void World::check_set(const Stored& workload, const Tree& request, const Tree& given) {
  const int count = given.num({"count"}, 0);
  // What is over from an earlier start need not be given again.
  const int asked = request.num({"count"}, 1);
  const int over = pods_over(workload.tree, request.str({"name"}));
  const int least = std::min(request.num({"minCount"}, asked), asked - over);
  if (count < least || count > asked) {
    fault(fmt::format("{} is admitted with {} pods", workload.name, count));
  }
  if (given.find({"topologyAssignment"}) == nullptr) {
    return;
  }
  std::vector<std::vector<std::string>> ranks;
  for (const kueue::AssignedDomain& domain : assignment_in(given).domains) {
    ranks.insert(ranks.end(), static_cast<std::size_t>(domain.count), path_of(domain.values));
  }
  if (static_cast<int>(ranks.size()) != count) {
    fault(fmt::format("{} is assigned {} places for {} pods", workload.name, ranks.size(), count));
    return;
  }
  const auto depth = [&](const std::string& level) {
    return static_cast<std::size_t>(std::find(levels_.begin(), levels_.end(), level) - levels_.begin()) + 1;
  };
  if (const std::string level = request.str({"topologyRequest", "required"}); !level.empty()) {
    // Where pods that are over were need not be where the others are: their host may be gone.
    const bool together = std::any_of(ranks.begin(), ranks.end(), [&](const auto& one) {
      return std::count_if(ranks.begin(), ranks.end(),
                           [&](const auto& other) { return same_down_to(one, other, depth(level)); }) >= count - over;
    });
    if (!together) {
      fault(fmt::format("{} requires one {} and is in several", workload.name, level));
    }
  }
  for (const auto& [level, size] : slices_of(request)) {
    const auto each = static_cast<std::size_t>(size);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (!same_down_to(ranks[rank], ranks[rank / each * each], depth(level))) {
        fault(fmt::format("rank {} of {} is not in the {} of its slice", rank, workload.name, level));
      }
    }
  }
}

// Pod sets of one group are in one domain, the coarsest that one of them requires.
void World::check_groups_of_sets(const Stored& workload) {
  std::size_t depth = levels_.size();
  std::vector<std::vector<std::string>> paths;
  for (const Tree& request : workload.tree.find({"spec", "podSets"})->items) {
    const Tree* given = set_in(*workload.tree.find({"status", "admission"}), request.str({"name"}));
    const std::string level = request.str({"topologyRequest", "required"});
    if (request.str({"topologyRequest", "podSetGroupName"}).empty() || level.empty() || given == nullptr ||
        given->find({"topologyAssignment"}) == nullptr) {
      continue;
    }
    const auto at = std::find(levels_.begin(), levels_.end(), level) - levels_.begin();
    depth = std::min(depth, static_cast<std::size_t>(at) + 1);
    for (const kueue::AssignedDomain& domain : assignment_in(*given).domains) {
      paths.push_back(path_of(domain.values));
    }
  }
  for (const auto& path : paths) {
    if (!same_down_to(path, paths.front(), depth)) {
      fault(fmt::format("pod sets of {} belong together and are in several domains", workload.name));
      return;
    }
  }
}

// With no fewer pods than its minimum, and no more than it was given.
void World::check_start(const Stored& job) {
  const int minimum = std::stoi(job.tree.str({"metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism"}, "0"));
  if (job.tree.num({"spec", "parallelism"}, 1) < minimum) {
    fault(fmt::format("{} starts with fewer pods than its minimum", job.name));
  }
  for (const Stored* workload : server_.all("Workload")) {
    const Tree* admission = workload->tree.find({"status", "admission"});
    if (owner_of(workload->tree) != job.uid() || admission == nullptr) {
      continue;
    }
    for (const Part& part : parts_of(job)) {
      const Tree* set = set_in(*admission, part.name);
      const int pods = part.pods();
      const int count = set == nullptr ? 0 : set->num({"count"}, 0);
      if (set == nullptr || (count != pods && count + pods_over(workload->tree, part.name) < pods)) {
        fault(fmt::format("{} starts with {} pods of {}, and was given {}", job.name, part.pods(), part.name,
                          set == nullptr ? 0 : set->num({"count"}, 0)));
      }
    }
  }
}

void World::check_always() {
  for (const std::string& complaint : process_->complaints) {
    fault("passed over: " + complaint);
  }
  tidy_excuses();
  check_quota();
  check_pods();
  check_those_that_leave();
  check_rooms();
}

// Of every queue and cohort. What is beyond quota because quota shrank may only become less. As long as decisions under
// an older setup may be on their way, what that one allows is allowed; and the last one has to bear what was decided
// before it was known.
void World::check_quota() {
  CellAmounts used;
  CellAmounts before;  // of those that were decided before
  for (const Stored* workload : server_.all("Workload")) {
    const Tree* admission = workload->tree.find({"status", "admission"});
    if (admission == nullptr || holds(workload->tree, "Finished")) {
      continue;
    }
    for (const Tree& set : admission->find({"podSetAssignments"})->items) {
      const int count = set.num({"count"}, 0);
      const int left = pods_left(workload->tree, set);
      const int each = count == 0 ? 0 : set.num({"resourceUsage", "nvidia.com/gpu"}, 0) / count;
      const std::string cell = admission->str({"clusterQueue"}) + " " + set.str({"flavors", "nvidia.com/gpu"});
      used[cell] += each * left;
      before[cell] += decided_before_.contains(workload->ns + "/" + workload->name) ? each * left : 0;
    }
  }
  if (used == used_) {
    return;
  }
  used_ = used;
  std::string wrong;
  bool allowed = false;
  for (Era& era : eras_) {
    const CellAmounts cells = spread(era.setup, used);
    for (const auto& [cell, amount] : &era == &eras_.back() ? spread(era.setup, before) : CellAmounts()) {
      era.used[cell] = std::max(era.used[cell], amount);
    }
    wrong = excess(era.setup, cells, era.used);
    allowed = allowed || wrong.empty();
    era.used = cells;
  }
  if (!allowed) {
    fault(wrong);
  }
}

}  // namespace gantree::test

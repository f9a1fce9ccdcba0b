// What has to be true of the objects in the API.
#include <fmt/format.h>

#include <algorithm>

#include "json/read.h"
#include "kueue/assignment.h"
#include "property/kueue_world.h"

namespace gantree::test {

namespace {

constexpr std::string_view kHost = "kubernetes.io/hostname";
constexpr std::string_view kWorkload = "kueue.x-k8s.io/workload";

kueue::TopologyAssignment assignment_in(const Tree& set) {
  auto documents = json::read_documents("model", set.find({"topologyAssignment"})->to_json());
  json::Reader read("model", documents->front().root(), "assignment");
  return kueue::read_assignment(read, documents->front().root());
}

bool holds(const Tree& workload, std::string_view type) {
  const Tree* conditions = workload.find({"status", "conditions"});
  return conditions != nullptr && std::any_of(conditions->items.begin(), conditions->items.end(), [&](const Tree& one) {
           return one.str({"type"}) == type && one.str({"status"}) == "True";
         });
}

bool is_over(const Tree& pod) {
  return pod.str({"status", "phase"}) == "Succeeded" || pod.str({"status", "phase"}) == "Failed";
}

bool is_gated(const Tree& pod) {
  const Tree* gates = pod.find({"spec", "schedulingGates"});
  return gates != nullptr && !gates->items.empty();
}

int gpus_of(const Tree& pod) {
  return std::stoi(pod.find({"spec", "containers"})->items.front().str({"resources", "requests", "nvidia.com/gpu"}));
}

std::string owner_of(const Tree& object) {
  const Tree* owners = object.find({"metadata", "ownerReferences"});
  return owners == nullptr ? std::string() : owners->items.front().str({"uid"});
}

// The levels that a domain and all of its hosts share.
bool same_down_to(const std::vector<std::string>& a, const std::vector<std::string>& b, std::size_t levels) {
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(levels), b.begin());
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
  const Tree& request = workload.tree.find({"spec", "podSets"})->items.front();
  const Tree& given = workload.tree.find({"status", "admission", "podSetAssignments"})->items.front();
  const int count = given.num({"count"}, 0);
  if (count < request.num({"minCount"}, request.num({"count"}, 1)) || count > request.num({"count"}, 1)) {
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
    for (const auto& path : ranks) {
      if (!same_down_to(path, ranks.front(), depth(level))) {
        fault(fmt::format("{} requires one {} and is in several", workload.name, level));
        break;
      }
    }
  }
  const std::string level = request.str({"topologyRequest", "podSetSliceRequiredTopology"});
  const auto size = static_cast<std::size_t>(request.num({"topologyRequest", "podSetSliceSize"}, 1));
  for (std::size_t rank = 0; !level.empty() && rank < ranks.size(); ++rank) {
    if (!same_down_to(ranks[rank], ranks[rank / size * size], depth(level))) {
      fault(fmt::format("rank {} of {} is not in the {} of its slice", rank, workload.name, level));
    }
  }
}

void World::check_start(const Tree& job) {
  const int minimum = std::stoi(job.str({"metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism"}, "0"));
  if (job.num({"spec", "parallelism"}, 1) < minimum) {
    fault(fmt::format("{} starts with fewer pods than its minimum", job.str({"metadata", "name"})));
  }
}

void World::check_always() {
  for (const std::string& complaint : process_->complaints) {
    fault("passed over: " + complaint);
  }
  check_quota();
  check_pods();
  check_those_that_leave();
}

// Of every queue, and of all in the cohort together. What is beyond quota because quota shrank may only become less.
void World::check_quota() {
  std::map<std::string, int> used;
  for (const Stored* workload : server_.all("Workload")) {
    const Tree* admission = workload->tree.find({"status", "admission"});
    if (admission == nullptr || holds(workload->tree, "Finished")) {
      continue;
    }
    const Tree& set = admission->find({"podSetAssignments"})->items.front();
    const Tree* back = workload->tree.find({"status", "reclaimablePods"});
    const int count = set.num({"count"}, 0);
    const int left =
        std::max(0, count - (back == nullptr || back->items.empty() ? 0 : back->items[0].num({"count"}, 0)));
    const std::string flavor = set.str({"flavors", "nvidia.com/gpu"});
    const int amount = count == 0 ? 0 : set.num({"resourceUsage", "nvidia.com/gpu"}, 0) / count * left;
    used[admission->str({"clusterQueue"}) + " " + flavor] += amount;
    const auto queue = static_cast<std::size_t>(std::stoi(admission->str({"clusterQueue"}).substr(1)));
    used["cohort " + flavor] += queues_[queue].cohort ? amount : 0;
  }
  forget_old_limits();
  std::map<std::string, int> most = limits();
  for (const auto& [cell, amount] : used) {
    if (amount > std::max({most[cell], used_[cell], old_limits_[cell]})) {
      fault(fmt::format("{} uses {} of {}", cell, amount, most[cell]));
    }
  }
  used_ = used;
}

std::map<std::string, int> World::limits() const {
  std::map<std::string, int> limits;
  for (const std::string& flavor : flavors_) {
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      const QueueSetup& queue = queues_[q];
      const auto borrowing = queue.borrowing.find(flavor);
      const int loan = borrowing != queue.borrowing.end() ? borrowing->second : queue.cohort ? 1000 : 0;
      limits["cohort " + flavor] += queue.cohort ? queue.nominal.at(flavor) : 0;
      limits[fmt::format("c{} {}", q, flavor)] = queue.nominal.at(flavor) + loan;
    }
  }
  return limits;
}

// Once the program has heard of a change, nothing that it decided before is on its way any more.
void World::forget_old_limits() {
  const auto& workloads = process_->controller().workloads();
  const bool assumed = std::any_of(workloads.begin(), workloads.end(),
                                   [](const auto& entry) { return entry.second.assumed.has_value(); });
  if (!server_.has_events_of("ClusterQueue") && orders_.empty() && !assumed) {
    old_limits_.clear();
  }
}

void World::check_pods() {
  std::map<std::string, int> on_host;
  std::map<std::string, std::map<std::vector<std::string>, int>> released;  // pods by Workload and domain
  std::set<std::string> jobs;
  for (const Stored* job : server_.all("Job")) {
    jobs.insert(job->uid());
  }
  for (const Stored* stored : server_.all("Pod")) {
    const Tree& pod = stored->tree;
    const std::string owner = owner_of(pod);
    const std::string node = pod.str({"spec", "nodeName"});
    // Nothing is bound to a host that is down: what hangs there is not waited for.
    if (pod.find({"metadata", "deletionTimestamp"}) != nullptr && nodes_.contains(node) && !nodes_.at(node).ready) {
      continue;
    }
    if (is_over(pod) || (!owner.empty() && !jobs.contains(owner)) || is_gated(pod)) {
      if (!is_over(pod)) {
        on_host[node] += gpus_of(pod);
      }
      continue;
    }
    const std::string target = node.empty() ? pod.str({"spec", "nodeSelector", kHost}) : node;
    on_host[target] += gpus_of(pod);
    const std::string workload = pod.str({"metadata", "annotations", kWorkload});
    const auto given = given_.find(FakeServer::key("Workload", stored->ns, workload));
    // What was on a host that is gone is lost, though nobody has taken it away yet: another may have its place.
    const bool lost = nodes_.contains(node) && !nodes_.at(node).exists;
    if (workload.empty() || given == given_.end() || pod.find({"metadata", "deletionTimestamp"}) != nullptr || lost) {
      continue;
    }
    check_place(*stored, given->second, released[workload]);
  }
  for (const auto& [host, amount] : on_host) {
    if (by_host_ && topology_everywhere_ && !disturbed_ && nodes_.contains(host) && amount > nodes_.at(host).gpus) {
      fault(fmt::format("pods for {} GPUs are sent to {}, which has {}", amount, host, nodes_.at(host).gpus));
    }
  }
  for (const auto& [workload, domains] : released) {
    const Tree& set =
        given_.at(FakeServer::key("Workload", "ns", workload)).back().find({"podSetAssignments"})->items[0];
    std::map<std::vector<std::string>, int> assigned;
    if (set.find({"topologyAssignment"}) == nullptr) {
      continue;
    }
    for (const kueue::AssignedDomain& domain : assignment_in(set).domains) {
      assigned[domain.values] += domain.count;
    }
    for (const auto& [domain, count] : domains) {
      if (!disturbed_ && assigned.contains(domain) && count > assigned[domain]) {
        fault(fmt::format("{} pods of {} are sent to {}, {} were assigned", count, workload, domain.back(),
                          assigned[domain]));
      }
    }
  }
}

// As long as a pod is on its way out its place is taken: a host is sent no more than it was ever assigned, with those.
void World::check_those_that_leave() {
  std::map<std::pair<std::string, std::string>, std::pair<int, int>>
      here;  // all, and those that leave, by Workload and host
  for (const Stored* stored : by_host_ && !disturbed_ ? server_.all("Pod") : std::vector<const Stored*>()) {
    const Tree& pod = stored->tree;
    const std::string node = pod.str({"spec", "nodeName"});
    const bool leaves = pod.find({"metadata", "deletionTimestamp"}) != nullptr;
    const std::string target = node.empty() && !leaves ? pod.str({"spec", "nodeSelector", kHost}) : node;
    const auto host = nodes_.find(target);
    if (!is_over(pod) && !is_gated(pod) && host != nodes_.end() && host->second.exists && host->second.ready) {
      auto& [all, leaving] = here[{pod.str({"metadata", "annotations", kWorkload}), target}];
      ++all;
      leaving += leaves ? 1 : 0;
    }
  }
  for (const auto& [where, pods] : here) {
    const auto given = given_.find(FakeServer::key("Workload", "ns", where.first));
    if (pods.second == 0 || pods.second == pods.first || given == given_.end()) {
      continue;
    }
    int most = 0;
    for (const Tree& admission : given->second) {
      const Tree& set = admission.find({"podSetAssignments"})->items.front();
      int assigned = 0;
      for (const kueue::AssignedDomain& domain : set.find({"topologyAssignment"}) == nullptr
                                                     ? std::vector<kueue::AssignedDomain>()
                                                     : assignment_in(set).domains) {
        assigned += domain.values.back() == where.second ? domain.count : 0;
      }
      most = std::max(most, assigned);
    }
    if (most > 0 && pods.first > most) {
      fault(fmt::format("{} pods of {} are sent to {} with {} that leave, {} were assigned", pods.first, where.first,
                        where.second, pods.second, most));
    }
  }
}

// A pod that was released is in a domain that its Workload has, or had when it was released.
void World::check_place(const Stored& stored, const std::vector<Tree>& given,
                        std::map<std::vector<std::string>, int>& released) {
  const std::string node = stored.tree.str({"spec", "nodeName"});
  bool any = false;
  for (auto it = given.rbegin(); it != given.rend(); ++it) {
    const Tree& set = it->find({"podSetAssignments"})->items.front();
    if (set.find({"topologyAssignment"}) == nullptr) {
      return;
    }
    const kueue::TopologyAssignment assignment = assignment_in(set);
    for (const kueue::AssignedDomain& domain : assignment.domains) {
      bool here = true;
      for (std::size_t level = 0; level < assignment.levels.size(); ++level) {
        const std::string value = node.empty() ? stored.tree.str({"spec", "nodeSelector", assignment.levels[level]})
                                               : nodes_.at(node).labels.at(assignment.levels[level]);
        here = here && value == domain.values[level];
      }
      if (here) {
        ++released[domain.values];
        return;
      }
      any = true;
    }
  }
  if (any && !disturbed_) {
    fault(fmt::format("pod {} is outside of its assignment", stored.name));
  }
}

}  // namespace gantree::test

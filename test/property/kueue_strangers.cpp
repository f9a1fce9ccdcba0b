// Pods that are in no queue: strangers and those of DaemonSets. kube-scheduler knows nothing of what is promised to
// others, so that they may take it.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

void World::use_strangers() {
  std::vector<const Stored*> strangers;
  for (const Stored* pod : server_.all("Pod")) {
    if (pod->tree.str({"metadata", "labels", "stranger"}) == "guest") {
      strangers.push_back(pod);
    }
  }
  if (strangers.size() < 3 && odd_chance(50)) {
    const std::string name = fmt::format("guest-{}", jobs_.fresh_number());
    note("a stranger comes: " + name);
    server_.put(
        "", "v1", "Pod",
        quoted(fmt::format("{{'metadata':{{'name':'{}','namespace':'ns','labels':{{'stranger':'guest'}}}},'spec':"
                           "{{'containers':[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'{}'}}}}"
                           "}}]}},'status':{{'phase':'Pending'}}}}",
                           name, 1 + odd_pick(3))));
  } else if (!strangers.empty()) {
    const Stored& one = *strangers[static_cast<std::size_t>(odd_pick(static_cast<int>(strangers.size())))];
    is_over(one.tree) ? server_.remove(key_of(one)) : delete_pod(one);
  }
}

// Every host gets its pod as soon as there is room for it.
void World::run_daemons() {
  if (!ways_.daemons) {
    return;
  }
  std::map<std::string, int> used;
  std::set<std::string> served;
  for (const Stored* pod : server_.all("Pod")) {
    const std::string host = pod->tree.str({"spec", "nodeName"});
    used[host] += is_over(pod->tree) ? 0 : gpus_of(pod->tree);
    if (pod->tree.find({"metadata", "labels", "daemon"}) != nullptr) {
      served.insert(host);
    }
  }
  for (const auto& [host, facts] : nodes_) {
    if (!facts.exists || !facts.ready || !facts.taint.empty() || served.contains(host) || used[host] >= facts.gpus) {
      continue;
    }
    const std::string name = fmt::format("agent-{}", jobs_.fresh_number());
    note(fmt::format("  {} is bound to {}", name, host));
    crowded_.insert(host);
    server_.put(
        "", "v1", "Pod",
        quoted(fmt::format("{{'metadata':{{'name':'{}','namespace':'ns','labels':{{'stranger':'agent','daemon':"
                           "'x'}},'ownerReferences':[{{'apiVersion':'apps/v1','kind':'DaemonSet','name':'agent',"
                           "'uid':'agent','controller':true}}]}},'spec':{{'nodeName':'{}','containers':"
                           "[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'1'}}}}}}]}},"
                           "'status':{{'phase':'Pending'}}}}",
                           name, host)));
  }
}

// Whether nobody decided where it goes, or somebody undid that.
bool World::is_rider(const Stored& pod) const {
  if (disturbed_.contains(owner_or_group(pod.tree))) {
    return true;
  }
  const auto given = given_.find(FakeServer::key("Workload", pod.ns, workload_of(pod.tree)));
  const Tree* set = given == given_.end() ? nullptr : set_in(given->second.back(), set_of(pod.tree));
  return set == nullptr || set->find({"topologyAssignment"}) == nullptr;
}

// Whether more may be promised on a host than is left of it: not all is known yet, or it shows.
bool World::is_overbooked(const std::string& host) const {
  if (!is_quiet()) {
    return true;
  }
  std::map<std::pair<std::string, std::string>, int> here;  // pods by Workload and pod set
  int taken = 0;
  for (const Stored* pod : server_.all("Pod")) {
    if (pod->tree.str({"spec", "nodeName"}) == host && !is_over(pod->tree)) {
      taken += gpus_of(pod->tree);
      ++here[{workload_of(pod->tree), set_of(pod->tree)}];
    }
  }
  for (const auto& [key, admissions] : given_) {
    const Stored* workload = server_.find(key);
    for (const Tree& set : admissions.back().find({"podSetAssignments"})->items) {
      if (set.find({"topologyAssignment"}) == nullptr || workload == nullptr || set.num({"count"}, 0) == 0) {
        continue;
      }
      const int each = set.num({"resourceUsage", "nvidia.com/gpu"}, 0) / set.num({"count"}, 1);
      const kueue::TopologyAssignment assignment = assignment_in(set);
      for (const kueue::AssignedDomain& domain : assignment.domains) {
        if (nodes_.at(host).labels.at(assignment.levels.back()) == domain.values.back()) {
          taken += each * std::max(0, domain.count - here[{workload->name, set.str({"name"})}]);
        }
      }
    }
  }
  return taken > nodes_.at(host).gpus;
}

void World::tidy_excuses() {
  std::set<std::string> ridden;
  std::set<std::string> with_pods;
  for (const Stored* pod : server_.all("Pod")) {
    with_pods.insert(owner_or_group(pod->tree));
    if (!is_over(pod->tree) && is_rider(*pod)) {
      ridden.insert(pod->tree.str({"spec", "nodeName"}));
    }
  }
  std::erase_if(crowded_, [&](const std::string& host) { return !ridden.contains(host) || !is_overbooked(host); });
  for (const Stored* job : all_jobs()) {
    if (!job->tree.flag({"spec", "suspend"}) || seen_started_.contains(key_of(*job))) {
      with_pods.insert(job->uid());
    }
  }
  std::erase_if(disturbed_, [&](const std::string& one) { return !with_pods.contains(one); });
}

}  // namespace gantree::test

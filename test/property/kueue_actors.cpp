// The others in the cluster: controllers of jobs, kube-scheduler, kubelets and the garbage collector.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

void World::sync_jobs(bool all) {
  std::vector<std::string> keys;
  for (const Stored* job : all_jobs()) {
    keys.push_back(key_of(*job));
  }
  if (!all && !keys.empty()) {
    keys = {keys[static_cast<std::size_t>(pick(static_cast<int>(keys.size())))]};
  }
  for (const std::string& key : keys) {
    sync_job(key);
  }
}

void World::sync_job(const std::string& key) {
  if (jobs_.is_complete(key)) {
    return;
  }
  const auto late = seen_started_.extract(key);
  if (!late.empty() && late.mapped().uid() == server_.find(key)->uid() && extra_chance(50)) {
    jobs_.sync_late(key, late.mapped());
  } else {
    jobs_.sync(key);
  }
}

void World::collect_garbage() {
  std::set<std::string> alive;
  for (const Stored* job : all_jobs()) {
    alive.insert(job->uid());
  }
  for (const Stored* pod : server_.all("Pod")) {
    alive.insert(pod->uid());
  }
  for (const Stored* workload : server_.all("Workload")) {
    const Tree* owners = workload->tree.find({"metadata", "ownerReferences"});
    if (owners == nullptr || std::none_of(owners->items.begin(), owners->items.end(),
                                          [&](const Tree& one) { return alive.contains(one.str({"uid"})); })) {
      note("  garbage: " + workload->name);
      given_.erase(key_of(*workload));
      told_.erase(key_of(*workload));
      server_.remove(key_of(*workload));
    }
  }
  tidy_groups();
  for (const Stored* pod : server_.all("Pod")) {
    const std::string owner = owner_of(pod->tree);
    if (owner.empty() || alive.contains(owner) || pod->tree.find({"metadata", "labels", "stranger"}) != nullptr) {
      continue;
    }
    if (is_over(pod->tree)) {
      server_.remove(key_of(*pod));
    } else if (!is_going(pod->tree)) {
      delete_pod(*pod);
    }
  }
}

std::vector<std::string> World::hosts_for(const Tree& pod) const {
  std::map<std::string, int> used;
  for (const Stored* other : server_.all("Pod")) {
    if (!is_over(other->tree)) {
      used[other->tree.str({"spec", "nodeName"})] += gpus_of(other->tree);
    }
  }
  std::vector<std::string> hosts;
  for (const auto& [name, facts] : nodes_) {
    bool fits = facts.takes(pod) && used[name] + gpus_of(pod) <= facts.gpus;
    if (const Tree* selector = pod.find({"spec", "nodeSelector"})) {
      for (const auto& [key, value] : selector->members) {
        const auto label = facts.labels.find(key);
        fits = fits && label != facts.labels.end() && label->second == value.text;
      }
    }
    if (fits) {
      hosts.push_back(name);
    }
  }
  return hosts;
}

void World::schedule(bool all) {
  for (const Stored* pod : server_.all("Pod")) {
    if (is_gated(pod->tree) || !pod->tree.str({"spec", "nodeName"}).empty() || is_going(pod->tree) ||
        !gang_of(pod->tree).empty() || (!all && chance(50))) {
      continue;
    }
    const std::vector<std::string> hosts = hosts_for(pod->tree);
    if (!hosts.empty()) {
      const std::string& host = hosts[static_cast<std::size_t>(pick(static_cast<int>(hosts.size())))];
      note(fmt::format("  {} is bound to {}", pod->name, host));
      if (is_rider(*pod) || (ways_.gangs && !by_host_)) {
        crowded_.insert(host);
      }
      server_.change(key_of(*pod), [&](Tree& one) { one.at({"spec", "nodeName"}) = Tree::string(host); });
    }
  }
}

void World::run_kubelets(bool all) {
  for (const Stored* pod : server_.all("Pod")) {
    const std::string host = pod->tree.str({"spec", "nodeName"});
    if (host.empty() || (!all && chance(50))) {
      continue;
    }
    const NodeFacts& node = nodes_.at(host);
    const bool bears_all = pod->tree.find({"metadata", "labels", "daemon"}) != nullptr;
    const std::string key = key_of(*pod);
    const auto become = [&](std::string_view phase) {
      note(fmt::format("  {} is {}", pod->name, phase));
      server_.change(key, [&](Tree& one) { one.at({"status", "phase"}) = Tree::string(phase); });
    };
    if (is_going(pod->tree) || !node.exists) {
      note(fmt::format("  {} is gone", pod->name));
      server_.remove(key);
    } else if (!bears_all && (!node.ready || (node.taint == "NoExecute" && !tolerates_taint(pod->tree)))) {
      if (!is_over(pod->tree)) {
        chance(30) ? become("Failed") : delete_pod(*pod);
      }
    } else if (pod->tree.str({"status", "phase"}) == "Pending") {
      become("Running");
    } else if (pod->tree.str({"status", "phase"}) == "Running" &&
               (finishing_.contains(owner_or_group(pod->tree)) || finishing_.contains(gang_of(pod->tree)))) {
      become(all || chance(90) ? "Succeeded" : "Failed");
    }
  }
}

}  // namespace gantree::test

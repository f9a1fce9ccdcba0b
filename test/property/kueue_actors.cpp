// The others in the cluster: the Job controller, kube-scheduler, kubelets and the garbage collector.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

namespace {

constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";

std::string key_of(const Stored& stored) {
  return FakeServer::key(stored.kind, stored.ns, stored.name);
}

std::string owner_of(const Stored& stored) {
  const Tree* owners = stored.tree.find({"metadata", "ownerReferences"});
  return owners == nullptr || owners->items.empty() ? std::string() : owners->items.front().str({"uid"});
}

// The uid of the job, or the name of the group of plain pods.
std::string owner_or_group(const Stored& pod) {
  const std::string owner = owner_of(pod);
  return owner.empty() ? pod.tree.str({"metadata", "labels", "kueue.x-k8s.io/pod-group-name"}) : owner;
}

bool is_over(const Stored& pod) {
  const std::string phase = pod.tree.str({"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool is_going(const Stored& pod) {
  return pod.tree.find({"metadata", "deletionTimestamp"}) != nullptr;
}

int index_of(const Stored& pod) {
  return std::stoi(pod.tree.str({"metadata", "labels", kIndex}, "0"));
}

bool is_complete(const Stored& job) {
  return job.tree.find({"status", "conditions"}) != nullptr;
}

int gpus_of(const Tree& pod) {
  return std::stoi(pod.find({"spec", "containers"})->items.front().str({"resources", "requests", "nvidia.com/gpu"}));
}

}  // namespace

void World::sync_jobs(bool all) {
  std::vector<std::string> keys;
  for (const Stored* job : server_.all("Job")) {
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
  const Stored job = *server_.find(key);
  if (is_complete(job)) {
    return;
  }
  const auto late = seen_started_.extract(key);
  const auto pods_now = [&] {
    std::vector<const Stored*> pods;
    for (const Stored* pod : server_.all("Pod")) {
      if (owner_of(*pod) == job.uid()) {
        pods.push_back(pod);
      }
    }
    return pods;
  };
  // Its controller acts on what it saw before, and finds out when it writes the status.
  if (!late.empty() && late.mapped().uid() == job.uid() && extra_chance(50)) {
    note(fmt::format("  the controller of {} is late", job.name));
    run_job(key, late.mapped(), pods_now());
    return;
  }
  const bool suspended = job.tree.flag({"spec", "suspend"});
  if (suspended) {
    for (const Stored* pod : pods_now()) {
      if (!is_over(*pod) && !is_going(*pod)) {
        delete_pod(*pod);
      }
    }
  } else {
    run_job(key, job, pods_now());
  }
  set_job_status(key, pods_now(), !suspended);
}

// One active pod for each index that is not done, but no more than may run at once.
void World::run_job(const std::string& key, const Stored& job, const std::vector<const Stored*>& pods) {
  if (job.tree.find({"status", "startTime"}) == nullptr) {
    server_.change(key, [&](Tree& one) { one.at({"status", "startTime"}) = Tree::string(rfc3339(now_)); });
  }
  std::set<int>& done = done_[job.uid()];
  std::map<int, const Stored*> active;
  for (const Stored* pod : pods) {
    if (pod->tree.str({"status", "phase"}) == "Succeeded") {
      done.insert(index_of(*pod));
    } else if (!is_over(*pod) && !is_going(*pod)) {
      active.emplace(index_of(*pod), pod);
    }
  }
  std::set<int> wanted;
  const auto most = static_cast<std::size_t>(job.tree.num({"spec", "parallelism"}, 1));
  for (int i = 0; i < job.tree.num({"spec", "completions"}, 1) && wanted.size() < most; ++i) {
    if (!done.contains(i)) {
      wanted.insert(i);
    }
  }
  for (const auto& [index, pod] : active) {
    if (!wanted.contains(index)) {
      delete_pod(*pod);
    }
  }
  for (const int index : wanted) {
    if (!active.contains(index)) {
      make_pod(job, index);
    }
  }
}

void World::set_job_status(const std::string& key, const std::vector<const Stored*>& pods, bool running) {
  int active = 0;
  int ready = 0;
  int going = 0;
  for (const Stored* pod : pods) {
    if (is_over(*pod)) {
      continue;
    }
    going += is_going(*pod) ? 1 : 0;
    active += is_going(*pod) ? 0 : 1;
    ready += !is_going(*pod) && pod->tree.str({"status", "phase"}) == "Running" ? 1 : 0;
  }
  server_.change(key, [&](Tree& job) {
    const int done = static_cast<int>(done_[job.str({"metadata", "uid"})].size());
    job.at({"status", "active"}) = Tree::number(active);
    job.at({"status", "ready"}) = Tree::number(ready);
    job.at({"status", "terminating"}) = Tree::number(going);
    job.at({"status", "succeeded"}) = Tree::number(done);
    if (running && done >= job.num({"spec", "completions"}, 1) && active + going == 0) {
      job.at({"status", "conditions"}) = Tree::parse(R"([{"type":"Complete","status":"True","message":"done"}])");
    }
  });
}

void World::make_pod(const Stored& job, int index) {
  Tree pod = *job.tree.find({"spec", "template"});
  const std::string name = fmt::format("{}-{}-{}", job.name, index, pods_made_++);
  note(fmt::format("  pod {} is made", name));
  pod.at({"metadata", "name"}) = Tree::string(name);
  pod.at({"metadata", "namespace"}) = Tree::string(job.ns);
  pod.at({"metadata", "labels", kIndex}) = Tree::string(std::to_string(index));
  pod.at({"metadata", "labels", "batch.kubernetes.io/controller-uid"}) = Tree::string(job.uid());
  pod.at({"metadata", "ownerReferences"}) = Tree::parse(fmt::format(
      R"([{{"apiVersion":"batch/v1","kind":"Job","name":"{}","uid":"{}","controller":true}}])", job.name, job.uid()));
  pod.at({"status", "phase"}) = Tree::string("Pending");
  server_.put("", "v1", "Pod", std::move(pod));
}

void World::delete_pod(const Stored& pod) {
  note(fmt::format("  pod {} is deleted", pod.name));
  if (pod.tree.str({"spec", "nodeName"}).empty()) {
    server_.remove(key_of(pod));
    return;
  }
  server_.change(key_of(pod),
                 [&](Tree& one) { one.at({"metadata", "deletionTimestamp"}) = Tree::string(rfc3339(now_)); });
}

void World::collect_garbage() {
  std::set<std::string> alive;
  for (const Stored* job : server_.all("Job")) {
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
      server_.remove(key_of(*workload));
    }
  }
  tidy_groups();
  for (const Stored* pod : server_.all("Pod")) {
    if (owner_of(*pod).empty()) {
      continue;
    }
    if (!alive.contains(owner_of(*pod)) && is_over(*pod)) {
      server_.remove(key_of(*pod));
    } else if (!alive.contains(owner_of(*pod)) && !is_going(*pod)) {
      delete_pod(*pod);
    }
  }
}

std::vector<std::string> World::hosts_for(const Tree& pod) const {
  std::map<std::string, int> used;
  for (const Stored* other : server_.all("Pod")) {
    if (!is_over(*other)) {
      used[other->tree.str({"spec", "nodeName"})] += gpus_of(other->tree);
    }
  }
  std::vector<std::string> hosts;
  for (const auto& [name, facts] : nodes_) {
    bool fits = facts.exists && facts.ready && !facts.cordoned && used[name] + gpus_of(pod) <= facts.gpus;
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
    const Tree* gates = pod->tree.find({"spec", "schedulingGates"});
    const bool gated = gates != nullptr && !gates->items.empty();
    if (gated || !pod->tree.str({"spec", "nodeName"}).empty() || is_going(*pod) || (!all && chance(50))) {
      continue;
    }
    const std::vector<std::string> hosts = hosts_for(pod->tree);
    if (!hosts.empty()) {
      const std::string& host = hosts[static_cast<std::size_t>(pick(static_cast<int>(hosts.size())))];
      note(fmt::format("  {} is bound to {}", pod->name, host));
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
    const std::string key = key_of(*pod);
    const auto become = [&](std::string_view phase) {
      note(fmt::format("  {} is {}", pod->name, phase));
      server_.change(key, [&](Tree& one) { one.at({"status", "phase"}) = Tree::string(phase); });
    };
    if (is_going(*pod) || !node.exists) {
      note(fmt::format("  {} is gone", pod->name));
      server_.remove(key);
    } else if (!node.ready) {
      if (!is_over(*pod)) {
        chance(30) ? become("Failed") : delete_pod(*pod);
      }
    } else if (pod->tree.str({"status", "phase"}) == "Pending") {
      become("Running");
    } else if (pod->tree.str({"status", "phase"}) == "Running" && finishing_.contains(owner_or_group(*pod))) {
      become(all || chance(90) ? "Succeeded" : "Failed");
    }
  }
}

}  // namespace gantree::test

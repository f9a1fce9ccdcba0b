// What users and administrators do to a world.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

void World::use() {
  const int what = pick(100);
  if (what < 45) {
    submit();
  } else if (what < 75) {
    act_on_a_job();
  } else if (what < 92) {
    act_on_a_workload();
  } else {
    const int queue = pick(static_cast<int>(setup_.queues.size()));
    draw_queue(queue);
    put_queue(queue);
    begin_era();
    note(fmt::format("c{} changes", queue));
  }
}

void World::act_on_a_job() {
  const auto jobs = all_jobs();
  if (jobs.empty()) {
    return;
  }
  const Stored& job = *jobs[static_cast<std::size_t>(pick(static_cast<int>(jobs.size())))];
  const std::string key = key_of(job);
  const int what = pick(100);
  if (what < 55) {
    note("finishing: " + job.name);
    finishing_.insert(job.uid());
  } else if (what < 80) {
    note("delete job " + job.name);
    server_.remove(key);
  } else {
    const bool suspend = chance(85);
    if (!suspend && job.tree.flag({"spec", "suspend"})) {
      disturbed_.insert(job.uid());
    }
    note(fmt::format("user sets suspend of {} to {}", job.name, suspend));
    server_.change(key, [&](Tree& one) { one.at({"spec", "suspend"}) = Tree::boolean(suspend); });
    if (!suspend) {
      seen_started_.insert_or_assign(key, *server_.find(key));
    }
  }
}

void World::act_on_a_workload() {
  const auto workloads = server_.all("Workload");
  if (workloads.empty()) {
    return;
  }
  const Stored& workload = *workloads[static_cast<std::size_t>(pick(static_cast<int>(workloads.size())))];
  const std::string key = FakeServer::key("Workload", workload.ns, workload.name);
  if (chance(4)) {
    note("delete workload " + workload.name);
    const std::string owner = owner_of(workload.tree);
    disturbed_.insert(groups_.contains(workload.name) ? workload.name : owner);
    given_.erase(key);
    told_.erase(key);
    server_.remove(key);
    return;
  }
  const bool active = chance(70);
  note(fmt::format("user sets active of {} to {}", workload.name, active));
  server_.change(key, [&](Tree& one) { one.at({"spec", "active"}) = Tree::boolean(active); });
}

void World::act_on_a_node() {
  auto it = nodes_.begin();
  std::advance(it, pick(static_cast<int>(nodes_.size())));
  const std::string name = it->first;
  NodeFacts& facts = it->second;
  const int what = pick(100);
  if (!facts.exists || what < 35) {
    if (!facts.exists) {
      lose_group_pods(name);
    }
    facts.ready = true;
    facts.cordoned = false;
    facts.taint.clear();
    note("node is well: " + name);
    put_node(name);
  } else if (what < 55) {
    facts.ready = false;
    note("node fails: " + name);
    put_node(name);
  } else if (what < 80) {
    facts.cordoned = !facts.cordoned;
    note(fmt::format("node {} cordoned: {}", name, facts.cordoned));
    put_node(name);
  } else {
    facts.exists = false;
    shaken_.insert(name);
    note("node goes: " + name);
    server_.remove(FakeServer::key("Node", "", name));
  }
}

// What only some worlds know.
void World::act_oddly() {
  std::vector<void (World::*)()> acts;
  const auto add = [&](bool way, void (World::*act)()) {
    if (way) {
      acts.push_back(act);
    }
  };
  add(ways_.job_sets, &World::submit_job_set);
  add(ways_.job_sets && odd_chance(20), &World::begin_a_job_set_anew);
  add(ways_.strangers, &World::use_strangers);
  add(ways_.daemons, &World::run_daemons);
  add(ways_.taints, &World::taint_a_node);
  add(ways_.stops && odd_chance(50), &World::stop_a_queue);
  add(ways_.priorities, &World::change_a_priority);
  add(ways_.resizing, &World::resize_a_job);
  add(ways_.hand_over && odd_chance(40), &World::hand_over);
  add(ways_.gangs, &World::use_gangs);
  if (!acts.empty()) {
    (this->*acts[static_cast<std::size_t>(odd_pick(static_cast<int>(acts.size())))])();
  }
}

void World::taint_a_node() {
  auto it = nodes_.begin();
  std::advance(it, odd_pick(static_cast<int>(nodes_.size())));
  NodeFacts& facts = it->second;
  if (!facts.exists) {
    return;
  }
  facts.taint = odd_chance(60) ? "" : odd_chance(50) ? "NoSchedule" : "NoExecute";
  note(fmt::format("node {} is tainted: {}", it->first, facts.taint));
  put_node(it->first);
}

void World::stop_a_queue() {
  const int number = odd_pick(static_cast<int>(setup_.queues.size()));
  QueueSetup& queue = setup_.queues[static_cast<std::size_t>(number)];
  const bool local = odd_chance(40);
  std::string& stop = local ? queue.local_stop : queue.stop;
  stop = odd_chance(60) ? "" : odd_chance(50) ? "Hold" : "HoldAndDrain";
  note(fmt::format("{}{} is stopped: {}", local ? "q" : "c", number, stop));
  if (local) {
    put_local_queue(number);
    return;
  }
  const std::string key = FakeServer::key("ClusterQueue", "", fmt::format("c{}", number));
  server_.change(key, [&](Tree& one) { one.at({"spec", "stopPolicy"}) = Tree::string(stop.empty() ? "None" : stop); });
}

void World::change_a_priority() {
  const auto jobs = all_jobs();
  if (jobs.empty()) {
    return;
  }
  const Stored& job = *jobs[static_cast<std::size_t>(odd_pick(static_cast<int>(jobs.size())))];
  const std::vector<std::string> classes = {"low", "mid", "high"};
  const std::string& name = classes[static_cast<std::size_t>(odd_pick(3))];
  note(fmt::format("{} becomes {}", job.name, name));
  server_.change(key_of(job), [&](Tree& one) {
    one.at({"metadata", "labels", "kueue.x-k8s.io/priority-class"}) = Tree::string(name);
  });
}

void World::resize_a_job() {
  const auto jobs = server_.all("Job");
  if (jobs.empty()) {
    return;
  }
  const Stored& job = *jobs[static_cast<std::size_t>(odd_pick(static_cast<int>(jobs.size())))];
  const int least = std::stoi(job.tree.str({"metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism"}, "1"));
  const int wanted = std::max(least, 1 + odd_pick(6));
  note(fmt::format("{} is to have {} pods", job.name, wanted));
  server_.change(key_of(job), [&](Tree& one) { one.at({"spec", "parallelism"}) = Tree::number(wanted); });
}

// By its failure policy: what was over is done once more.
void World::begin_a_job_set_anew() {
  for (const Stored* job : server_.all("JobSet")) {
    if (job->tree.flag({"spec", "suspend"}) || job->tree.find({"status", "conditions"}) != nullptr || odd_chance(50)) {
      continue;
    }
    note(fmt::format("{} begins anew", job->name));
    jobs_.forget(job->uid());
    for (const Stored* pod : pods_of(job->uid())) {
      is_over(pod->tree) ? server_.remove(key_of(*pod)) : delete_pod(*pod);
    }
    return;
  }
}

}  // namespace gantree::test

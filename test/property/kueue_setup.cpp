// What a world is made of at its start, and what users and administrators do to it.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

namespace {

constexpr std::string_view kKueue = "kueue.x-k8s.io";
constexpr std::string_view kHost = "kubernetes.io/hostname";

// JSON with ' for quotes.
Tree tree(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return Tree::parse(text);
}

}  // namespace

void World::set_up() {
  const std::vector<std::vector<std::string>> shapes = {{std::string(kHost)},
                                                        {"rack", std::string(kHost)},
                                                        {"block", "rack", std::string(kHost)},
                                                        {"rack"},
                                                        {"block", "rack"}};
  levels_ = shapes[static_cast<std::size_t>(chance(75) ? pick(3) : 3 + pick(2))];
  by_host_ = levels_.back() == kHost;
  std::string levels;
  for (const std::string& level : levels_) {
    levels += fmt::format("{}{{'nodeLabel':'{}'}}", levels.empty() ? "" : ",", level);
  }
  server_.put("", "v1", "Namespace", tree("{'metadata':{'name':'ns'}}"));
  server_.put(kKueue, "v1beta2", "Topology",
              tree(fmt::format("{{'metadata':{{'name':'net'}},'spec':{{'levels':[{}]}}}}", levels)));
  for (int f = 0; f < (chance(25) ? 2 : 1); ++f) {
    const bool topology = chance(93);
    topology_everywhere_ = topology_everywhere_ && topology;
    flavors_.push_back(fmt::format("f{}", f));
    server_.put(kKueue, "v1beta2", "ResourceFlavor",
                tree(fmt::format("{{'metadata':{{'name':'f{0}'}},'spec':{{'nodeLabels':{{'pool':'f{0}'}}{1}}}}}", f,
                                 topology ? ",'topologyName':'net'" : "")));
  }
  for (const auto& [name, value] : std::map<std::string, int>{{"low", 1}, {"mid", 50}, {"high", 100}}) {
    server_.put(kKueue, "v1beta2", "WorkloadPriorityClass",
                tree(fmt::format("{{'metadata':{{'name':'{}'}},'value':{}}}", name, value)));
  }
  queues_.resize(static_cast<std::size_t>(1 + pick(3)));
  set_up_cohorts();
  const bool cohort = chance(60);
  for (int q = 0; q < static_cast<int>(queues_.size()); ++q) {
    queues_[static_cast<std::size_t>(q)].cohort = cohort && chance(85);
    draw_queue(q);
    put_queue(q);
    server_.put(
        kKueue, "v1beta2", "LocalQueue",
        tree(fmt::format("{{'metadata':{{'name':'q{0}','namespace':'ns'}},'spec':{{'clusterQueue':'c{0}'}}}}", q)));
  }
  const int hosts = 2 + pick(7);
  for (int h = 0; h < hosts; ++h) {
    const std::string name = fmt::format("h{}", h);
    nodes_[name].gpus = chance(70) ? 4 : 2 + pick(7);
    nodes_[name].labels = {{std::string(kHost), name},
                           {"rack", fmt::format("r{}", h / 2)},
                           {"block", fmt::format("b{}", h / 4)},
                           {"pool", flavors_[static_cast<std::size_t>(pick(static_cast<int>(flavors_.size())))]}};
    put_node(name);
  }
}

// Some of the queues share with some of the others first.
void World::set_up_cohorts() {
  if (!extra_chance(40)) {
    return;
  }
  for (const char* name : {"left", "right"}) {
    server_.put(kKueue, "v1beta2", "Cohort",
                tree(fmt::format("{{'metadata':{{'name':'{}'}},'spec':{{'parentName':'all','fairSharing':"
                                 "{{'weight':'{}'}}}}}}",
                                 name, extra_chance(50) ? 1 : 3)));
  }
  for (QueueSetup& queue : queues_) {
    queue.in = extra_chance(40) ? "left" : extra_chance(50) ? "right" : "all";
  }
}

void World::draw_queue(int number) {
  QueueSetup& queue = queues_[static_cast<std::size_t>(number)];
  const int most = chance(50) ? 40 : 12;
  queue.borrowing.clear();
  for (const std::string& flavor : flavors_) {
    queue.nominal[flavor] = pick(most);
    if (queue.cohort && chance(40)) {
      queue.borrowing[flavor] = pick(12);
    }
  }
}

void World::put_queue(int number) {
  const QueueSetup& queue = queues_[static_cast<std::size_t>(number)];
  std::string flavors;
  for (const std::string& flavor : flavors_) {
    const auto limit = queue.borrowing.find(flavor);
    flavors += fmt::format("{}{{'name':'{}','resources':[{{'name':'nvidia.com/gpu','nominalQuota':{}{}}}]}}",
                           flavors.empty() ? "" : ",", flavor, queue.nominal.at(flavor),
                           limit == queue.borrowing.end() ? "" : fmt::format(",'borrowingLimit':{}", limit->second));
  }
  const std::vector<std::string> within = {"Never", "LowerPriority", "LowerOrNewerEqualPriority"};
  const std::vector<std::string> reclaim = {"Never", "LowerPriority", "Any"};
  const std::string key = FakeServer::key("ClusterQueue", "", fmt::format("c{}", number));
  Tree wanted =
      tree(fmt::format("{{'metadata':{{'name':'c{}'}},'spec':{{'namespaceSelector':{{}},'queueingStrategy':'{}'{},"
                       "'preemption':{{'withinClusterQueue':'{}','reclaimWithinCohort':'{}'{}}},"
                       "'resourceGroups':[{{'coveredResources':['nvidia.com/gpu'],'flavors':[{}]}}]}}}}",
                       number, chance(40) ? "StrictFIFO" : "BestEffortFIFO",
                       queue.cohort ? fmt::format(",'cohortName':'{}'", queue.in) : "",
                       within[static_cast<std::size_t>(pick(3))], reclaim[static_cast<std::size_t>(pick(3))],
                       chance(25) ? ",'borrowWithinCohort':{'policy':'LowerPriority'}" : "", flavors));
  server_.put(kKueue, "v1beta2", "ClusterQueue", std::move(wanted));
}

void World::put_node(const std::string& name) {
  NodeFacts& facts = nodes_.at(name);
  facts.exists = true;
  std::string labels;
  for (const auto& [key, value] : facts.labels) {
    labels += fmt::format("{}'{}':'{}'", labels.empty() ? "" : ",", key, value);
  }
  const std::string taints =
      facts.ready ? "" : ",'taints':[{'key':'node.kubernetes.io/not-ready','effect':'NoExecute'}]";
  server_.put("", "v1", "Node",
              tree(fmt::format("{{'metadata':{{'name':'{}','labels':{{{}}}}},'spec':{{'unschedulable':{}{}}},"
                               "'status':{{'allocatable':{{'nvidia.com/gpu':'{}','pods':'110'}},"
                               "'conditions':[{{'type':'Ready','status':'{}'}}]}}}}",
                               name, labels, facts.cordoned, taints, facts.gpus, facts.ready ? "True" : "False")));
}

void World::use() {
  const int what = pick(100);
  if (what < 45) {
    submit();
  } else if (what < 75) {
    act_on_a_job();
  } else if (what < 92) {
    act_on_a_workload();
  } else {
    const int queue = pick(static_cast<int>(queues_.size()));
    for (const auto& [cell, limit] : limits()) {
      old_limits_[cell] = std::max(old_limits_[cell], limit);
    }
    draw_queue(queue);
    put_queue(queue);
    note(fmt::format("c{} changes", queue));
  }
}

void World::submit() {
  if (server_.all("Job").size() > 10) {
    return;
  }
  const int number = jobs_made_++;
  const int parallelism = 1 + pick(6);
  std::string annotations;
  std::string minimum;
  const std::string level = levels_[static_cast<std::size_t>(pick(static_cast<int>(levels_.size())))];
  bool slices = false;
  switch (pick(7)) {
    case 0:
    case 1:
      annotations = fmt::format("'kueue.x-k8s.io/podset-required-topology':'{}'", level);
      break;
    case 2:
      annotations = fmt::format("'kueue.x-k8s.io/podset-preferred-topology':'{}'", level);
      break;
    case 3:
      annotations = "'kueue.x-k8s.io/podset-unconstrained-topology':'true'";
      break;
    case 4:
    case 5: {
      std::vector<int> sizes;
      for (int size = 1; size <= parallelism; ++size) {
        if (parallelism % size == 0) {
          sizes.push_back(size);
        }
      }
      slices = true;
      annotations =
          fmt::format("'kueue.x-k8s.io/podset-slice-required-topology':'{}','kueue.x-k8s.io/podset-slice-size':'{}'",
                      level, sizes[static_cast<std::size_t>(pick(static_cast<int>(sizes.size())))]);
      break;
    }
    default:
      break;
  }
  if (!slices && chance(20)) {
    minimum = fmt::format("'kueue.x-k8s.io/job-min-parallelism':'{}'", 1 + pick(parallelism));
  }
  const std::vector<std::string> classes = {"low", "mid", "high"};
  const int completions = slices || !minimum.empty() || chance(70) ? parallelism : parallelism + pick(4);
  const std::string text = fmt::format(
      "{{'metadata':{{'name':'j{0}','namespace':'ns','creationTimestamp':'{1}',"
      "'labels':{{'kueue.x-k8s.io/queue-name':'q{2}','kueue.x-k8s.io/priority-class':'{3}'}},'annotations':{{{4}}}}},"
      "'spec':{{'suspend':true,'parallelism':{5},'completions':{6},'completionMode':'Indexed','template':"
      "{{'metadata':{{'annotations':{{{7}}}}},'spec':{{'restartPolicy':'Never','containers':[{{'name':'c',"
      "'resources':{{'limits':{{'nvidia.com/gpu':'{8}'}},'requests':{{'nvidia.com/gpu':'{8}'}}}}}}]}}}}}}}}",
      number, rfc3339(now_), pick(static_cast<int>(queues_.size())), classes[static_cast<std::size_t>(pick(3))],
      minimum, parallelism, completions, annotations, 1 + pick(chance(80) ? 3 : 4));
  note("submit " + text);
  server_.put("batch", "v1", "Job", tree(text));
}

void World::act_on_a_job() {
  const auto jobs = server_.all("Job");
  if (jobs.empty()) {
    return;
  }
  const Stored& job = *jobs[static_cast<std::size_t>(pick(static_cast<int>(jobs.size())))];
  const std::string key = FakeServer::key("Job", job.ns, job.name);
  const int what = pick(100);
  if (what < 55) {
    note("finishing: " + job.name);
    finishing_.insert(job.uid());
  } else if (what < 80) {
    note("delete job " + job.name);
    server_.remove(key);
  } else {
    const bool suspend = chance(85);
    disturbed_ = disturbed_ || !suspend;
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
    disturbed_ = true;
    given_.erase(key);
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
    note("node goes: " + name);
    server_.remove(FakeServer::key("Node", "", name));
  }
}

}  // namespace gantree::test

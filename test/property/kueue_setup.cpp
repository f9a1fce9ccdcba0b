// What a world is made of at its start.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

namespace {

constexpr std::string_view kKueue = "kueue.x-k8s.io";
constexpr std::string_view kHost = kHostLabel;

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
  server_.put("", "v1", "Namespace", quoted("{'metadata':{'name':'ns'}}"));
  server_.put(kKueue, "v1beta2", "Topology",
              quoted(fmt::format("{{'metadata':{{'name':'net'}},'spec':{{'levels':[{}]}}}}", levels)));
  for (int f = 0; f < (chance(25) ? 2 : 1); ++f) {
    const bool topology = chance(93);
    topology_everywhere_ = topology_everywhere_ && topology;
    flavors_.push_back(fmt::format("f{}", f));
    server_.put(kKueue, "v1beta2", "ResourceFlavor",
                quoted(fmt::format("{{'metadata':{{'name':'f{0}'}},'spec':{{'nodeLabels':{{'pool':'f{0}'}}{1}}}}}", f,
                                   topology ? ",'topologyName':'net'" : "")));
  }
  for (const auto& [name, value] : std::map<std::string, int>{{"low", 1}, {"mid", 50}, {"high", 100}}) {
    server_.put(kKueue, "v1beta2", "WorkloadPriorityClass",
                quoted(fmt::format("{{'metadata':{{'name':'{}'}},'value':{}}}", name, value)));
  }
  const int queues = 1 + pick(3);
  setup_.queues.resize(static_cast<std::size_t>(ways_.many_queues ? 10 + odd_pick(5) : queues));
  set_up_cohorts();
  const bool cohort = chance(60);
  for (int q = 0; q < static_cast<int>(setup_.queues.size()); ++q) {
    std::string& in = setup_.queues[static_cast<std::size_t>(q)].cohort;
    in = cohort && chance(85) ? in : ways_.many_queues && odd_chance(85) ? in : "";
    draw_queue(q);
    put_queue(q);
    put_local_queue(q);
  }
  const int hosts = 2 + pick(7);
  set_up_hosts(ways_.many_queues ? 8 + odd_pick(9) : hosts);
}

void World::set_up_hosts(int hosts) {
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
  for (QueueSetup& queue : setup_.queues) {
    queue.cohort = "all";
  }
  if (ways_.many_queues) {
    nest_cohorts();
    return;
  }
  if (!extra_chance(40)) {
    return;
  }
  for (const char* name : {"left", "right"}) {
    setup_.cohorts[name].parent = "all";
    put_cohort(name, extra_chance(50) ? "1" : "3");
  }
  for (QueueSetup& queue : setup_.queues) {
    queue.cohort = extra_chance(40) ? "left" : extra_chance(50) ? "right" : "all";
  }
}

// Cohorts of cohorts, and queues in any of them.
void World::nest_cohorts() {
  const int cohorts = 4 + odd_pick(4);
  for (int k = 0; k < cohorts; ++k) {
    const std::string name = fmt::format("k{}", k);
    setup_.cohorts[name].parent = k < 2 ? "all" : fmt::format("k{}", odd_pick(k));
    put_cohort(name, odd_chance(50) ? "1" : "3");
  }
  for (QueueSetup& queue : setup_.queues) {
    queue.cohort = fmt::format("k{}", odd_pick(cohorts));
  }
}

void World::put_cohort(const std::string& name, const std::string& weight) {
  CohortSetup& cohort = setup_.cohorts[name];
  if (ways_.shared_quota && odd_chance(50)) {
    for (const std::string& flavor : flavors_) {
      QuotaNumbers& numbers = cohort.quota[flavor];
      numbers.nominal = odd_pick(8);
      numbers.borrowing = odd_chance(30) ? std::optional(odd_pick(8)) : std::nullopt;
      numbers.lending = odd_chance(30) ? std::optional(odd_pick(numbers.nominal + 1)) : std::nullopt;
    }
  }
  server_.put(
      kKueue, "v1beta2", "Cohort",
      quoted(fmt::format("{{'metadata':{{'name':'{}'}},'spec':{{'parentName':'{}','fairSharing':"
                         "{{'weight':'{}'}}{}}}}}",
                         name, cohort.parent, weight,
                         cohort.quota.empty() ? "" : fmt::format(",'resourceGroups':[{}]", quota_text(cohort.quota)))));
}

void World::draw_queue(int number) {
  QueueSetup& queue = setup_.queues[static_cast<std::size_t>(number)];
  const int most = chance(50) ? 40 : 12;
  for (const std::string& flavor : flavors_) {
    QuotaNumbers& numbers = queue.quota[flavor];
    numbers = {.nominal = ways_.many_queues ? pick(most) / 3 : pick(most)};
    if (!queue.cohort.empty() && chance(40)) {
      numbers.borrowing = pick(12);
    }
    if (ways_.shared_quota && !queue.cohort.empty() && odd_chance(40)) {
      numbers.lending = odd_pick(numbers.nominal + 1);
    }
  }
}

// A group of resources as specs have it.
std::string World::quota_text(const std::map<std::string, QuotaNumbers>& quota) const {
  std::string flavors;
  for (const std::string& flavor : flavors_) {
    const QuotaNumbers& numbers = quota.at(flavor);
    std::string limits;
    limits += numbers.borrowing ? fmt::format(",'borrowingLimit':{}", *numbers.borrowing) : "";
    limits += numbers.lending ? fmt::format(",'lendingLimit':{}", *numbers.lending) : "";
    flavors += fmt::format("{}{{'name':'{}','resources':[{{'name':'nvidia.com/gpu','nominalQuota':{}{}}}]}}",
                           flavors.empty() ? "" : ",", flavor, numbers.nominal, limits);
  }
  return fmt::format("{{'coveredResources':['nvidia.com/gpu'],'flavors':[{}]}}", flavors);
}

void World::put_queue(int number) {
  const QueueSetup& queue = setup_.queues[static_cast<std::size_t>(number)];
  const std::vector<std::string> within = {"Never", "LowerPriority", "LowerOrNewerEqualPriority"};
  const std::vector<std::string> reclaim = {"Never", "LowerPriority", "Any"};
  std::string more = queue.cohort.empty() ? "" : fmt::format(",'cohortName':'{}'", queue.cohort);
  more += queue.stop.empty() ? "" : fmt::format(",'stopPolicy':'{}'", queue.stop);
  if (ways_.shared_quota && odd_chance(30)) {
    more += fmt::format(",'flavorFungibility':{{'whenCanBorrow':'{}','whenCanPreempt':'{}'}}",
                        odd_chance(50) ? "Borrow" : "TryNextFlavor", odd_chance(50) ? "Preempt" : "TryNextFlavor");
  }
  Tree wanted = quoted(
      fmt::format("{{'metadata':{{'name':'c{}'}},'spec':{{'namespaceSelector':{{}},'queueingStrategy':'{}'{},"
                  "'preemption':{{'withinClusterQueue':'{}','reclaimWithinCohort':'{}'{}}},"
                  "'resourceGroups':[{}]}}}}",
                  number, chance(40) ? "StrictFIFO" : "BestEffortFIFO", more, within[static_cast<std::size_t>(pick(3))],
                  reclaim[static_cast<std::size_t>(pick(3))],
                  chance(25) ? ",'borrowWithinCohort':{'policy':'LowerPriority'}" : "", quota_text(queue.quota)));
  server_.put(kKueue, "v1beta2", "ClusterQueue", std::move(wanted));
}

void World::put_local_queue(int number) {
  const std::string& stop = setup_.queues[static_cast<std::size_t>(number)].local_stop;
  server_.put(
      kKueue, "v1beta2", "LocalQueue",
      quoted(fmt::format("{{'metadata':{{'name':'q{0}','namespace':'ns'}},'spec':{{'clusterQueue':'c{0}'{1}}}}}",
                         number, stop.empty() ? "" : fmt::format(",'stopPolicy':'{}'", stop))));
}

// What is decided from now on goes by what queues have now. What was decided before may still be on its way.
void World::begin_era() {
  eras_.push_back({.setup = setup_, .used = spread(setup_, used_)});
  for (const auto& [key, entry] : process_->controller().workloads()) {
    if (entry.assumed && entry.sent) {
      decided_before_.insert(key);
    }
  }
}

void World::put_node(const std::string& name) {
  NodeFacts& facts = nodes_.at(name);
  facts.created = facts.exists && facts.created != Time() ? facts.created : now_;
  facts.exists = true;
  shaken_.insert(name);
  std::string labels;
  for (const auto& [key, value] : facts.labels) {
    labels += fmt::format("{}'{}':'{}'", labels.empty() ? "" : ",", key, value);
  }
  std::string taints = facts.ready ? "" : "{'key':'node.kubernetes.io/not-ready','effect':'NoExecute'}";
  if (!facts.taint.empty()) {
    taints += fmt::format("{}{{'key':'{}','effect':'{}'}}", taints.empty() ? "" : ",", kTaint, facts.taint);
  }
  const std::string created =
      ways_.daemons ? fmt::format(",'creationTimestamp':'{}'", rfc3339(facts.created)) : std::string();
  server_.put(
      "", "v1", "Node",
      quoted(fmt::format("{{'metadata':{{'name':'{}','labels':{{{}}}{}}},'spec':{{'unschedulable':{},'taints':[{}]}},"
                         "'status':{{'allocatable':{{'nvidia.com/gpu':'{}','pods':'110'}},"
                         "'conditions':[{{'type':'Ready','status':'{}'}}]}}}}",
                         name, labels, created, facts.cordoned, taints, facts.gpus, facts.ready ? "True" : "False")));
}

}  // namespace gantree::test

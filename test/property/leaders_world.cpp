#include "property/leaders_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "support/object_facts.h"

namespace gantree::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kGpus = 8;
constexpr std::size_t kRemembered = 120;
constexpr std::string_view kQueues = "kueue.x-k8s.io";

std::vector<kube::Resource> served() {
  const auto kind = [](std::string group, std::string version, std::string plural, std::string name, bool namespaced) {
    return kube::Resource{.group = std::move(group),
                          .version = std::move(version),
                          .plural = std::move(plural),
                          .kind = std::move(name),
                          .namespaced = namespaced};
  };
  const std::string queues(kQueues);
  return {kind("", "v1", "nodes", "Node", false),
          kind("", "v1", "pods", "Pod", true),
          kind("", "v1", "namespaces", "Namespace", false),
          kind("batch", "v1", "jobs", "Job", true),
          kind("scheduling.sigs.k8s.io", "v1alpha1", "podgroups", "PodGroup", true),
          kind(queues, "v1beta2", "topologies", "Topology", false),
          kind(queues, "v1beta2", "resourceflavors", "ResourceFlavor", false),
          kind(queues, "v1beta2", "clusterqueues", "ClusterQueue", false),
          kind(queues, "v1beta2", "localqueues", "LocalQueue", true),
          kind(queues, "v1beta2", "workloads", "Workload", true)};
}

const std::vector<std::string>& watched() {
  static const std::vector<std::string> kKinds = {"Pod",      "Pod",  "Pod", "Workload", "Workload",
                                                  "Workload", "Node", "Job", "PodGroup", "ClusterQueue"};
  return kKinds;
}

// GPUs of one pod of the only pod set.
int gpus_of_set(const Tree& workload) {
  const Tree* sets = workload.find({"spec", "podSets"});
  return sets == nullptr || sets->items.empty() ? 0 : gpus_of(*sets->items.front().find({"template"}));
}

}  // namespace

LeadersWorld::LeadersWorld(std::uint32_t seed) : random_(seed), server_(timeline_, served()) {
  aims_ = chance(70);
  set_up();
  server_.changed = [this] { check(); };
  server_.given = [this] {
    if (aims_ && chance(12)) {
      aim();
    }
  };
  replicas_.resize(chance(75) ? 2 : 1);
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    start(i);
  }
  pass(seconds(5));
}

void LeadersWorld::note(std::string action) {
  static const bool traced = std::getenv("GANTREE_TRACE") != nullptr;
  const auto time = std::chrono::duration_cast<milliseconds>(timeline_.now().time_since_epoch()).count() - 3'600'000;
  action = fmt::format("{:>9.3f} {}", static_cast<double>(time) / 1000, action);
  if (traced) {
    fmt::print("{}\n", action);
  }
  actions_.push_back(std::move(action));
  if (actions_.size() > kRemembered) {
    actions_.pop_front();
  }
}

std::string LeadersWorld::faults() const {
  return fmt::format("{}", fmt::join(faults_, "\n"));
}

std::string LeadersWorld::last_actions() const {
  return fmt::format("{}", fmt::join(actions_, "\n"));
}

void LeadersWorld::put(std::string_view group, std::string_view version, std::string_view kind,
                       const std::string& text) {
  server_.objects.put(group, version, kind, quoted(text));
}

void LeadersWorld::set_up() {
  hosts_ = 2 + pick(3);
  quota_ = 4 + pick(hosts_ * kGpus);
  put("", "v1", "Namespace", "{'metadata':{'name':'ns'}}");
  put(kQueues, "v1beta2", "Topology",
      "{'metadata':{'name':'net'},'spec':{'levels':[{'nodeLabel':'kubernetes.io/hostname'}]}}");
  put(kQueues, "v1beta2", "ResourceFlavor",
      "{'metadata':{'name':'f'},'spec':{'nodeLabels':{'pool':'f'},'topologyName':'net'}}");
  put(kQueues, "v1beta2", "ClusterQueue",
      fmt::format("{{'metadata':{{'name':'c'}},'spec':{{'namespaceSelector':{{}},'queueingStrategy':'BestEffortFIFO',"
                  "'resourceGroups':[{{'coveredResources':['nvidia.com/gpu'],'flavors':[{{'name':'f','resources':"
                  "[{{'name':'nvidia.com/gpu','nominalQuota':{}}}]}}]}}]}}}}",
                  quota_));
  put(kQueues, "v1beta2", "LocalQueue", "{'metadata':{'name':'q','namespace':'ns'},'spec':{'clusterQueue':'c'}}");
  for (int i = 0; i < hosts_; ++i) {
    put("", "v1", "Node",
        fmt::format("{{'metadata':{{'name':'n{0}','labels':{{'kubernetes.io/hostname':'n{0}','pool':'f'}}}},"
                    "'status':{{'allocatable':{{'nvidia.com/gpu':'{1}','pods':'110'}},"
                    "'conditions':[{{'type':'Ready','status':'True'}}]}}}}",
                    i, kGpus));
  }
}

void LeadersWorld::start(std::size_t replica) {
  replicas_[replica].reset();
  replicas_[replica] = std::make_unique<Replica>(timeline_, server_, random_,
                                                 ReplicaOptions{.name = fmt::format("life-{}", ++lives_),
                                                                .page_size = chance(50) ? 2 : 500,
                                                                .watch_silence = seconds(chance(50) ? 15 : 60)});
  note(fmt::format("replica {} starts", replica));
}

void LeadersWorld::storm(seconds length) {
  const auto end = timeline_.now() + length;
  while (timeline_.now() < end && faults_.empty()) {
    pass(milliseconds(20 + pick(400)));
    use();
    run_kubelets();
    if (chance(30)) {
      harm(static_cast<std::size_t>(pick(static_cast<int>(replicas_.size()))));
    }
  }
}

void LeadersWorld::calm(seconds length) {
  note("calm");
  aims_ = false;
  for (const auto& replica : replicas_) {
    Weather& weather = replica->weather();
    weather.late.clear();
    weather.without_leases = false;
    weather.lost = 0;
    weather.unanswered = 0;
  }
  const auto end = timeline_.now() + length;
  while (timeline_.now() < end && faults_.empty()) {
    pass(milliseconds(500));
    run_kubelets();
  }
}

void LeadersWorld::use() {
  switch (pick(6)) {
    case 0:
      add_pod(fmt::format("p{}", ++names_), "", 1 + pick(kGpus), chance(20) ? 10 : 0);
      break;
    case 1:
      add_gang();
      break;
    case 2:
      add_job();
      break;
    case 3:
      end_a_job();
      break;
    default:
      remove_a_pod();
  }
}

void LeadersWorld::add_pod(const std::string& name, const std::string& gang, int gpus, int priority) {
  note(fmt::format("pod {} of {} GPUs", name, gpus));
  const std::string labels =
      gang.empty() ? "" : fmt::format(",'labels':{{'pod-group.scheduling.sigs.k8s.io':'{}'}}", gang);
  put("", "v1", "Pod",
      fmt::format("{{'metadata':{{'name':'{}','namespace':'ns'{}}},'spec':{{'schedulerName':'gantree','priority':{},"
                  "'containers':[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'{}'}}}}}}]}},"
                  "'status':{{'phase':'Pending'}}}}",
                  name, labels, priority, gpus));
}

void LeadersWorld::add_gang() {
  const std::string name = fmt::format("g{}", ++names_);
  const int pods = 2 + pick(4);
  put("scheduling.sigs.k8s.io", "v1alpha1", "PodGroup",
      fmt::format("{{'metadata':{{'name':'{}','namespace':'ns'}},'spec':{{'minMember':{}}}}}", name, pods));
  const int gpus = 1 + pick(kGpus);
  for (int i = 0; i < pods; ++i) {
    add_pod(fmt::format("{}-{}", name, i), name, gpus, 0);
  }
}

void LeadersWorld::add_job() {
  const std::string name = fmt::format("j{}", ++names_);
  note("job " + name);
  put("batch", "v1", "Job",
      fmt::format("{{'metadata':{{'name':'{0}','namespace':'ns','labels':{{'kueue.x-k8s.io/queue-name':'q'}}}},"
                  "'spec':{{'suspend':true,'parallelism':{1},'completions':{1},'completionMode':'Indexed','template':"
                  "{{'spec':{{'containers':[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'{2}'}}}}}}]}}}}"
                  "}}}}",
                  name, 1 + pick(4), 1 + pick(kGpus)));
}

void LeadersWorld::end_a_job() {
  const std::vector<const Stored*> jobs = server_.objects.all("Job");
  if (jobs.empty()) {
    return;
  }
  const std::string key = key_of(*jobs[static_cast<std::size_t>(pick(static_cast<int>(jobs.size())))]);
  if (server_.objects.find(key)->tree.flag({"spec", "suspend"})) {
    return;
  }
  note(key + " is over");
  server_.objects.change(key, [](Tree& job) {
    job.at({"status"}) = quoted("{'succeeded':1,'conditions':[{'type':'Complete','status':'True'}]}");
  });
}

void LeadersWorld::remove_a_pod() {
  const std::vector<const Stored*> pods = server_.objects.all("Pod");
  if (pods.size() < static_cast<std::size_t>(2 * hosts_)) {
    return;
  }
  const std::string key = key_of(*pods[static_cast<std::size_t>(pick(static_cast<int>(pods.size())))]);
  note(key + " is removed");
  server_.objects.remove(key);
}

// Pods that have to leave are gone after a while; jobs that are over go with their Workloads.
void LeadersWorld::run_kubelets() {
  for (const Stored* pod : server_.objects.all("Pod")) {
    if (is_going(pod->tree) && chance(50)) {
      server_.objects.remove(key_of(*pod));
      break;
    }
  }
  for (const Stored* workload : server_.objects.all("Workload")) {
    if (holds(workload->tree, "Finished") && chance(20)) {
      const Tree* owners = workload->tree.find({"metadata", "ownerReferences"});
      const std::string job = FakeServer::key("Job", "ns", owners->items.front().str({"name"}));
      server_.objects.remove(key_of(*workload));
      server_.objects.remove(job);
      break;
    }
  }
}

void LeadersWorld::harm(std::size_t number) {
  Replica& replica = *replicas_[number];
  Weather& weather = replica.weather();
  const std::string& kind = watched()[static_cast<std::size_t>(pick(static_cast<int>(watched().size())))];
  const auto say = [&](std::string_view what) { note(fmt::format("replica {}: {}", number, what)); };
  switch (pick(9)) {
    case 0:
    case 1:
    case 2:
      say(kind + " falls silent");
      replica.silence(kind);
      break;
    case 3:
      weather.late[kind] = milliseconds(chance(40) ? 0 : pick(6'000));
      say(fmt::format("{} is late by {} ms", kind, weather.late[kind].count()));
      break;
    case 4:
      weather.without_leases = !weather.without_leases && chance(60);
      say(weather.without_leases ? "no leases" : "leases");
      break;
    case 5:
      weather.lost = chance(30) ? 20 : 0;
      weather.unanswered = chance(30) ? 30 : 0;
      say(fmt::format("{} lost, {} unanswered", weather.lost, weather.unanswered));
      break;
    case 6:
    case 7: {
      const milliseconds time(200 + pick(14'000));
      say(fmt::format("stopped for {} ms", time.count()));
      timeline_.freeze(replica.actor(), timeline_.now() + time);
      break;
    }
    default:
      if (chance(25)) {
        say("killed");
        start(number);
      }
  }
}

void LeadersWorld::aim() {
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    Replica* replica = replicas_[i].get();
    if (replica == nullptr || (!replica->leading() && chance(50))) {
      continue;
    }
    note(fmt::format("aimed at replica {}", i));
    replica->silence("Pod");
    replica->silence("Workload");
    if (!replica->leading()) {
      continue;
    }
    // A moment later, so that the answer comes.
    const Actor actor = replica->actor();
    timeline_.at(timeline_.now() + milliseconds(pick(100)), kServer,
                 [this, actor] { timeline_.freeze(actor, timeline_.now() + milliseconds(7'000 + pick(6'000))); });
  }
}

void LeadersWorld::check() {
  if (!faults_.empty()) {
    return;
  }
  std::map<std::string, int> used;
  for (const Stored* pod : server_.objects.all("Pod")) {
    if (!is_over(pod->tree)) {
      used[pod->tree.str({"spec", "nodeName"})] += gpus_of(pod->tree);
    }
  }
  used.erase("");
  int reserved = 0;
  for (const Stored* workload : server_.objects.all("Workload")) {
    const Tree* sets = workload->tree.find({"status", "admission", "podSetAssignments"});
    if (sets == nullptr || holds(workload->tree, "Finished")) {
      continue;
    }
    for (const Tree& set : sets->items) {
      reserved += set.num({"count"}, 0) * gpus_of_set(workload->tree);
      if (set.find({"topologyAssignment"}) == nullptr) {
        faults_.push_back(key_of(*workload) + " was admitted without hosts");
        return;
      }
      for (const kueue::AssignedDomain& domain : assignment_in(set).domains) {
        used[domain.values.back()] += domain.count * gpus_of_set(workload->tree);
      }
    }
  }
  for (const auto& [host, gpus] : used) {
    if (gpus > kGpus) {
      faults_.push_back(fmt::format("{} of {} GPUs of host {} are given away", gpus, kGpus, host));
    }
  }
  if (reserved > quota_) {
    faults_.push_back(fmt::format("{} of a quota of {} are given away", reserved, quota_));
  }
  if (!faults_.empty()) {
    note(faults_.back());
  }
}

void LeadersWorld::check_that_somebody_decides() {
  // What is left of gangs that lost pods may wait for ever, and hold room for which others wait.
  for (const Stored* pod : server_.objects.all("Pod")) {
    server_.objects.remove(key_of(*pod));
  }
  calm(seconds(5));
  add_pod("last", "", 1, 100);
  calm(seconds(40));
  const Stored* pod = server_.objects.find(FakeServer::key("Pod", "ns", "last"));
  int free = hosts_ * kGpus;
  for (const Stored* workload : server_.objects.all("Workload")) {
    if (workload->tree.find({"status", "admission"}) != nullptr && !holds(workload->tree, "Finished")) {
      free -= gpus_of_set(workload->tree) * workload->tree.find({"spec", "podSets"})->items.front().num({"count"}, 0);
    }
  }
  if (faults_.empty() && free > 0 && pod->tree.str({"spec", "nodeName"}).empty()) {
    faults_.push_back(fmt::format("a pod finds no room though {} GPUs are free", free));
  }
}

}  // namespace gantree::test

// Gangs of pods that are in no queue, beside the jobs of queues: their users, whoever makes their pods anew, and what
// has to be true of them when all is calm.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

namespace {

constexpr std::string_view kLabel = "pod-group.scheduling.sigs.k8s.io";

std::string gang_key(const std::string& name) {
  return FakeServer::key("PodGroup", "ns", name);
}

}  // namespace

std::string World::gang_of(const Tree& pod) {
  return pod.str({"metadata", "labels", kLabel});
}

void World::use_gangs() {
  if (gangs_.size() < 4 && odd_chance(50)) {
    const std::string name = fmt::format("k{}", gangs_made_++);
    PodGang& gang = gangs_[name];
    gang.least = 1 + odd_pick(4);
    gang.total = gang.least + (odd_chance(25) ? 1 : 0);
    gang.gpus = 1 + odd_pick(3);
    gang.priority = std::vector<int>{-5, 0, 3, 50}[static_cast<std::size_t>(odd_pick(4))];
    note(fmt::format("gang {}: {} of {} pods of {} GPUs, priority {}", name, gang.least, gang.total, gang.gpus,
                     gang.priority));
    server_.put("scheduling.sigs.k8s.io", "v1alpha1", "PodGroup",
                quoted(fmt::format("{{'metadata':{{'name':'{}','namespace':'ns','creationTimestamp':'{}'}},"
                                   "'spec':{{'minMember':{}}},'status':{{}}}}",
                                   name, rfc3339(now_), gang.least)));
    return;
  }
  if (gangs_.empty()) {
    return;
  }
  auto it = gangs_.begin();
  std::advance(it, odd_pick(static_cast<int>(gangs_.size())));
  if (odd_chance(40)) {
    note("finishing: " + it->first);
    finishing_.insert(it->first);
  } else if (odd_chance(50)) {
    delete_gang(it->first);
  }
}

// As a controller would: pods that are missing are made anew, until the gang comes to its end.
void World::sync_gangs(bool all) {
  std::map<std::string, int> there;
  std::map<std::string, int> left;
  for (const Stored* pod : server_.all("Pod")) {
    const std::string gang = gang_of(pod->tree);
    there[gang] += is_going(pod->tree) || pod->tree.str({"status", "phase"}) == "Failed" ? 0 : 1;
    left[gang] += is_over(pod->tree) ? 0 : 1;
  }
  for (auto it = gangs_.begin(); it != gangs_.end();) {
    const std::string name = it->first;
    const PodGang& gang = (it++)->second;
    if (!all && odd_chance(50)) {
      continue;
    }
    if (finishing_.contains(name)) {
      if (left[name] == 0) {
        delete_gang(name);
      }
      continue;
    }
    for (int i = there[name]; i < gang.total; ++i) {
      const std::string pod = fmt::format("{}-{}", name, jobs_.fresh_number());
      note("  pod " + pod + " is made");
      server_.put("", "v1", "Pod",
                  quoted(fmt::format(
                      "{{'metadata':{{'name':'{}','namespace':'ns','creationTimestamp':'{}','labels':{{'{}':'{}'}}}},"
                      "'spec':{{'schedulerName':'gantree','priority':{},'containers':[{{'name':'c','resources':"
                      "{{'requests':{{'nvidia.com/gpu':'{}'}}}}}}]}},'status':{{'phase':'Pending'}}}}",
                      pod, rfc3339(now_), kLabel, name, gang.priority, gang.gpus)));
    }
  }
}

void World::delete_gang(const std::string& name) {
  note("delete gang " + name);
  for (const Stored* pod : server_.all("Pod")) {
    if (gang_of(pod->tree) == name) {
      is_over(pod->tree) ? server_.remove(FakeServer::key("Pod", pod->ns, pod->name)) : delete_pod(*pod);
    }
  }
  server_.remove(gang_key(name));
  gangs_.erase(name);
}

// Nobody holds room with which it cannot start, unless it ran whole before.
void World::check_gangs_when_calm() {
  for (const auto& [name, gang] : gangs_) {
    int bound = 0;
    int waiting = 0;
    for (const Stored* pod : server_.all("Pod")) {
      if (gang_of(pod->tree) != name || is_over(pod->tree) || is_going(pod->tree)) {
        continue;
      }
      const bool has_node = !pod->tree.str({"spec", "nodeName"}).empty();
      (has_node ? bound : waiting) += 1;
      if (const std::string node = pod->tree.str({"status", "nominatedNodeName"}); !has_node && !node.empty()) {
        fault(fmt::format("pod {} of a gang is nominated to {}, where nobody leaves", pod->name, node));
      }
    }
    const bool was_whole = holds(server_.find(gang_key(name))->tree, "OnceSatisfied");
    if (bound > 0 && bound < gang.least && bound + waiting >= gang.least && !was_whole) {
      fault(fmt::format("{} of gang {} are bound, {} are needed and {} wait", bound, name, gang.least, waiting));
    }
  }
}

}  // namespace gantree::test

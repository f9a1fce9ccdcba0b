// Jobs of queues before the program starts. A manifest has the jobs, and the pods of those that run; a live cluster
// also has Workloads, and pods that a job's own controller made. So an earlier life of the program makes the Workloads
// while all queues are held. Those of jobs that run are admitted to the nodes that the manifests say, and the jobs are
// started.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/quantity.h"
#include "dialects/kueue/assignment.h"
#include "dialects/kueue/names.h"
#include "plan_equals_run/live_world.h"

namespace gantree::test {

namespace {

constexpr std::string_view kHold = "Hold";
constexpr std::chrono::seconds kMoment{5};

const std::vector<Tree>& items_of(const Tree& tree, const Tree::Path& path) {
  static const std::vector<Tree> kNone;
  const Tree* list = tree.find(path);
  return list == nullptr ? kNone : list->items;
}

bool matches(const Tree* wanted, const Tree& node) {
  return wanted == nullptr || std::all_of(wanted->members.begin(), wanted->members.end(), [&](const auto& one) {
           return node.str({"metadata", "labels", one.first}) == one.second.text;
         });
}

std::int64_t request_of(const Tree& pod_template, const std::string& resource) {
  std::int64_t sum = 0;
  for (const Tree& container : items_of(pod_template, {"spec", "containers"})) {
    if (const Tree* amount = container.find({"resources", "requests", resource})) {
      sum += parse_quantity(amount->text, Unit::kMilli, Round::kUp).value();
    }
  }
  return sum;
}

Tree condition(std::string_view type, const std::string& since) {
  return quoted(fmt::format("{{'type':'{0}','status':'True','reason':'{0}','message':'','lastTransitionTime':'{1}'}}",
                            type, since));
}

}  // namespace

void LiveWorld::find_running_jobs() {
  for (const Manifest& job : objects_) {
    if (!is_queued(job)) {
      continue;
    }
    for (const Manifest& pod : objects_) {
      const std::vector<Tree>& owners = items_of(pod.tree, {"metadata", "ownerReferences"});
      const std::string node = pod.tree.str({"spec", "nodeName"});
      if (pod.kind == "Pod" && pod.ns == job.ns && !node.empty() && !owners.empty() &&
          owners.front().str({"kind"}) == job.kind && owners.front().str({"name"}) == job.name) {
        RunningJob& running = running_[key_of(job)];
        running.job = &job;
        running.nodes.push_back(node);
        made_anew_.insert(key_of(pod));
      }
    }
  }
}

void LiveWorld::queue_jobs() {
  prepares_ = true;
  hold_queues(true);
  for (Manifest object : objects_) {
    if (running_.contains(key_of(object))) {
      object.tree.at({"spec", "suspend"}) = Tree::boolean(true);
      object.tree.erase({"status"});
    }
    if (is_queued(object)) {
      store(std::move(object));
    }
  }
  GANTREE_CHECK(settle(kMoment));
  std::vector<const Stored*> owners = jobs_.jobs();
  const std::vector<const Stored*> pods = server_.objects.all("Pod");
  owners.insert(owners.end(), pods.begin(), pods.end());
  for (const Stored* owner : owners) {
    const Stored* workload = workload_of_job(owner->uid());
    if (workload == nullptr) {
      continue;
    }
    // It is as old as its job, as on any cluster.
    server_.objects.change(test::key_of(*workload), [&](Tree& one) {
      one.at({"metadata", "creationTimestamp"}) = *owner->tree.find({"metadata", "creationTimestamp"});
    });
    if (const auto running = running_.find(test::key_of(*owner)); running != running_.end()) {
      admit(*workload, running->second);
    }
  }
  GANTREE_CHECK(running_.empty() || settle(kMoment));
  for (const auto& [key, running] : running_) {
    GANTREE_CHECK(running.nodes.empty());  // all pods are where they should be
  }
  hold_queues(false);
  prepares_ = false;
}

void LiveWorld::hold_queues(bool held) {
  for (const Stored* queue : server_.objects.all("ClusterQueue")) {
    server_.objects.change(test::key_of(*queue), [&](Tree& one) {
      if (held) {
        stop_policies_[test::key_of(*queue)] = one.str({"spec", "stopPolicy"}, "None");
      }
      one.at({"spec", "stopPolicy"}) =
          Tree::string(held ? std::string(kHold) : stop_policies_.at(test::key_of(*queue)));
    });
  }
}

void LiveWorld::admit(const Stored& workload, const RunningJob& running) {
  const Stored* local =
      server_.objects.find(FakeServer::key("LocalQueue", workload.ns, workload.tree.str({"spec", "queueName"})));
  GANTREE_CHECK(local != nullptr);
  const std::string queue = local->tree.str({"spec", "clusterQueue"});
  const std::vector<Tree>& sets = items_of(workload.tree, {"spec", "podSets"});
  GANTREE_CHECK(sets.size() == 1);  // else it would have to be said whose the nodes are
  Tree admission = Tree::parse("{}");
  admission.at({"clusterQueue"}) = Tree::string(queue);
  admission.at({"podSetAssignments"}) = Tree::parse("[]");
  admission.at({"podSetAssignments"})
      .items.push_back(assignment_of(
          sets.front(), server_.objects.find(FakeServer::key("ClusterQueue", "", queue))->tree, running.nodes));
  const Tree& job = running.job->tree;
  const std::string since = job.str({"status", "startTime"}, job.str({"metadata", "creationTimestamp"}));
  server_.objects.change(test::key_of(workload), [&](Tree& one) {
    one.at({"status", "admission"}) = admission;
    set_condition(one, condition("QuotaReserved", since));
    set_condition(one, condition("Admitted", since));
  });
}

Tree LiveWorld::assignment_of(const Tree& set, const Tree& queue, const std::vector<std::string>& nodes) const {
  Tree given = Tree::parse("{}");
  given.at({"name"}) = *set.find({"name"});
  given.at({"count"}) = *set.find({"count"});
  GANTREE_CHECK(set.num({"count"}, 1) == static_cast<int>(nodes.size()));
  const Tree& first = server_.objects.find(FakeServer::key("Node", "", nodes.front()))->tree;
  for (const Tree& group : items_of(queue, {"spec", "resourceGroups"})) {
    const std::vector<Tree>& flavors = items_of(group, {"flavors"});
    const auto chosen = std::find_if(flavors.begin(), flavors.end(), [&](const Tree& one) {
      const Stored* flavor = server_.objects.find(FakeServer::key("ResourceFlavor", "", one.str({"name"})));
      return flavor != nullptr && matches(flavor->tree.find({"spec", "nodeLabels"}), first);
    });
    GANTREE_CHECK(chosen != flavors.end());
    for (const Tree& resource : items_of(group, {"coveredResources"})) {
      const std::int64_t each = request_of(*set.find({"template"}), resource.text);
      const auto count = static_cast<std::int64_t>(nodes.size());
      given.at({"flavors", resource.text}) = *chosen->find({"name"});
      given.at({"resourceUsage", resource.text}) = Tree::string(format_quantity(each * count, Unit::kMilli));
    }
    const Tree& flavor = server_.objects.find(FakeServer::key("ResourceFlavor", "", chosen->str({"name"})))->tree;
    const Stored* topology =
        server_.objects.find(FakeServer::key("Topology", "", flavor.str({"spec", "topologyName"})));
    if (topology != nullptr) {
      given.at({"topologyAssignment"}) = topology_assignment(*topology, nodes);
    }
  }
  return given;
}

Tree LiveWorld::topology_assignment(const Stored& topology, const std::vector<std::string>& nodes) const {
  kueue::TopologyAssignment assignment;
  for (const Tree& level : items_of(topology.tree, {"spec", "levels"})) {
    assignment.levels.push_back(level.str({"nodeLabel"}));
  }
  if (assignment.levels.back() == kHostLabel) {
    assignment.levels.erase(assignment.levels.begin(), assignment.levels.end() - 1);
  }
  for (const std::string& node : nodes) {
    const Tree& labels = *server_.objects.find(FakeServer::key("Node", "", node))->tree.find({"metadata", "labels"});
    std::vector<std::string> values;
    for (const std::string& level : assignment.levels) {
      values.push_back(labels.str({level}));
    }
    const auto same = std::find_if(assignment.domains.begin(), assignment.domains.end(),
                                   [&](const kueue::AssignedDomain& one) { return one.values == values; });
    if (same == assignment.domains.end()) {
      assignment.domains.push_back({.values = values, .count = 1});
    } else {
      ++same->count;
    }
  }
  return Tree::parse(kueue::write_assignment(assignment).to_json(false));
}

// In place of kube-scheduler: each of their pods goes to one of the nodes that the manifests say.
void LiveWorld::bind_given() {
  for (auto& [key, running] : prepares_ ? running_ : no_jobs_) {
    const Stored* job = server_.objects.find(key);
    for (const Stored* pod : job == nullptr ? std::vector<const Stored*>() : jobs_.pods_of(job->uid())) {
      if (is_gated(pod->tree) || !pod->tree.str({"spec", "nodeName"}).empty()) {
        continue;
      }
      const auto node = std::find_if(running.nodes.begin(), running.nodes.end(), [&](const std::string& name) {
        return matches(pod->tree.find({"spec", "nodeSelector"}),
                       server_.objects.find(FakeServer::key("Node", "", name))->tree);
      });
      GANTREE_CHECK(node != running.nodes.end());
      server_.objects.change(test::key_of(*pod),
                             [&](Tree& one) { one.at({"spec", "nodeName"}) = Tree::string(*node); });
      running.nodes.erase(node);
    }
  }
}

}  // namespace gantree::test

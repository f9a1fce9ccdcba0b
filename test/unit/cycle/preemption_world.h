// Running gangs, queues, and gangs that ask for their room.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cycle/cycle.h"

namespace gantree {

// Hosts of eight gpus, queues in one cohort, and running gangs of single-gpu pods.
class PreemptionTest : public testing::Test {
 protected:
  PreemptionTest() : topology_(cluster_.engine().add_topology({.name = "hosts", .levels = {kHostnameLabel}})) {
    cohort_ = quota_.add({.queue = "Cohort \"c\"", .flavor = "f", .resource = "gpu"});
  }

  ResourceId gpu() { return cluster_.inventory().resources().intern("gpu"); }
  Amounts one_gpu() {
    Amounts amounts;
    amounts.set(gpu(), 1);
    amounts.set(ResourceNames::kPods, 1);
    return amounts;
  }

  void host(const std::string& name) {
    Node node;
    node.name = name;
    Interner& strings = cluster_.inventory().strings();
    node.labels = {{strings.intern(kHostnameLabel), strings.intern(name)}};
    node.allocatable.set(gpu(), 8);
    node.allocatable.set(ResourceNames::kPods, 110);
    cluster_.upsert_node(std::move(node));
  }

  QueueId queue(std::int64_t nominal, QueueRules rules) {
    rules.tree = "c";
    const QueueId id = quota_.add_queue(rules);
    quota_.add(
        {.queue = rules.name, .flavor = "f", .resource = "gpu", .nominal = nominal, .parent = cohort_, .owner = id});
    return id;
  }

  void runs(const std::string& name, const std::string& on, int pods, std::optional<QueueId> queue = {},
            std::int64_t priority = 0, std::int64_t created = 100, std::vector<std::pair<BudgetId, int>> budgets = {}) {
    const NodeId node = cluster_.inventory().reserve(on);
    for (int i = 0; i < pods; ++i) {
      cluster_.upsert_pod({.key = name + "-" + std::to_string(i), .node = on, .requests = one_gpu()});
    }
    RunningGang gang;
    gang.key = {.ns = "default", .name = name, .kind = "Job"};
    gang.dialect = "test";
    gang.priority = priority;
    gang.created_seconds = gang.started_seconds = created;
    gang.holdings = {{.node = node, .requests = one_gpu(), .count = pods}};
    gang.queue = queue;
    gang.budgets = std::move(budgets);
    if (queue) {
      gang.used = {{quota_.cells_of(*queue)[0], pods}};
      quota_.take(gang.used);
    }
    cluster_.add_running(std::move(gang));
  }

  // The same, of which the last so many pods are above its minimum.
  void runs_with_spare(const std::string& name, const std::string& on, int pods, int spare,
                       std::optional<QueueId> queue = {}, std::int64_t priority = 0) {
    const NodeId node = cluster_.inventory().reserve(on);
    RunningGang gang;
    for (int i = 0; i < pods; ++i) {
      cluster_.upsert_pod({.key = name + "-" + std::to_string(i), .node = on, .requests = one_gpu()});
      if (i >= pods - spare) {
        SparePods& part = gang.spare.emplace_back();
        part.pods = {"default/" + name + "-" + std::to_string(i)};
        part.holdings = {{.node = node, .requests = one_gpu(), .count = 1}};
        if (queue) {
          part.used = {{quota_.cells_of(*queue)[0], 1}};
        }
      }
    }
    gang.key = {.ns = "default", .name = name, .kind = "Job"};
    gang.dialect = "test";
    gang.priority = priority;
    gang.created_seconds = gang.started_seconds = 100;
    gang.holdings = {{.node = node, .requests = one_gpu(), .count = pods}};
    gang.queue = queue;
    if (queue) {
      gang.used = {{quota_.cells_of(*queue)[0], pods}};
      quota_.take(gang.used);
    }
    cluster_.add_running(std::move(gang));
  }

  // All pods on one host.
  Submission& wants(const std::string& name, int pods, std::optional<QueueId> queue = {}, std::int64_t priority = 0,
                    std::int64_t created = 200) {
    Submission& made = submissions_.emplace_back();
    made.key = {.ns = "default", .name = name, .kind = "Job"};
    made.dialect = "test";
    made.priority = priority;
    made.created_seconds = created;
    made.queue = queue;
    made.pod_sets.emplace_back("main", pods);
    Alternative& alternative = made.parts.emplace_back().emplace_back();
    alternative.gang.topology = topology_;
    PodSet& set = alternative.gang.root.pod_sets.emplace_back();
    set.name = "main";
    set.count = pods;
    set.min_count = pods;
    set.shape.requests = one_gpu();
    set.constraint.required = 0;
    set.constraint.packing = Packing::kPack;
    alternative.demand.emplace_back();
    if (queue) {
      alternative.demand.back() = {{quota_.cells_of(*queue)[0], 1}};
    }
    alternative.flavors.emplace_back();
    return made;
  }

  // "a:Placed b:Waiting; x for a (Preempted)"
  std::string plan() {
    plan_ = run_cycle(cluster_, quota_, submissions_);
    std::string text;
    for (const Decision& decision : plan_.decisions) {
      text += (text.empty() ? "" : " ") + decision.key.name + ":" + to_string(decision.state);
    }
    for (const Eviction& eviction : plan_.evictions) {
      text += "; " + eviction.key.name + " for " + eviction.by.name + " (" + to_string(eviction.reason) + ")";
    }
    return text;
  }

  Cluster cluster_;
  Quota quota_;
  TopologyId topology_;
  QuotaId cohort_;
  std::vector<Submission> submissions_;
  Plan plan_;
};

}  // namespace gantree

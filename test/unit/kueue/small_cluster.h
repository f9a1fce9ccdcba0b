// A few hosts, one queue and its jobs on a fake server that does what it is told. Jobs have no controller: tests make
// their pods.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/fake_server.h"
#include "support/queue_process.h"

namespace gantree::test {

class SmallCluster {
 public:
  // Levels of the topology beside the host, which is left out where `hosts` is false.
  explicit SmallCluster(const kueue::ReadyRules& ready = {}, bool hosts = true, int quota = 100) : process(ready) {
    put("", "v1", "Namespace", "{'metadata':{'name':'ns'}}");
    put(kGroup, "v1beta2", "Topology",
        fmt::format("{{'metadata':{{'name':'net'}},'spec':{{'levels':[{{'nodeLabel':'rack'}}{}]}}}}",
                    hosts ? ",{'nodeLabel':'kubernetes.io/hostname'}" : ""));
    put(kGroup, "v1beta2", "ResourceFlavor",
        "{'metadata':{'name':'f'},'spec':{'nodeLabels':{'pool':'f'},'topologyName':'net'}}");
    put(kGroup, "v1beta2", "ClusterQueue",
        fmt::format("{{'metadata':{{'name':'c'}},'spec':{{'namespaceSelector':{{}},"
                    "'preemption':{{'withinClusterQueue':'LowerPriority'}},'resourceGroups':"
                    "[{{'coveredResources':['nvidia.com/gpu'],'flavors':[{{'name':'f','resources':"
                    "[{{'name':'nvidia.com/gpu','nominalQuota':{}}}]}}]}}]}}}}",
                    quota));
    put(kGroup, "v1beta2", "LocalQueue", "{'metadata':{'name':'q','namespace':'ns'},'spec':{'clusterQueue':'c'}}");
    put(kGroup, "v1beta2", "WorkloadPriorityClass", "{'metadata':{'name':'high'},'value':100}");
  }

  void node(const std::string& name, int gpus, const std::string& rack = "r0", bool cordoned = false) {
    put("", "v1", "Node",
        fmt::format("{{'metadata':{{'name':'{0}','labels':{{'kubernetes.io/hostname':'{0}','rack':'{1}','pool':'f'}}}},"
                    "'spec':{{'unschedulable':{2}}},'status':{{'allocatable':{{'nvidia.com/gpu':'{3}','pods':'110'}},"
                    "'conditions':[{{'type':'Ready','status':'True'}}]}}}}",
                    name, rack, cordoned, gpus));
  }

  void job(const std::string& name, int pods, int gpus, const std::string& priority = "", bool suspended = true) {
    put("batch", "v1", "Job",
        fmt::format("{{'metadata':{{'name':'{0}','namespace':'ns','labels':{{'kueue.x-k8s.io/queue-name':'q'{1}}}}},"
                    "'spec':{{'suspend':{2},'parallelism':{3},'completions':{3},'completionMode':'Indexed','template':"
                    "{{'spec':{{'containers':[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'{4}'}}}}}}]}}}}"
                    "}}}}",
                    name, priority.empty() ? "" : ",'kueue.x-k8s.io/priority-class':'" + priority + "'", suspended,
                    pods, gpus));
  }

  // A pod of a job as its controller makes it.
  void pod(const std::string& job, int index, const std::string& name) {
    const Stored* owner = server.find(FakeServer::key("Job", "ns", job));
    Tree pod = *owner->tree.find({"spec", "template"});
    pod.at({"metadata", "name"}) = Tree::string(name);
    pod.at({"metadata", "namespace"}) = Tree::string("ns");
    pod.at({"metadata", "labels", "batch.kubernetes.io/job-completion-index"}) = Tree::string(std::to_string(index));
    pod.at({"status", "phase"}) = Tree::string("Pending");
    server.put("", "v1", "Pod", std::move(pod));
  }
  void bind(const std::string& pod, const std::string& node) {
    server.change(pod_key(pod), [&](Tree& one) { one.at({"spec", "nodeName"}) = Tree::string(node); });
  }
  void phase(const std::string& pod, const std::string& phase) {
    server.change(pod_key(pod), [&](Tree& one) { one.at({"status", "phase"}) = Tree::string(phase); });
  }
  [[nodiscard]] static std::string pod_key(const std::string& pod) { return FakeServer::key("Pod", "ns", pod); }

  // Everything is told, decided and carried out, until there is nothing more to do.
  void settle() { settle(process); }
  // The same with another process in place of the first.
  void settle(Process& who) {
    for (int round = 0; round < 20; ++round) {
      tell(who);
      for (const Order& order : who.step(now)) {
        const WriteResult result = server.apply(order.write);
        who.answered(order.id, result == WriteResult::kOk ? Answer::kDone : Answer::kRefused, now);
      }
      now += std::chrono::milliseconds(200);
    }
    tell(who);
  }
  // Jobs are queued and admitted; nothing else is carried out, so that none starts.
  void write_workloads_alone() {
    for (int round = 0; round < 5; ++round) {
      tell();
      for (const Order& order : process.step(now)) {
        if (order.write.object.kind == "Workload") {
          ASSERT_EQ(server.apply(order.write), WriteResult::kOk);
          process.answered(order.id, Answer::kDone, now);
        }
      }
    }
  }
  void tell() { tell(process); }
  void tell(Process& who) {
    while (server.has_events()) {
      who.take(server.next_event(random), now);
    }
  }

  // The Workload of a job; fails where there is none.
  [[nodiscard]] Tree workload(const std::string& job) const {
    for (const Stored* one : server.all("Workload")) {
      if (one->tree.find({"metadata", "ownerReferences"})->items.front().str({"name"}) == job) {
        return one->tree;
      }
    }
    ADD_FAILURE() << job << " has no workload";
    return {};
  }
  [[nodiscard]] bool admitted(const std::string& job) const {
    return workload(job).find({"status", "admission"}) != nullptr;
  }
  [[nodiscard]] bool suspended(const std::string& job) const {
    return server.find(FakeServer::key("Job", "ns", job))->tree.flag({"spec", "suspend"});
  }
  void put(std::string_view group, std::string_view version, std::string_view kind, std::string text) {
    std::replace(text.begin(), text.end(), '\'', '"');
    server.put(group, version, kind, Tree::parse(text));
  }

  static constexpr std::string_view kGroup = "kueue.x-k8s.io";
  FakeServer server;
  Process process;
  std::mt19937 random{1};
  Time now{std::chrono::seconds(1'767'225'600)};
};

}  // namespace gantree::test

// An API server in miniature: keeps objects, tells the scheduler of changes, and carries out its orders.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "live/object.h"
#include "pods/pod_family.h"

namespace gantree {

inline constexpr Time kStart{std::chrono::seconds(1'700'000'000)};

struct PodSpec {
  std::string gang = {};
  int gpus = 8;
  std::string scheduler = "gantree";
  std::string node = {};
  std::string phase = "Pending";
  bool gated = false;
  bool deleting = false;
  int priority = 0;
  std::string annotations = {};
  std::string created = {};
  std::string started = {};  // by its node
  std::string nominated = {};
};

class FakeApi {
 public:
  explicit FakeApi(PodOptions options = {}) : scheduler(std::move(options)) {}

  void node(const std::string& name, const std::string& labels, int gpus) {
    send("", "v1", "Node",
         R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels +
             R"(}},"status":{"allocatable":{"cpu":"64","memory":"256Gi","pods":"110","nvidia.com/gpu":")" +
             std::to_string(gpus) + R"("},"conditions":[{"type":"Ready","status":"True"}]}})");
  }
  // Racks r0, r1, ... of so many hosts with 8 GPUs each.
  void racks(int racks, int hosts) {
    for (int r = 0; r < racks; ++r) {
      for (int h = 0; h < hosts; ++h) {
        node("n" + std::to_string(r) + "-" + std::to_string(h), R"("rack":"r)" + std::to_string(r) + "\"", 8);
      }
    }
  }
  void topology() {
    send("scheduling.koordinator.sh", "v1alpha1", "ClusterNetworkTopology",
         R"({"metadata":{"name":"default","uid":"t"},"spec":{"networkTopologySpec":[
             {"topologyLayer":"RackLayer","labelKey":["rack"]},
             {"topologyLayer":"NodeTopologyLayer","parentTopologyLayer":"RackLayer"}]}})");
  }
  void pod_group(const std::string& name, int min, const std::string& annotations = "",
                 const std::string& status = "{}") {
    send("scheduling.sigs.k8s.io", "v1alpha1", "PodGroup",
         R"({"metadata":{"namespace":"default","name":")" + name + R"(","uid":"g-)" + name + R"(","annotations":{)" +
             annotations + R"(}},"spec":{"minMember":)" + std::to_string(min) + R"(},"status":)" + status + "}");
  }

  void pod(const std::string& name, const PodSpec& spec) {
    pods[name] = spec;
    if (!uids.contains(name)) {
      uids[name] = "u-" + name;
    }
    std::string text = R"({"metadata":{"namespace":"default","name":")" + name + R"(","uid":")" + uids[name] + "\"";
    if (!spec.gang.empty()) {
      text += R"(,"labels":{"pod-group.scheduling.sigs.k8s.io":")" + spec.gang + "\"}";
    }
    if (!spec.created.empty()) {
      text += R"(,"creationTimestamp":")" + spec.created + "\"";
    }
    if (spec.deleting) {
      text += R"(,"deletionTimestamp":"2023-11-14T22:13:20Z")";
    }
    text += R"(,"annotations":{)" + spec.annotations + R"(}},"spec":{"schedulerName":")" + spec.scheduler + "\"";
    text += R"(,"priority":)" + std::to_string(spec.priority);
    if (!spec.node.empty()) {
      text += R"(,"nodeName":")" + spec.node + "\"";
    }
    if (spec.gated) {
      text += R"(,"schedulingGates":[{"name":"wait"}])";
    }
    text += R"(,"containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":")" + std::to_string(spec.gpus) +
            R"("}}}]},"status":{"phase":")" + spec.phase + "\"";
    if (!spec.started.empty()) {
      text += R"(,"startTime":")" + spec.started + "\"";
    }
    if (!spec.nominated.empty()) {
      text += R"(,"nominatedNodeName":")" + spec.nominated + "\"";
    }
    text += "}}";
    send("", "v1", "Pod", text);
  }
  void pods_of(const std::string& gang, int count, PodSpec spec = {}) {
    spec.gang = gang;
    for (int i = 0; i < count; ++i) {
      pod(gang + "-" + std::to_string(i), spec);
    }
  }
  void remove_pod(const std::string& name) {
    pods.erase(name);
    uids.erase(name);
    scheduler.removed("", "Pod", "default", name, now);
  }

  void send(const std::string& group, const std::string& version, const std::string& kind, const std::string& json) {
    auto object = prune(group, version, kind, json);
    ASSERT_TRUE(object) << object.error().message;
    auto taken = scheduler.changed(std::move(*object), now);
    EXPECT_TRUE(taken) << taken.error().message;
  }

  // Lets the scheduler decide, and keeps its orders without carrying them out.
  void decide() {
    Step step = scheduler.step(now);
    wake = step.wake;
    for (std::string& remark : step.remarks) {
      remarks.push_back(std::move(remark));
    }
    for (Order& order : step.orders) {
      if (order.write.verb == WriteVerb::kBind) {
        binds.push_back(std::move(order));
      } else if (order.write.verb == WriteVerb::kEvict || order.write.verb == WriteVerb::kPreempt) {
        evictions.push_back(std::move(order));
      } else {
        others.push_back(std::move(order));
      }
    }
  }
  // Carries out the binding that has waited longest: the answer, and then the event.
  void bind_next() {
    const Order order = binds.front();
    binds.pop_front();
    const std::string name = order.write.object.name;
    if (!pods.contains(name) || uids[name] != order.write.object.uid || !pods[name].node.empty()) {
      scheduler.answered(order.id, Answer::kUncertain, "conflict", now);
      return;
    }
    scheduler.answered(order.id, Answer::kDone, "", now);
    PodSpec spec = pods[name];
    spec.node = order.write.node;
    pod(name, spec);
  }
  void run() {
    decide();
    while (!binds.empty()) {
      bind_next();
    }
  }
  void pass(std::chrono::milliseconds time) { now += time; }

  [[nodiscard]] int bound(const std::string& gang) const {
    int count = 0;
    for (const auto& [name, spec] : pods) {
      count += spec.gang == gang && !spec.node.empty() ? 1 : 0;
    }
    return count;
  }
  [[nodiscard]] std::set<std::string> nodes_of(const std::string& gang) const {
    std::set<std::string> nodes;
    for (const auto& [name, spec] : pods) {
      if (spec.gang == gang && !spec.node.empty()) {
        nodes.insert(spec.node);
      }
    }
    return nodes;
  }
  // The GPUs in use on the fullest node.
  [[nodiscard]] int fullest() const {
    std::map<std::string, int> used;
    for (const auto& [name, spec] : pods) {
      if (!spec.node.empty() && spec.phase != "Succeeded" && spec.phase != "Failed") {
        used[spec.node] += spec.gpus;
      }
    }
    int most = 0;
    for (const auto& [node, gpus] : used) {
      most = std::max(most, gpus);
    }
    return most;
  }
  // The bodies of all writes to that object since the last call.
  [[nodiscard]] std::string written_to(const std::string& kind, const std::string& name) {
    std::string all;
    for (const Order& order : others) {
      if (order.write.object.kind == kind && (name.empty() || order.write.object.name == name)) {
        all += order.write.body + "\n";
      }
    }
    others.clear();
    return all;
  }

  PodFamily scheduler;
  Time now = kStart;
  std::map<std::string, PodSpec> pods;
  std::map<std::string, std::string> uids;
  std::deque<Order> binds;
  std::vector<Order> evictions;
  std::vector<Order> others;
  std::vector<std::string> remarks;
  std::optional<Time> wake;
};

}  // namespace gantree

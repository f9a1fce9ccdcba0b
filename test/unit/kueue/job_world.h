// Jobs, workloads and pods on a server in miniature: it tells the controller of what is put there, keeps its orders
// until they are carried out, and knows Workloads well enough to carry out what is ordered of them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json/copy.h"
#include "json/read.h"
#include "kueue/controller.h"
#include "pods/pod_family.h"

namespace gantree::kueue {

inline constexpr Time kJobsStart{std::chrono::seconds(1'700'000'000)};

struct JobState {
  int pods = 4;
  std::string queue = "main";
  bool suspended = true;
  bool started = false;  // has a startTime
  std::string annotations = R"("kueue.x-k8s.io/podset-required-topology":"rack")";
  std::string status = {};  // further fields, each with a comma before it
  std::string marks = {};   // annotations of its own
  bool marked = true;       // where it is not suspended: its template has what a start adds
};

struct PodState {
  std::string set = "main";
  int rank = 0;
  bool gated = true;
  std::string selector = {};  // a host
  std::string node = {};
  std::string phase = "Pending";
};

class JobWorld {
 public:
  // Racks r0, r1, ... of so many hosts with 8 GPUs, and a queue with that many GPUs for all of them.
  JobWorld(int racks, int hosts, int quota) {
    for (int r = 0; r < racks; ++r) {
      for (int h = 0; h < hosts; ++h) {
        node(fmt::format("n{}-{}", r, h), fmt::format("r{}", r));
      }
    }
    send(kQueueGroup, "v1beta2", "Topology",
         R"({"metadata":{"name":"t","finalizers":["kueue.x-k8s.io/resource-in-use"]},)"
         R"("spec":{"levels":[{"nodeLabel":"rack"},{"nodeLabel":"kubernetes.io/hostname"}]}})");
    send(kQueueGroup, "v1beta2", "ResourceFlavor",
         R"({"metadata":{"name":"f","finalizers":["kueue.x-k8s.io/resource-in-use"]},)"
         R"("spec":{"nodeLabels":{"pool":"a"},"topologyName":"t"}})");
    send(kQueueGroup, "v1beta2", "ClusterQueue",
         fmt::format(R"({{"metadata":{{"name":"q","finalizers":["kueue.x-k8s.io/resource-in-use"]}},)"
                     R"("spec":{{"namespaceSelector":{{}},"resourceGroups":[)"
                     R"({{"coveredResources":["nvidia.com/gpu"],"flavors":[{{"name":"f","resources":[)"
                     R"({{"name":"nvidia.com/gpu","nominalQuota":"{}"}}]}}]}}]}}}})",
                     quota));
    send(kQueueGroup, "v1beta2", "LocalQueue",
         R"({"metadata":{"namespace":"default","name":"main"},"spec":{"clusterQueue":"q"}})");
  }

  void node(const std::string& name, const std::string& rack) {
    send("", "v1", "Node",
         fmt::format(
             R"({{"metadata":{{"name":"{0}","labels":{{"pool":"a","rack":"{1}","kubernetes.io/hostname":"{0}"}}}},)"
             R"("status":{{"allocatable":{{"cpu":"64","pods":"110","nvidia.com/gpu":"8"}},)"
             R"("conditions":[{{"type":"Ready","status":"True"}}]}}}})",
             name, rack));
    controller.node_changed(name);
  }

  // A Job as it is now; each time it has another version.
  void job(const std::string& name, const JobState& state) {
    const std::string mark = state.suspended || !state.marked ? "" : R"("kueue.x-k8s.io/workload":"w")";
    const std::string annotations =
        fmt::format("{}{}{}", state.annotations, state.annotations.empty() || mark.empty() ? "" : ",", mark);
    const std::string start = state.started ? R"("startTime":"2023-11-14T22:13:20Z")" : R"("active":0)";
    send("batch", "v1", "Job",
         fmt::format(
             R"({{"metadata":{{"namespace":"default","name":"{0}","uid":"j-{0}","resourceVersion":"{1}",)"
             R"("labels":{{"kueue.x-k8s.io/queue-name":"{7}"}},"annotations":{{{8}}}}},)"
             R"("spec":{{"suspend":{2},"parallelism":{3},)"
             R"("completions":{3},"template":{{"metadata":{{"annotations":{{{4}}}}},"spec":{{"containers":[)"
             R"({{"name":"c","resources":{{"requests":{{"nvidia.com/gpu":"1"}}}}}}]}}}}}},"status":{{{5}{6}}}}})",
             name, ++version, state.suspended, state.pods, annotations, start, state.status, state.queue, state.marks));
  }

  // A pod of a job that was started.
  void pod(const std::string& workload, const std::string& name, const PodState& state) {
    const std::string gate = state.gated ? R"("schedulingGates":[{"name":"kueue.x-k8s.io/topology"}],)" : "";
    const std::string bound = state.node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", state.node);
    const std::string host =
        state.selector.empty() ? "" : fmt::format(R"("kubernetes.io/hostname":"{}")", state.selector);
    send("", "v1", "Pod",
         fmt::format(R"({{"metadata":{{"namespace":"default","name":"{0}","uid":"p-{0}","labels":{{)"
                     R"("kueue.x-k8s.io/podset":"{1}","batch.kubernetes.io/job-completion-index":"{2}"}},)"
                     R"("annotations":{{"kueue.x-k8s.io/workload":"{3}"}}}},"spec":{{{4}{5}"nodeSelector":{{{6}}},)"
                     R"("containers":[{{"name":"c","resources":{{"requests":{{"nvidia.com/gpu":"1"}}}}}}]}},)"
                     R"("status":{{"phase":"{7}"}}}})",
                     name, state.set, state.rank, workload, gate, bound, host, state.phase));
  }
  // A pod that a job has made without what a start adds.
  void stray(const std::string& job, const std::string& name) {
    send("", "v1", "Pod",
         fmt::format(R"({{"metadata":{{"namespace":"default","name":"{0}","uid":"p-{0}","labels":{{)"
                     R"("batch.kubernetes.io/controller-uid":"j-{1}"}}}},"spec":{{"containers":[{{"name":"c"}}]}},)"
                     R"("status":{{"phase":"Pending"}}}})",
                     name, job));
  }
  void remove(const std::string& kind, const std::string& name) {
    controller.removed(kind == "Pod" ? "" : kQueueGroup, kind, "default", name, now);
    if (kind == "Pod") {
      scheduler.removed("", kind, "default", name, now);
    }
  }

  void send(const std::string& group, const std::string& api, const std::string& kind, const std::string& text) {
    auto object = prune(group, api, kind, text);
    ASSERT_TRUE(object) << object.error().message << text;
    if (kind != "Node") {
      const auto taken = controller.changed(*object, now);
      EXPECT_TRUE(taken) << taken.error().message;
    }
    if (kind == "Node" || kind == "Pod") {
      const auto taken = scheduler.changed(std::move(*object), now);
      EXPECT_TRUE(taken) << taken.error().message;
    }
  }

  // Lets the controller decide; its orders, but for events.
  std::vector<Order> step() {
    Step step = controller.step(now);
    wake = step.wake;
    remarks.insert(remarks.end(), step.remarks.begin(), step.remarks.end());
    std::vector<Order> orders;
    for (Order& order : step.orders) {
      (order.urgency == Urgency::kEvent ? events : orders).push_back(std::move(order));
    }
    return orders;
  }
  // The order of a step to that kind, which must be the only one. What is ordered of Workloads besides is carried out.
  Order only(const std::string& kind) {
    Order found;
    int count = 0;
    for (Order& order : step()) {
      if (order.write.object.kind == kind) {
        found = std::move(order);
        ++count;
      } else if (order.write.object.kind == "Workload") {
        carry_out(order);
      }
    }
    EXPECT_EQ(count, 1) << "orders to a " << kind;
    return found;
  }
  // Lets time pass until nothing more is ordered: what is ordered of Workloads is carried out, what is ordered of jobs
  // is answered and kept.
  void settle() {
    for (int i = 0; i < 10; ++i) {
      for (const Order& order : step()) {
        if (order.write.object.kind == "Workload") {
          carry_out(order);
        } else {
          done(order);
          to_jobs.push_back(order);
        }
      }
      now += std::chrono::milliseconds(500);
    }
  }
  void done(const Order& order) { controller.answered(order.id, Answer::kDone, "", now); }

  // Carries out what was ordered of a Workload: the answer, and the event.
  void carry_out(const Order& order) {
    done(order);
    show(order);
  }
  // The event alone.
  void show(const Order& order) {
    const std::string& name = order.write.object.name;
    const auto body = json::read_documents("body", order.write.body);
    ASSERT_TRUE(body);
    const json::Value root = body->front().root();
    Kept& kept = workloads_[name];
    if (order.write.verb == WriteVerb::kCreate) {
      kept.owner = root["metadata"]["ownerReferences"].items().empty()
                       ? ""
                       : json::copy(root["metadata"]["ownerReferences"]).to_json(false);
    }
    for (const std::string_view part : {"spec", "status"}) {
      const json::Value given = root[part];
      for (const json::MemberData& member : given ? given.members() : std::span<const json::MemberData>()) {
        const std::string text = json::copy(json::Value(&member.value)).to_json(false);
        auto& fields = part == "spec" ? kept.spec : kept.status;
        fields.erase(std::string(member.key));
        if (text != "null") {
          fields[std::string(member.key)] = text;
        }
      }
    }
    send_workload(name);
  }
  // Somebody else changes a field of its spec.
  void set(const std::string& workload, const std::string& field, const std::string& value) {
    workloads_.at(workload).spec[field] = value;
    send_workload(workload);
  }
  // A job that waits is admitted; the name of its Workload, and the order that starts it, which is not carried out.
  std::pair<std::string, Order> admitted(const std::string& name, const JobState& state = {}) {
    job(name, state);
    const Order create = only("Workload");
    carry_out(create);
    carry_out(only("Workload"));
    return {create.write.object.name, only("Job")};
  }

  [[nodiscard]] std::string spec(const std::string& workload, const std::string& field) const {
    const Kept& kept = workloads_.at(workload);
    const auto it = kept.spec.find(field);
    return it == kept.spec.end() ? "" : it->second;
  }
  [[nodiscard]] std::string status(const std::string& workload, const std::string& field) const {
    const Kept& kept = workloads_.at(workload);
    const auto it = kept.status.find(field);
    return it == kept.status.end() ? "" : it->second;
  }

  PodFamily scheduler{PodOptions{}};
  Controller controller{scheduler.cluster(), {}};
  Time now = kJobsStart;
  std::optional<Time> wake;
  std::vector<Order> to_jobs;
  std::vector<Order> events;
  std::vector<std::string> remarks;
  int version = 1;

 private:
  struct Kept {
    std::string owner;
    std::map<std::string, std::string> spec;  // JSON by field
    std::map<std::string, std::string> status;
  };

  static std::string joined(const std::map<std::string, std::string>& fields) {
    std::string text;
    for (const auto& [key, value] : fields) {
      text += fmt::format(R"({}"{}":{})", text.empty() ? "" : ",", key, value);
    }
    return text;
  }
  void send_workload(const std::string& name) {
    const Kept& kept = workloads_.at(name);
    send(kQueueGroup, "v1beta2", "Workload",
         fmt::format(R"({{"metadata":{{"namespace":"default","name":"{0}","uid":"w-{0}","resourceVersion":"{1}",)"
                     R"("ownerReferences":{2}}},"spec":{{{3}}},"status":{{{4}}}}})",
                     name, ++version, kept.owner.empty() ? "[]" : kept.owner, joined(kept.spec), joined(kept.status)));
  }

  static constexpr const char* kQueueGroup = "kueue.x-k8s.io";
  std::map<std::string, Kept> workloads_;
};

}  // namespace gantree::kueue

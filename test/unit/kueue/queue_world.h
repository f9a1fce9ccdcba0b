// Queues and workloads on a server in miniature: it keeps objects, tells the controller of changes, and carries out the
// statuses that are ordered.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "json/copy.h"
#include "json/read.h"
#include "kueue/controller.h"

namespace gantree::kueue {

inline constexpr Time kWorldStart{std::chrono::seconds(1'700'000'000)};

class QueueWorld {
 public:
  explicit QueueWorld(const ControllerOptions& options = {}) : controller(cluster, options) {}

  struct Kept {
    std::string kind;
    std::string ns;
    std::string name;
    std::string spec;
    std::map<std::string, std::string> status;  // JSON by field
    int version = 1;
  };

  void put(const std::string& kind, const std::string& ns, const std::string& name, const std::string& spec) {
    Kept& kept = objects[kind + " " + ns + "/" + name];
    kept.kind = kind;
    kept.ns = ns;
    kept.name = name;
    kept.spec = spec;
    ++kept.version;
    send(kept);
  }
  void remove(const std::string& kind, const std::string& ns, const std::string& name) {
    objects.erase(kind + " " + ns + "/" + name);
    controller.removed("kueue.x-k8s.io", kind, ns, name, now);
  }
  void flavor(const std::string& name, const std::string& topology = "") {
    put("ResourceFlavor", "", name,
        topology.empty() ? "{}" : fmt::format(R"({{"nodeLabels":{{"pool":"a"}},"topologyName":"{}"}})", topology));
  }
  // A ClusterQueue with so many cores of a flavor; `more` are further fields of the spec.
  void cluster_queue(const std::string& name, int cores, const std::string& more = "",
                     const std::string& flavor = "default") {
    put("ClusterQueue", "", name,
        fmt::format(R"({{"namespaceSelector":{{}},"resourceGroups":[{{"coveredResources":["cpu"],"flavors":[)"
                    R"({{"name":"{}","resources":[{{"name":"cpu","nominalQuota":"{}"}}]}}]}}]{}{}}})",
                    flavor, cores, more.empty() ? "" : ",", more));
  }
  void local_queue(const std::string& ns, const std::string& name, const std::string& above,
                   const std::string& more = "") {
    put("LocalQueue", ns, name, fmt::format(R"({{"clusterQueue":"{}"{}{}}})", above, more.empty() ? "" : ",", more));
  }
  void workload(const std::string& ns, const std::string& name, const std::string& queue, int cores) {
    put("Workload", ns, name,
        fmt::format(R"({{"queueName":"{}","podSets":[{{"name":"main","count":{},"template":{{"spec":{{"containers":[)"
                    R"({{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}]}})",
                    queue, cores));
  }

  // Lets the controller decide and carries out what it orders. Returns the writes to queues.
  std::vector<Write> step() {
    std::vector<Write> to_queues;
    Step step = controller.step(now);
    wake = step.wake;
    for (const Order& order : step.orders) {
      if (order.urgency == Urgency::kEvent) {
        const auto body = json::read_documents("event", order.write.body);
        const json::Value event = body->front().root();
        events.push_back(
            fmt::format("{} {}: {}", event["regarding"]["name"].text(), event["reason"].text(), event["note"].text()));
        continue;
      }
      if (order.write.object.kind != "Workload") {
        EXPECT_EQ(order.urgency, Urgency::kStatus);
        to_queues.push_back(order.write);
      }
      carry_out(order);
    }
    return to_queues;
  }
  void answer_all() {
    for (const std::uint64_t id : std::exchange(unanswered, {})) {
      controller.answered(id, Answer::kDone, "", now);
    }
  }
  // Until nothing more is due for a while.
  void settle() {
    for (int i = 0; i < 8; ++i) {
      step();
      now += std::chrono::seconds(1);
    }
  }
  [[nodiscard]] std::string status(const std::string& key, const std::string& field) const {
    const Kept& kept = objects.at(key);
    const auto it = kept.status.find(field);
    return it == kept.status.end() ? "" : it->second;
  }

  Cluster cluster;
  Controller controller;
  Time now = kWorldStart;
  std::optional<Time> wake;
  bool makers_stop = true;    // what is evicted, at once
  bool answers_late = false;  // events come first, and answers where answer_all() is called
  std::vector<std::uint64_t> unanswered;
  std::map<std::string, Kept> objects;
  std::vector<std::string> events;  // "name Reason: note"

 private:
  void send(const Kept& kept) {
    std::string status;
    for (const auto& [key, value] : kept.status) {
      status += fmt::format(R"({}"{}":{})", status.empty() ? "" : ",", key, value);
    }
    const std::string ns = kept.ns.empty() ? "" : fmt::format(R"("namespace":"{}",)", kept.ns);
    const std::string text =
        fmt::format(R"({{"metadata":{{{}"name":"{}","uid":"u-{}","resourceVersion":"{}",)"
                    R"("finalizers":["kueue.x-k8s.io/resource-in-use"]}},"spec":{},"status":{{{}}}}})",
                    ns, kept.name, kept.name, kept.version, kept.spec, status);
    const auto object = prune("kueue.x-k8s.io", "v1beta2", kept.kind, text);
    ASSERT_TRUE(object) << object.error().message;
    const auto taken = controller.changed(*object, now);
    EXPECT_TRUE(taken) << taken.error().message;
  }
  void carry_out(const Order& order) {
    const ObjectRef& ref = order.write.object;
    Kept& kept = objects.at(ref.kind + " " + ref.ns + "/" + ref.name);
    const auto body = json::read_documents("body", order.write.body);
    ASSERT_TRUE(body);
    const json::Value root = body->front().root();
    ASSERT_EQ(root["metadata"]["resourceVersion"].text(), std::to_string(kept.version));
    for (const json::MemberData& member : root["status"].members()) {
      const std::string text = json::copy(json::Value(&member.value)).to_json(false);
      if (text == "null") {
        kept.status.erase(std::string(member.key));
      } else {
        kept.status[std::string(member.key)] = text;
      }
    }
    ++kept.version;
    if (answers_late) {
      unanswered.push_back(order.id);
    } else {
      controller.answered(order.id, Answer::kDone, "", now);
    }
    send(kept);
    // Nothing owns these: whoever made one stops what it stands for, and takes the admission away.
    const auto conditions = kept.status.find("conditions");
    if (makers_stop && kept.status.contains("admission") && conditions != kept.status.end() &&
        conditions->second.find(R"("type":"Evicted","status":"True")") != std::string::npos) {
      kept.status.erase("admission");
      ++kept.version;
      send(kept);
    }
  }
};

}  // namespace gantree::kueue

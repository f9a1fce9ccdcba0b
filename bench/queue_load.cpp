#include "queue_load.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree {

namespace {

using std::chrono::milliseconds;

constexpr int kCohorts = 5;
constexpr int kQueues = 6;

struct Class {
  const char* name;
  const char* request;  // topologyRequest
  int count;            // in each queue
  int pods;
  const char* cpu;
  int priority;
  milliseconds runs;
  milliseconds every;  // one is created
};

constexpr const char* kRequired = R"({"required":"bench/rack"})";
constexpr const char* kPreferred = R"({"preferred":"bench/rack"})";
constexpr const char* kSlicesOf1 = R"({"podSetSliceRequiredTopology":"bench/rack","podSetSliceSize":1})";
constexpr const char* kSlicesOf2 = R"({"podSetSliceRequiredTopology":"bench/rack","podSetSliceSize":2})";
constexpr const char* kSlicesOf4 = R"({"podSetSliceRequiredTopology":"bench/rack","podSetSliceSize":4})";

constexpr Class kClasses[] = {
    {"small-required", kRequired, 120, 2, "500m", 50, milliseconds(200), milliseconds(100)},
    {"small-preferred", kPreferred, 120, 2, "500m", 50, milliseconds(200), milliseconds(100)},
    {"small-slices", kSlicesOf1, 110, 2, "500m", 50, milliseconds(200), milliseconds(100)},
    {"medium-required", kRequired, 34, 4, "1250m", 100, milliseconds(500), milliseconds(500)},
    {"medium-preferred", kPreferred, 33, 4, "1250m", 100, milliseconds(500), milliseconds(500)},
    {"medium-slices", kSlicesOf2, 33, 4, "1250m", 100, milliseconds(500), milliseconds(500)},
    {"large-required", kRequired, 17, 8, "2500m", 200, milliseconds(1000), milliseconds(1200)},
    {"large-preferred", kPreferred, 17, 8, "2500m", 200, milliseconds(1000), milliseconds(1200)},
    {"large-slices", kSlicesOf4, 16, 8, "2500m", 200, milliseconds(1000), milliseconds(1200)},
};

std::string object(std::string_view kind, std::string_view name, std::string_view spec) {
  return fmt::format(R"({{"apiVersion":"{}/{}","kind":"{}","metadata":{{"name":"{}"}},"spec":{}}})", kQueueGroup,
                     kQueueVersion, kind, name, spec);
}

std::string body_of(const std::string& name, const std::string& queue, const Class& shape) {
  return object(
      "Workload", name,
      fmt::format(R"({{"queueName":"{}","priority":{},"active":true,"podSets":[{{"name":"main","count":{},)"
                  R"("topologyRequest":{},"template":{{"metadata":{{}},"spec":{{"restartPolicy":"Never",)"
                  R"("containers":[{{"name":"c","image":"x","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}}}}]}})",
                  queue, shape.priority, shape.pods, shape.request, shape.cpu));
}

std::string admission_of(const std::string& queue, const Class& shape) {
  return fmt::format(
      R"({{"clusterQueue":"{}","podSetAssignments":[{{"name":"main","count":{},"flavors":{{"cpu":"bench"}},)"
      R"("resourceUsage":{{"cpu":"{}"}},"topologyAssignment":{{"levels":["kubernetes.io/hostname"],"slices":[{{)"
      R"("domainCount":1,"valuesPerLevel":[{{"universal":"n000000"}}],"podCounts":{{"universal":{}}}}}]}}}}]}})",
      queue, shape.pods, shape.cpu, shape.pods);
}

}  // namespace

std::vector<QueueObject> queue_objects() {
  std::vector<QueueObject> objects = {
      {"topologies", "Topology", false, "bench",
       object(
           "Topology", "bench",
           R"({"levels":[{"nodeLabel":"bench/block"},{"nodeLabel":"bench/rack"},{"nodeLabel":"kubernetes.io/hostname"}]})")},
      {"resourceflavors", "ResourceFlavor", false, "bench",
       object("ResourceFlavor", "bench", R"({"topologyName":"bench","nodeLabels":{"bench/group":"tas"}})")}};
  for (int c = 0; c < kCohorts; ++c) {
    for (int q = 0; q < kQueues; ++q) {
      const std::string name = fmt::format("cq-{}-{}", c, q);
      objects.push_back(
          {"clusterqueues", "ClusterQueue", false, name,
           object(
               "ClusterQueue", name,
               fmt::format(R"({{"cohortName":"cohort-{}","namespaceSelector":{{}},"preemption":{{)"
                           R"("reclaimWithinCohort":"Any","withinClusterQueue":"LowerPriority"}},"resourceGroups":[{{)"
                           R"("coveredResources":["cpu"],"flavors":[{{"name":"bench","resources":[{{"name":"cpu",)"
                           R"("nominalQuota":"20","borrowingLimit":"100"}}]}}]}}]}})",
                           c))});
      objects.push_back({"localqueues", "LocalQueue", true, name,
                         object("LocalQueue", name, fmt::format(R"({{"clusterQueue":"{}"}})", name))});
    }
  }
  return objects;
}

std::vector<PlannedWorkload> planned_workloads(int percent) {
  std::vector<PlannedWorkload> planned;
  for (int c = 0; c < kCohorts; ++c) {
    for (int q = 0; q < kQueues; ++q) {
      for (const Class& shape : kClasses) {
        for (int i = 0; i < std::max(1, shape.count * percent / 100); ++i) {
          const std::string name = fmt::format("{}-{}-{}-{}", shape.name, c, q, i);
          const std::string queue = fmt::format("cq-{}-{}", c, q);
          planned.push_back({.at = shape.every * i,
                             .runs = shape.runs,
                             .name = name,
                             .queue = queue,
                             .body = body_of(name, queue, shape),
                             .admission = admission_of(queue, shape)});
        }
      }
    }
  }
  std::stable_sort(planned.begin(), planned.end(),
                   [](const PlannedWorkload& a, const PlannedWorkload& b) { return a.at < b.at; });
  return planned;
}

}  // namespace gantree

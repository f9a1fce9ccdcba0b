// How much memory a live cluster takes: nodes and pods as an API server sends them, through all that `gantree run`
// keeps of them.
//
//   live_memory NODES PODS
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kube/known_objects.h"
#include "live/object.h"
#include "pods/pod_family.h"

namespace {

using Clock = std::chrono::steady_clock;

double resident_mib() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long size = 0;
  long resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &size, &resident) != 2) {
    std::perror("/proc/self/statm");
    std::exit(1);
  }
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// About 3 KB, most of which nobody looks at: images, conditions, addresses.
std::string node(int number) {
  std::string images;
  for (int i = 0; i < 12; ++i) {
    images += fmt::format(R"({}{{"names":["registry.example.com/team/image-{}@sha256:{:064x}"],"sizeBytes":{}}})",
                          i == 0 ? "" : ",", i, number * 31 + i, 1000000 + i);
  }
  return fmt::format(
      R"({{"metadata":{{"name":"node-{0:06}","uid":"00000000-0000-0000-0000-{0:012}","resourceVersion":"{0}","labels":{{)"
      R"("kubernetes.io/hostname":"node-{0:06}","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux",)"
      R"("topology.kubernetes.io/zone":"z{1}","example.com/block":"b{2}","example.com/rack":"r{3}",)"
      R"("node.kubernetes.io/instance-type":"gpu-8"}},"annotations":{{"csi.volume.kubernetes.io/nodeid":"x"}}}},"spec":{{"podCIDR":"10.0.0.0/24"}},)"
      R"("status":{{"capacity":{{"cpu":"128","memory":"1056Gi","pods":"110","nvidia.com/gpu":"8","ephemeral-storage":"3Ti"}},)"
      R"("allocatable":{{"cpu":"126","memory":"1024Gi","pods":"110","nvidia.com/gpu":"8","ephemeral-storage":"3Ti"}},)"
      R"("conditions":[{{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":"2026-01-01T00:00:00Z"}},)"
      R"({{"type":"MemoryPressure","status":"False"}},{{"type":"DiskPressure","status":"False"}}],"images":[{4}]}}}})",
      number, number / 32768, number / 512, number / 32, images);
}

// About 3.5 KB. Every second one is a gang's, of 64; the others are another scheduler's.
std::string pod(int number, int nodes) {
  const bool ours = number % 2 == 0;
  std::string environment;
  for (int i = 0; i < 20; ++i) {
    environment += fmt::format(R"({}{{"name":"VARIABLE_{}","value":"some value that a job is given {}"}})",
                               i == 0 ? "" : ",", i, number);
  }
  return fmt::format(
      R"({{"metadata":{{"name":"worker-{0:07}","namespace":"team-{1}","uid":"10000000-0000-0000-0000-{0:012}","resourceVersion":"{0}",)"
      R"("creationTimestamp":"2026-01-01T00:00:00Z","labels":{{"app":"training","batch.kubernetes.io/job-name":"job-{2}",)"
      R"("pod-group.scheduling.sigs.k8s.io":"gang-{2}"}},"ownerReferences":[{{"apiVersion":"batch/v1","kind":"Job","name":"job-{2}",)"
      R"("uid":"20000000-0000-0000-0000-{2:012}","controller":true}}]}},"spec":{{"nodeName":"node-{3:06}","schedulerName":"{4}","priority":100,)"
      R"("containers":[{{"name":"main","image":"registry.example.com/team/training:1.2.3","command":["python","train.py"],"env":[{5}],)"
      R"("resources":{{"requests":{{"cpu":"4","memory":"16Gi","nvidia.com/gpu":"1"}},"limits":{{"nvidia.com/gpu":"1"}}}}}}],)"
      R"("tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}},)"
      R"({{"key":"nvidia.com/gpu","operator":"Exists"}}]}},"status":{{"phase":"Running","hostIP":"10.0.0.1","podIP":"10.1.0.1",)"
      R"("conditions":[{{"type":"Ready","status":"True"}},{{"type":"PodScheduled","status":"True"}}]}}}})",
      number, number / 64 % 100, number / 128, number % nodes, ours ? "gantree" : "default-scheduler", environment);
}

class Feed {
 public:
  void send(const char* kind, const std::string& json) {
    auto object = gantree::prune("", "v1", kind, json);
    if (!object) {
      fmt::print(stderr, "{}\n", object.error().message);
      std::exit(1);
    }
    const bool is_node = object->kind == "Node";
    static_cast<void>(
        (is_node ? nodes_ : pods_)
            .listed({.name_space = object->ns, .name = object->name, .uid = object->uid, .resource_version = "1"}));
    bytes_ += json.size();
    if (auto taken = scheduler_.changed(std::move(*object), gantree::Time()); !taken) {
      fmt::print(stderr, "{}\n", taken.error().message);
      std::exit(1);
    }
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  gantree::PodFamily scheduler_{gantree::PodOptions{}};
  gantree::kube::KnownObjects nodes_;
  gantree::kube::KnownObjects pods_;
  std::size_t bytes_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int nodes = argc > 1 ? std::atoi(argv[1]) : 100'000;
  const int pods = argc > 2 ? std::atoi(argv[2]) : 500'000;
  if (nodes < 1 || pods < 0) {
    fmt::print(stderr, "live_memory NODES PODS\n");
    return 1;
  }
  const double empty = resident_mib();
  const auto began = Clock::now();
  Feed feed;
  for (int i = 0; i < nodes; ++i) {
    feed.send("Node", node(i));
  }
  const double with_nodes = resident_mib();
  for (int i = 0; i < pods; ++i) {
    feed.send("Pod", pod(i, nodes));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  fmt::print(
      "{} nodes and {} pods, {:.0f} MiB of JSON: {:.0f} MiB resident ({:.0f} for the nodes, {:.0f} for the pods), read "
      "in {:.1f} s\n",
      nodes, pods, static_cast<double>(feed.bytes()) / (1 << 20), resident_mib(), with_nodes - empty,
      resident_mib() - with_nodes, seconds);
  return 0;
}

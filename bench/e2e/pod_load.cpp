// A bare load generator: makes nodes and pods, binds pods as fast as an API server takes it, or watches others do so.
//
//   pod_load KUBECONFIG nodes COUNT              so many simulated nodes of 8 GPUs, 32 to a rack
//   pod_load KUBECONFIG pods NS SCHEDULER COUNT GANG   pods of 1 GPU, in PodGroups of GANG; 0: of no gang
//   pod_load KUBECONFIG bind NS                  binds all pods of the namespace, eight to a node
//   pod_load KUBECONFIG watch NS COUNT           waits until so many have a node
//
// Prints one line of JSON: what was done, and how fast. Decides nothing: it is what a scheduler is compared with.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kube/client.h"
#include "kube/reflector.h"
#include "load_client.h"

namespace {

using namespace gantree;        // NOLINT: a small program
using namespace gantree::load;  // NOLINT
using Clock = std::chrono::steady_clock;

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

void report(const char* what, std::size_t count, double seconds) {
  fmt::print("{{\"what\":\"{}\",\"count\":{},\"seconds\":{:.3f},\"per_second\":{:.1f}}}\n", what, count, seconds,
             static_cast<double>(count) / seconds);
}

void make_nodes(kube::Client& client, int count) {
  Tally tally;
  const auto began = Clock::now();
  for (int i = 0; i < count; ++i) {
    client.create(
        kube::nodes(), "",
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"n{0:06}","labels":{{)"
            R"("kubernetes.io/hostname":"n{0:06}","bench/block":"b{1}","bench/rack":"r{2}","bench/group":"tas"}},)"
            R"("annotations":{{"kwok.x-k8s.io/node":"fake"}}}},"status":{{)"
            R"("conditions":[{{"type":"Ready","status":"True","reason":"KubeletReady"}}],)"
            R"("allocatable":{{"cpu":"64","memory":"512Gi","pods":"110","nvidia.com/gpu":"8"}},)"
            R"("capacity":{{"cpu":"64","memory":"512Gi","pods":"110","nvidia.com/gpu":"8"}}}}}})",
            i, i / 512, i / 32),
        tally.one());
  }
  tally.wait();
  report("nodes", static_cast<std::size_t>(count), since(began));
}

void make_pods(kube::Client& client, const std::string& ns, const std::string& scheduler, int count, int gang) {
  const kube::Resource groups{"scheduling.sigs.k8s.io", "v1alpha1", "podgroups", "PodGroup", true};
  const int gangs = gang > 0 ? (count + gang - 1) / gang : 0;
  Tally tally;
  const auto began = Clock::now();
  for (int g = 0; g < gangs; ++g) {
    client.create(
        groups, ns,
        fmt::format(R"({{"apiVersion":"scheduling.sigs.k8s.io/v1alpha1","kind":"PodGroup","metadata":{{"name":"g{}"}},)"
                    R"("spec":{{"minMember":{}}}}})",
                    g, gang),
        tally.one());
  }
  for (int i = 0; i < count; ++i) {
    const std::string label =
        gang > 0 ? fmt::format(R"("labels":{{"pod-group.scheduling.sigs.k8s.io":"g{}"}},)", i / gang) : std::string();
    client.create(
        kube::pods(), ns,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{{}"name":"p{:06}"}},"spec":{{"schedulerName":"{}",)"
            R"("containers":[{{"name":"c","image":"x","resources":{{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}}}})",
            label, i, scheduler),
        tally.one());
  }
  tally.wait();
  report("pods", static_cast<std::size_t>(count), since(began));
}

void bind_all(kube::Client& client, const std::string& ns) {
  const std::vector<PodName> pods = list_pods(client, ns);
  Tally tally;
  const auto began = Clock::now();
  for (std::size_t i = 0; i < pods.size(); ++i) {
    client.bind({ns, pods[i].name}, pods[i].uid, fmt::format("n{:06}", i / 8), "", tally.one());
  }
  tally.wait();
  report("bind", pods.size(), since(began));
}

// Notes when pods get their nodes.
class BoundSink final : public kube::Sink {
 public:
  void changed(const kube::ObjectRef&, std::string_view json) override {
    // Once bound, a pod changes again; it is counted by its own condition only once, so names are kept.
    if (json.find("\"nodeName\":\"") == std::string_view::npos) {
      return;
    }
    const std::size_t at = json.find("\"uid\":\"");
    if (at == std::string_view::npos || !seen_.insert(std::string(json.substr(at + 7, 36))).second) {
      return;
    }
    last = Clock::now();
    if (count++ == 0) {
      first = last;
    }
  }
  void removed(const kube::ObjectRef&, std::string_view) override {}
  void synced() override { ready = true; }
  void trouble(const std::string& sentence, int) override { fmt::print(stderr, "pod_load: {}\n", sentence); }

  std::atomic<bool> ready = false;
  std::atomic<std::size_t> count = 0;
  Clock::time_point first;
  Clock::time_point last;

 private:
  std::set<std::string> seen_;
};

void watch(kube::Client& client, const std::string& ns, std::size_t count) {
  BoundSink sink;
  kube::ReflectorOptions options;
  options.name_space = ns;
  const auto began = Clock::now();
  double first = 0;
  {
    const kube::Reflector reflector(client, kube::pods(), sink, options);
    while (!sink.ready) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    fmt::print("ready\n");
    std::fflush(stdout);
    while (sink.count < count) {
      if (since(began) > 600) {
        die(fmt::format("only {} of {} pods have a node", sink.count.load(), count));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    first = std::chrono::duration<double>(sink.first.time_since_epoch()).count();
  }
  const double seconds = std::chrono::duration<double>(sink.last - sink.first).count();
  fmt::print("{{\"what\":\"watch\",\"count\":{},\"first\":{:.6f},\"seconds\":{:.3f},\"per_second\":{:.1f}}}\n", count,
             first, seconds, static_cast<double>(count - 1) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 3) {
    die("say KUBECONFIG and nodes, pods, bind or watch");
  }
  LoadClient connection(words[0]);
  kube::Client& client = *connection;
  if (words[1] == "nodes") {
    make_nodes(client, std::atoi(words[2].c_str()));
  } else if (words[1] == "pods" && words.size() == 6) {
    make_pods(client, words[2], words[3], std::atoi(words[4].c_str()), std::atoi(words[5].c_str()));
  } else if (words[1] == "bind") {
    bind_all(client, words[2]);
  } else if (words[1] == "watch" && words.size() == 4) {
    watch(client, words[2], static_cast<std::size_t>(std::atoll(words[3].c_str())));
  } else {
    die("that is none of its commands");
  }
  return 0;
}

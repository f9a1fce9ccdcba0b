// What the scheduler needs while very many gangs of pods wait and room comes free one host at a time.
//
//   gangs_waiting GANGS SHAPES ROUNDS
//
// A cluster of 1,024 hosts of 8 GPUs that are all taken; GANGS PodGroups of 8 pods of 8 GPUs, of SHAPES different
// requests of cpu, wait. In each round a host comes free, it is decided, and the host is taken again. Prints one line
// of JSON; count instructions of 1 and of more rounds by valgrind, and take the difference.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "live/object.h"
#include "pods/pod_family.h"

namespace {

using namespace gantree;  // NOLINT: a small program

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};
constexpr int kHosts = 1024;
constexpr int kPods = 8;

class Load {
 public:
  void send(std::string_view group, std::string_view version, std::string_view kind, const std::string& body) {
    auto object = prune(group, version, kind, body);
    const auto taken = object ? scheduler_.changed(std::move(*object), now) : tl::unexpected(object.error());
    if (!taken) {
      fmt::print(stderr, "gangs_waiting: {}\n", taken.error().message);
      std::exit(1);
    }
  }
  void make_nodes() {
    for (int i = 0; i < kHosts; ++i) {
      send("", "v1", "Node",
           fmt::format(R"({{"metadata":{{"name":"n{0}","labels":{{"rack":"r{1}"}}}},"status":{{"allocatable":)"
                       R"({{"cpu":"640","pods":"110","nvidia.com/gpu":"8"}},)"
                       R"("conditions":[{{"type":"Ready","status":"True"}}]}}}})",
                       i, i / 32));
      take(i);
    }
  }
  void take(int host) {
    pod(fmt::format("holder-{}", host), "other", fmt::format(R"("nodeName":"n{}",)", host), "", 1);
  }
  void free(int host) { scheduler_.removed("", "Pod", "default", fmt::format("holder-{}", host), now); }
  void make_gangs(int gangs, int shapes) {
    for (int g = 0; g < gangs; ++g) {
      send("scheduling.sigs.k8s.io", "v1alpha1", "PodGroup",
           fmt::format(R"({{"metadata":{{"namespace":"default","name":"g{0}","uid":"g{0}"}},)"
                       R"("spec":{{"minMember":{1}}}}})",
                       g, kPods));
      for (int p = 0; p < kPods; ++p) {
        pod(fmt::format("g{}-{}", g, p), "gantree", "",
            fmt::format(R"("labels":{{"pod-group.scheduling.sigs.k8s.io":"g{}"}},)", g), 1 + g % shapes);
      }
    }
  }
  int step() {
    const Step step = scheduler_.step(now);
    for (const Order& order : step.orders) {
      scheduler_.answered(order.id, Answer::kDone, "", now);
    }
    return step.figures.gangs_tried;
  }

  Time now = kStart;

 private:
  void pod(const std::string& name, std::string_view scheduler, std::string_view node, std::string_view labels,
           int cpu) {
    send("", "v1", "Pod",
         fmt::format(
             R"({{"metadata":{{{}"namespace":"default","name":"{}","uid":"{}"}},"spec":{{{}"schedulerName":"{}",)"
             R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}","nvidia.com/gpu":"8"}}}}}}]}},)"
             R"("status":{{"phase":"Pending"}}}})",
             labels, name, name, node, scheduler, cpu));
  }

  PodFamily scheduler_{PodOptions{}};
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: gangs_waiting GANGS SHAPES ROUNDS\n");
    return 1;
  }
  const int rounds = std::atoi(argv[3]);
  Load load;
  load.make_nodes();
  load.make_gangs(std::atoi(argv[1]), std::atoi(argv[2]));
  // All are looked at once, however many steps that takes.
  for (int i = 0; i < 200; ++i) {
    load.now += std::chrono::milliseconds(20);
    static_cast<void>(load.step());
  }
  const double before = cpu_seconds();
  int tried = 0;
  for (int round = 0; round < rounds; ++round) {
    load.now += std::chrono::seconds(2);
    load.free(round % kHosts);
    tried += load.step();
    load.now += std::chrono::milliseconds(100);
    load.take(round % kHosts);
    tried += load.step();
  }
  fmt::print(R"({{"gangs":{},"shapes":{},"rounds":{},"tried":{},"cpu_ms_a_round":{:.3f}}})"
             "\n",
             argv[1], argv[2], rounds, tried, (cpu_seconds() - before) * 1000 / rounds);
  return 0;
}

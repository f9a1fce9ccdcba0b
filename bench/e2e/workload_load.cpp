// Fifteen thousand workloads of two, four and eight pods in thirty queues, the shape of Kueue's own performance test:
// makes the queues, then the workloads at a steady pace, and plays the part of their jobs: each ends a moment after it
// was admitted.
//
//   workload_load KUBECONFIG setup           a topology of racks and blocks, 5 cohorts of 6 queues
//   workload_load KUBECONFIG run [PERCENT]   the workloads, or a part of them; waits until all have ended
//
// Prints one line of JSON. The nodes are made by pod_load.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/time.h"
#include "http/client.h"
#include "kube/client.h"
#include "kube/config.h"
#include "kube/credentials.h"
#include "kube/reflector.h"

namespace {

using namespace gantree;  // NOLINT: a small program
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kCohorts = 5;
constexpr int kQueues = 6;
constexpr std::string_view kGroup = "kueue.x-k8s.io";

[[noreturn]] void die(const std::string& message) {
  fmt::print(stderr, "workload_load: {}\n", message);
  std::exit(1);
}

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

kube::Resource resource(const char* plural, const char* kind, bool namespaced) {
  return {std::string(kGroup), "v1beta2", plural, kind, namespaced};
}

// Counts answers; a failure is told, and ends the program where it must not be.
class Tally {
 public:
  kube::Client::Done one() {
    ++asked_;
    return [this](const kube::Reply& reply) {
      if (!reply.ok() && reply.reason != "AlreadyExists" && reply.reason != "NotFound") {
        die(reply.message);
      }
      ++answered_;
    };
  }
  void wait() const {
    while (answered_ < asked_) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

 private:
  std::size_t asked_ = 0;
  std::atomic<std::size_t> answered_ = 0;
};

std::string object(std::string_view kind, std::string_view name, std::string_view spec) {
  return fmt::format(R"({{"apiVersion":"{}/v1beta2","kind":"{}","metadata":{{"name":"{}"}},"spec":{}}})", kGroup, kind,
                     name, spec);
}

void set_up(kube::Client& client) {
  Tally tally;
  client.create(
      resource("topologies", "Topology", false), "",
      object(
          "Topology", "bench",
          R"({"levels":[{"nodeLabel":"bench/block"},{"nodeLabel":"bench/rack"},{"nodeLabel":"kubernetes.io/hostname"}]})"),
      tally.one());
  client.create(resource("resourceflavors", "ResourceFlavor", false), "",
                object("ResourceFlavor", "bench", R"({"topologyName":"bench","nodeLabels":{"bench/group":"tas"}})"),
                tally.one());
  for (int c = 0; c < kCohorts; ++c) {
    for (int q = 0; q < kQueues; ++q) {
      const std::string name = fmt::format("cq-{}-{}", c, q);
      client.create(
          resource("clusterqueues", "ClusterQueue", false), "",
          object(
              "ClusterQueue", name,
              fmt::format(R"({{"cohortName":"cohort-{}","namespaceSelector":{{}},"preemption":{{)"
                          R"("reclaimWithinCohort":"Any","withinClusterQueue":"LowerPriority"}},"resourceGroups":[{{)"
                          R"("coveredResources":["cpu"],"flavors":[{{"name":"bench","resources":[{{"name":"cpu",)"
                          R"("nominalQuota":"20","borrowingLimit":"100"}}]}}]}}]}})",
                          c)),
          tally.one());
      client.create(resource("localqueues", "LocalQueue", true), "default",
                    object("LocalQueue", name, fmt::format(R"({{"clusterQueue":"{}"}})", name)), tally.one());
    }
  }
  tally.wait();
}

std::string body_of(const std::string& name, const std::string& queue, const Class& shape) {
  return object(
      "Workload", name,
      fmt::format(R"({{"queueName":"{}","priority":{},"active":true,"podSets":[{{"name":"main","count":{},)"
                  R"("topologyRequest":{},"template":{{"metadata":{{}},"spec":{{"restartPolicy":"Never",)"
                  R"("containers":[{{"name":"c","image":"x","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}}}}]}})",
                  queue, shape.priority, shape.pods, shape.request, shape.cpu));
}

// Plays the jobs: notes when a workload is admitted, and ends it when its time is over.
class Jobs final : public kube::Sink {
 public:
  void changed(const kube::ObjectRef& ref, std::string_view json) override {
    const bool admitted = json.find("\"admission\":{") != std::string_view::npos;
    const bool finished = json.find("\"type\":\"Finished\"") != std::string_view::npos;
    const std::scoped_lock lock(mutex_);
    const std::string name(ref.name);
    if (finished) {
      if (ended_.insert(name).second) {
        ++ended;
      }
      running_.erase(name);
    } else if (admitted) {
      running_.try_emplace(name, Clock::now());
    } else if (running_.erase(name) > 0) {
      ++evicted;
    }
  }
  void removed(const kube::ObjectRef&, std::string_view) override {}
  void synced() override { ready = true; }
  void trouble(const std::string& sentence, int) override { fmt::print(stderr, "workload_load: {}\n", sentence); }

  // Those whose time is over; each is told once.
  std::vector<std::string> due() {
    std::vector<std::string> names;
    const std::scoped_lock lock(mutex_);
    const auto now = Clock::now();
    for (auto it = running_.begin(); it != running_.end();) {
      if (now - it->second >= runs_.at(it->first)) {
        names.push_back(it->first);
        it = running_.erase(it);
      } else {
        ++it;
      }
    }
    return names;
  }
  void expect(const std::string& name, milliseconds runs) {
    const std::scoped_lock lock(mutex_);
    runs_.emplace(name, runs);
  }

  std::atomic<bool> ready = false;
  std::atomic<std::size_t> ended = 0;
  std::atomic<std::size_t> evicted = 0;

 private:
  std::mutex mutex_;
  std::map<std::string, milliseconds> runs_;
  std::map<std::string, Clock::time_point> running_;
  std::set<std::string> ended_;
};

struct Planned {
  Clock::duration at;
  std::string name;
  std::string queue;
  const Class* shape;
};

std::vector<Planned> plan(int percent) {
  std::vector<Planned> planned;
  for (int c = 0; c < kCohorts; ++c) {
    for (int q = 0; q < kQueues; ++q) {
      for (const Class& shape : kClasses) {
        for (int i = 0; i < std::max(1, shape.count * percent / 100); ++i) {
          planned.push_back({shape.every * i, fmt::format("{}-{}-{}-{}", shape.name, c, q, i),
                             fmt::format("cq-{}-{}", c, q), &shape});
        }
      }
    }
  }
  std::stable_sort(planned.begin(), planned.end(), [](const Planned& a, const Planned& b) { return a.at < b.at; });
  return planned;
}

void run(kube::Client& client, int percent) {
  const kube::Resource workloads = resource("workloads", "Workload", true);
  const std::vector<Planned> planned = plan(percent);
  Jobs jobs;
  for (const Planned& one : planned) {
    jobs.expect(one.name, one.shape->runs);
  }
  kube::ReflectorOptions options;
  options.name_space = "default";
  const kube::Reflector reflector(client, workloads, jobs, options);
  while (!jobs.ready) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  const auto began = Clock::now();
  Tally tally;
  std::size_t next = 0;
  while (jobs.ended < planned.size()) {
    const auto passed = Clock::now() - began;
    for (; next < planned.size() && planned[next].at <= passed; ++next) {
      client.create(workloads, "default", body_of(planned[next].name, planned[next].queue, *planned[next].shape),
                    tally.one());
    }
    for (const std::string& name : jobs.due()) {
      const std::string now = rfc3339(std::chrono::floor<milliseconds>(std::chrono::system_clock::now()));
      client.patch_status(
          workloads, {"default", name}, kube::PatchType::kMerge,
          fmt::format(R"({{"status":{{"conditions":[{{"type":"Finished","status":"True","reason":"Succeeded",)"
                      R"("message":"done","lastTransitionTime":"{}"}}]}}}})",
                      now),
          tally.one());
    }
    if (passed > std::chrono::minutes(30)) {
      die(fmt::format("only {} of {} workloads have ended", jobs.ended.load(), planned.size()));
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  fmt::print("{{\"workloads\":{},\"seconds\":{:.1f},\"per_second\":{:.1f},\"evicted\":{}}}\n", planned.size(), seconds,
             static_cast<double>(planned.size()) / seconds, jobs.evicted.load());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) {
    die("say KUBECONFIG and setup or run");
  }
  const auto config = kube::load_config({.kubeconfig = words[0], .context = ""}, kube::process_environment());
  if (!config) {
    die(config.error().message);
  }
  const auto credentials = kube::make_credentials(*config);
  if (!credentials) {
    die(credentials.error().message);
  }
  http::Client transport(kube::make_endpoint(*config, *credentials));
  kube::ClientOptions options;
  options.max_in_flight = 96;
  kube::Client client(transport, *credentials, options);
  if (words[1] == "setup") {
    set_up(client);
  } else if (words[1] == "run") {
    run(client, words.size() > 2 ? std::atoi(words[2].c_str()) : 100);
  } else {
    die("that is none of its commands");
  }
  return 0;
}

// What the scheduler itself needs for the workloads of many queues: the controller of `gantree run` on an API server
// that answers at once, in virtual time. Nothing here waits.
//
//   queue_cycles [PERCENT]
//
// Prints one line of JSON: how many workloads, how much CPU time, how often a placement was tried, and how much was
// written to workloads and queues, and as events.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <string>

#include "json/copy.h"
#include "json/read.h"
#include "kueue/controller.h"
#include "live/object.h"
#include "pods/pod_family.h"
#include "queue_load.h"

namespace {

using namespace gantree;  // NOLINT: a small program
using std::chrono::milliseconds;

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};
constexpr milliseconds kTick{5};
constexpr int kNodes = 640;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void check(const Result<>& result) {
  if (!result) {
    fmt::print(stderr, "queue_cycles: {}\n", result.error().message);
    std::exit(1);
  }
}

// An API server in miniature: keeps Workloads, and does at once what it is asked for.
class Server {
 public:
  void make_nodes() {
    for (int i = 0; i < kNodes; ++i) {
      auto node = prune("", "v1", "Node",
                        fmt::format(R"({{"metadata":{{"name":"n{0:06}","labels":{{"kubernetes.io/hostname":"n{0:06}",)"
                                    R"("bench/block":"b{1}","bench/rack":"r{2}","bench/group":"tas"}}}},"status":{{)"
                                    R"("allocatable":{{"cpu":"64","memory":"512Gi","pods":"110"}},)"
                                    R"("conditions":[{{"type":"Ready","status":"True"}}]}}}})",
                                    i, i / 512, i / 32));
      check(scheduler_.changed(std::move(*node), now));
      controller_.node_changed(fmt::format("n{:06}", i));
    }
  }
  void put(std::string_view kind, const std::string& body) {
    auto object = prune(kQueueGroup, kQueueVersion, kind, body);
    const double before = cpu_seconds();
    check(controller_.changed(*object, now));
    spent += cpu_seconds() - before;
  }
  // A Workload with a status that somebody wrote.
  void put_workload(const std::string& name, const std::string& status) {
    const std::string& body = bodies.at(name);
    put("Workload", fmt::format(R"({},"metadata":{{"namespace":"{}","name":"{}","uid":"{}","resourceVersion":"{}",)"
                                R"("generation":1,"creationTimestamp":"2023-11-14T22:13:20Z"}},"status":{{{}}}}})",
                                body.substr(0, body.size() - 1), kQueueNamespace, name, name, ++version_, status));
  }
  void step(std::multimap<Time, std::string>& ends, const std::map<std::string, milliseconds>& runs) {
    const double before = cpu_seconds();
    const Step step = controller_.step(now);
    spent += cpu_seconds() - before;
    ++steps;
    tried += step.figures.gangs_tried;
    for (const Order& order : step.orders) {
      controller_.answered(order.id, Answer::kDone, "", now);
      if (order.urgency == Urgency::kEvent) {
        ++events;
        continue;
      }
      if (order.write.object.kind != "Workload") {
        ++queue_writes;
        continue;
      }
      ++workload_writes;
      const std::string& name = order.write.object.name;
      std::string status = status_of(order.write.body);
      const bool admitted = status.find(R"("admission":{)") != std::string::npos;
      if (admitted) {
        ends.emplace(now + runs.at(name), name);
      }
      statuses[name] = status;
      put_workload(name, status);
    }
  }
  void end(const std::string& name) {
    std::string status = statuses.at(name);
    const std::string_view list = R"("conditions":[)";
    status.insert(status.find(list) + list.size(),
                  R"({"type":"Finished","status":"True","reason":"Succeeded","message":"done"},)");
    put_workload(name, status);
  }

  Time now = kStart;
  double spent = 0;
  long steps = 0;
  long tried = 0;
  long workload_writes = 0;
  long queue_writes = 0;
  long events = 0;
  std::map<std::string, std::string> bodies;    // by name
  std::map<std::string, std::string> statuses;  // the same

 private:
  // The fields of the status that an order writes.
  static std::string status_of(const std::string& body) {
    const auto read = json::read_documents("order", body);
    const json::Value status = read ? read->front().root()["status"] : json::Value();
    std::string text = status ? json::copy(status).to_json(false) : std::string("{}");
    return text.substr(1, text.size() - 2);
  }

  PodFamily scheduler_{PodOptions{}};
  kueue::Controller controller_{scheduler_.cluster(), {}};
  int version_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<PlannedWorkload> planned = planned_workloads(argc > 1 ? std::atoi(argv[1]) : 100);
  Server server;
  server.make_nodes();
  for (const QueueObject& object : queue_objects()) {
    std::string body = object.body;
    if (object.namespaced) {
      const std::string_view metadata = R"("metadata":{)";
      body.insert(body.find(metadata) + metadata.size(), fmt::format(R"("namespace":"{}",)", kQueueNamespace));
    }
    server.put(object.kind, body);
  }
  std::map<std::string, milliseconds> runs;
  for (const PlannedWorkload& one : planned) {
    runs.emplace(one.name, one.runs);
    std::string body = one.body;  // without its metadata, which are put in anew each time
    const std::size_t at = body.find(R"("metadata")");
    server.bodies.emplace(one.name, body.erase(at, body.find("},", at) + 2 - at));
  }
  std::multimap<Time, std::string> ends;
  std::size_t next = 0;
  std::size_t ended = 0;
  while (ended < planned.size()) {
    for (; next < planned.size() && kStart + planned[next].at <= server.now; ++next) {
      server.put_workload(planned[next].name, "");
    }
    for (; !ends.empty() && ends.begin()->first <= server.now; ends.erase(ends.begin()), ++ended) {
      server.end(ends.begin()->second);
    }
    server.step(ends, runs);
    server.now += kTick;
    if (server.now > kStart + std::chrono::hours(2)) {
      fmt::print(stderr, "queue_cycles: only {} of {} workloads have ended\n", ended, planned.size());
      return 1;
    }
  }
  const double virtual_seconds = std::chrono::duration<double>(server.now - kStart).count();
  fmt::print(R"({{"workloads":{},"scheduler_cpu_seconds":{:.2f},"steps":{},"tried":{},"virtual_seconds":{:.0f},)"
             R"("workload_writes":{},"queue_writes":{},"events":{}}})"
             "\n",
             planned.size(), server.spent, server.steps, server.tried, virtual_seconds, server.workload_writes,
             server.queue_writes, server.events);
  return 0;
}

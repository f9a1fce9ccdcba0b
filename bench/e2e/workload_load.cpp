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
#include "kube/client.h"
#include "kube/reflector.h"
#include "load_client.h"
#include "queue_load.h"

namespace {

using namespace gantree;        // NOLINT: a small program
using namespace gantree::load;  // NOLINT
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

kube::Resource resource(const char* plural, const char* kind, bool namespaced) {
  return {std::string(kQueueGroup), std::string(kQueueVersion), plural, kind, namespaced};
}

void set_up(kube::Client& client) {
  Tally tally;
  for (const QueueObject& object : queue_objects()) {
    client.create(resource(object.plural, object.kind, object.namespaced), object.namespaced ? kQueueNamespace : "",
                  object.body, tally.one());
  }
  tally.wait();
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

void run(kube::Client& client, int percent) {
  const kube::Resource workloads = resource("workloads", "Workload", true);
  const std::vector<PlannedWorkload> planned = planned_workloads(percent);
  Jobs jobs;
  for (const PlannedWorkload& one : planned) {
    jobs.expect(one.name, one.runs);
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
      client.create(workloads, "default", planned[next].body, tally.one());
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
  LoadClient connection(words[0]);
  kube::Client& client = *connection;
  if (words[1] == "setup") {
    set_up(client);
  } else if (words[1] == "run") {
    run(client, words.size() > 2 ? std::atoi(words[2].c_str()) : 100);
  } else {
    die("that is none of its commands");
  }
  return 0;
}

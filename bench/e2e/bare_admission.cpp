// A bare generator for queues: admits every Workload as soon as it sees it, with as many writes as a scheduler made
// for the same load, and decides nothing. It is what Gantree is compared with.
//
//   bare_admission KUBECONFIG PERCENT WAITS EVENTS QUEUES
//
// WAITS: writes to Workloads beside admissions (why they wait); EVENTS: Events; QUEUES: statuses of queues; each over
// the whole load, of which there are PERCENT. Prints "ready" once it watches, and goes on until it is told to stop.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
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

std::atomic<bool> told_to_stop = false;

Time now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

// The text after `key` up to the next quote; "" where there is none.
std::string text_after(std::string_view json, std::string_view key) {
  const std::size_t at = json.find(key);
  if (at == std::string_view::npos) {
    return "";
  }
  const std::size_t begin = at + key.size();
  return std::string(json.substr(begin, json.find('"', begin) - begin));
}

std::string condition(std::string_view type, bool holds, std::string_view reason, std::string_view message) {
  return fmt::format(R"({{"type":"{}","status":"{}","reason":"{}","message":"{}","lastTransitionTime":"{}"}})", type,
                     holds ? "True" : "False", reason, message, rfc3339(now()));
}

// So many over the whole load, evenly.
class Share {
 public:
  Share(double all, std::size_t load) : each_(all / static_cast<double>(load)) {}
  // How many are due with one more of the load.
  [[nodiscard]] int take() {
    due_ += each_;
    const int whole = static_cast<int>(due_);
    due_ -= whole;
    return whole;
  }

 private:
  double each_;
  double due_ = 0;
};

// Writes on the thread of the watch, which owns all of it.
class Admissions final : public kube::Sink {
 public:
  Admissions(kube::Client& client, const std::vector<PlannedWorkload>& planned, double waits, double events,
             double queues)
      : client_(client),
        waits_(waits, planned.size()),
        events_(events, planned.size()),
        queues_(queues, planned.size()) {
    for (const PlannedWorkload& one : planned) {
      admissions_.emplace(one.name, &one);
    }
    for (const QueueObject& object : queue_objects()) {
      if (std::string_view(object.kind).ends_with("Queue")) {
        statuses_.push_back({resource(object.plural, object.kind, object.namespaced),
                             {object.namespaced ? std::string(kQueueNamespace) : "", object.name}});
      }
    }
  }

  void changed(const kube::ObjectRef& ref, std::string_view json) override {
    const auto planned = admissions_.find(std::string(ref.name));
    const bool over = json.find("\"admission\":{") != std::string_view::npos ||
                      json.find("\"type\":\"Finished\"") != std::string_view::npos;
    if (planned == admissions_.end() || over) {
      return;
    }
    const Object object{.name = planned->first,
                        .uid = text_after(json, "\"uid\":\""),
                        .version = text_after(json, "\"resourceVersion\":\"")};
    const auto [waits, fresh] = waits_of_.try_emplace(object.name, 0);
    waits->second = fresh ? waits_.take() : waits->second;
    if (waits->second > 0) {
      --waits->second;
      write(object, fmt::format(R"("conditions":[{}])",
                                condition("QuotaReserved", false, "Pending",
                                          fmt::format("couldn't assign flavors to pod set main: insufficient unused "
                                                      "quota, {} more of cpu needed",
                                                      waits->second + 1))));
    } else if (admitted_.insert(object.name).second) {
      admit(object, *planned->second);
    }
  }
  void removed(const kube::ObjectRef&, std::string_view) override {}
  void synced() override { ready = true; }
  void trouble(const std::string& sentence, int) override { fmt::print(stderr, "bare_admission: {}\n", sentence); }

  // Requires: nobody watches any more.
  void finish() const { tally_.wait(); }

  std::atomic<bool> ready = false;

 private:
  struct Object {
    std::string name;
    std::string uid;
    std::string version;
  };

  static kube::Resource resource(const char* plural, const char* kind, bool namespaced) {
    return {std::string(kQueueGroup), std::string(kQueueVersion), plural, kind, namespaced};
  }

  void admit(const Object& object, const PlannedWorkload& planned) {
    const std::string where = fmt::format("Quota reserved in ClusterQueue {}", planned.queue);
    write(object, fmt::format(R"("conditions":[{},{}],"admission":{})",
                              condition("QuotaReserved", true, "QuotaReserved", where),
                              condition("Admitted", true, "Admitted", "The workload is admitted"), planned.admission));
    tell(object, "Admitted");
    for (int i = queues_.take(); i > 0; --i, ++queue_) {
      const auto& [kind, key] = statuses_[queue_ % statuses_.size()];
      const std::string uses =
          fmt::format(R"([{{"name":"bench","resources":[{{"name":"cpu","total":"{}"}}]}}])", queue_);
      client_.patch_status(kind, key, kube::PatchType::kMerge,
                           fmt::format(R"({{"status":{{"pendingWorkloads":{0},"reservingWorkloads":{0},)"
                                       R"("admittedWorkloads":{0},"flavorsReservation":{1},"flavorsUsage":{1}}}}})",
                                       queue_, uses),
                           tally_.one());
    }
  }
  void write(const Object& object, const std::string& status) {
    client_.patch_status(resource("workloads", "Workload", true), {std::string(kQueueNamespace), object.name},
                         kube::PatchType::kMerge,
                         fmt::format(R"({{"metadata":{{"uid":"{}","resourceVersion":"{}"}},"status":{{{}}}}})",
                                     object.uid, object.version, status),
                         tally_.one());
  }
  void tell(const Object& object, std::string_view reason) {
    for (int i = events_.take(); i > 0; --i) {
      client_.create(
          {"events.k8s.io", "v1", "events", "Event", true}, kQueueNamespace,
          fmt::format(R"({{"apiVersion":"events.k8s.io/v1","kind":"Event",)"
                      R"("metadata":{{"name":"{0}.{1}","namespace":"{2}"}},"eventTime":"{3}","type":"Normal",)"
                      R"("reason":"{4}","action":"Admit","note":"{4} by a ClusterQueue","regarding":{{)"
                      R"("apiVersion":"{5}/{6}","kind":"Workload","name":"{0}","namespace":"{2}","uid":"{7}"}},)"
                      R"("reportingController":"bare","reportingInstance":"bare"}})",
                      object.name, ++event_, kQueueNamespace, rfc3339_micro(now()), reason, kQueueGroup, kQueueVersion,
                      object.uid),
          tally_.one());
    }
  }

  kube::Client& client_;
  Tally tally_;
  Share waits_;
  Share events_;
  Share queues_;
  std::map<std::string, const PlannedWorkload*> admissions_;  // borrowed
  std::vector<std::pair<kube::Resource, kube::ObjectKey>> statuses_;
  std::map<std::string, int> waits_of_;  // how often each has still to be told why it waits
  std::set<std::string> admitted_;
  std::size_t queue_ = 0;
  std::size_t event_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 5) {
    die("say KUBECONFIG PERCENT WAITS EVENTS QUEUES");
  }
  std::signal(SIGTERM, [](int) { told_to_stop = true; });
  LoadClient connection(words[0]);
  const std::vector<PlannedWorkload> planned = planned_workloads(std::atoi(words[1].c_str()));
  Admissions admissions(*connection, planned, std::atof(words[2].c_str()), std::atof(words[3].c_str()),
                        std::atof(words[4].c_str()));
  kube::ReflectorOptions options;
  options.name_space = kQueueNamespace;
  {
    const kube::Reflector reflector(
        *connection, {std::string(kQueueGroup), std::string(kQueueVersion), "workloads", "Workload", true}, admissions,
        options);
    while (!admissions.ready) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    fmt::print("ready\n");
    std::fflush(stdout);
    while (!told_to_stop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  admissions.finish();
  return 0;
}

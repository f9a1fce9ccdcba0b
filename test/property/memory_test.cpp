// The memory of a namespace (--namespace-memory) is an estimate: here it is held against what is really kept. All that
// waits goes through scheduler and queues on a fake server until nothing more is written, and what their end gives back
// to the heap is what they held.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/namespace_budget.h"
#include "support/queue_process.h"

namespace gantree::test {
namespace {

// The estimate of objects like those that most people have is at most so many times what they hold.
constexpr double kMostOfUsual = 4;
constexpr int kNodes = 200;

// What is allocated, with the heap's own bookkeeping.
std::size_t heap() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct Asked {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string text;
};

struct Taken {
  std::size_t held = 0;
  std::size_t estimate = 0;
};

class Cluster {
 public:
  Cluster() : process_(std::make_unique<Process>(kueue::ReadyRules{})) {
    for (int i = 0; i < kNodes; ++i) {
      put({"", "v1", "Node",
           fmt::format(R"({{"metadata":{{"name":"n{0}","labels":{{"kubernetes.io/hostname":"n{0}"}}}},"status":{{)"
                       R"("allocatable":{{"cpu":"8","memory":"64Gi","pods":"110"}},)"
                       R"("conditions":[{{"type":"Ready","status":"True"}}]}}}})",
                       i)});
    }
    put({"kueue.x-k8s.io", "v1beta2", "ResourceFlavor", R"({"metadata":{"name":"f"},"spec":{}})"});
    put({"kueue.x-k8s.io", "v1beta2", "ClusterQueue",
         R"({"metadata":{"name":"q"},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],)"
         R"("flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"8"}]}]}]}})"});
    put({"kueue.x-k8s.io", "v1beta2", "LocalQueue",
         R"({"metadata":{"namespace":"tenant","name":"q"},"spec":{"clusterQueue":"q"}})"});
  }
  void put(const Asked& asked) {
    server_.put(asked.group, asked.version, asked.kind, Tree::parse(asked.text));
    pass_on();
  }
  // Until nothing more is written for a while.
  void settle() {
    for (int quiet = 0, steps = 0; quiet < 3 && steps < 200; ++steps) {
      now_ += std::chrono::seconds(1);
      const std::vector<Order> orders = process_->step(now_);
      for (const Order& order : orders) {
        const bool done = server_.apply(order.write) == WriteResult::kOk;
        process_->answered(order.id, done ? Answer::kDone : Answer::kRefused, now_);
      }
      pass_on();
      quiet = orders.empty() ? quiet + 1 : 0;
    }
  }
  Taken end() {
    const std::size_t before = heap();
    process_.reset();
    return {.held = before - heap(), .estimate = estimate_};
  }
  [[nodiscard]] std::size_t workloads() const { return server_.all("Workload").size(); }

 private:
  void pass_on() {
    while (server_.has_events()) {
      const ServerEvent event = server_.next_event(random_);
      // As the budget counts: what was handed on first.
      if (event.object && known_.insert(FakeServer::key(event.kind, event.ns, event.name)).second) {
        estimate_ += cost_of_waiting(*event.object);
      }
      process_->take(event, now_);
    }
  }

  FakeServer server_;
  std::unique_ptr<Process> process_;
  std::mt19937 random_{1};
  std::set<std::string> known_;
  std::size_t estimate_ = 0;
  Time now_{std::chrono::seconds(1'700'000'000)};
};

struct Case {
  const char* name;
  int count;
  std::function<Asked(int)> make;
  bool usual = false;
};

std::string repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    text += i == 0 ? "" : ",";
    text += piece;
  }
  return text;
}

// `more` are further fields of the pod, `of_container` of its container.
std::string pod_spec(const std::string& more, const std::string& of_container = "") {
  return fmt::format(R"("containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"9"}}}}{}{}}}]{}{})",
                     of_container.empty() ? "" : ",", of_container, more.empty() ? "" : ",", more);
}

Asked job(int number, const std::string& more = "", const std::string& of_container = "") {
  return {"batch", "v1", "Job",
          fmt::format(R"({{"metadata":{{"namespace":"tenant","name":"j{}","creationTimestamp":"2026-01-01T00:00:00Z",)"
                      R"("labels":{{"kueue.x-k8s.io/queue-name":"q"}}}},"spec":{{"suspend":true,"parallelism":1,)"
                      R"("completions":1,"template":{{"spec":{{"restartPolicy":"Never",{}}}}}}}}})",
                      number, pod_spec(more, of_container))};
}

Asked pod(int number, const std::string& labels, const std::string& more) {
  return {"", "v1", "Pod",
          fmt::format(R"({{"metadata":{{"namespace":"tenant","name":"p{}","creationTimestamp":"2026-01-01T00:00:00Z",)"
                      R"("labels":{{{}}}}},"spec":{{{}}},"status":{{"phase":"Pending"}}}})",
                      number, labels, pod_spec(more))};
}

Asked queued_pod(int number, const std::string& more = "") {
  return pod(number, R"("kueue.x-k8s.io/queue-name":"q","kueue.x-k8s.io/managed":"true")",
             R"("schedulerName":"default-scheduler","schedulingGates":[{"name":"kueue.x-k8s.io/admission"}])" +
                 (more.empty() ? "" : "," + more));
}

Asked waiting_pod(int number, const std::string& more = "") {
  return pod(number, "", R"("schedulerName":"gantree")" + (more.empty() ? "" : "," + more));
}

std::string affinity(int number, int values) {
  std::string list = fmt::format(R"("n{}")", number);
  for (int i = 0; i < values; ++i) {
    list += fmt::format(R"(,"{:x}")", i);
  }
  return fmt::format(
      R"("affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[)"
      R"({{"matchExpressions":[{{"key":"k","operator":"In","values":[{}]}}]}}]}}}}}})",
      list);
}

std::string tolerations(int number, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += fmt::format(R"({}{{"key":"{:x}-{:x}"}})", i == 0 ? "" : ",", number, i);
  }
  return fmt::format(R"("tolerations":[{}])", list);
}

std::string environment(int variables) {
  std::string list;
  for (int i = 0; i < variables; ++i) {
    list += fmt::format(R"({}{{"name":"VARIABLE_{}","value":"some value that a job is given {}"}})", i == 0 ? "" : ",",
                        i, i);
  }
  return fmt::format(R"("env":[{}])", list);
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases{
      {"small jobs", 1'000, [](int i) { return job(i); }},
      {"usual jobs", 1'000, [](int i) { return job(i, tolerations(0, 3), environment(20)); }, true},
      {"jobs with long lists of numbers", 20,
       [](int i) { return job(i, R"("securityContext":{"supplementalGroups":[)" + repeated("1", 90'000) + "]}"); }},
      {"jobs with long lists of short words", 20,
       [](int i) { return job(i, "", R"("args":[)" + repeated(R"("a")", 45'000) + "]"); }},
      {"jobs with long lists of empty objects", 20,
       [](int i) { return job(i, R"("volumes":[)" + repeated("{}", 60'000) + "]"); }},
      {"jobs with long texts", 20,
       [](int i) { return job(i, "", R"("args":[")" + std::string(180'000, 'x') + "\"]"); }},
      {"jobs with many tolerations", 40, [](int i) { return job(i, tolerations(i, 1'000)); }},
      {"jobs with a long affinity", 40, [](int i) { return job(i, affinity(i, 6'000)); }},
      {"small pods", 1'000, [](int i) { return waiting_pod(i); }},
      {"pods with many tolerations", 60, [](int i) { return waiting_pod(i, tolerations(i, 1'000)); }},
      {"pods with a long affinity", 60, [](int i) { return waiting_pod(i, affinity(i, 6'000)); }},
      {"small pods in a queue", 1'000, [](int i) { return queued_pod(i); }},
      {"pods in a queue with many tolerations", 60, [](int i) { return queued_pod(i, tolerations(i, 1'000)); }},
      {"pods in a queue with a long affinity", 60, [](int i) { return queued_pod(i, affinity(i, 6'000)); }},
      {"small groups", 1'000,
       [](int i) {
         return Asked{
             "scheduling.sigs.k8s.io", "v1alpha1", "PodGroup",
             fmt::format(R"({{"metadata":{{"namespace":"tenant","name":"g{}"}},"spec":{{"minMember":2}}}})", i)};
       }},
  };
  return kCases;
}

class NamespaceMemory : public testing::TestWithParam<std::size_t> {};

TEST_P(NamespaceMemory, IsWhatTheEstimateSays) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has a heap of its own";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "the sanitizer has a heap of its own";
#endif
#endif
  const Case& one = cases()[GetParam()];
  Cluster empty;
  empty.settle();
  const std::size_t base = empty.end().held;
  Cluster cluster;
  for (int i = 0; i < one.count; ++i) {
    cluster.put(one.make(i));
  }
  cluster.settle();
  const std::size_t workloads = cluster.workloads();
  const Taken taken = cluster.end();
  const double held = static_cast<double>(taken.held) - static_cast<double>(base);
  const double estimate = static_cast<double>(taken.estimate);
  std::cout << fmt::format("{}: {} and {} Workloads hold {:.0f} bytes each, the estimate is {:.0f}: {:.2f} times\n",
                           one.name, one.count, workloads, held / one.count, estimate / one.count, held / estimate);
  EXPECT_LT(held, estimate) << one.name;
  if (one.usual) {
    EXPECT_LT(estimate, kMostOfUsual * held) << one.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Objects, NamespaceMemory, testing::Range(std::size_t{0}, cases().size()));

}  // namespace
}  // namespace gantree::test

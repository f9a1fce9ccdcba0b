#include "service/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include "live/domain_figures.h"

namespace gantree {

namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using prometheus::Registry;

const Histogram::BucketBoundaries kStepSeconds = {1e-5, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 5};
const Histogram::BucketBoundaries kWaitSeconds = {0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 7200, 86400};
const Histogram::BucketBoundaries kHandOverSeconds = {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
const Histogram::BucketBoundaries kCallSeconds = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};

// Resident memory in bytes; 0 where the system does not tell.
double resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) {
    return 0;
  }
  long size = 0;
  long resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &size, &resident);
  std::fclose(file);
  return read == 2 ? static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0;
}

template <class Build>
auto& family(Registry& registry, Build build, const char* name, const char* help) {
  return build.Name(name).Help(help).Register(registry);
}

// Counters are only ever added to.
void raise_to(Counter& counter, double value) {
  if (value > counter.Value()) {
    counter.Increment(value - counter.Value());
  }
}

}  // namespace

struct Metrics::Families {
  Registry registry;

  Histogram& cycle =
      family(registry, BuildHistogram(), "gantree_cycle_seconds", "Time of one scheduling cycle").Add({}, kStepSeconds);
  Histogram& placement = family(registry, BuildHistogram(), "gantree_placement_seconds",
                                "Time that a cycle took for each gang that it looked at")
                             .Add({}, kStepSeconds);
  Histogram& wait = family(registry, BuildHistogram(), "gantree_gang_wait_seconds",
                           "From the first waiting pod of a gang to the decision that places it")
                        .Add({}, kWaitSeconds);
  Histogram& bind = family(registry, BuildHistogram(), "gantree_bind_seconds",
                           "From the decision to bind a pod to the server's answer")
                        .Add({}, kCallSeconds);
  Counter& gangs =
      family(registry, BuildCounter(), "gantree_gangs_placed_total", "Gangs placed, a plain pod being one").Add({});
  Counter& pods = family(registry, BuildCounter(), "gantree_pods_placed_total", "Pods placed").Add({});
  Counter& evicted =
      family(registry, BuildCounter(), "gantree_gangs_evicted_total", "Gangs evicted for others").Add({});
  prometheus::Family<Counter>& writes =
      family(registry, BuildCounter(), "gantree_writes_total", "Answered writes by kind and result");
  Counter& dropped = family(registry, BuildCounter(), "gantree_events_dropped_total",
                            "Events not written because too many were waiting")
                         .Add({});
  prometheus::Family<Gauge>& waiting = family(registry, BuildGauge(), "gantree_gangs_waiting",
                                              "Gangs with pods that want a place, by reason; New: not looked at yet");
  Gauge& waiting_pods = family(registry, BuildGauge(), "gantree_pods_waiting", "Pods that want a place").Add({});
  Histogram& admission = family(registry, BuildHistogram(), "gantree_admission_wait_seconds",
                                "From the creation of a workload, or since it was queued again, to its admission")
                             .Add({}, kWaitSeconds);
  prometheus::Family<Gauge>& queue_pending =
      family(registry, BuildGauge(), "gantree_queue_pending_workloads", "Workloads that wait in a ClusterQueue");
  prometheus::Family<Gauge>& queue_admitted =
      family(registry, BuildGauge(), "gantree_queue_admitted_workloads", "Workloads that a ClusterQueue has admitted");
  prometheus::Family<Gauge>& quota_used =
      family(registry, BuildGauge(), "gantree_queue_quota_used", "Quota of a ClusterQueue that is in use");
  prometheus::Family<Gauge>& quota_nominal =
      family(registry, BuildGauge(), "gantree_queue_quota_nominal", "Quota of a ClusterQueue, borrowed one aside");
  std::vector<std::pair<prometheus::Family<Gauge>*, Gauge*>> of_queues;  // as on the last page: queues come and go
  prometheus::Family<Gauge>& free =
      family(registry, BuildGauge(), "gantree_domain_free", "Free amount of a resource inside a topology");
  prometheus::Family<Gauge>& capacity =
      family(registry, BuildGauge(), "gantree_domain_capacity", "Allocatable amount of a resource inside a topology");
  prometheus::Family<Gauge>& largest =
      family(registry, BuildGauge(), "gantree_largest_gang",
             "Largest gang of pods of one unit each that fits in one domain of a level");
  prometheus::Family<Gauge>& fragmentation =
      family(registry, BuildGauge(), "gantree_fragmentation",
             "0: as much of what is free lies in one domain of the level as could at best; 1: nothing does");
  Gauge& nodes = family(registry, BuildGauge(), "gantree_nodes", "Nodes known").Add({});
  Gauge& placed_pods =
      family(registry, BuildGauge(), "gantree_pods", "Pods that hold room on a node, assumed ones included").Add({});
  Gauge& leading = family(registry, BuildGauge(), "gantree_leading", "1: this process has the lease").Add({});
  Gauge& proving = family(registry, BuildGauge(), "gantree_hand_over",
                          "1: it has the lease, and decides when its watches are shown to be as fresh as that")
                       .Add({});
  Histogram& hand_over = family(registry, BuildHistogram(), "gantree_hand_over_seconds",
                                "From the lease until every watch was shown to be as fresh as that")
                             .Add({}, kHandOverSeconds);
  Counter& hand_overs_given_up =
      family(registry, BuildCounter(), "gantree_hand_overs_given_up_total",
             "How often the lease was given up since watches could not be shown to be as fresh as it")
          .Add({});
  Gauge& synced = family(registry, BuildGauge(), "gantree_synced", "1: all that is watched has been listed").Add({});
  Gauge& queued = family(registry, BuildGauge(), "gantree_writes_queued", "Writes that wait to be sent").Add({});
  Gauge& in_flight = family(registry, BuildGauge(), "gantree_writes_in_flight", "Writes sent and not answered").Add({});
  prometheus::Family<Counter>& requests =
      family(registry, BuildCounter(), "gantree_api_requests_total", "Requests to the API server, every attempt");
  Counter& retries =
      family(registry, BuildCounter(), "gantree_api_retries_total", "Requests that were sent once more").Add({});
  Counter& watch_failures =
      family(registry, BuildCounter(), "gantree_watch_failures_total", "Watches that ended otherwise than in order")
          .Add({});
  Counter& relists = family(registry, BuildCounter(), "gantree_relists_total", "Lists after the first one").Add({});
  Counter& watch_events =
      family(registry, BuildCounter(), "gantree_watch_events_total", "Events that watches brought").Add({});
  Gauge& memory = family(registry, BuildGauge(), "process_resident_memory_bytes", "Resident memory").Add({});
  Counter& cpu = family(registry, BuildCounter(), "process_cpu_seconds_total", "CPU time used").Add({});
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}
Metrics::~Metrics() = default;

void Metrics::stepped(const StepFigures& figures, std::chrono::nanoseconds took) {
  families_->gangs.Increment(figures.gangs_placed);
  families_->pods.Increment(figures.pods_placed);
  families_->evicted.Increment(figures.gangs_evicted);
  for (const std::chrono::milliseconds wait : figures.admission_waits) {
    families_->admission.Observe(std::chrono::duration<double>(wait).count());
  }
  if (!figures.decided) {
    return;
  }
  const double seconds = std::chrono::duration<double>(took).count();
  families_->cycle.Observe(seconds);
  for (int i = 0; i < figures.gangs_tried; ++i) {
    families_->placement.Observe(seconds / figures.gangs_tried);
  }
  for (const std::chrono::milliseconds wait : figures.waits) {
    families_->wait.Observe(std::chrono::duration<double>(wait).count());
  }
}

void Metrics::answered(const WriteAnswered& answer) {
  families_->writes
      .Add({{"kind", answer.bind ? "bind" : "report"}, {"result", std::string(kube::to_string(answer.reply.result))}})
      .Increment();
  if (answer.bind) {
    families_->bind.Observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - answer.ordered).count());
  }
}

void Metrics::handed_over(std::chrono::milliseconds took) {
  families_->hand_over.Observe(std::chrono::duration<double>(took).count());
}

void Metrics::gave_hand_over_up() {
  families_->hand_overs_given_up.Increment();
}

std::string Metrics::page(const MetricSources& sources) {
  Families& families = *families_;
  fill_waiting(sources.scheduler.table());
  fill_domains(sources.scheduler.cluster());
  fill_queues(sources.queues);
  families.leading.Set(sources.leading ? 1 : 0);
  families.proving.Set(sources.hand_over ? 1 : 0);
  families.synced.Set(sources.synced ? 1 : 0);
  families.queued.Set(static_cast<double>(sources.dispatcher.waiting()));
  families.in_flight.Set(static_cast<double>(sources.dispatcher.in_flight()));
  raise_to(families.dropped, static_cast<double>(sources.dispatcher.dropped_events()));
  fill_requests(sources.reads, sources.writes);
  families.memory.Set(resident_bytes());
  raise_to(families.cpu, static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  return prometheus::TextSerializer().Serialize(families.registry.Collect());
}

void Metrics::fill_waiting(const GangTable& table) {
  std::map<std::string, int> by_reason = {{"New", 0}};
  for (int r = 0; r <= static_cast<int>(kLastReason); ++r) {
    by_reason.emplace(to_string(static_cast<Reason>(r)), 0);
  }
  int pods = 0;
  for (const auto& [id, gang] : table.gangs()) {
    const bool refused = gang.verdict && gang.verdict->state != GangState::kPlaced;
    // Those that wait for others to leave have their room already.
    const bool preempts = refused && gang.verdict->reason == Reason::kPreempting && gang.placed > gang.counts.bound;
    if (gang.waiting > 0 || preempts) {
      ++by_reason[refused ? to_string(gang.verdict->reason) : "New"];
      pods += gang.waiting + (preempts ? gang.placed - gang.counts.bound : 0);
    }
  }
  for (const auto& [reason, count] : by_reason) {
    families_->waiting.Add({{"reason", reason}}).Set(count);
  }
  families_->waiting_pods.Set(pods);
}

void Metrics::fill_domains(Cluster& cluster) {
  for (const DomainFigures& figures : domain_figures(cluster)) {
    const Labels labels = {{"topology", figures.topology}, {"level", figures.level}, {"resource", figures.resource}};
    const Labels whole = {{"topology", figures.topology}, {"resource", figures.resource}};
    families_->free.Add(whole).Set(static_cast<double>(figures.free));
    families_->capacity.Add(whole).Set(static_cast<double>(figures.capacity));
    families_->largest.Add(labels).Set(static_cast<double>(figures.largest));
    families_->fragmentation.Add(labels).Set(figures.fragmentation());
  }
  std::size_t nodes = 0;
  for (std::size_t n = 0; n < cluster.inventory().size(); ++n) {
    nodes += cluster.inventory().alive(make_id<NodeTag>(n)) ? 1U : 0U;
  }
  families_->nodes.Set(static_cast<double>(nodes));
  families_->placed_pods.Set(static_cast<double>(cluster.pods()));
}

void Metrics::fill_queues(const kueue::QueueStatuses& queues) {
  for (const auto& [family, gauge] : families_->of_queues) {
    family->Remove(gauge);
  }
  families_->of_queues.clear();
  const auto set = [&](prometheus::Family<Gauge>& family, const Labels& labels, double value) {
    Gauge& gauge = family.Add(labels);
    gauge.Set(value);
    families_->of_queues.emplace_back(&family, &gauge);
  };
  for (const auto& [name, status] : queues.cluster_queues) {
    set(families_->queue_pending, {{"queue", name}}, status.pending);
    set(families_->queue_admitted, {{"queue", name}}, status.admitted);
    for (const kueue::FlavorUse& flavor : status.reservation) {
      for (const kueue::ResourceUse& use : flavor.resources) {
        const double unit = use.unit == Unit::kMilli ? 1000 : 1;
        const Labels labels = {{"queue", name}, {"flavor", flavor.flavor}, {"resource", use.resource}};
        set(families_->quota_used, labels, static_cast<double>(use.total) / unit);
        set(families_->quota_nominal, labels, static_cast<double>(use.nominal) / unit);
      }
    }
  }
}

void Metrics::fill_requests(const kube::Counters& reads, const kube::Counters& writes) {
  const auto sum = [&](kube::Counters::Count kube::Counters::* count) {
    return static_cast<double>((reads.*count).load() + (writes.*count).load());
  };
  for (std::size_t verb = 0; verb < kube::kVerbs; ++verb) {
    for (std::size_t code = 0; code < kube::kCodes; ++code) {
      const std::uint64_t count = reads.requests[verb][code].load() + writes.requests[verb][code].load();
      if (count > 0) {
        const Labels labels = {{"verb", std::string(kube::to_string(static_cast<kube::Verb>(verb)))},
                               {"code", std::string(kube::to_string(static_cast<kube::Code>(code)))}};
        raise_to(families_->requests.Add(labels), static_cast<double>(count));
      }
    }
  }
  raise_to(families_->retries, sum(&kube::Counters::retries));
  raise_to(families_->watch_failures, sum(&kube::Counters::watch_failures));
  raise_to(families_->relists, sum(&kube::Counters::relists));
  raise_to(families_->watch_events, sum(&kube::Counters::watch_events));
}

}  // namespace gantree

// What Prometheus is told.
//
// One thread owns it: the loop's.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "kube/counters.h"
#include "kueue/queue_status.h"
#include "pods/pod_family.h"
#include "service/dispatcher.h"
#include "service/letters.h"

namespace gantree {

// Where gauges are read when the page is asked for.
struct MetricSources {
  PodFamily& scheduler;
  const Dispatcher& dispatcher;
  const kube::Counters& reads;
  const kube::Counters& writes;
  const kueue::QueueStatuses& queues;
  bool leading = false;
  bool synced = false;
  bool hand_over = false;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();

  void stepped(const StepFigures& figures, std::chrono::nanoseconds took);
  void answered(const WriteAnswered& answer);
  void handed_over(std::chrono::milliseconds took);
  void gave_hand_over_up();
  // In the text format of Prometheus.
  [[nodiscard]] std::string page(const MetricSources& sources);

 private:
  struct Families;

  void fill_waiting(const GangTable& table);
  void fill_domains(Cluster& cluster);
  void fill_queues(const kueue::QueueStatuses& queues);
  void fill_requests(const kube::Counters& reads, const kube::Counters& writes);

  std::unique_ptr<Families> families_;
};

}  // namespace gantree

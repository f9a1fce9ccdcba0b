#include "service/metrics.h"

#include <gmock/gmock.h>

#include "http/transport.h"

namespace gantree {
namespace {

using testing::HasSubstr;
using testing::Not;

class SilentTransport final : public http::Transport {
 public:
  http::TaskId send(http::Request, http::Done) override { return 1; }
  http::TaskId stream(http::Request, http::StreamHandlers) override { return 1; }
  http::TaskId after(http::Milliseconds, std::function<void()>) override { return 1; }
  void cancel(http::TaskId) override {}
  void post(std::function<void()> step) override { step(); }
  void run(const std::function<void()>& step) override { step(); }
  [[nodiscard]] http::Clock::time_point now() const override { return {}; }
};

struct Page {
  std::string text(const kueue::QueueStatuses& queues) {
    return metrics.page({.scheduler = scheduler,
                         .dispatcher = dispatcher,
                         .reads = client.counters(),
                         .writes = client.counters(),
                         .queues = queues,
                         .leading = true,
                         .synced = true});
  }

  SilentTransport transport;
  kube::Client client{transport, nullptr};
  LoopMailbox mailbox;
  PodFamily scheduler{PodOptions{}};
  Dispatcher dispatcher{client, mailbox, DispatchLimits{}};
  Metrics metrics;
};

kueue::QueueStatuses one_queue() {
  kueue::QueueStatuses queues;
  kueue::QueueStatus& status = queues.cluster_queues["team"];
  status.pending = 3;
  status.admitted = 2;
  status.reservation = {{.flavor = "gpus",
                         .resources = {{.resource = "cpu", .unit = Unit::kMilli, .total = 2500, .nominal = 4000},
                                       {.resource = "nvidia.com/gpu", .total = 16, .borrowed = 8, .nominal = 8}}}};
  return queues;
}

TEST(Metrics, TellOfEachQueueHowManyWaitAndHowMuchIsUsed) {
  Page page;
  const std::string text = page.text(one_queue());
  EXPECT_THAT(text, HasSubstr("gantree_queue_pending_workloads{queue=\"team\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("gantree_queue_admitted_workloads{queue=\"team\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(R"(gantree_queue_quota_used{flavor="gpus",queue="team",resource="cpu"} 2.5)"));
  EXPECT_THAT(text, HasSubstr(R"(gantree_queue_quota_nominal{flavor="gpus",queue="team",resource="cpu"} 4)"));
  EXPECT_THAT(text, HasSubstr(R"(gantree_queue_quota_used{flavor="gpus",queue="team",resource="nvidia.com/gpu"} 16)"));
  EXPECT_THAT(text,
              HasSubstr(R"(gantree_queue_quota_nominal{flavor="gpus",queue="team",resource="nvidia.com/gpu"} 8)"));
}

TEST(Metrics, ForgetQueuesThatAreGone) {
  Page page;
  static_cast<void>(page.text(one_queue()));
  EXPECT_THAT(page.text({}), Not(HasSubstr("team")));
}

TEST(Metrics, TellHowLongWorkloadsWaitedForTheirAdmission) {
  Page page;
  StepFigures figures;
  figures.admission_waits = {std::chrono::milliseconds(200), std::chrono::seconds(30)};
  page.metrics.stepped(figures, std::chrono::nanoseconds(1));
  const std::string text = page.text({});
  EXPECT_THAT(text, HasSubstr("gantree_admission_wait_seconds_count 2\n"));
  EXPECT_THAT(text, HasSubstr("gantree_admission_wait_seconds_bucket{le=\"0.5\"} 1\n"));
}

}  // namespace
}  // namespace gantree

// The Kueue family: Topology, ResourceFlavor, ClusterQueue, LocalQueue and
// WorkloadPriorityClass in, Jobs and JobSets out as submissions.
#pragma once

#include <set>
#include <tuple>
#include <vector>

#include "dialects/dialects.h"
#include "dialects/kueue/admin.h"
#include "dialects/kueue/job_request.h"
#include "dialects/kueue/names.h"

namespace gantree::kueue {

class KueueDialect final : public Dialect {
 public:
  [[nodiscard]] std::string_view name() const override { return kFamily; }
  [[nodiscard]] std::span<const ApiKind> kinds() const override;
  [[nodiscard]] Result<> read(const NamedObject& named, Intake& intake) override;
  [[nodiscard]] Result<> connect(Intake& intake) override;
  [[nodiscard]] Claim claim(const Workload& workload, const Intake& intake) const override;
  [[nodiscard]] std::optional<GangKey> gang_of(const PodRecord& pod, const Intake& intake) const override;
  void describe(const Workload* workload, std::span<const PodRecord* const> pods, Intake& intake,
                RunningGang& gang) override;
  [[nodiscard]] Result<> submit(Intake& intake) override;

 private:
  // Books the room of one that was admitted, and has it run: whether it no longer asks.
  [[nodiscard]] bool hold(const JobRequest& request, const Submission& submission, Intake& intake) const;

  Setup setup_;
};

}  // namespace gantree::kueue

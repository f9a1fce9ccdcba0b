// The Kueue family: Topology, ResourceFlavor, ClusterQueue, LocalQueue and
// WorkloadPriorityClass in, Jobs and JobSets out as submissions.
#pragma once

#include <set>
#include <tuple>
#include <vector>

#include "dialects/dialects.h"
#include "dialects/kueue/admin.h"
#include "dialects/kueue/workload.h"

namespace gantree::kueue {

class KueueDialect final : public Dialect {
 public:
  [[nodiscard]] std::span<const ApiKind> kinds() const override;
  [[nodiscard]] Result<> read(const NamedObject& named, Intake& intake) override;
  [[nodiscard]] Result<> submit(Intake& intake) override;

 private:
  [[nodiscard]] Result<> take(Result<Workload> workload);

  Setup setup_;
  std::vector<Workload> workloads_;
};

}  // namespace gantree::kueue

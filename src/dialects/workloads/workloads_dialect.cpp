#include "dialects/workloads/workloads_dialect.h"

#include <utility>

namespace gantree {

Result<> WorkloadsDialect::read(const NamedObject& named, Intake& intake) {
  auto workload = read_workload(named);
  if (!workload) {
    return tl::unexpected(workload.error());
  }
  intake.workloads.push_back(std::move(*workload));
  return {};
}

}  // namespace gantree

// Reads all objects that make pods, for the families to pick from. It submits no gangs.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dialects/dialects.h"

namespace gantree {

class WorkloadsDialect final : public Dialect {
 public:
  [[nodiscard]] std::string_view name() const override { return "workloads"; }
  [[nodiscard]] std::span<const ApiKind> kinds() const override;
  [[nodiscard]] Result<> read(const NamedObject& named, Intake& intake) override;
  // TrainJobs are read here, when their runtimes are known.
  [[nodiscard]] Result<> connect(Intake& intake) override;
  [[nodiscard]] Result<> submit(Intake&) override { return {}; }

 private:
  struct TrainJob {
    Object object;
    std::string ns;
    std::string name;
  };
  // The spec of the runtime that a TrainJob names; absent where it is not in the input.
  [[nodiscard]] json::Value runtime_of(const TrainJob& job) const;

  std::vector<TrainJob> train_jobs_;
  std::map<std::pair<std::string, std::string>, json::Value> runtimes_;  // specs by namespace and name
};

}  // namespace gantree

// Reads all objects that make pods, for the families to pick from. It submits no gangs.
#pragma once

#include "dialects/dialects.h"

namespace gantree {

class WorkloadsDialect final : public Dialect {
 public:
  [[nodiscard]] std::string_view name() const override { return "workloads"; }
  [[nodiscard]] std::span<const ApiKind> kinds() const override { return workload_kinds(); }
  [[nodiscard]] Result<> read(const NamedObject& named, Intake& intake) override;
  [[nodiscard]] Result<> submit(Intake&) override { return {}; }
};

}  // namespace gantree

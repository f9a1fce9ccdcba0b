// The core dialect: Nodes, Pods, Namespaces and PriorityClasses. It submits no gangs.
#pragma once

#include "dialects/dialects.h"

namespace gantree {

class CoreDialect final : public Dialect {
 public:
  [[nodiscard]] std::string_view name() const override { return "core"; }
  [[nodiscard]] std::span<const ApiKind> kinds() const override;
  [[nodiscard]] Result<> read(const NamedObject& named, Intake& intake) override;
  [[nodiscard]] Result<> submit(Intake& intake) override;
};

}  // namespace gantree

// The LeaderWorkerSet family: every replica is a gang; and JobSets whose child Jobs each want a
// domain to themselves.
#pragma once

#include "dialects/dialects.h"
#include "dialects/lws/names.h"
#include "dialects/lws/replica.h"

namespace gantree::lws {

class LwsDialect final : public Dialect {
 public:
  [[nodiscard]] std::string_view name() const override { return kFamily; }
  [[nodiscard]] std::span<const ApiKind> kinds() const override { return {}; }
  [[nodiscard]] Result<> read(const NamedObject&, Intake&) override { return {}; }
  [[nodiscard]] Claim claim(const Workload& workload, const Intake& intake) const override;
  [[nodiscard]] std::optional<GangKey> gang_of(const PodRecord& pod, const Intake& intake) const override;
  void describe(const Workload* workload, std::span<const PodRecord* const> pods, Intake& intake,
                RunningGang& gang) override;
  [[nodiscard]] Result<> submit(Intake& intake) override;
};

}  // namespace gantree::lws

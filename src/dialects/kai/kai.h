// The KAI family: Topology, Queue and PodGroup in; PodGroups, and workloads as KAI's pod grouper would group
// them, out as submissions.
#pragma once

#include <map>

#include "dialects/dialects.h"
#include "dialects/kai/names.h"
#include "dialects/kai/pod_group.h"
#include "dialects/kai/queues.h"
#include "dialects/kai/remarks.h"
#include "dialects/kai/roll.h"

namespace gantree::kai {

class KaiDialect final : public Dialect {
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
  [[nodiscard]] Result<> submit_groups(Intake& intake);
  [[nodiscard]] Result<> submit_workloads(Intake& intake);
  [[nodiscard]] Result<> hand_in(const Draft& draft, Intake& intake);

  std::map<GroupName, PodGroup> groups_;
  QueueTree queues_;
  Remarks remarks_;
};

}  // namespace gantree::kai

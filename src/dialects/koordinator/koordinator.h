// The Koordinator family: PodGroups and ClusterNetworkTopology in; pods, and workloads whose templates
// join a gang, out as submissions: one a GangGroup.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dialects/dialects.h"
#include "dialects/koordinator/names.h"
#include "dialects/koordinator/roll.h"
#include "dialects/koordinator/submit.h"

namespace gantree::koordinator {

class KoordinatorDialect final : public Dialect {
 public:
  // Pods of these schedulers are of the family, marked or not.
  explicit KoordinatorDialect(std::vector<std::string> schedulers = {std::string(kScheduler)})
      : schedulers_(std::move(schedulers)) {}

  [[nodiscard]] std::string_view name() const override { return kFamily; }
  [[nodiscard]] std::span<const ApiKind> kinds() const override;
  [[nodiscard]] Result<> read(const NamedObject& named, Intake& intake) override;
  [[nodiscard]] Result<> connect(Intake& intake) override;
  [[nodiscard]] Claim claim(const Workload& workload, const Intake& intake) const override;
  [[nodiscard]] std::optional<GangKey> gang_of(const PodRecord& pod, const Intake& intake) const override;
  void describe(const Workload* workload, std::span<const PodRecord* const> pods, Intake& intake,
                RunningGang& gang) override;
  void take_signs(Intake& intake) const override;
  [[nodiscard]] Result<> submit(Intake& intake) override;

 private:
  [[nodiscard]] bool is_ours(const PodTemplate& part) const;
  void note_pod_marks(Intake& intake) const;

  std::vector<std::string> schedulers_;
  Roll roll_;
  std::vector<std::pair<GangId, Object>> groups_;  // the PodGroups
  Unused unused_;
  std::optional<NetworkTopology> network_;
  std::optional<UsedTopology> topology_;
  // Workloads whose pods name a gang, though their templates may not; found when first asked for.
  mutable std::optional<std::set<const Workload*>> with_marked_pods_;
};

}  // namespace gantree::koordinator

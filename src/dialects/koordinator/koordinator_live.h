// The Koordinator family on a live cluster: PodGroups with their status, and the status of the topology.
#pragma once

#include <string>
#include <vector>

#include "dialects/live.h"

namespace gantree::koordinator {

class KoordinatorLive final : public LiveDialect {
 public:
  explicit KoordinatorLive(std::vector<std::string> schedulers) : schedulers_(std::move(schedulers)) {}

  [[nodiscard]] std::span<const ApiKind> kinds() const override;
  [[nodiscard]] std::unique_ptr<Dialect> reader() const override;
  [[nodiscard]] std::string gang_of(std::string_view ns, json::Value metadata) const override;
  [[nodiscard]] std::string gang_named(std::string_view ns, std::string_view name) const override;
  [[nodiscard]] std::string defines(const NamedObject& named) const override;
  [[nodiscard]] std::vector<std::string> partners(const NamedObject& named) const override;
  [[nodiscard]] std::optional<Write> report(const GangReport& report) const override;
  [[nodiscard]] std::optional<Write> report(const NamedObject& named, Cluster& cluster) const override;

 private:
  std::vector<std::string> schedulers_;
};

}  // namespace gantree::koordinator

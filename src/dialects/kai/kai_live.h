// The KAI family on a live cluster: PodGroups with queues, and their status.
#pragma once

#include <string>
#include <vector>

#include "dialects/live.h"

namespace gantree::kai {

class KaiLive final : public LiveDialect {
 public:
  [[nodiscard]] bool has_queues() const override { return true; }
  [[nodiscard]] std::string_view family() const override;
  [[nodiscard]] std::span<const ApiKind> kinds() const override;
  [[nodiscard]] std::unique_ptr<Dialect> reader() const override;
  [[nodiscard]] std::string gang_of(std::string_view ns, json::Value metadata) const override;
  [[nodiscard]] std::string gang_named(std::string_view ns, std::string_view name) const override;
  [[nodiscard]] std::string ungrouped(json::Value metadata, json::Value spec) const override;
  [[nodiscard]] std::string defines(const NamedObject& named) const override;
  [[nodiscard]] std::vector<std::string> partners(const NamedObject&) const override { return {}; }
  [[nodiscard]] std::optional<Write> report(const GangReport& report) const override;
  [[nodiscard]] std::optional<Write> report(const NamedObject&, Cluster&) const override { return std::nullopt; }
  [[nodiscard]] std::optional<Write> report_queue(const NamedObject& named,
                                                  std::span<const CellFigures> cells) const override;
  [[nodiscard]] std::string_view event_reason(const Verdict& verdict) const override;
};

}  // namespace gantree::kai

#include "dialects/kai/kai_live.h"

#include <fmt/format.h>

#include "dialects/core/metadata.h"
#include "dialects/kai/kai.h"
#include "dialects/kai/pod_group_status.h"
#include "dialects/kai/queue_status.h"
#include "dialects/not_live.h"

namespace gantree::kai {

std::string_view KaiLive::family() const {
  return kFamily;
}

std::span<const ApiKind> KaiLive::kinds() const {
  static const KaiDialect kReader;
  return kReader.kinds();
}

std::unique_ptr<Dialect> KaiLive::reader() const {
  return std::make_unique<KaiDialect>();
}

std::string KaiLive::gang_of(std::string_view ns, json::Value metadata) const {
  const json::Value name = text_at(map_at(metadata, "annotations"), kPodGroupName);
  return name && !name.text().empty() ? gang_named(ns, name.text()) : std::string();
}

std::string KaiLive::gang_named(std::string_view ns, std::string_view name) const {
  return fmt::format("{}/{}{}{}", ns, name, kOfFamily, kFamily);
}

std::string KaiLive::ungrouped(json::Value metadata, json::Value spec) const {
  const std::string_view mark = mark_of_kai(metadata, spec);
  return mark.empty() ? ""
                      : fmt::format("carries {}, and its annotation {} names no PodGroup yet", mark, kPodGroupName);
}

std::string KaiLive::defines(const NamedObject& named) const {
  return named.object.kind == "PodGroup" ? gang_named(named.ns, named.name) : std::string();
}

std::optional<Write> KaiLive::report(const GangReport& report) const {
  return pod_group_status(report);
}

std::optional<Write> KaiLive::report_queue(const NamedObject& named, std::span<const CellFigures> cells) const {
  return named.object.kind == "Queue" ? std::optional(queue_status(named, cells)) : std::nullopt;
}

std::string_view KaiLive::event_reason(const Verdict& verdict) const {
  return reason_of(verdict);
}

}  // namespace gantree::kai

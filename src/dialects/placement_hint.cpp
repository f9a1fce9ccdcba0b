#include "dialects/placement_hint.h"

#include <fmt/ranges.h>

#include <charconv>

#include "dialects/core/metadata.h"
#include "dialects/workloads/workload.h"
#include "json/write.h"

namespace gantree {

std::string placement_hint(int rank, const std::vector<std::string>& levels, const std::vector<std::string>& path) {
  json::Out hint = json::Out::object();
  hint.add(kRankHint, std::to_string(rank));
  if (!path.empty()) {
    hint.add(kDomainHint, fmt::format("{}", fmt::join(path, ",")));
    hint.add(kLevelsHint, fmt::format("{}", fmt::join(levels, ",")));
  }
  return hint.to_json(false);
}

std::optional<int> told_rank(json::Value metadata) {
  const json::Value told = text_at(map_at(metadata, "annotations"), kRankHint);
  if (!told) {
    return std::nullopt;
  }
  int rank = 0;
  const std::string_view text = told.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  return error == std::errc() && end == text.data() + text.size() && rank >= 0 ? std::optional(rank) : std::nullopt;
}

}  // namespace gantree

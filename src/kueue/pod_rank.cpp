#include "kueue/pod_rank.h"

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/whole_number.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"

namespace gantree::kueue {

namespace {

// Whoever makes pods may write any number there is.
std::optional<std::int64_t> number_in(const StartedPod& pod, std::string_view key) {
  const auto it = pod.marks.find(key);
  const auto number = it == pod.marks.end() ? std::nullopt : whole_number(it->second, 0);
  return number ? std::optional<std::int64_t>(*number) : std::nullopt;
}

}  // namespace

std::optional<int> rank_in_set(const StartedPod& pod, const PodSetRequest& set) {
  const json::Value request = map_at(set.at, "topologyRequest");
  const json::Value label = request ? text_at(request, "podIndexLabel") : json::Value();
  auto rank = label ? number_in(pod, label.text()) : std::nullopt;
  if (!rank) {
    return std::nullopt;
  }
  const json::Value part_label = text_at(request, "subGroupIndexLabel");
  const json::Value parts = request["subGroupCount"];
  const auto count = parts && parts.kind() == json::Kind::kNumber ? whole_number(parts.text(), 1) : std::nullopt;
  if (part_label && count) {
    const auto part = number_in(pod, part_label.text());
    if (!part) {
      return std::nullopt;
    }
    *rank += *part * (set.count / *count);
  }
  *rank -= number_in(pod, kIndexOffset).value_or(0);
  return *rank >= 0 && *rank <= std::numeric_limits<int>::max() ? std::optional(static_cast<int>(*rank)) : std::nullopt;
}

}  // namespace gantree::kueue

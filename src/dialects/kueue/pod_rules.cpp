#include "dialects/kueue/pod_rules.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "base/quantity.h"
#include "dialects/core/metadata.h"

namespace gantree::kueue {

namespace {

std::optional<std::int64_t> amount_of(json::Value value, Round round) {
  const bool plain = value && (value.kind() == json::Kind::kString || value.kind() == json::Kind::kNumber);
  const auto amount = plain ? parse_quantity(value.text(), Unit::kMilli, round) : Result<std::int64_t>(invalid(""));
  return amount ? std::optional(*amount) : std::nullopt;
}

// The first resource of which more is requested than the limit is.
std::optional<std::string> excess(json::Value resources) {
  const json::Value requests = map_at(resources, "requests");
  const json::Value limits = map_at(resources, "limits");
  if (!requests || !limits) {
    return std::nullopt;
  }
  std::map<std::string_view, json::Value> most;
  for (const json::MemberData& limit : limits.members()) {
    most.emplace(limit.key, json::Value(&limit.value));
  }
  for (const json::MemberData& request : requests.members()) {
    const auto limit = most.find(request.key);
    if (limit == most.end()) {
      continue;
    }
    const json::Value asked(&request.value);
    const auto amount = amount_of(asked, Round::kUp);
    const auto bound = amount_of(limit->second, Round::kUp);
    if (amount && bound && *amount > *bound) {
      return fmt::format("requests {} of {}, above its limit of {}", asked.text(), request.key, limit->second.text());
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unfit_pod(json::Value spec) {
  if (!items_of(spec["resourceClaims"]).empty()) {
    return "spec.resourceClaims: resource claims are not counted against quota, so pods with claims cannot wait in a "
           "queue";
  }
  return above_limits(spec);
}

std::optional<std::string> above_limits(json::Value spec) {
  for (const std::string_view list : {std::string_view("containers"), std::string_view("initContainers")}) {
    for (const json::NodeData& item : items_of(spec[list])) {
      const json::Value container(&item);
      if (const auto more = excess(map_at(container, "resources"))) {
        const json::Value name = container["name"];
        return fmt::format("container \"{}\" {}",
                           name && name.kind() == json::Kind::kString ? name.text() : std::string_view(), *more);
      }
    }
  }
  const auto more = excess(map_at(spec, "resources"));
  return more ? std::optional(fmt::format("the pod {}", *more)) : std::nullopt;
}

}  // namespace gantree::kueue

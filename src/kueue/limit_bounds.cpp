#include "kueue/limit_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "base/quantity.h"
#include "dialects/core/metadata.h"
#include "dialects/workloads/workload.h"
#include "kueue/pod_defaults.h"

namespace gantree::kueue {

namespace {

constexpr std::string_view kRequests = "requests";
constexpr std::string_view kLimits = "limits";

std::optional<std::int64_t> amount_of(std::string_view text) {
  const auto amount = parse_quantity(text, Unit::kMilli, Round::kUp);
  return amount ? std::optional(*amount) : std::nullopt;
}

// 3Gi rather than 3221225472.
std::string in_words(std::int64_t thousandths) {
  return thousandths % 1000 == 0 ? format_quantity(thousandths / 1000, Unit::kOne)
                                 : format_quantity(thousandths, Unit::kMilli);
}

// What a container, or a whole pod, says of one resource, in thousandths.
std::optional<std::int64_t> said(json::Value owner, std::string_view which, const std::string& resource) {
  const json::Value amounts = map_at(map_at(owner, "resources"), which);
  const json::Value value = amounts ? amounts[resource] : json::Value();
  const bool there = value && (value.kind() == json::Kind::kString || value.kind() == json::Kind::kNumber);
  return there ? amount_of(value.text()) : std::nullopt;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return a > std::numeric_limits<std::int64_t>::max() - b ? std::numeric_limits<std::int64_t>::max() : a + b;
}

// The same of a pod: all its containers together, or any of those that go before them if that is more; what the pod
// says of itself counts before that.
std::optional<std::int64_t> said_of_pod(json::Value spec, std::string_view which, const std::string& resource) {
  if (const auto own = said(spec, which, resource)) {
    return own;
  }
  std::optional<std::int64_t> all;
  for (const json::NodeData& item : items_of(spec["containers"])) {
    if (const auto one = said(json::Value(&item), which, resource)) {
      all = sum(all.value_or(0), *one);
    }
  }
  for (const json::NodeData& item : items_of(spec["initContainers"])) {
    if (const auto one = said(json::Value(&item), which, resource)) {
      all = std::max(all.value_or(0), *one);
    }
  }
  return all;
}

// Where `of` says how much is asked for; "" where the bounds are kept.
template <typename Of>
std::string breach_of(const std::map<std::string, std::string>& least, const std::map<std::string, std::string>& most,
                      Of of) {
  for (const auto& [resource, bound] : least) {
    const auto request = of(kRequests, resource);
    if (const auto amount = amount_of(bound); amount && (!request || *request < *amount)) {
      return fmt::format("requests {} of {}, and at least {} is asked", request ? in_words(*request) : "nothing",
                         resource, bound);
    }
  }
  for (const auto& [resource, bound] : most) {
    const auto amount = amount_of(bound);
    const auto limit = of(kLimits, resource);
    const auto request = of(kRequests, resource);
    if (amount && !limit) {
      return fmt::format("has no limit of {}, and at most {} is allowed", resource, bound);
    }
    if (amount && std::max(*limit, request.value_or(0)) > *amount) {
      return fmt::format("asks for {} of {}, and at most {} is allowed",
                         in_words(std::max(*limit, request.value_or(0))), resource, bound);
    }
  }
  return "";
}

}  // namespace

bool LimitBounds::see(const LiveObject& object, const Object& parsed) {
  Range range;
  for (const auto& [type, limit] : PodDefaults::limits_of(parsed)) {
    Bounds& into = type == "Pod" ? range.pod : range.container;
    into.least.merge(PodDefaults::amounts_of(map_at(limit, "min")));
    into.most.merge(PodDefaults::amounts_of(map_at(limit, "max")));
  }
  Range& known = ranges_[object.ns][object.name];
  return std::exchange(known, range) != range;
}

bool LimitBounds::lose(std::string_view ns, std::string_view name) {
  const auto found = ranges_.find(ns);
  if (found == ranges_.end() || found->second.erase(std::string(name)) == 0) {
    return false;
  }
  if (found->second.empty()) {
    ranges_.erase(found);
  }
  return true;
}

std::optional<std::string> LimitBounds::breach(std::string_view ns, json::Value spec) const {
  const auto found = ranges_.find(ns);
  if (found == ranges_.end() || !spec) {
    return std::nullopt;
  }
  for (const auto& [name, range] : found->second) {
    for (const std::string_view list : {std::string_view("containers"), std::string_view("initContainers")}) {
      for (const json::NodeData& item : items_of(spec[list])) {
        const json::Value container(&item);
        const std::string breach =
            breach_of(range.container.least, range.container.most,
                      [&](auto which, const auto& resource) { return said(container, which, resource); });
        if (!breach.empty()) {
          const json::Value own = text_at(container, "name");
          return fmt::format("LimitRange \"{}\": container \"{}\" {}", name, own ? own.text() : "", breach);
        }
      }
    }
    const std::string breach = breach_of(range.pod.least, range.pod.most, [&](auto which, const auto& resource) {
      return said_of_pod(spec, which, resource);
    });
    if (!breach.empty()) {
      return fmt::format("LimitRange \"{}\": a pod {}", name, breach);
    }
  }
  return std::nullopt;
}

}  // namespace gantree::kueue

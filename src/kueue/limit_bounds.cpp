#include "kueue/limit_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/named_amounts.h"
#include "base/pod_total.h"
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

using Named = NamedAmounts<std::int64_t>;

// What a container, or a whole pod, says of its resources, in thousandths.
Named said(json::Value owner, std::string_view which) {
  Named amounts;
  for (const auto& [resource, quantity] : PodDefaults::amounts_of(map_at(map_at(owner, "resources"), which))) {
    if (const auto amount = amount_of(quantity)) {
      amounts.set(resource, *amount);
    }
  }
  return amounts;
}

// The same of a pod with all its containers. LimitRanges leave overhead out.
Named said_of_pod(json::Value spec, std::string_view which) {
  PodTotal<Named> total;
  for (const json::NodeData& item : items_of(spec["initContainers"])) {
    const json::Value container(&item);
    const json::Value policy = text_at(container, "restartPolicy");
    total.add_init_container(said(container, which), policy && policy.text() == "Always");
  }
  for (const json::NodeData& item : items_of(spec["containers"])) {
    total.add_container(said(json::Value(&item), which));
  }
  return total.of_pod(said(spec, which).map(), {});
}

std::optional<std::int64_t> find_amount(const Named& amounts, const std::string& resource) {
  const auto found = amounts.map().find(resource);
  return found == amounts.map().end() ? std::nullopt : std::optional(found->second);
}

// Which bound is not kept; "" where all are.
std::string breach_of(const std::map<std::string, std::string>& least, const std::map<std::string, std::string>& most,
                      const Named& requests, const Named& limits) {
  for (const auto& [resource, bound] : least) {
    const auto request = find_amount(requests, resource);
    if (const auto amount = amount_of(bound); amount && (!request || *request < *amount)) {
      return fmt::format("requests {} of {}, and at least {} is asked", request ? in_words(*request) : "nothing",
                         resource, bound);
    }
  }
  for (const auto& [resource, bound] : most) {
    const auto amount = amount_of(bound);
    const auto limit = find_amount(limits, resource);
    const auto request = find_amount(requests, resource);
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
        const std::string breach = breach_of(range.container.least, range.container.most, said(container, kRequests),
                                             said(container, kLimits));
        if (!breach.empty()) {
          const json::Value own = text_at(container, "name");
          return fmt::format("LimitRange \"{}\": container \"{}\" {}", name, own ? own.text() : "", breach);
        }
      }
    }
    const std::string breach =
        breach_of(range.pod.least, range.pod.most, said_of_pod(spec, kRequests), said_of_pod(spec, kLimits));
    if (!breach.empty()) {
      return fmt::format("LimitRange \"{}\": a pod {}", name, breach);
    }
  }
  return std::nullopt;
}

}  // namespace gantree::kueue

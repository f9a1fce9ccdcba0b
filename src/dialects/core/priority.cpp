#include "dialects/core/priority.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "json/decode.h"

namespace gantree {

namespace {

std::string_view class_of(json::Value spec) {
  const json::Value name = spec["priorityClassName"];
  return name && name.kind() == json::Kind::kString ? name.text() : std::string_view{};
}

std::optional<std::int64_t> number_of(json::Value spec) {
  json::Reader read("", "");
  return read.integer(spec, "priority", std::numeric_limits<std::int32_t>::min(),
                      std::numeric_limits<std::int32_t>::max());
}

}  // namespace

std::int64_t pod_priority(json::Value spec, const CoreObjects& core) {
  if (const auto number = number_of(spec)) {
    return *number;
  }
  const auto known = core.priority_classes.find(class_of(spec));
  return known != core.priority_classes.end() ? known->second : core.default_priority.value_or(0);
}

Result<std::int64_t> gang_priority(std::string_view file, const std::vector<json::Value>& specs,
                                   const CoreObjects& core, int& unresolved) {
  for (const json::Value spec : specs) {
    const std::string_view name = class_of(spec);
    if (name.empty()) {
      continue;
    }
    if (const auto known = core.priority_classes.find(name); known != core.priority_classes.end()) {
      return known->second;
    }
    if (core.has_priority_classes) {
      return invalid(fmt::format("{}: priorityClassName: there is no PriorityClass \"{}\"",
                                 json::to_string({file, spec["priorityClassName"].line()}), name));
    }
    ++unresolved;
    break;
  }
  for (const json::Value spec : specs) {
    if (const auto number = number_of(spec)) {
      return *number;
    }
  }
  return core.default_priority.value_or(0);
}

bool never_preempts(json::Value spec, const CoreObjects& core) {
  const json::Value policy = spec["preemptionPolicy"];
  if (policy && policy.kind() == json::Kind::kString) {
    return policy.text() == "Never";
  }
  return core.never_preempting.contains(class_of(spec));
}

}  // namespace gantree

#include "dialects/kai/standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "dialects/core/priority.h"
#include "dialects/kai/names.h"

namespace gantree::kai {

namespace {

// The classes that KAI installs. Those of the input go before.
constexpr std::pair<std::string_view, std::int64_t> kClasses[] = {
    {"train", 50}, {"build-preemptible", 75}, {"build", 100}, {"inference", 125}};

std::optional<std::int64_t> value_of(std::string_view name, const CoreObjects& core) {
  if (const auto known = core.priority_classes.find(name); known != core.priority_classes.end()) {
    return known->second;
  }
  for (const auto& [own, value] : kClasses) {
    if (own == name) {
      return value;
    }
  }
  return std::nullopt;
}

Result<std::int64_t> priority_of(const StandingRequest& request, const CoreObjects& core, Remarks& remarks) {
  for (const json::Value name : request.classes) {
    if (!name) {
      continue;
    }
    if (const auto value = value_of(name.text(), core)) {
      return *value;
    }
    remarks.add(fmt::format("there is no PriorityClass \"{}\": it does not count", name.text()));
  }
  for (const json::Value spec : request.specs) {
    const json::Value name = text_at(spec, "priorityClassName");
    if (!name) {
      continue;
    }
    if (const auto value = value_of(name.text(), core)) {
      return *value;
    }
    if (core.has_priority_classes) {
      return invalid(fmt::format("{}: priorityClassName: there is no PriorityClass \"{}\"",
                                 json::to_string({request.file, name.line()}), name.text()));
    }
    remarks.add(fmt::format("there is no PriorityClass \"{}\": it does not count", name.text()));
  }
  return core.default_priority ? *core.default_priority : value_of(request.default_class, core).value_or(0);
}

}  // namespace

StandingRequest standing_request(const Workload& workload) {
  StandingRequest request;
  request.file = workload.object.file;
  if (workload.object.group == "ray.io") {
    request.classes.push_back(text_at(workload.labels, kRayPriorityClass));
  }
  request.classes.push_back(text_at(workload.labels, kPriorityClass));
  request.preemptibilities.push_back(text_at(workload.labels, kPreemptibility));
  for (const PodTemplate& part : workload.templates) {
    request.classes.push_back(text_at(part.labels(), kPriorityClass));
    request.preemptibilities.push_back(text_at(part.labels(), kPreemptibility));
    request.specs.push_back(part.spec);
  }
  if (workload.key.kind == "Deployment") {
    request.default_class = "inference";
  }
  return request;
}

Result<Standing> standing_of(const StandingRequest& request, const CoreObjects& core, Remarks& remarks) {
  const auto priority = priority_of(request, core, remarks);
  if (!priority) {
    return tl::unexpected(priority.error());
  }
  Standing standing;
  standing.priority = *priority;
  standing.preemptible = *priority < kNonPreemptibleFrom;
  for (const json::Value value : request.preemptibilities) {
    if (!value) {
      continue;
    }
    if (value.text() == kPreemptible || value.text() == kNonPreemptible) {
      standing.preemptible = value.text() == kPreemptible;
      break;
    }
    remarks.add(fmt::format("preemptibility \"{}\" is neither {} nor {}: it does not count", value.text(), kPreemptible,
                            kNonPreemptible));
  }
  standing.may_evict = std::none_of(request.specs.begin(), request.specs.end(),
                                    [&](json::Value spec) { return never_preempts(spec, core); });
  return standing;
}

}  // namespace gantree::kai

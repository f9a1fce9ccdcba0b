#include "dialects/kai/admission.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/duration.h"
#include "dialects/kai/levels.h"
#include "dialects/kai/names.h"
#include "dialects/kai/pod_group.h"
#include "dialects/kai/queues.h"
#include "dialects/objection.h"
#include "dialects/workloads/workload.h"

namespace gantree::kai {

namespace {

Admission refused(const NamedObject& named, std::string why) {
  return {.refusal = without_place(named.object.file, std::move(why)), .warnings = {}};
}

// The field must be a duration as Go writes it, where it is there at all.
std::optional<std::string> wrong_duration(json::Value spec, std::string_view field) {
  const json::Value text = spec ? text_at(spec, field) : json::Value();
  if (!text || parse_duration(text.text())) {
    return std::nullopt;
  }
  return fmt::format("spec.{} must be a duration, as in 90s or 1h30m, not \"{}\"", field, text.text());
}

bool has_resources(json::Value spec) {
  const json::Value resources = spec && spec.kind() == json::Kind::kObject ? spec["resources"] : json::Value();
  return resources && resources.kind() == json::Kind::kObject;
}

void warn_of_minimum(std::string_view who, std::optional<int> min, std::size_t children, Admission& admission) {
  if (min && static_cast<std::size_t>(*min) > children) {
    admission.warnings.push_back(fmt::format(
        "minSubGroup of {} is {}, but {} subgroups are directly below it: it cannot start", who, *min, children));
  }
}

void warn_of_levels(std::string_view who, const LevelRequest& levels, Admission& admission) {
  if (levels.topology && !levels.asks()) {
    admission.warnings.push_back(
        fmt::format("{} of {} names a topology, but no level: it asks for nothing", levels.topology_field, who));
  }
}

}  // namespace

Admission validate_pod_group(const NamedObject& named) {
  Remarks unheard;
  const auto group = read_pod_group(named, unheard);
  if (!group) {
    return refused(named, group.error().message);
  }
  if (group->objection) {
    return refused(named, *group->objection);
  }
  const json::Value spec = named.object.value["spec"];
  for (const std::string_view field : {"preemptionDelay", "stalenessGracePeriod"}) {
    if (auto wrong = wrong_duration(spec, field)) {
      return {.refusal = std::move(wrong), .warnings = {}};
    }
  }
  Admission admission;
  json::Reader read(named.object.file, "");
  const std::int64_t tries = read.integer(spec, "schedulingBackoff", INT32_MIN, INT32_MAX).value_or(-1);
  if (tries != -1 && tries != 1) {
    admission.warnings.push_back(
        fmt::format("spec.schedulingBackoff is {}, but only -1 and 1 have a meaning: it counts as -1", tries));
  }
  warn_of_minimum("the PodGroup", group->min_groups, group->children.size(), admission);
  warn_of_levels("the PodGroup", group->levels, admission);
  for (const SubGroup& subgroup : group->subgroups) {
    const std::string who = fmt::format("subgroup \"{}\"", subgroup.name);
    warn_of_minimum(who, subgroup.min_groups, subgroup.children.size(), admission);
    warn_of_levels(who, subgroup.levels, admission);
  }
  return admission;
}

Admission validate_queue(const NamedObject& named) {
  Remarks unheard;
  QueueTree tree;
  if (const auto read = tree.read(named, unheard); !read) {
    return refused(named, read.error().message);
  }
  const json::Value spec = named.object.value["spec"];
  if (!has_resources(spec)) {
    return {.refusal = fmt::format("Queue \"{}\": spec.resources must be given", named.name), .warnings = {}};
  }
  if (const json::Value parent = text_at(spec, "parentQueue"); parent && parent.text() == named.name) {
    return {.refusal = fmt::format("spec.parentQueue: Queue \"{}\" cannot be above itself", named.name),
            .warnings = {}};
  }
  return {};
}

Admission validate_topology(const NamedObject& named) {
  if (const auto levels = read_levels(named); !levels) {
    return refused(named, levels.error().message);
  }
  return {};
}

std::optional<std::string> refuse_fractions(const NamedObject& named, bool serves_kai) {
  const auto workload = read_workload(named);
  if (!workload) {
    return std::nullopt;
  }
  for (const PodTemplate& pods : workload->templates) {
    const json::Value scheduler = text_at(pods.spec, "schedulerName");
    const std::string_view name = scheduler ? scheduler.text() : std::string_view();
    if (name != kOurScheduler && (name != kScheduler || !serves_kai)) {
      continue;
    }
    for (const std::string_view mark : {kGpuFraction, kGpuMemory}) {
      if (text_at(pods.annotations(), mark)) {
        return fmt::format(
            "annotation {} asks for a part of a GPU; only whole GPUs are given, by resources such as nvidia.com/gpu",
            mark);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> queue_is_needed(const NamedObject& named) {
  const json::Value status = named.object.value["status"];
  const json::Value children = status && status.kind() == json::Kind::kObject ? status["childQueues"] : json::Value();
  if (!children || children.kind() != json::Kind::kArray || children.items().empty()) {
    return std::nullopt;
  }
  const json::Value first(&children.items().front());
  return fmt::format("Queue \"{}\" cannot be deleted while other queues are below it: {}{}", named.name,
                     first.kind() == json::Kind::kString ? first.text() : "?",
                     children.items().size() > 1 ? fmt::format(" and {} more", children.items().size() - 1) : "");
}

}  // namespace gantree::kai

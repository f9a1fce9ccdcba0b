#include "dialects/workloads/workload_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gantree {

WorkloadReader::WorkloadReader(const NamedObject& named)
    : read_(named.object.file, named.object.value,
            fmt::format("{} \"{}/{}\"", named.object.kind, named.ns, named.name)),
      objection_(named.object.file) {
  workload_.object = named.object;
  workload_.key = {
      .ns = std::string(named.ns), .name = std::string(named.name), .kind = std::string(named.object.kind)};
  const json::Value metadata = named.object.metadata();
  workload_.labels = read_.texts(metadata, "labels");
  workload_.annotations = read_.texts(metadata, "annotations");
  workload_.created_seconds = read_created(read_, metadata);
  workload_.over = read_.text(metadata, "deletionTimestamp").has_value();
  workload_.owner = read_controller(read_, metadata);
  spec_ = read_.require_object(named.object.value, "spec");
  status_ = read_.object(named.object.value, "status");
}

int WorkloadReader::count(json::Value parent, std::string_view key, int fallback) {
  const std::int64_t count =
      read_.integer(parent, key, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())
          .value_or(fallback);
  if (count < 0) {
    objection_.raise(parent[key], fmt::format("{} is {}, but must not be negative", key, count));
    return 0;
  }
  return static_cast<int>(count);
}

int WorkloadReader::parallelism(json::Value job_spec) {
  const int parallelism = count(job_spec, "parallelism", 1);
  return std::min(parallelism, count(job_spec, "completions", std::numeric_limits<int>::max()));
}

bool WorkloadReader::any_condition(std::initializer_list<std::string_view> types) {
  return std::any_of(types.begin(), types.end(),
                     [&](std::string_view type) { return condition(read_, status_, type).value_or(false); });
}

PodTemplate& WorkloadReader::add(std::string_view role, json::Value holder, int replicas, int each,
                                 std::string_view fields) {
  PodTemplate& added = workload_.templates.emplace_back();
  added.at = holder ? holder : workload_.object.value;
  fill(added, role, read_.require_object(holder, "template"));
  set_count(added, replicas, each, fields);
  return added;
}

void WorkloadReader::fill(PodTemplate& added, std::string_view role, json::Value pod_template) {
  added.role = role;
  added.metadata = read_.object(pod_template, "metadata");
  static_cast<void>(read_.texts(added.metadata, "labels"));
  static_cast<void>(read_.texts(added.metadata, "annotations"));
  added.spec = read_.require_object(pod_template, "spec");
}

void WorkloadReader::set_count(PodTemplate& added, int replicas, int each, std::string_view fields) {
  added.replicas = replicas;
  added.each = each;
  if (const std::int64_t pods = pods_of_parts(replicas, each); pods > kMostPods) {
    objection_.raise(added.at, fmt::format("{} of \"{}\" would be {} pods; at most {} are allowed", fields, added.role,
                                           pods, kMostPods));
    added.replicas = 0;
  }
}

Result<Workload> WorkloadReader::finish() {
  if (!read_.ok()) {
    return read_.error();
  }
  std::int64_t pods = 0;
  for (const PodTemplate& part : workload_.templates) {
    pods += part.count();
  }
  if (pods > kMostPods) {
    objection_.raise(workload_.object.value,
                     fmt::format("all templates together ask for {} pods; at most {} are allowed", pods, kMostPods));
    for (PodTemplate& part : workload_.templates) {
      part.replicas = 0;
    }
  }
  workload_.objection = objection_.first();
  return std::move(workload_);
}

}  // namespace gantree

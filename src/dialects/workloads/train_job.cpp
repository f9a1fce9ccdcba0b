// TrainJobs: the JobSet of a runtime, with what the job itself says of its nodes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "dialects/workloads/workload_reader.h"
#include "json/overlay.h"

namespace gantree {

namespace {

constexpr std::string_view kAncestorStep = "trainer.kubeflow.org/trainjob-ancestor-step";
constexpr std::string_view kNode = "node";
// Members of a pod spec that overrides replace; maps are merged.
constexpr std::string_view kOverridden[] = {"tolerations", "affinity", "priorityClassName", "schedulerName"};

// The step that trains, as opposed to those that fetch data and models first.
bool trains(const PodTemplate& part) {
  const json::Value step = part.job_metadata ? text_at(part.job_metadata["labels"], kAncestorStep) : json::Value();
  return part.role == kNode || (step && step.text() == "trainer" && part.role != "launcher");
}

json::Value with_resources(json::Overlay& overlay, json::Value spec, json::Value resources) {
  const json::Value containers = spec["containers"];
  if (!containers || containers.kind() != json::Kind::kArray) {
    return spec;
  }
  for (std::size_t i = 0; i < containers.items().size(); ++i) {
    const json::Value container(&containers.items()[i]);
    const bool only = containers.items().size() == 1;
    const json::Value name = container.kind() == json::Kind::kObject ? text_at(container, "name") : json::Value();
    if (name && (only || name.text() == kNode)) {
      const json::Value changed = overlay.with(container, "resources", resources);
      return overlay.with(spec, "containers", overlay.with_item(containers, i, changed));
    }
  }
  return spec;
}

bool targets(json::Value target_jobs, std::string_view role) {
  if (!target_jobs || target_jobs.kind() != json::Kind::kArray) {
    return true;
  }
  const auto items = target_jobs.items();
  return std::any_of(items.begin(), items.end(), [&](const json::NodeData& item) {
    const json::Value name = text_at(json::Value(&item), "name");
    return name && name.text() == role;
  });
}

// podSpecOverrides, and podTemplateOverrides as newer versions call it.
void override_specs(WorkloadReader& reader, json::Overlay& overlay, PodTemplate& part) {
  json::Reader& read = reader.read();
  for (const std::string_view field : {"podSpecOverrides", "podTemplateOverrides"}) {
    const json::Value list = read.array(reader.spec(), field);
    if (!list) {
      continue;
    }
    for (const json::NodeData& item : list.items()) {
      const json::Value one = read.as_object(json::Value(&item), field);
      if (!one || !targets(one["targetJobs"], part.role)) {
        continue;
      }
      const json::Value spec = read.object(one, "spec") ? read.object(one, "spec") : one;
      if (const json::Value selector = read.texts(spec, "nodeSelector")) {
        part.spec =
            overlay.with(part.spec, "nodeSelector", overlay.merged(read.texts(part.spec, "nodeSelector"), selector));
      }
      for (const std::string_view key : kOverridden) {
        if (const json::Value value = read.any(spec, key)) {
          part.spec = overlay.with(part.spec, key, value);
        }
      }
    }
  }
}

}  // namespace

void read_train_job(WorkloadReader& reader, json::Value runtime_spec) {
  json::Reader& read = reader.read();
  Workload& workload = reader.workload();
  auto overlay = std::make_shared<json::Overlay>();
  workload.made = overlay;
  workload.over = workload.over || reader.any_condition({"Complete", "Failed"});
  bool active = false;
  if (const json::Value jobs = read.array(reader.status(), "jobsStatus")) {
    for (const json::NodeData& item : jobs.items()) {
      active = reader.count(json::Value(&item), "active", 0) > 0 || active;
    }
  }
  workload.running = active && !read.boolean(reader.spec(), "suspend").value_or(false);
  const json::Value trainer = read.object(reader.spec(), "trainer");
  const json::Value resources = read.object(trainer, "resourcesPerNode");
  const int usual = reader.count(read.object(runtime_spec, "mlPolicy"), "numNodes", 1);
  const int nodes = reader.count(trainer, "numNodes", usual);
  if (runtime_spec) {
    const json::Value job_set = read.require_object(runtime_spec, "template");
    read_replicated_jobs(reader, read.require_object(job_set, "spec"));
  } else {
    PodTemplate& part = workload.templates.emplace_back();
    part.role = kNode;
    part.at = reader.spec();
    json::Value container = overlay->with({}, "name", overlay->text(kNode, reader.spec().line()));
    part.spec = overlay->with({}, "containers", overlay->list(container));
  }
  for (PodTemplate& part : workload.templates) {
    if (!part.spec) {
      continue;
    }
    if (trains(part)) {
      reader.set_count(part, 1, nodes, "numNodes");
      part.spec = resources ? with_resources(*overlay, part.spec, resources) : part.spec;
    }
    override_specs(reader, *overlay, part);
  }
}

}  // namespace gantree

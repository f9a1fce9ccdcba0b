// Job, CronJob and JobSet.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/workloads/workload_reader.h"

namespace gantree {

namespace {

// Each is compared with all others.
constexpr std::size_t kMostReplicatedJobs = 1'000;

}  // namespace

void read_job(WorkloadReader& reader) {
  const json::Value spec = reader.spec();
  Workload& workload = reader.workload();
  workload.over = workload.over || reader.any_condition({"Complete", "Failed"});
  const bool started =
      reader.count(reader.status(), "active", 0) > 0 || reader.read().text(reader.status(), "startTime").has_value();
  workload.running = started && !reader.read().boolean(spec, "suspend").value_or(false);
  reader.add("main", spec, 1, reader.parallelism(spec), "parallelism");
}

// What asks is the next Job that it will make.
void read_cron_job(WorkloadReader& reader) {
  const json::Value spec = reader.spec();
  reader.workload().over = reader.workload().over || reader.read().boolean(spec, "suspend").value_or(false);
  const json::Value job_template = reader.read().require_object(spec, "jobTemplate");
  const json::Value job = reader.read().require_object(job_template, "spec");
  reader.add("main", job, 1, reader.parallelism(job), "parallelism").job_metadata =
      reader.read().object(job_template, "metadata");
}

void read_replicated_jobs(WorkloadReader& reader, json::Value job_set_spec) {
  json::Reader& read = reader.read();
  if (const json::Value replicated = read.array(job_set_spec, "replicatedJobs")) {
    if (replicated.items().size() > kMostReplicatedJobs) {
      reader.objection().raise(replicated, fmt::format("replicatedJobs has {} entries; at most {} are allowed",
                                                       replicated.items().size(), kMostReplicatedJobs));
      return;
    }
    for (const json::NodeData& item : replicated.items()) {
      const json::Value one(&item);
      const std::string_view name = read.require_text(one, "name");
      const int replicas = reader.count(one, "replicas", 1);
      const json::Value job_template = read.require_object(one, "template");
      const json::Value job = read.require_object(job_template, "spec");
      PodTemplate& added = reader.add(name, job, replicas, reader.parallelism(job), "replicas times parallelism");
      added.at = one;
      added.job_metadata = read.object(job_template, "metadata");
      static_cast<void>(read.texts(added.job_metadata, "annotations"));
    }
  }
  const auto& templates = reader.workload().templates;
  if (templates.empty()) {
    reader.objection().raise(job_set_spec, "replicatedJobs is empty");
  }
  for (auto it = templates.begin(); it != templates.end(); ++it) {
    if (std::any_of(templates.begin(), it, [&](const PodTemplate& other) { return other.role == it->role; })) {
      reader.objection().raise(it->at, fmt::format("replicatedJobs has the name \"{}\" twice", it->role));
    }
  }
}

void read_job_set(WorkloadReader& reader) {
  json::Reader& read = reader.read();
  Workload& workload = reader.workload();
  workload.over = workload.over || reader.any_condition({"Completed", "Failed"});
  bool active = false;
  if (const json::Value list = read.array(reader.status(), "replicatedJobsStatus")) {
    for (const json::NodeData& item : list.items()) {
      const json::Value entry(&item);
      active = reader.count(entry, "active", 0) > 0 || reader.count(entry, "ready", 0) > 0 || active;
    }
  }
  workload.running = active && !read.boolean(reader.spec(), "suspend").value_or(false);
  read_replicated_jobs(reader, reader.spec());
}

}  // namespace gantree

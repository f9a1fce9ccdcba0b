#include "kueue/job_switch.h"

#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "kueue/flavors.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

std::string mark_path() {
  std::string path = "/metadata/annotations/";
  for (const char c : kStartedFor) {
    path += c == '/' ? std::string("~1") : std::string(1, c);
  }
  return path;
}

// Says for which Workload the job was started. It is set with the start and taken off with the stop, in one write each:
// a job that is stopped and carries it was stopped by somebody else, even while nobody looked.
json::Out mark(const Object& job, const std::string& workload) {
  if (map_at(job.metadata(), "annotations")) {
    return set_field(mark_path(), workload);
  }
  return set_field("/metadata/annotations", std::move(json::Out::object().add(kStartedFor, workload)));
}

}  // namespace

void JobSwitch::patch(JobEntry& job, const std::string& key, json::Out::Array operations, Step& step) {
  json::Out::Array all;
  // Refused where the job has changed meanwhile: then it is looked at anew.
  all.push_back(std::move(json::Out::object()
                              .add("op", "test")
                              .add("path", "/metadata/resourceVersion")
                              .add("value", job.resource_version)));
  for (json::Out& operation : operations) {
    all.push_back(std::move(operation));
  }
  const std::uint64_t id = outbox_.order(
      step, Urgency::kBinding,
      {.verb = WriteVerb::kJsonPatch, .object = job.ref, .node = {}, .body = json::Out(std::move(all)).to_json(false)},
      {.job = key});
  job.guard.sent(id, job.resource_version);
}

void JobSwitch::start(JobEntry& job, const std::string& key, const Entry& entry, Step& step) {
  const auto parsed = parse(job.text);
  if (!parsed) {
    return;
  }
  if (auto status = job.kind->forget_start(parsed->object)) {
    status->add("metadata", std::move(json::Out::object().add("resourceVersion", job.resource_version)));
    const std::uint64_t id = outbox_.order(
        step, Urgency::kBinding,
        {.verb = WriteVerb::kPatchStatus, .object = job.ref, .node = {}, .body = status->to_json(false)}, {.job = key});
    job.guard.sent(id, job.resource_version);
    return;
  }
  JobShape shape;
  shape.suspend = false;
  for (const PodSetRequest& set : entry.object.request.pod_sets) {
    SetStart start;
    start.name = set.name;
    start.workload = entry.object.ref.name;
    start.count = set.count;
    for (const SetAssignment& assigned : entry.object.admission->sets) {
      if (assigned.name == set.name) {
        start.count = assigned.count;
        start.topology = assigned.topology.has_value();
        add_flavors(ledger_.admin, assigned, start);
      }
    }
    shape.templates.push_back(with_start(map_at(set.at, "template"), start));
    shape.counts.push_back(start.count);
  }
  json::Out::Array operations = job.kind->reshape(parsed->object, shape);
  operations.push_back(mark(parsed->object, entry.object.ref.uid));
  patch(job, key, std::move(operations), step);
}

void JobSwitch::stop(JobEntry& job, const std::string& key, Step& step) {
  json::Out::Array operations = {set_field("/spec/suspend", true)};
  if (!job.started_for.empty()) {
    operations.push_back(std::move(json::Out::object().add("op", "remove").add("path", mark_path())));
  }
  patch(job, key, std::move(operations), step);
}

}  // namespace gantree::kueue

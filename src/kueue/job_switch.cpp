#include "kueue/job_switch.h"

#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "json/copy.h"
#include "kueue/flavors.h"
#include "kueue/queue_membership.h"
#include "kueue/start_record.h"
#include "live/parsed.h"

namespace gantree::kueue {

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

bool JobSwitch::forget_start(JobEntry& job, const std::string& key, const Object& object, Step& step) {
  auto status = job.kind->forget_start(object);
  if (!status) {
    return false;
  }
  status->add("metadata", std::move(json::Out::object().add("resourceVersion", job.resource_version)));
  const std::uint64_t id = outbox_.order(
      step, Urgency::kBinding,
      {.verb = WriteVerb::kPatchStatus, .object = job.ref, .node = {}, .body = status->to_json(false)}, {.job = key});
  job.guard.sent(id, job.resource_version);
  return true;
}

bool JobSwitch::restore(JobEntry& job, const std::string& key, const Entry& entry, Step& step) {
  if (!carries_start(job)) {
    return false;
  }
  const auto own = own_sets(job, &entry, ledger_.defaults);
  if (!own) {
    return false;
  }
  if (forget_start(job, key, own->parsed.object, step)) {
    return true;
  }
  JobShape shape;
  for (const SetSpec& set : own->sets) {
    shape.templates.push_back(json::copy(set.pod_template));
    shape.counts.push_back(set.count);
    shape.over.push_back(0);
  }
  json::Out record = json::Out::object();
  json::Out::Array operations = job.kind->reshape(own->parsed.object, shape, record);
  if (text_at(map_at(own->parsed.object.metadata(), "annotations"), kStartedWith)) {
    operations.push_back(std::move(json::Out::object().add("op", "remove").add("path", annotation_path(kStartedWith))));
  }
  patch(job, key, std::move(operations), step);
  return true;
}

void JobSwitch::start(JobEntry& job, const std::string& key, const OwnSets& own, const Entry& entry, Step& step) {
  if (forget_start(job, key, own.parsed.object, step)) {
    return;
  }
  JobShape shape;
  shape.suspend = false;
  json::Out added = json::Out::array();
  for (const SetSpec& set : own.sets) {
    SetStart start;
    start.name = set.name;
    start.workload = entry.object.ref.name;
    start.local_queue = local_queue_of(entry);
    start.cluster_queue = entry.object.admission->cluster_queue;
    start.count = set.count;
    const auto known = entry.object.reclaimable.find(set.name);
    const int over = known == entry.object.reclaimable.end() ? 0 : known->second;
    for (const SetAssignment& assigned : entry.object.admission->sets) {
      if (assigned.name == set.name) {
        // What is over is not made again: with all that is left the job has the numbers of its own.
        start.count = assigned.count + over >= set.count ? set.count : assigned.count;
        start.topology = assigned.topology.has_value();
        add_flavors(ledger_.admin, assigned, start);
      }
    }
    shape.templates.push_back(with_start(set.pod_template, start));
    shape.counts.push_back(start.count);
    shape.over.push_back(over);
    added.push(added_by(set.pod_template, start));
  }
  json::Out record = json::Out::object();
  record.add("podSets", std::move(added));
  json::Out::Array operations = job.kind->reshape(own.parsed.object, shape, record);
  // The first is taken off with the stop: a job that is stopped and carries it was stopped by somebody else, even while
  // nobody looked.
  annotate(own.parsed.object, {{kStartedFor, entry.object.ref.uid}, {kStartedWith, record.to_json(false)}}, operations);
  patch(job, key, std::move(operations), step);
}

void JobSwitch::stop(JobEntry& job, const std::string& key, Step& step) {
  const auto parsed = parse(job.text);
  if (!parsed) {
    return;  // what could be read when it came can be read again
  }
  json::Out::Array operations = set_suspend(parsed->object, *job.kind, true);
  for (json::Out& operation : job.kind->restore(parsed->object)) {
    operations.push_back(std::move(operation));
  }
  if (!job.started_for.empty()) {
    operations.push_back(std::move(json::Out::object().add("op", "remove").add("path", annotation_path(kStartedFor))));
  }
  patch(job, key, std::move(operations), step);
}

}  // namespace gantree::kueue

// Jobs and their Workloads: made, started, stopped, ended.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/metadata.h"
#include "dialects/core/priority.h"
#include "dialects/kueue/names.h"
#include "json/copy.h"
#include "kueue/controller.h"
#include "kueue/workload_body.h"
#include "live/notices.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

// Whether the job is one of ours: it names a queue and stands by itself.
bool is_ours(const Workload& job) {
  return job.mark(kQueueName).present() && !job.owner.present();
}

}  // namespace

void Controller::reconcile_job(const std::string& key, Time now, Step& step) {
  const auto it = jobs_.find(key);
  if (it == jobs_.end()) {
    return;
  }
  JobEntry& job = it->second;
  if (job.kind == nullptr) {
    reconcile_group(key, now, step);
    return;
  }
  const auto found = workloads_by_owner_.find(job.ref.uid);
  const bool alone = found == workloads_by_owner_.end();
  const bool to_make = alone && job.progress.suspended;
  const Guard& guard = to_make ? job.creation : job.guard;
  if (guard.closed(to_make ? std::string(kMade) : job.resource_version, now)) {
    later_jobs_.emplace(std::max(guard.opens(), now + std::chrono::milliseconds(100)), key);
    return;
  }
  if (alone) {
    if (!job.progress.end) {
      make_workload(job, key, step);
    }
    return;
  }
  Entry& entry = entries_.at(found->second);
  dirty_.insert(found->second);
  if (job.progress.end || entry.object.holds(kFinished)) {
    return;
  }
  const bool runs =
      entry.object.admission && entry.object.holds(kAdmitted) && !entry.object.holds(kEvicted) && entry.object.active;
  if (runs && job.progress.suspended && job.ran) {
    evict(entry, {.reason = kSuspendedByUser, .message = "The job was suspended by its user"}, now, step);
  } else if (runs && job.progress.suspended) {
    start_job(job, key, entry, step);
  } else if (!runs && !job.progress.suspended && entry.suspended()) {
    resume(entry, now, step);
  } else if (!runs && !job.progress.suspended) {
    stop_job(job, key, step);
  } else if (!runs) {
    follow(job, key, entry, now, step);
  }
  job.ran = runs && (job.ran || !job.progress.suspended);
}

// It is queued again. Only then is the job stopped, until it is admitted: the other way round nothing would tell any
// more that its user wants it to run.
void Controller::resume(Entry& entry, Time now, Step& step) {
  if (entry.guard.closed(entry.object.resource_version, now)) {
    later_.emplace(std::max(entry.guard.opens(), now + std::chrono::milliseconds(100)), entry.key());
    return;
  }
  write_status(entry,
               {{.type = kEvicted,
                 .holds = true,
                 .reason = kResumedByUser,
                 .message = "The job was resumed by its user, and waits in its queue"}},
               {}, now, step);
}

void Controller::make_workload(JobEntry& job, const std::string& key, Step& step) {
  auto parsed = parse(job.text);
  if (!parsed) {
    return;
  }
  const auto workload = gantree::read_workload({.object = parsed->object, .ns = job.ref.ns, .name = job.ref.name});
  if (!workload || !is_ours(*workload) || workload->over) {
    return;
  }
  if (!job.progress.suspended) {
    // Somebody started it, or deleted its Workload: nothing that it uses is accounted for.
    stop_job(job, key, step);
    return;
  }
  json::Reader read(kNoFile, parsed->object.value, key);
  const std::vector<SetSpec> sets = job.kind->sets(read, *workload);
  WorkloadSeed seed{.job = job.ref,
                    .queue = std::string(workload->mark(kQueueName).text()),
                    .priority_class = {},
                    .pod_priority_class = {},
                    .priority = {},
                    .most_seconds = {}};
  if (const json::Value name = workload->mark(kPriorityClass)) {
    seed.priority_class = name.text();
  }
  if (read.ok()) {
    create(job, key, std::move(seed), sets, step);
  }
}

// The priority of the pods counts where the seed has none.
void Controller::create(JobEntry& job, const std::string& key, WorkloadSeed seed, const std::vector<SetSpec>& sets,
                        Step& step) {
  if (const auto known = setup_.priority_classes.find(seed.priority_class);
      !seed.priority_class.empty() && known != setup_.priority_classes.end()) {
    seed.priority = known->second;
  }
  std::vector<json::Value> specs;
  for (const SetSpec& set : sets) {
    specs.push_back(map_at(set.pod_template, "spec"));
    if (const json::Value name = specs.back() ? text_at(specs.back(), "priorityClassName") : json::Value();
        name && seed.pod_priority_class.empty()) {
      seed.pod_priority_class = name.text();
    }
  }
  if (!seed.priority) {
    int unresolved = 0;
    const auto priority = gang_priority(kNoFile, specs, intake_->core, unresolved);
    seed.priority = priority.value_or(0);
  }
  const std::uint64_t id = order(step, Urgency::kBinding, create_workload(seed, sets),
                                 {.workload = {}, .job = key, .pod = {}, .creation = true});
  job.creation.sent(id, std::string(kMade));
}

void Controller::patch_job(JobEntry& job, const std::string& key, json::Out::Array patch, Step& step) {
  json::Out::Array operations;
  // Refused where the job has changed meanwhile: then it is looked at anew.
  operations.push_back(std::move(json::Out::object()
                                     .add("op", "test")
                                     .add("path", "/metadata/resourceVersion")
                                     .add("value", job.resource_version)));
  for (json::Out& operation : patch) {
    operations.push_back(std::move(operation));
  }
  const std::uint64_t id = order(step, Urgency::kBinding,
                                 {.verb = WriteVerb::kJsonPatch,
                                  .object = job.ref,
                                  .node = {},
                                  .body = json::Out(std::move(operations)).to_json(false)},
                                 {.workload = {}, .job = key, .pod = {}});
  job.guard.sent(id, job.resource_version);
}

void Controller::start_job(JobEntry& job, const std::string& key, const Entry& entry, Step& step) {
  const auto parsed = parse(job.text);
  if (!parsed) {
    return;
  }
  if (auto status = job.kind->forget_start(parsed->object)) {
    status->add("metadata", std::move(json::Out::object().add("resourceVersion", job.resource_version)));
    const std::uint64_t id =
        order(step, Urgency::kBinding,
              {.verb = WriteVerb::kPatchStatus, .object = job.ref, .node = {}, .body = status->to_json(false)},
              {.workload = {}, .job = key, .pod = {}});
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
        add_flavors(assigned, start);
      }
    }
    shape.templates.push_back(with_start(map_at(set.at, "template"), start));
    shape.counts.push_back(start.count);
  }
  patch_job(job, key, job.kind->reshape(parsed->object, shape), step);
}

// The labels and tolerations of the flavors that a pod set was given.
void Controller::add_flavors(const SetAssignment& assigned, SetStart& start) const {
  std::set<std::string> flavors;
  for (const auto& [resource, flavor] : assigned.flavors) {
    flavors.insert(flavor);
  }
  for (const std::string& name : flavors) {
    const auto text = admin_.find(fmt::format("ResourceFlavor /{}", name));
    const auto parsed = text == admin_.end() ? tl::unexpected(Error{}) : parse(text->second);
    if (!parsed) {
      continue;
    }
    const json::Value spec = map_at(parsed->object.value, "spec");
    const json::Value labels = spec ? map_at(spec, "nodeLabels") : json::Value();
    for (const json::MemberData& label : labels ? labels.members() : std::span<const json::MemberData>()) {
      start.node_selector.emplace(label.key, json::Value(&label.value).text());
    }
    const json::Value tolerations = spec ? spec["tolerations"] : json::Value();
    if (tolerations && tolerations.kind() == json::Kind::kArray) {
      for (const json::NodeData& one : tolerations.items()) {
        start.tolerations.push_back(json::copy(json::Value(&one)));
      }
    }
  }
}

void Controller::stop_job(JobEntry& job, const std::string& key, Step& step) {
  patch_job(job, key, {set_field("/spec/suspend", true)}, step);
}

}  // namespace gantree::kueue

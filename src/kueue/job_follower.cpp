#include "kueue/job_follower.h"

#include <algorithm>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "json/equal.h"
#include "json/read.h"
#include "kueue/workload_body.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

// A server that keeps less than it is told must not be told for ever.
constexpr int kMostTries = 3;

// Whether a start has changed the templates. Then those of the Workload are the ones that the job came with.
bool was_started(const std::vector<SetSpec>& sets) {
  return std::any_of(sets.begin(), sets.end(), [](const SetSpec& set) {
    const json::Value annotations = map_at(map_at(set.pod_template, "metadata"), "annotations");
    return annotations && text_at(annotations, kWorkloadAnnotation).present();
  });
}

bool agrees(json::Value value, const json::Out& wanted) {
  const auto read = json::read_documents(std::string(kNoFile), wanted.to_json(false));
  return read && !read->empty() && json::equal(value, read->front().root());
}

}  // namespace

void JobFollower::follow(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step) {
  if (entry.admission() || job.follows >= kMostTries) {
    return;
  }
  const auto parsed = parse(job.text);
  const auto workload = parsed
                            ? gantree::read_workload({.object = parsed->object, .ns = job.ref.ns, .name = job.ref.name})
                            : tl::unexpected(Error{});
  if (!workload || !workload->mark(kQueueName)) {
    return;
  }
  json::Reader read(kNoFile, parsed->object.value, key);
  const std::vector<SetSpec> sets = job.kind->sets(read, *workload);
  const json::Value known = map_at(entry.object.document.root(), "spec");
  json::Out spec = json::Out::object();
  bool changed = false;
  const auto want = [&](std::string_view field, json::Out value) {
    if (!agrees(known[field], value)) {
      spec.add(field, std::move(value));
      changed = true;
    }
  };
  want("queueName", workload->mark(kQueueName).text());
  if (read.ok() && !was_started(sets)) {
    want("podSets", pod_sets_body(sets));
  }
  const auto own_class =
      ledger_.setup.priority_classes.find(workload->mark(kPriorityClass) ? workload->mark(kPriorityClass).text() : "");
  if (own_class != ledger_.setup.priority_classes.end()) {
    json::Out reference = json::Out::object();
    reference.add("group", kGroup).add("kind", "WorkloadPriorityClass").add("name", own_class->first);
    want("priorityClassRef", std::move(reference));
    want("priority", own_class->second);
  }
  if (!changed) {
    return;
  }
  if (entry.guard.closed(entry.object.resource_version, now)) {
    ledger_.look_again(key, entry.guard, now);
    return;
  }
  const Condition* reserved = entry.object.condition(kQuotaReserved);
  if (!entry.object.active && reserved != nullptr && reserved->reason == kInadmissible) {
    spec.add("active", true);
  }
  json::Out metadata = json::Out::object();
  metadata.add("uid", entry.object.ref.uid).add("resourceVersion", entry.object.resource_version);
  json::Out body = json::Out::object();
  body.add("metadata", std::move(metadata)).add("spec", std::move(spec));
  const std::uint64_t id =
      outbox_.order(step, Urgency::kStatus,
                    {.verb = WriteVerb::kPatch, .object = entry.object.ref, .node = {}, .body = body.to_json(false)},
                    {.workload = entry.key()});
  entry.guard.sent(id, entry.object.resource_version);
  ++job.follows;
}

}  // namespace gantree::kueue

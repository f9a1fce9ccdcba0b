#include "kueue/job_follower.h"

#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "json/equal.h"
#include "json/read.h"
#include "kueue/workload_body.h"
#include "live/object.h"

namespace gantree::kueue {

namespace {

// A server that keeps less than it is told must not be told for ever.
constexpr int kMostTries = 3;

bool agrees(json::Value value, const json::Out& wanted) {
  const auto read = json::read_documents(std::string(kNoFile), wanted.to_json(false));
  return read && !read->empty() && json::equal(value, read->front().root());
}

// Adds the field to what is to be written where it is not so already.
bool want(json::Value known, json::Out& spec, std::string_view field, json::Out value) {
  if (known && agrees(known[field], value)) {
    return false;
  }
  spec.add(field, std::move(value));
  return true;
}

bool is_given(const Entry& entry) {
  return entry.object.admission || (entry.assumed && entry.sent);
}

}  // namespace

void JobFollower::follow(JobEntry& job, const std::string& key, Entry& entry, Time now, Step& step) {
  // An admission, or other hosts, that were sent and not seen come first: this write would overtake them, and what they
  // left may be somebody else's by then.
  if (job.follows >= kMostTries || (entry.assumed && entry.sent)) {
    return;
  }
  const auto own = own_sets(job, &entry, ledger_.defaults);
  if (!own || !own->job.mark(kQueueName)) {
    return;
  }
  const bool given = is_given(entry);
  if (own->job.objection && !given) {
    remove(entry, now, step);
    return;
  }
  json::Out spec = json::Out::object();
  const bool anew = !given && follow_request(*own, entry, spec);
  const json::Value named = own->job.mark(kPriorityClass);
  if (!follow_class(named ? named.text() : std::string_view(), ledger_.setup, entry, spec) && !anew) {
    return;
  }
  if (entry.guard.closed(entry.object.resource_version, now)) {
    ledger_.look_again(key, entry.guard, now);
    return;
  }
  if (!given && entry.is_turned_down()) {
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

// It could not say what the job asks for now, and as it is the job would be started for something else. Why it is not
// queued is told by who would make another.
void JobFollower::remove(Entry& entry, Time now, Step& step) {
  if (entry.object.deleting || entry.guard.closed(entry.object.resource_version, now)) {
    return;
  }
  const std::uint64_t id = outbox_.order(
      step, Urgency::kBinding, {.verb = WriteVerb::kDelete, .object = entry.object.ref, .node = {}, .body = {}},
      {.workload = entry.key()});
  entry.guard.sent(id, entry.object.resource_version);
}

bool JobFollower::follow_request(const OwnSets& own, const Entry& entry, json::Out& spec) {
  const json::Value known = map_at(entry.object.document.root(), "spec");
  bool changed = want(known, spec, "queueName", own.job.mark(kQueueName).text());
  changed = want(known, spec, "podSets", pod_sets_body(own.asked)) || changed;
  const auto most = most_seconds(own.job);
  if (most) {
    changed = want(known, spec, kMaximumTime, *most) || changed;
  } else if (known[kMaximumTime]) {
    spec.add(kMaximumTime, json::Out());
    changed = true;
  }
  return changed;
}

bool follow_class(std::string_view name, const Setup& setup, const Entry& entry, json::Out& spec) {
  const auto own_class = setup.priority_classes.find(std::string(name));
  if (own_class == setup.priority_classes.end()) {
    return false;
  }
  const json::Value known = map_at(entry.object.document.root(), "spec");
  const json::Value kind = text_at(map_at(known, "priorityClassRef"), "kind");
  if (is_given(entry) && !(kind && kind.text() == "WorkloadPriorityClass")) {
    return false;
  }
  json::Out reference = json::Out::object();
  reference.add("group", kGroup).add("kind", "WorkloadPriorityClass").add("name", own_class->first);
  if (!want(known, spec, "priorityClassRef", std::move(reference))) {
    return false;
  }
  spec.add("priority", own_class->second);
  return true;
}

}  // namespace gantree::kueue

#include "kueue/queue_reporter.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "dialects/core/metadata.h"
#include "dialects/kueue/policy.h"
#include "json/copy.h"
#include "json/read.h"

namespace gantree::kueue {

namespace {

constexpr std::chrono::seconds kEvery{1};
constexpr std::string_view kClusterQueue = "ClusterQueue";
constexpr std::string_view kLocalQueue = "LocalQueue";
constexpr std::string_view kCohort = "Cohort";

bool has_status(std::string_view kind) {
  return kind == kClusterQueue || kind == kLocalQueue || kind == kCohort;
}

bool says_array(json::Value value, const json::Out::Array& wanted) {
  if (value.kind() != json::Kind::kArray || value.items().size() != wanted.size()) {
    return false;
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!says(json::Value(&value.items()[i]), wanted[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool says(json::Value value, const json::Out& wanted) {
  const json::Out::Content& content = wanted.content();
  if (!value || value.kind() == json::Kind::kNull) {
    return std::holds_alternative<std::monostate>(content);
  }
  if (const bool* flag = std::get_if<bool>(&content)) {
    return value.kind() == json::Kind::kBool && value.text() == (*flag ? "true" : "false");
  }
  if (const std::int64_t* number = std::get_if<std::int64_t>(&content)) {
    return value.kind() == json::Kind::kNumber && value.text() == std::to_string(*number);
  }
  if (const std::string* text = std::get_if<std::string>(&content)) {
    return value.kind() == json::Kind::kString && value.text() == *text;
  }
  if (const json::Out::Array* array = std::get_if<json::Out::Array>(&content)) {
    return says_array(value, *array);
  }
  const json::Out::Object* object = std::get_if<json::Out::Object>(&content);
  return object != nullptr && value.kind() == json::Kind::kObject &&
         std::all_of(object->begin(), object->end(),
                     [&](const auto& member) { return says(value[member.first], member.second); });
}

std::string decided_text(std::string_view kind, json::Value object) {
  const bool is_namespace = kind == "Namespace";
  json::Out out = json::Out::object();
  for (const json::MemberData& member : object.members()) {
    const bool decides = member.key != "metadata" && member.key != "status" && !(is_namespace && member.key == "spec");
    if (decides) {
      out.add(member.key, json::copy(json::Value(&member.value)));
    }
  }
  if (const json::Value metadata = object["metadata"]; metadata && metadata.kind() == json::Kind::kObject) {
    json::Out kept = json::Out::object();
    for (const std::string_view key : {"namespace", "name", "deletionTimestamp", "labels"}) {
      if (const json::Value value = metadata[key]; value && (key != "labels" || is_namespace)) {
        kept.add(key, json::copy(value));
      }
    }
    out.add("metadata", std::move(kept));
  }
  return out.to_json(false);
}

void QueueReporter::changed(const std::string& key, const LiveObject& object, const Object& parsed) {
  if (!has_status(object.kind)) {
    return;
  }
  Target& target = objects_[key];
  if (target.ref.uid != object.uid) {
    target = {};
  }
  target.ref = {.group = object.group,
                .version = object.version,
                .kind = object.kind,
                .ns = object.ns,
                .name = object.name,
                .uid = object.uid};
  // What is wrong with the spec is told elsewhere; a status that cannot be read is written anew.
  json::Reader read(kNoFile, parsed.value, key);
  const json::Value metadata = parsed.metadata();
  const json::Value spec = read.object(parsed.value, "spec");
  target.resource_version = read.text(metadata, "resourceVersion").value_or("");
  target.deleting = read.text(metadata, "deletionTimestamp").has_value();
  const bool weighed = object.kind != kLocalQueue && read.object(spec, "fairSharing").present();
  target.fair = weighed || (fair_ && object.kind != kLocalQueue);
  target.weight = weighed ? read_weight(read, spec) : 1000;
  json::Reader read_status(kNoFile, parsed.value, key);
  const json::Value status = read_status.object(parsed.value, "status");
  const std::string text = status ? json::copy(status).to_json(false) : std::string();
  if (text != target.status) {
    target.status = text;
    target.told.reset();
    stale_ = true;
  }
  target.conditions = read_conditions(read_status, status);
  if (!read_status.ok()) {
    target.conditions.clear();
  }
}

void QueueReporter::answered(const std::string& key, Answer answer, Time now) {
  const auto it = objects_.find(key);
  if (it == objects_.end()) {
    return;
  }
  it->second.guard.answered(answer, now);
  if (answer != Answer::kDone) {
    it->second.told.reset();
    stale_ = true;
  }
}

std::optional<QueueStatus> QueueReporter::wanted(const Target& target, const QueueStatuses& statuses,
                                                 const Quota& quota) {
  std::optional<QueueStatus> status;
  if (target.ref.kind == kCohort) {
    status.emplace().weighted_share = target.fair ? cohort_share(target.ref.name, target.weight, quota) : 0;
  } else if (target.ref.kind == kClusterQueue) {
    if (const auto it = statuses.cluster_queues.find(target.ref.name); it != statuses.cluster_queues.end()) {
      status = it->second;
    }
  } else if (const auto it = statuses.local_queues.find(std::pair(target.ref.ns, target.ref.name));
             it != statuses.local_queues.end()) {
    status = it->second;
  }
  if (status && target.deleting) {
    status->standing = {.active = false, .reason = std::string(kTerminating), .message = "The queue is being deleted"};
  }
  return status;
}

std::optional<json::Out> QueueReporter::patch(const Target& target, const QueueStatus& status, Time now) {
  json::Out body =
      target.ref.kind == kCohort ? json::Out::object() : write_counts(status, target.ref.kind == kClusterQueue);
  if (target.fair) {
    body.add("fairSharing", std::move(json::Out::object().add("weightedShare", status.weighted_share)));
  }
  bool same = true;
  if (target.ref.kind != kCohort) {
    const Standing& standing = status.standing;
    const auto conditions = with_conditions(
        target.conditions,
        {{.type = kActive, .holds = standing.active, .reason = standing.reason, .message = standing.message}}, now);
    same = !conditions;
    if (conditions) {
      body.add("conditions", write_conditions(*conditions));
    }
  }
  if (same) {
    const auto seen = json::read_documents("status", target.status.empty() ? "{}" : target.status);
    if (seen && seen->size() == 1 && says(seen->front().root(), body)) {
      return std::nullopt;
    }
  }
  return body;
}

void QueueReporter::report(const QueueStatuses& statuses, const Quota& quota, Time now, const Send& send) {
  stale_ = false;
  next_ = now + kEvery;
  for (auto& [key, target] : objects_) {
    std::optional<QueueStatus> status = wanted(target, statuses, quota);
    if (!status || target.told == status) {
      continue;
    }
    if (target.guard.closed(target.resource_version, now)) {
      stale_ = true;
      continue;
    }
    std::optional<json::Out> changes = patch(target, *status, now);
    target.told = std::move(status);
    if (!changes) {
      continue;
    }
    json::Out body = json::Out::object();
    body.add("metadata",
             std::move(json::Out::object().add("uid", target.ref.uid).add("resourceVersion", target.resource_version)));
    body.add("status", std::move(*changes));
    const std::uint64_t order =
        send(key, {.verb = WriteVerb::kPatchStatus, .object = target.ref, .node = {}, .body = body.to_json(false)});
    target.guard.sent(order, target.resource_version);
  }
}

}  // namespace gantree::kueue

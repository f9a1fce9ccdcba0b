#include "kueue/workload_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/timestamp.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "kueue/job.h"
#include "kueue/pod_groups.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

// What the API allows of a condition's message.
constexpr std::size_t kLongestMessage = 32768;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::map<std::string, std::string> read_map(json::Reader& read, json::Value parent, std::string_view key) {
  std::map<std::string, std::string> map;
  const json::Value value = read.object(parent, key);
  for (const json::MemberData& member : value ? value.members() : std::span<const json::MemberData>()) {
    const json::Value entry(&member.value);
    const bool plain = entry.kind() == json::Kind::kString || entry.kind() == json::Kind::kNumber;
    map.emplace(member.key, plain ? entry.text() : std::string_view());
  }
  return map;
}

Admission read_admission(json::Reader& read, json::Value value, const WorkloadObject& workload) {
  Admission admission;
  admission.cluster_queue = read.text(value, "clusterQueue").value_or("");
  for (const json::NodeData& item : items_of(read.array(value, "podSetAssignments"))) {
    const json::Value at = read.as_object(json::Value(&item), "podSetAssignment");
    SetAssignment& set = admission.sets.emplace_back();
    set.name = read.text(at, "name").value_or("main");
    set.flavors = read_map(read, at, "flavors");
    set.usage = read_map(read, at, "resourceUsage");
    // Kueue leaves it out where all pods are meant.
    const auto count = read.integer(at, "count", 0, std::numeric_limits<int>::max());
    set.count = count ? static_cast<int>(*count) : workload.asked_of(set.name, 0);
    if (const json::Value topology = read.object(at, "topologyAssignment")) {
      set.topology = read_assignment(read, topology);
    }
  }
  return admission;
}

// Kinds that are started here, themselves or by their pods.
bool is_started_here(std::string_view group, std::string_view kind) {
  return job_kind(group, kind) != nullptr || (group.empty() && kind == "Pod") || group == "apps" ||
         group == kReplicatedGroup;
}

// The owner that controls it, or else all that it has, where nothing of that is started here.
std::string read_stranger(json::Reader& read, json::Value metadata) {
  std::string stranger;
  for (const json::NodeData& item : items_of(read.array(metadata, "ownerReferences"))) {
    const json::Value owner = read.as_object(json::Value(&item), "ownerReference");
    const std::string_view api = read.text(owner, "apiVersion").value_or("");
    const std::string_view kind = read.text(owner, "kind").value_or("");
    const std::size_t slash = api.find('/');
    if (is_started_here(slash == std::string_view::npos ? std::string_view() : api.substr(0, slash), kind)) {
      return {};
    }
    stranger = fmt::format("{} \"{}\"", kind, read.text(owner, "name").value_or(""));
  }
  return stranger;
}

bool has_finalizer(json::Reader& read, json::Value metadata, std::string_view name) {
  const auto finalizers = items_of(read.array(metadata, "finalizers"));
  return std::any_of(finalizers.begin(), finalizers.end(),
                     [&](const json::NodeData& item) { return read.as_text(json::Value(&item), "finalizer") == name; });
}

std::string controller_uid(json::Reader& read, json::Value metadata) {
  for (const json::NodeData& item : items_of(read.array(metadata, "ownerReferences"))) {
    const json::Value owner = read.as_object(json::Value(&item), "ownerReference");
    if (read.boolean(owner, "controller").value_or(false)) {
      return std::string(read.text(owner, "uid").value_or(""));
    }
  }
  return {};
}

json::Out write_map(const std::map<std::string, std::string>& map) {
  json::Out out = json::Out::object();
  for (const auto& [key, value] : map) {
    out.add(key, value);
  }
  return out;
}

}  // namespace

std::vector<Condition> read_conditions(json::Reader& read, json::Value status) {
  std::vector<Condition> conditions;
  for (const json::NodeData& item : items_of(read.array(status, "conditions"))) {
    const json::Value at = read.as_object(json::Value(&item), "condition");
    conditions.push_back({.type = std::string(read.require_text(at, "type")),
                          .holds = read.text(at, "status").value_or("") == "True",
                          .reason = std::string(read.text(at, "reason").value_or("")),
                          .message = std::string(read.text(at, "message").value_or("")),
                          .since = std::string(read.text(at, "lastTransitionTime").value_or("")),
                          .unknown = read.text(at, "status").value_or("") == "Unknown",
                          .observed_generation = read.integer(at, "observedGeneration", 0, kMost).value_or(0)});
  }
  return conditions;
}

const Condition* WorkloadObject::condition(std::string_view type) const {
  const auto it =
      std::find_if(conditions.begin(), conditions.end(), [&](const Condition& one) { return one.type == type; });
  return it == conditions.end() ? nullptr : &*it;
}

bool WorkloadObject::holds(std::string_view type) const {
  const Condition* found = condition(type);
  return found != nullptr && found->holds;
}

int WorkloadObject::asked_of(std::string_view set, int otherwise) const {
  const auto it = std::find_if(request.pod_sets.begin(), request.pod_sets.end(),
                               [&](const PodSetRequest& one) { return one.name == set; });
  return it == request.pod_sets.end() ? otherwise : it->count;
}

JobRequest WorkloadObject::request_left() const {
  JobRequest left = request;
  for (PodSetRequest& set : left.pod_sets) {
    // Of one with slices it is not known whether whole slices are over: the others need the places of their own.
    const auto over = reclaimable.find(set.name);
    if (over != reclaimable.end() && set.topology.slices.empty()) {
      set.count = std::max(0, set.count - over->second);
      set.min_count = std::min(set.min_count, set.count);
    }
  }
  return left;
}

int WorkloadObject::given_back(const SetAssignment& set) const {
  const auto over = reclaimable.find(set.name);
  if (over == reclaimable.end()) {
    return 0;
  }
  // Pods that were over before it was admitted are not among those that it was given.
  const int left = std::max(0, asked_of(set.name, set.count) - over->second);
  return std::max(0, set.count - left);
}

std::map<std::string, int> WorkloadObject::given_back(const Admission& given) const {
  std::map<std::string, int> back;
  for (const SetAssignment& set : given.sets) {
    if (const int pods = given_back(set); pods > 0) {
      back.emplace(set.name, pods);
    }
  }
  return back;
}

namespace {

// What it was given, and what became of it.
void read_given(json::Reader& read, json::Value status, WorkloadObject& workload) {
  if (const json::Value admission = read.object(status, "admission")) {
    workload.admission = read_admission(read, admission, workload);
  }
  if (const json::Value requeue = read.object(status, "requeueState")) {
    workload.requeues =
        static_cast<int>(read.integer(requeue, "count", 0, std::numeric_limits<int>::max()).value_or(0));
    if (const auto at = parse_time(read.text(requeue, "requeueAt").value_or(""))) {
      workload.requeue_at = Time(std::chrono::seconds(*at));
    }
  }
  for (const json::NodeData& item : items_of(read.array(status, "reclaimablePods"))) {
    const json::Value one = read.as_object(json::Value(&item), "reclaimablePod");
    workload.reclaimable[std::string(read.text(one, "name").value_or("main"))] =
        static_cast<int>(read.integer(one, "count", 0, std::numeric_limits<int>::max()).value_or(0));
  }
  for (const json::NodeData& item : items_of(read.array(status, "admissionChecks"))) {
    const json::Value check = read.as_object(json::Value(&item), "admissionCheck");
    workload.checks_pass = workload.checks_pass && read.text(check, "state") == "Ready";
  }
  for (const json::NodeData& item : items_of(read.array(status, "unhealthyNodes"))) {
    workload.unhealthy.emplace(read.require_text(read.as_object(json::Value(&item), "unhealthyNode"), "name"));
  }
}

}  // namespace

Result<WorkloadObject> read_workload(const LiveObject& object, Inventory& inventory) {
  auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  auto request = read_workload_request({.object = parsed->object, .ns = object.ns, .name = object.name}, inventory);
  if (!request) {
    return tl::unexpected(request.error());
  }
  const json::Value root = parsed->object.value;
  const json::Value metadata = root["metadata"];
  json::Reader read(kNoFile, root, fmt::format("Workload \"{}/{}\"", object.ns, object.name));
  const json::Value status = read.object(root, "status");
  WorkloadObject workload{
      .ref = {.group = object.group,
              .version = object.version,
              .kind = object.kind,
              .ns = object.ns,
              .name = object.name,
              .uid = object.uid},
      .resource_version = std::string(read.text(metadata, "resourceVersion").value_or("")),
      .generation = read.integer(metadata, "generation", 0, std::numeric_limits<std::int64_t>::max()).value_or(0),
      .owner_uid = controller_uid(read, metadata),
      .active = read.boolean(read.object(root, "spec"), "active").value_or(true),
      .deleting = read.text(metadata, "deletionTimestamp").has_value(),
      .in_use = has_finalizer(read, metadata, kInUse),
      .stranger = read_stranger(read, metadata),
      .conditions = read_conditions(read, status),
      .admission = std::nullopt,
      .requeues = 0,
      .requeue_at = {},
      .most_seconds = read.integer(read.object(root, "spec"), "maximumExecutionTimeSeconds", 1, kMost),
      .spent_seconds = read.integer(status, "accumulatedPastExecutionTimeSeconds", 0, kMost).value_or(0),
      .reclaimable = {},
      .document = std::move(parsed->document),
      .request = std::move(*request)};
  const json::Value annotations = read.object(metadata, "annotations");
  if (read.text(annotations, kOfGroup) == "true") {
    workload.owner_uid = group_uid(object.ns, object.name);
  }
  workload.unowned = workload.owner_uid.empty() && items_of(read.array(metadata, "ownerReferences")).empty();
  if (workload.unowned) {
    workload.orphaned = read.text(read.object(metadata, "labels"), kJobUid).value_or("") != "";
    workload.gated_by = read.text(annotations, kGatedBy).value_or("");
  }
  const json::Value reference = read.object(read.object(root, "spec"), "priorityClassRef");
  if (read.text(reference, "group") == kGroup) {
    workload.class_name = read.text(reference, "name").value_or("");
  }
  read_given(read, status, workload);
  if (!read.ok()) {
    return read.error();
  }
  return workload;
}

std::optional<std::vector<Condition>> with_conditions(std::vector<Condition> conditions,
                                                      const std::vector<Wanted>& wanted, Time now) {
  bool changed = false;
  for (const Wanted& want : wanted) {
    auto it =
        std::find_if(conditions.begin(), conditions.end(), [&](const Condition& one) { return one.type == want.type; });
    if (it == conditions.end()) {
      it = conditions.insert(
          conditions.end(),
          Condition{.type = std::string(want.type), .holds = !want.holds, .reason = {}, .message = {}, .since = {}});
    }
    if (it->holds == want.holds && !it->unknown && it->reason == want.reason && it->message == want.message) {
      continue;
    }
    changed = true;
    if (it->holds != want.holds || it->since.empty()) {
      it->since = rfc3339(now);
    }
    it->holds = want.holds;
    it->unknown = false;
    it->reason = want.reason;
    it->message = want.message.substr(0, kLongestMessage);
  }
  return changed ? std::optional(std::move(conditions)) : std::nullopt;
}

json::Out write_conditions(const std::vector<Condition>& conditions) {
  json::Out out = json::Out::array();
  for (const Condition& condition : conditions) {
    json::Out one = json::Out::object();
    one.add("type", condition.type);
    one.add("status", condition.unknown ? "Unknown" : condition.holds ? "True" : "False");
    one.add("reason", condition.reason).add("message", condition.message);
    one.add("lastTransitionTime", condition.since);
    if (condition.observed_generation > 0) {
      one.add("observedGeneration", condition.observed_generation);
    }
    out.push(std::move(one));
  }
  return out;
}

json::Out write_admission(const Admission& admission) {
  json::Out sets = json::Out::array();
  for (const SetAssignment& set : admission.sets) {
    json::Out out = json::Out::object();
    out.add("name", set.name).add("count", set.count);
    out.add("flavors", write_map(set.flavors)).add("resourceUsage", write_map(set.usage));
    if (set.topology) {
      out.add("topologyAssignment", write_assignment(*set.topology));
    }
    sets.push(std::move(out));
  }
  return std::move(
      json::Out::object().add("clusterQueue", admission.cluster_queue).add("podSetAssignments", std::move(sets)));
}

json::Out write_reclaimable(const std::map<std::string, int>& pods) {
  json::Out out = json::Out::array();
  for (const auto& [name, count] : pods) {
    out.push(std::move(json::Out::object().add("name", name).add("count", count)));
  }
  return out;
}

json::Out write_requeues(int times) {
  return std::move(json::Out::object().add("count", times).add("requeueAt", json::Out()));
}

json::Out write_unhealthy(const std::set<std::string>& nodes) {
  constexpr std::size_t kMostNodes = 1000;  // the schema takes no more
  json::Out::Array list;
  for (const std::string& node : nodes) {
    if (list.size() < kMostNodes) {
      list.push_back(std::move(json::Out::object().add("name", node)));
    }
  }
  return list.empty() ? json::Out() : json::Out(std::move(list));
}

}  // namespace gantree::kueue

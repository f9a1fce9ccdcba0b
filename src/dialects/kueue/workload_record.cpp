#include "dialects/kueue/workload_record.h"

#include <fmt/format.h>

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/timestamp.h"
#include "base/whole_number.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/assignment.h"
#include "dialects/kueue/names.h"
#include "dialects/lws/names.h"
#include "dialects/signs.h"

namespace gantree::kueue {

namespace {

std::span<const json::NodeData> items_at(json::Value parent, std::string_view key) {
  const json::Value list = parent ? parent[key] : json::Value();
  return list && list.kind() == json::Kind::kArray ? list.items() : std::span<const json::NodeData>();
}

std::string text_in(json::Value parent, std::string_view key) {
  const json::Value value = parent ? parent[key] : json::Value();
  return value && value.kind() == json::Kind::kString ? std::string(value.text()) : std::string();
}

int number_in(json::Value parent, std::string_view key, int fallback) {
  const json::Value value = parent ? parent[key] : json::Value();
  return value && value.kind() == json::Kind::kNumber ? whole_number(value.text(), 0).value_or(fallback) : fallback;
}

json::Value object_in(const json::NodeData& item) {
  const json::Value value(&item);
  return value.kind() == json::Kind::kObject ? value : json::Value();
}

json::Value holding(json::Value status, std::string_view type) {
  return condition_with(status, type, "True");
}

constexpr std::string_view kPodsLate = "PodsReadyTimeout";

// The gang of a group of pods goes by what makes these, or else by the group.
GangKey group_key(const NamedObject& named, json::Value metadata) {
  GangKey key{.ns = std::string(named.ns), .name = std::string(named.name), .kind = "Pod"};
  for (const json::NodeData& item : items_at(metadata, "ownerReferences")) {
    const json::Value owner = object_in(item);
    const std::string kind = text_in(owner, "kind");
    if (kind == "StatefulSet") {
      return {.ns = key.ns, .name = text_in(owner, "name"), .kind = kind};
    }
    if (kind == lws::kKind) {
      const std::string set = text_in(owner, "name");
      const std::size_t at = key.name.rfind(set + "-");
      return {.ns = key.ns, .name = at == std::string::npos ? set : key.name.substr(at), .kind = kind};
    }
  }
  return key;
}

std::optional<GangKey> key_of(const NamedObject& named) {
  const json::Value metadata = named.object.metadata();
  if (text_in(map_at(metadata, "annotations"), kOfGroup) == "true") {
    return group_key(named, metadata);
  }
  for (const json::NodeData& item : items_at(metadata, "ownerReferences")) {
    const json::Value owner = object_in(item);
    const json::Value controls = owner ? owner["controller"] : json::Value();
    if (controls && controls.kind() == json::Kind::kBool && controls.text() == "true") {
      return GangKey{.ns = std::string(named.ns), .name = text_in(owner, "name"), .kind = text_in(owner, "kind")};
    }
  }
  return std::nullopt;
}

// Where an assignment makes no sense, it counts as not given.
AdmittedSet read_set(json::Value set) {
  AdmittedSet admitted{.name = text_in(set, "name"), .count = number_in(set, "count", 0)};
  const json::Value topology = map_at(set, "topologyAssignment");
  json::Reader read("", "");
  TopologyAssignment assignment = topology ? read_assignment(read, topology) : TopologyAssignment{};
  if (!read.ok()) {
    return admitted;
  }
  admitted.levels = std::move(assignment.levels);
  // Kueue leaves the count out where all pods are meant.
  const bool counted = admitted.count > 0;
  for (AssignedDomain& domain : assignment.domains) {
    admitted.count += counted ? 0 : domain.count;
    admitted.domains.push_back({.values = std::move(domain.values), .count = domain.count});
  }
  return admitted;
}

void read_admission(json::Value status, GangRecord& record) {
  const json::Value admission = map_at(status, "admission");
  if (!admission) {
    return;
  }
  record.standing = Standing::kAdmitted;
  record.cluster_queue = text_in(admission, "clusterQueue");
  record.since = text_in(holding(status, "Admitted"), "lastTransitionTime");
  std::set<std::string> flavors;
  for (const json::NodeData& item : items_at(admission, "podSetAssignments")) {
    const json::Value set = object_in(item);
    record.sets.push_back(read_set(set));
    record.admitted += record.sets.back().count;
    const json::Value given = map_at(set, "flavors");
    for (const json::MemberData& member : given ? given.members() : std::span<const json::MemberData>()) {
      flavors.insert(text_in(given, member.key));
    }
  }
  record.flavors = fmt::format("{}", fmt::join(flavors, ", "));
}

// Why it waits, as its queue has told it.
void read_wait(json::Value status, GangRecord& record) {
  record.reserved = record.standing == Standing::kAdmitted && condition_with(status, "Admitted", "False");
  if (record.standing == Standing::kWaits || record.reserved) {
    Saying why = saying_of(condition_with(status, record.reserved ? "Admitted" : "QuotaReserved", "False"));
    record.reason = std::move(why.reason);
    record.message = std::move(why.message);
    record.told = std::move(why.since);
  }
}

void set_standing(GangRecord& record, Standing standing, json::Value why, std::string_view otherwise) {
  record.standing = standing;
  record.told = text_in(why, "lastTransitionTime");
  record.reason = text_in(why, "reason");
  record.message = text_in(why, "message");
  if (record.message.empty()) {
    record.message = otherwise;
  }
}

}  // namespace

std::optional<GangRecord> read_record(const NamedObject& named) {
  auto key = key_of(named);
  if (!key) {
    return std::nullopt;
  }
  GangRecord record;
  record.key = std::move(*key);
  record.object = named.name;
  const json::Value spec = map_at(named.object.value, "spec");
  const json::Value status = map_at(named.object.value, "status");
  record.queue = text_in(spec, "queueName");
  for (const json::NodeData& item : items_at(spec, "podSets")) {
    record.asked += number_in(object_in(item), "count", 1);
  }
  read_admission(status, record);
  read_wait(status, record);
  const json::Value active = spec ? spec["active"] : json::Value();
  const json::Value evicted = holding(status, "Evicted");
  const std::string reason = text_in(evicted, "reason");
  if (const json::Value finished = holding(status, "Finished")) {
    set_standing(record, Standing::kFinished, finished, "it is over");
    record.failed = record.reason == "Failed";
  } else if (evicted && record.standing == Standing::kAdmitted) {
    set_standing(record, Standing::kEvicted, evicted, "it has to leave");
  } else if (active && active.kind() == json::Kind::kBool && active.text() == "false") {
    set_standing(record, Standing::kDeactivated, evicted, "spec.active is false");
  } else if (reason == "Suspended") {
    set_standing(record, Standing::kSuspended, evicted, "its user has suspended it");
  } else if (reason == kPodsLate) {
    record.queued_seconds = parse_time(text_in(evicted, "lastTransitionTime")).value_or(0);
    const json::Value requeued = condition_with(status, "Requeued", "False");
    record.pause = text_in(requeued, "reason") == kPodsLate ? text_in(requeued, "message") : std::string();
  }
  return record;
}

}  // namespace gantree::kueue
